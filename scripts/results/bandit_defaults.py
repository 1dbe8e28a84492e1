#!/usr/bin/env python3
"""Runs all policies with their defaults on all bandits, and writes docs/results/bandit_defaults.md; resumable.

    scripts/results/bandit_defaults.py run [POLICY …]   the runs, policy by policy as the plan has them
    scripts/results/bandit_defaults.py write            the page from whatever has been run

Experiments run from a clean commit only, with a program of that commit (records.py). Every run leaves
docs/results/defaults/<bandit>_<policy>.json and is skipped the next time. Bandits, lengths, seeds and policies stand in
bandit_defaults_plan.json, which is committed before anything is run; the seeds are others than those that defaults were looked for on.
"""
import json
import pathlib
import statistics
import sys

from bandits import RUNS, command, environment
from records import DEFAULTS, RESULTS, by_commit, clean_commit, keep, play, read_record, shown_command
from results_page import half_width, mean_of, readable, write_page

PLAN = json.loads((pathlib.Path(__file__).parent / "bandit_defaults_plan.json").read_text())
FOLDER = RESULTS / "defaults"


def result_file(bandit, policy):
    return FOLDER / f"{bandit['name']}_{policy['name']}.json".replace(", ", "-").replace(" ", "-").replace("δ", "delta")


def command_of(bandit, policy):
    settings = {"steps": bandit["steps"], **bandit.get("settings", {}), **policy.get("settings", {})}
    return command(bandit["env"], policy["policy"], settings, PLAN["seeds"])


def run(names):
    commit = clean_commit()
    unknown = set(names) - {policy["name"] for policy in PLAN["policies"]}
    if unknown:
        sys.exit(f"no policy of the plan: {', '.join(sorted(unknown))}")
    for policy in PLAN["policies"]:
        for bandit in PLAN["bandits"] if not names or policy["name"] in names else []:
            result, asked = result_file(bandit, policy), command_of(bandit, policy)
            if read_record(result, asked):
                continue
            code, summary = play(f"{bandit['name']}/{policy['name']}", asked, RUNS / "defaults" / result.stem, environment())
            if code == 0:
                keep(result, asked, commit, {"defaults": DEFAULTS, "summary": summary}, indent=1)


def records():
    """{bandit: {policy: record}} of what has been run."""
    found = {}
    for bandit in PLAN["bandits"]:
        entries = {policy["name"]: read_record(result_file(bandit, policy), command_of(bandit, policy)) for policy in PLAN["policies"]}
        found[bandit["name"]] = {name: entry for name, entry in entries.items() if entry}
    return found


def shares(entry):
    """Regret in percent of that of uniform play, of every seed."""
    return entry["summary"]["regret_percent_of_uniform"]["per_seed"]


def cell(entry):
    return "not run" if entry is None else f"{statistics.mean(shares(entry)):.1f} ± {statistics.stdev(shares(entry)):.1f}"


def against_greedy(found, policy):
    """The difference to greedy, in percent of uniform, of every seed averaged over the bandits that have both; None where one lacks."""
    both = [(entries[policy], entries[PLAN["greedy"]]) for entries in found.values() if policy in entries and PLAN["greedy"] in entries]
    if len(both) < len(found):
        return None
    return [statistics.mean(differences) for differences in
            zip(*[[a - b for a, b in zip(shares(own), shares(other), strict=True)] for own, other in both], strict=True)]


def average(found, policy):
    entries = [found[bandit["name"]].get(policy) for bandit in PLAN["bandits"]]
    return statistics.mean(statistics.mean(shares(entry)) for entry in entries) if all(entries) else None


def overview(found):
    text = "| policy | mean over bandits | difference to greedy, 95 % interval | worst share of greedy's regret | lock-ins |\n|---|---|---|---|---|\n"
    for policy in PLAN["policies"]:
        name = policy["name"]
        entries = [(found[bandit["name"]].get(name), found[bandit["name"]].get(PLAN["greedy"])) for bandit in PLAN["bandits"]]
        if not all(own and other for own, other in entries):
            text += f"| {name} | not run on all | | | |\n"
            continue
        differences = against_greedy(found, name)
        mean, half = statistics.mean(differences), half_width(differences)
        worst = max(mean_of(own["summary"]["regret"]) / mean_of(other["summary"]["regret"]) for own, other in entries)
        locked = sum(round(mean_of(own["summary"]["lock_in_share"]) * len(shares(own))) for own, _ in entries)
        text += (f"| {name} | {average(found, name):.1f} | {readable(mean, 1)} ({readable(mean - half, 1)} to {readable(mean + half, 1)}) | "
                 f"{worst:.2f} | {locked} of {sum(len(shares(own)) for own, _ in entries)} |\n")
    return text


def write():
    found = records()
    low, high = PLAN["seeds"]
    text = f"""# Bandits: every policy with its defaults

Made by `scripts/results/bandit_defaults.py` from the records in `docs/results/defaults/`; the plan is `scripts/results/bandit_defaults_plan.json`.
Nothing is tuned here: each policy has the defaults that `stein bandit` gives it, the same on every bandit, and greedy is epsilon-greedy with
ε = 0. The defaults were looked for on seeds 1000 to 1002 by trials of which no record is kept; these are seeds {low} to {high - 1}. Numbers are
regrets in percent of that of uniform play on the same contexts, mean ± sd over seeds; below 100 is better than chance, 0 is perfect.

## Over all bandits

The difference to greedy is paired by seed and averaged over the bandits; its interval is Student's over seeds. The worst share is the largest
regret of the policy ÷ greedy's on one bandit. A lock-in is a seed with more regret than uniform play.

{overview(found)}
## By bandit

| policy | {" | ".join(f"{bandit['name']}, {bandit['steps']:,}" for bandit in PLAN["bandits"])} |
|---|{"---|" * len(PLAN["bandits"])}
"""
    for policy in PLAN["policies"]:
        cells = [cell(found[bandit["name"]].get(policy["name"])) for bandit in PLAN["bandits"]]
        text += f"| {policy['name']} | {' | '.join(cells)} |\n"
    text += "\n## Commands\n\n| bandit, policy | regret, mean ± sd | interactions a second | command |\n|---|---|---|---|\n"
    for bandit in PLAN["bandits"]:
        for name, entry in found[bandit["name"]].items():
            summary = entry["summary"]
            rate = len(summary["seeds"]) * summary["steps"] / mean_of(summary["wall_seconds"])
            text += (f"| {bandit['name']}, {name} | {summary['regret']['mean']:.1f} ± {summary['regret']['sd']:.1f} | {rate:.0f} | "
                     f"`{shown_command(entry)}` |\n")
    text += "\nRecords by commit: " + (by_commit([entry for entries in found.values() for entry in entries.values()]) or "none yet") + ".\n"
    write_page("bandit_defaults", text)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run", *names]:
            run(names)
            write()
        case ["write"]:
            write()
        case _:
            sys.exit(__doc__)
