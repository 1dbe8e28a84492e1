#!/usr/bin/env python3
"""Runs the news experiment of Zhang et al. 2018 (figures 3b and 3c), and writes docs/results/news.md with figures and a section.

    scripts/results/news.py tune [POLICY …]       the tuning rounds, on a log of their own
    scripts/results/news.py run                   the policies and the sweep over M on made-up news, which is made first
    scripts/results/news.py run --log FILE …      the same on the files of R6A, in order of days; the sweep on the first one
    scripts/results/news.py write                 the pages from whatever has been run

Experiments run from a clean commit only, with a program of that commit (records.py). Every run leaves a record below
docs/results/news/ and is skipped the next time; an interrupted run is continued from its checkpoint in runs/results/news/. Rounds of
tuning, seeds and budgets stand in news_plan.json, which is committed before anything that it asks for is run.
"""
import argparse
import collections
import json
import pathlib
import re
import statistics
import subprocess
import sys

import figures
import open_bandit
from records import DEFAULTS, PROGRAM, RESULTS, ROOT, by_commit, clean_commit, keep, name_of, play, read_record, shown_command
from results_page import IMAGES, backed, ends_of_grid, half_width, interval_of, paragraph, readable, write_page, write_section

PLAN = json.loads((pathlib.Path(__file__).parent / "news_plan.json").read_text())
TUNING = PLAN["tuning"]
FOLDER = RESULTS / "news"
RUNS = ROOT / "runs/results/news"
MADE_UP, R6A = "news-synthetic", "r6a"
DIVERGED = 4  # exit code of the program where a number is no longer finite
OF_LOG = ["events", "bad_lines", "arms", "reward", "uniformly_logged", "uniform"]
OF_POLICY = ["policy", "events", "accepted", "ctr", "interval", "relative", "events_per_second"]


# Logs

def log_file(seed, events):
    return RUNS / f"news-synthetic_seed={seed}_events={events}.gz"


def log_command(seed, events):
    return f"stein data make news-synthetic --seed {seed} --events {events} --out {name_of(log_file(seed, events))}"


def make_log(seed, events):
    """Makes a log unless it is there; the program's sentence on the chances of a click."""
    note = log_file(seed, events).with_suffix(".truth")
    if not note.exists():
        RUNS.mkdir(parents=True, exist_ok=True)
        call = [str(PROGRAM), *log_command(seed, events).split()[1:], "--overwrite", "--quiet"]
        done = subprocess.run(call, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(call)}: exit code {done.returncode}: {done.stderr}")
        note.write_text(done.stderr)
    return note.read_text()


def keep_truth(commit):
    """Records what is true of the reported log: the chance of a click of a uniformly drawn and of the best article."""
    seed, events = PLAN["log"]["seed"], PLAN["log"]["events"]
    sentence = make_log(seed, events)
    if read_record(FOLDER / "log.json", log_command(seed, events)):
        return
    uniform, best = re.findall(r"([0-9.]+) of an article drawn uniformly, ([0-9.]+) of the best article", sentence)[0]
    keep(FOLDER / "log.json", log_command(seed, events), commit, {"uniform": float(uniform), "best": float(best)})


def link_to(file):
    """The name below runs/ that commands have for a file of R6A."""
    if any(map(str.isspace, file.name)):
        sys.exit(f"'{file.name}' has a space in its name, which the commands here cannot have")
    link = RUNS / R6A / file.name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(file.resolve(strict=True))
    return str(name_of(link))


# Commands

def command(logs, policies, settings, seeds, of_log=None):
    """`settings` by policy; those of the plan, which all policies have, come first, then those of the log."""
    words = ["stein replay --log", *logs, "--format r6a --policy", ",".join(policies), f"--window {PLAN['window']}"]
    networks = PLAN["networks"]
    common = {**PLAN["settings"], **(of_log or {}), **(networks["settings"] if set(policies) & set(networks["policies"]) else {})}
    words += [f"--set {key}={value}" for key, value in common.items()]
    words += [f"--set {policy}.{key}={value}" for policy in policies for key, value in settings.get(policy, {}).items()]
    return " ".join([*words, f"--seeds {seeds[0]}:{seeds[1]}"])


def reported_logs():
    return [str(name_of(log_file(PLAN["log"]["seed"], PLAN["log"]["events"])))]


def chosen_of_all():
    """Settings by policy; None while tuning is not complete."""
    settings = {policy: chosen(policy) for policy in tuned_policies()}
    return None if None in settings.values() else settings


def commands(logs):
    """The commands of the reported runs by the names of their records; commands are None while tuning is not complete. The sweep has
    no run of its own at the default number of particles, which the run of all policies has."""
    plan, settings, of_log = PLAN["particles"], chosen_of_all(), PLAN["log"]["settings"]
    found = {"policies": settings and command(logs, PLAN["policies"], settings, PLAN["seeds"], of_log)}
    for count in plan["values"]:
        if count != plan["default"]:
            with_count = {policy: {**settings[policy], "particles": count} for policy in plan["policies"]} if settings else None
            found[f"particles={count}"] = with_count and command(logs[:1], plan["policies"], with_count, PLAN["seeds"], of_log)
    if len(logs) > 1:  # the sweep has the first file only, the run of all policies has them all
        found[f"particles={plan['default']}"] = settings and command(logs[:1], plan["policies"], settings, PLAN["seeds"], of_log)
    return found


# Runs

def compact(summary, folder):
    """What the page needs of a summary, and rewards over time."""
    policies = []
    for policy in summary["policies"]:
        per_seed = policy["ctr_over_seeds"]["per_seed"]
        policies.append({**{key: policy[key] for key in OF_POLICY}, "per_seed": per_seed})
    return {"log": {key: summary["log"][key] for key in OF_LOG}, "seeds": summary["seeds"], "level": summary["level"],
            "policies": policies, "differences": [each for each in summary["differences"] if each["by"] == "replay"],
            "curves": curves_of(folder)}


def curves_of(folder):
    """By policy, a list for every window: its end, means over seeds of the CTR so far, of the ends of its confidence sequence, and of
    the CTR of the window relative to uniform, with half the width of the interval of the last mean."""
    values = collections.defaultdict(list)
    for line in (folder / "metrics.jsonl").read_text().splitlines():
        entry = json.loads(line)
        tag, _, policy = entry["tag"].partition("/")
        if tag in ("mean_reward", "mean_reward_low", "mean_reward_high", "relative"):
            values[policy, entry["step"], tag].append(entry["value"])
    curves = {}
    for policy, step in dict.fromkeys((policy, step) for policy, step, _ in values):
        row = [statistics.mean(values[policy, step, tag]) for tag in ("mean_reward", "mean_reward_low", "mean_reward_high")]
        relative = values[policy, step, "relative"]
        row += [statistics.mean(relative), half_width(relative) or 0] if relative else [None, None]
        curves.setdefault(policy, []).append([step, *(value and float(f"{value:.4g}") for value in row)])
    return curves


def run(source, logs, commit):
    asked = commands(logs)
    if None in asked.values():
        sys.exit("the tuning rounds have not been run whole; run `tune` first")
    for policy in tuned_policies():
        if ends := open_ends(policy):
            sys.exit(f"{policy}: {ends} is the end of what was tried; the plan needs another round")
    for name, words in asked.items():
        result = FOLDER / source / f"{name}.json"
        if read_record(result, words):
            continue
        folder = RUNS / source / name
        code, summary = play(f"{source}/{name}", words, folder)
        if code != 0:
            sys.exit(code)
        results = compact(summary, folder)
        if name != "policies":
            del results["curves"]
        keep(result, words, commit, {"defaults": DEFAULTS, "logs": logs if name == "policies" else logs[:1], **results})


# Tuning

def tuned_policies():
    return list(TUNING["rounds"][0])


def points(policy):
    """Every setting of the policy's rounds, once, in order."""
    found = []
    for each in TUNING["rounds"]:
        combinations = [{}]
        for key, values in each[policy].items():
            combinations = [{**settings, key: value} for settings in combinations for value in values]
        found += [settings for settings in combinations if settings not in found]
    return found


def tuning_log():
    return log_file(TUNING["seed"], TUNING["events"])


def tuning_entry(policy, settings):
    """The file of the record of a setting, and its command."""
    name = "_".join([policy, *(f"{key}-{value}" for key, value in settings.items())])
    return FOLDER / "tuning" / f"{name}.json", command([str(name_of(tuning_log()))], [policy], {policy: settings}, TUNING["seeds"])


def tuned(policy):
    """(settings, record) of every setting; the record is None where it has not been run."""
    return [(settings, read_record(*tuning_entry(policy, settings))) for settings in points(policy)]


def chosen(policy):
    """The settings with the largest mean CTR on the tuning log; None if a setting has not been run."""
    entries = tuned(policy)
    if any(entry is None for _, entry in entries):
        return None
    return max(entries, key=lambda item: statistics.mean(item[1]["per_seed"]))[0]


def tried(policy):
    """The values of every setting in all rounds."""
    keys = TUNING["rounds"][0][policy]
    return {key: sorted({value for each in TUNING["rounds"] for value in each[policy][key]}) for key in keys}


def open_ends(policy):
    """"largest step_size 0.1": which chosen values are the smallest or largest that was tried, and no natural end."""
    choice, natural = chosen(policy), TUNING["natural_ends"].get(policy, {})
    ends = ends_of_grid(tried(policy), choice)
    return ", ".join(f"{end} {key} {choice[key]:g}" for key, end in ends.items() if choice[key] != natural.get(key))


def tune(policies):
    commit = clean_commit()
    make_log(TUNING["seed"], TUNING["events"])
    for policy in policies:
        for settings in points(policy):
            result, words = tuning_entry(policy, settings)
            if read_record(result, words):
                continue
            code, summary = play(result.stem, words, RUNS / "tuning" / result.stem)
            if code not in (0, DIVERGED):
                sys.exit(code)
            keep(result, words, commit, {"defaults": DEFAULTS, **of_tuning(summary)})


def of_tuning(summary):
    """What is kept of a run of one policy; a policy that left the finite numbers (no summary) earns nothing."""
    if summary is None:
        return {"per_seed": [0] * len(range(*TUNING["seeds"])), "relative": 0, "diverged": True}
    policy = summary["policies"][0]
    return {"per_seed": policy["ctr_over_seeds"]["per_seed"], **{key: policy[key] for key in ("relative", "accepted", "events_per_second")}}


# Pages

def records_of(source):
    """The records of a source by name; empty where it has not been run. The plan's commands are compared with those of the records."""
    first = FOLDER / source / "policies.json"
    logs = reported_logs() if source == MADE_UP else json.loads(first.read_text())["logs"] if first.exists() else ["FILE"]
    found = {name: read_record(FOLDER / source / f"{name}.json", words) for name, words in commands(logs).items()}
    return {name: entry for name, entry in found.items() if entry}


def policies_of(entry):
    return {policy["policy"]: policy for policy in entry["policies"]}


def particle_entries(records):
    """By number of particles, the record that has it on the log of the sweep."""
    plan, found = PLAN["particles"], {}
    for count in plan["values"]:
        name = f"particles={count}"
        if count == plan["default"] and name not in records and len(records.get("policies", {"logs": []})["logs"]) == 1:
            name = "policies"
        if name in records:
            found[count] = records[name]
    return found


def percent(value, digits=3):
    return readable(100 * value, digits)


def interval_text(ends, digits=3):
    return f"{percent(ends[0], digits)} to {percent(ends[1], digits)}"


def policy_table(entry, truth):
    uniform = entry["log"]["uniform"]["value"]
    text = ("| policy | CTR, % | confidence sequence, % | ÷ uniform | its confidence sequence | sd over seeds, % | accepted | events/s |\n"
            "|---|---|---|---|---|---|---|---|\n")
    for policy in sorted(entry["policies"], key=lambda each: -each["ctr"]):
        low, high = policy["interval"]
        text += (f"| {policy['policy']} | {percent(policy['ctr'])} | {interval_text(policy['interval'])} | {policy['relative']:.3f} | "
                 f"{low / uniform:.2f} to {high / uniform:.2f} | {percent(statistics.stdev(policy['per_seed']))} | "
                 f"{readable(policy['accepted'])} | {readable(policy['events_per_second'])} |\n")
    if truth:
        text += (f"| truth: an article drawn uniformly | {percent(truth['uniform'])} | | {truth['uniform'] / uniform:.3f} | | | | |\n"
                 f"| truth: the best article of every event | {percent(truth['best'])} | | {truth['best'] / uniform:.3f} | | | | |\n")
    low, high = entry["log"]["uniform"]["interval"]
    text += (f"\nThe sequences ÷ uniform take what uniformly drawn articles earn on this log for known; its own 95 % interval is ± "
             f"{50 * (high - low) / uniform:.1f} % of it.\n")
    return text + f"\nCommand: `{shown_command(entry)}`\n"


def difference_of(entry, first, second):
    """(difference, [low, high]) of two policies on the same events, as the program has it."""
    for each in entry["differences"]:
        if (each["first"], each["second"]) == (first, second):
            return each["difference"], each["interval"]
        if (each["first"], each["second"]) == (second, first):
            return -each["difference"], [-each["interval"][1], -each["interval"][0]]
    return sys.exit(f"the record has no difference of {first} and {second}")


def paired(entry, first, second):
    """Differences of CTR in percentage points, paired by seed."""
    policies = policies_of(entry)
    return [100 * (a - b) for a, b in zip(policies[first]["per_seed"], policies[second]["per_seed"], strict=True)]


INTERVALS = "its 95 % interval on the events | mean and 95 % interval over policy seeds"


def difference_table(entry, pairs):
    text = f"| CTR of … | difference, percentage points | {INTERVALS} |\n|---|---|---|---|\n"
    for first, second in pairs:
        value, ends = difference_of(entry, first, second)
        text += (f"| {first} − {second} | {percent(value)} | {interval_text(ends)} | "
                 f"{interval_of(paired(entry, first, second), 3)} |\n")
    return text


def particle_table(entries):
    text = ("| M | policy | CTR, % | confidence sequence, % | ÷ uniform | sd over seeds, % | events/s |\n|---|---|---|---|---|---|---|\n")
    for count, entry in entries.items():
        for name in PLAN["particles"]["policies"]:
            policy = policies_of(entry)[name]
            text += (f"| {count} | {name} | {percent(policy['ctr'])} | {interval_text(policy['interval'])} | {policy['relative']:.3f} | "
                     f"{percent(statistics.stdev(policy['per_seed']))} | {readable(policy['events_per_second'])} |\n")
    first, second = PLAN["particles"]["policies"]
    text += f"\n| M | {first} − {second}, percentage points | {INTERVALS} |\n|---|---|---|---|\n"
    for count, entry in entries.items():
        value, ends = difference_of(entry, first, second)
        text += f"| {count} | {percent(value)} | {interval_text(ends)} | {interval_of(paired(entry, first, second), 3)} |\n"
    return text


def source_section(source, records, truth):
    """Tables and figures of the policies and of the sweep over M on one log; a sentence where there are none."""
    if "policies" not in records:
        return NOT_RUN[source] + "\n"
    entry = records["policies"]
    text = (f"{readable(entry['log']['events'])} events, {entry['log']['arms']} articles, {entry['log']['bad_lines']} bad lines. "
            f"The mean reward of the log, whose articles were drawn uniformly, is {percent(entry['log']['uniform']['value'])} % "
            f"(95 % interval {interval_text(entry['log']['uniform']['interval'])}): \"uniform\" below.\n\n"
            f"![CTR relative to uniformly drawn articles over the events]({image(source, 'curves')})\n\n"
            f"Bands: confidence sequences of the accumulated CTR (left), 95 % intervals over policy seeds (right).\n\n"
            f"{policy_table(entry, truth)}\n### Differences\n\n{DIFFERENCES}\n\n{difference_table(entry, PLAN['pairs'])}")
    entries = particle_entries(records)
    if entries:
        day = " On R6A the sweep has the first file, the first day." if source == R6A else ""
        text += (f"\n### Particles\n\nSettings are those that were chosen at M = {PLAN['particles']['default']}, for every M.{day}\n\n"
                 f"![CTR against the number of particles]({image(source, 'particles')})\n\nBands: confidence sequences.\n\n"
                 f"{particle_table(entries)}")
        text += "".join(f"\nCommand at M = {count}: `{shown_command(each)}`\n" for count, each in entries.items() if each is not entry)
    return text + f"\nRecords by commit: {by_commit(records.values())}.\n"


def tuning_section():
    text = (f"{TUNING['text']} Log seed {TUNING['seed']}, {readable(TUNING['events'])} events, policy seeds "
            f"{', '.join(map(str, range(*TUNING['seeds'])))}; what is good over so "
            f"few events and seeds need not be best over the reported {readable(PLAN['log']['events'])}.\n\n| policy | settings tried | chosen | ends |\n|---|---|---|---|\n")
    for policy in tuned_policies():
        choice = chosen(policy)
        cells = "the rounds have not been run whole | |" if choice is None else f"{label(choice)} | {open_ends(policy) or 'none'} |"
        text += f"| {policy} | {len(points(policy))} | {cells}\n"
    text += "\nCTR of every setting, %, mean over the seeds:\n"
    for policy in tuned_policies():
        values = tried(policy)
        (first, rows), (second, columns) = values.items()
        found = {tuple(settings.values()): entry for settings, entry in tuned(policy) if entry}
        text += f"\n| {policy}: {first} ↓, {second} → | {' | '.join(f'{value:g}' for value in columns)} |\n|{'---|' * (len(columns) + 1)}\n"
        for row in rows:
            cells = (found.get((row, column)) for column in columns)
            text += f"| {row:g} | {' | '.join(tuning_cell(entry) for entry in cells)} |\n"
    return text + f"\nRecords by commit: {by_commit(tuning_records())}.\n"


def tuning_records():
    return [entry for policy in tuned_policies() for _, entry in tuned(policy) if entry]


def tuning_cell(entry):
    if entry is None:
        return ""
    return "diverged" if "diverged" in entry else percent(statistics.mean(entry["per_seed"]), 2)


def label(settings):
    return ", ".join(f"{key} {value:g}" for key, value in settings.items())


NOT_RUN = {
    MADE_UP: "Not run.",
    R6A: "Not run: the log is given by Yahoo! Webscope to those who ask for it, and is not with this project. With its files "
         "`scripts/results/news.py run --log FILE …`, in the order of days, runs the same policies with the same settings on all of "
         "them and the sweep over M on the first one, and this section then has the same tables and figures. Nothing is tuned on R6A.",
}
DIFFERENCES = (
    "Both policies go along the same events with the same seeds. The first interval is that of large samples for one look, of the "
    "accepted events, and is the mean of those of the seeds; the second, Student's t, says how much the policies' own draws move the "
    "difference on this one log.")
HEAD = """# News recommendation

The findings in short: [results.md](../results.md#news-recommendation).

Made by `scripts/results/news.py` from the records in `docs/results/news/`; the plan (rounds of tuning, seeds, budgets) is
`scripts/results/news_plan.json`. Published (Zhang et al. 2018, figures 3b and 3c, without numbers): on Yahoo!'s R6A log the click-through
rate (CTR) relative to random articles has the order S2VGD > VMG > SVGD, LinUCB; CTR of S2VGD and SVGD grows with the number of particles
M = 1 … 50, and S2VGD is ahead of SVGD by more the larger M is. That order is a finding to test here, not a condition.

"""


def protocol():
    networks, seeds = PLAN["networks"], PLAN["seeds"]
    settings = {**PLAN["settings"], **networks["settings"]}
    return "## Protocol\n\n" + "".join(f"- {line}\n" for line in (
        f"**Log**: `{log_command(PLAN['log']['seed'], PLAN['log']['events'])}`. Twenty articles that come and go, one shown uniformly at "
        "random, readers and articles with six features each, the chance of a click known. It is made up: what holds on it need not hold on R6A.",
        "**Replay** (Li et al. 2011): an event counts for a policy that chose the logged article, about one in twenty, and only from "
        "these accepted events it learns. CTR is their mean reward, \"÷ uniform\" that divided by the mean reward of the log.",
        f"**Updates**: {settings['updates']} of {settings['batch']} rows an accepted event, rows drawn from the last 50,000 accepted events "
        f"(for all networks). No forced pulls (`forced_pulls={settings['forced_pulls']}`), as in the paper's protocol.",
        f"**Networks** ({', '.join(networks['policies'])}): one hidden layer of {settings['hidden']} ReLU units over the reader's and the "
        f"article's features (`network=auto`, here `joint`), Bernoulli likelihood; M = {PLAN['particles']['default']} unless swept. `linucb` and "
        "`lints` have a regression for every article over the reader's features (`regression=disjoint`): they learn what an article has of "
        "its own and nothing across articles; networks see articles by their features only.",
        f"**Repetitions**: policy seeds {seeds[0]} to {seeds[1] - 1} on one log, all policies side by side. The spread over seeds is that of the "
        "policies' own draws, **not** that over logs; the confidence sequences cover the chance of the clicks.",
        "**Confidence sequences** (Howard et al. 2021) hold at all times at once, 95 % for all seeds together: each seed's is one of level "
        f"{1 - 0.05 / len(range(*seeds)):g}, and what is printed is the mean of their ends.",
        "**Speeds** are events a second of the time that a policy took of one thread, on a machine of two cores with other work on it: they "
        f"say little. The largest of a tuning run: {speeds()}.",
        "Nothing is chosen on the reported log or seeds.")) + "\n"


def speeds():
    """"s2vgd 57,000, …"; nothing where nothing was tuned."""
    of_policy = {policy: [entry.get("events_per_second", 0) for _, entry in tuned(policy) if entry] for policy in tuned_policies()}
    return ", ".join(f"`{policy}` {readable(round(max(values), -3))}" for policy, values in of_policy.items() if values) or "none yet"


def image(source, name):
    return f"images/{'news' if source == MADE_UP else 'news_r6a'}_{name}.svg"


def draw(source, records):
    where = "made-up news" if source == MADE_UP else "R6A"
    if "policies" in records:
        entry = records["policies"]
        uniform = entry["log"]["uniform"]["value"]
        panels = {"accumulated, with confidence sequences": [], f"of every {PLAN['window']:,} events, with intervals over seeds": []}
        so_far, by_window = panels.values()
        for policy, rows in entry["curves"].items():
            at = [row[0] / 1000 for row in rows]
            so_far.append(figures.Curve(policy, policy, policy == "uniform", [
                (x, mean / uniform, low / uniform, high / uniform) for x, (_, mean, low, high, _, _) in zip(at, rows, strict=True)]))
            by_window.append(figures.Curve(policy, policy, policy == "uniform", [
                (x, mean, mean - half, mean + half) for x, (*_, mean, half) in zip(at, rows, strict=True) if mean is not None]))
        figures.curves(RESULTS / image(source, "curves"), f"CTR relative to uniformly drawn articles on {where}", panels, "events (thousand)",
                       "CTR ÷ uniform")
    entries = particle_entries(records)
    if entries:
        curves = []
        for name in PLAN["particles"]["policies"]:
            policies = {count: policies_of(entry)[name] for count, entry in entries.items()}
            curves.append(figures.Curve(name, name, False, [(count, *(100 * value for value in (policy["ctr"], *policy["interval"])))
                                                            for count, policy in policies.items()]))
        figures.curves(RESULTS / image(source, "particles"), f"CTR against the number of particles on {where}",
                       {f"{where}, {len(range(*PLAN['seeds']))} policy seeds": curves}, "particles M", "CTR (%)")


# The Open Bandit sample

def open_bandit_records():
    return {name: read_record(RESULTS / "obd" / f"{name}.json", words) for name, words in open_bandit.plan().items()}


def open_bandit_section():
    records = open_bandit_records()
    if None in records.values():
        return "Not run whole.\n"
    text = OPEN_BANDIT + "\n\n| campaign | policy | estimated on the log of | own mean of the policy's log, % | replay (accepted) | SNIPS, % | DR, % | effective sample size | largest weight |\n"
    text += "|---|---|---|---|---|---|---|---|---|\n"
    for campaign in ("men", "women"):
        own = {log: records[f"{campaign}-{log}"]["log"] for log in ("random", "bts")}
        rows = [("uniform", "bts", f"{campaign}-bts", "random")]
        rows += [(table, "random", f"{campaign}-random-{table}", "bts") for table in open_bandit.TABLES]
        for name, log, record, truth in rows:
            policy = records[record]["policies"][0]
            mean = own[truth]["reward"]
            text += (f"| {campaign} | {name} | {log} | {percent(mean, 2)} | {percent(policy['ctr'], 2)} ({readable(policy['accepted'])}) | "
                     f"{estimate_text(policy, 'snips')} | {estimate_text(policy, 'dr')} | "
                     f"{readable(policy['estimates']['snips']['effective_sample_size'])} | {readable(policy['weights']['largest'])} |\n")
    return text + f"\n{open_bandit_reading(records)}\n\nRecords by commit: {by_commit(records.values())}.\n"


def open_bandit_reading(records):
    """What the table says: how often an interval has the mean of the policy's own log, and what is refused."""
    inside, outside, refused = [], [], []
    for campaign in ("men", "women"):
        rows = [(f"{campaign}-bts", "random")] + [(f"{campaign}-random-{table}", "bts") for table in open_bandit.TABLES]
        for record, own in rows:
            policy = records[record]["policies"][0]
            estimate, mean = policy["estimates"]["snips"], records[f"{campaign}-{own}"]["log"]["reward"]
            if "refused" in estimate:
                refused.append(f"{campaign}, {policy['policy']} from the log of `bts`: an effective sample size of "
                               f"{estimate['effective_sample_size']:.1f} events, and a largest weight of {readable(policy['weights']['largest'])}")
            else:
                low, high = estimate["interval"]
                (inside if low <= mean <= high else outside).append(record)
    return (f"Of {len(inside) + len(outside)} intervals by SNIPS that are not refused, {len(inside)} have the mean of the policy's own log "
            f"inside. Refused: {'; '.join(refused)}.")


def estimate_text(policy, way):
    estimate = policy["estimates"][way]
    if "refused" in estimate:
        return "refused"
    return f"{percent(estimate['value'], 2)} ({interval_text(estimate['interval'], 2)})"


OPEN_BANDIT = (
    "Ten thousand decisions each of two policies, `random` and `bts` (Bernoulli Thompson sampling), on two campaigns of a fashion shop "
    "(Saito et al. 2021); `scripts/results/open_bandit.py run`. A policy is estimated from the log that the other one made, beside the mean reward that "
    "its own log has. `bts` itself moved while it logged and its propensities of other items are not in the log, so two stationary policies "
    "stand in for it: the table *mean-bts-propensity* and the table *bts-frequency*, which says how often it showed an item in a position. Brackets are "
    "95 % intervals of large samples. Replay is not to be believed on a log that is not uniform.")


def write():
    records = {source: records_of(source) for source in (MADE_UP, R6A)}
    seed, events = PLAN["log"]["seed"], PLAN["log"]["events"]
    truth = read_record(FOLDER / "log.json", log_command(seed, events))
    sweep = particle_entries(records[MADE_UP])
    whole = truth and set(sweep) == set(PLAN["particles"]["values"])
    text = HEAD + (paragraph(*finding(records[MADE_UP]["policies"], sweep)) if whole else "") + protocol()
    text += f"## On `news-synthetic`\n\n{source_section(MADE_UP, records[MADE_UP], truth)}\n"
    text += f"## On R6A\n\n{source_section(R6A, records[R6A], None)}\n"
    text += f"## Tuning\n\n{tuning_section()}\n## The Open Bandit sample\n\n{open_bandit_section()}"
    write_page("news", text)
    for source in records:
        draw(source, records[source])
    if not whole:
        sys.exit("docs/results.md is left as it was: the policies or the sweep over M have not been run whole")
    write_section("news.py", short(records, truth))


def finding(entry, sweep):
    """What the records say of the published order, in sentences; those typed by hand are checked."""
    policies = policies_of(entry)
    order = sorted((name for name in policies if name != "uniform"), key=lambda name: -policies[name]["ctr"])
    others = [name for name in order if name != "s2vgd"]
    clear = [name for name in others if statistics.mean(paired(entry, "s2vgd", name)) > half_width(paired(entry, "s2vgd", name))]
    yield backed(order[0] == "s2vgd" and order[-1] == "vmg",
                 "**On the made-up log `s2vgd` has the largest mean CTR, as published; `vmg`, published as second, is the last of those that "
                 "learn.**")
    yield (f"Its lead on {listed(clear)} is clear of 0 by the 95 % interval over policy seeds; that on "
           f"{listed(name for name in others if name not in clear)} is not.")
    yield from particle_finding(sweep)


def listed(names):
    return ", ".join(f"`{name}`" for name in names)


def particle_finding(sweep):
    """How the CTR goes with M."""
    few, many = min(sweep), max(sweep)
    first, second = PLAN["particles"]["policies"]
    ctr = {name: [policies_of(entry)[name]["ctr"] for entry in sweep.values()] for name in (first, second)}
    leads = [a - b for a, b in zip(*ctr.values(), strict=True)]
    yield backed(ctr[first] == sorted(ctr[first]) and leads == sorted(leads) and ctr[second][-1] < max(ctr[second]),
                 "**The mean CTR of `s2vgd`, and its lead on `svgd`, grow with every M that was tried, as published; the CTR of `svgd` does "
                 "not keep growing.**")
    for name in (first, second):
        low, high = (policies_of(sweep[count])[name]["per_seed"] for count in (few, many))
        change = interval_of([100 * (b - a) for a, b in zip(low, high, strict=True)], 2)
        yield f"The CTR of `{name}` changes from M = {few} to M = {many} by {change} percentage points over policy seeds."
    leads = "; ".join(f"M = {count}: {interval_of(paired(each, first, second), 2)}" for count, each in sweep.items())
    yield f"The difference `{first}` − `{second}`, likewise: {leads}."


def relative_text(policy, uniform):
    low, high = (end / uniform for end in policy["interval"])
    return f"{policy['relative']:.2f} ({low:.2f} to {high:.2f})"


def short(records, truth):
    """The section of the short page; what it says is checked against the records."""
    entry, sweep = records[MADE_UP]["policies"], particle_entries(records[MADE_UP])
    policies, uniform = policies_of(entry), entry["log"]["uniform"]["value"]
    learners = sorted((name for name in policies if name != "uniform"), key=lambda name: -policies[name]["ctr"])
    text = "## News recommendation\n\n" + paragraph(
        "Does the structure of `s2vgd` raise the click-through rate (CTR) of Stein Thompson sampling on front-page news? Published is an",
        "order on Yahoo!'s R6A log (Zhang et al. 2018, figures 3b and 3c, without numbers): S2VGD > VMG > SVGD, LinUCB, and a CTR that grows",
        "with the number of particles M, of S2VGD more than of SVGD.", *finding(entry, sweep))
    text += "![CTR relative to uniformly drawn articles over the events](results/images/news_curves.svg)\n\n"
    text += paragraph(
        f"**Made-up news, {readable(entry['log']['events'])} events**, {len(entry['seeds'])} policy seeds on one log, one update of 64 rows an",
        "accepted event; CTR ÷ that of uniformly drawn articles, with the 95 % confidence sequence at the end:",
        ", ".join(f"`{name}` {relative_text(policies[name], uniform)}" for name in learners)
        + f". The best article of every event has {truth['best'] / uniform:.2f}.",
        "Differences in percentage points of CTR, for these repetitions on these events:",
        differences_text(entry, PLAN["pairs"][:4]) + "; over policy seeds, of which networks depend much: "
        + ", ".join(interval_of(paired(entry, first, second), 2) for first, second in PLAN["pairs"][:4]) + ".")
    text += "![CTR against the number of particles](results/images/news_particles.svg)\n\n"
    text += paragraph(
        f"**Particles**, {', '.join(map(str, sweep))}: CTR ÷ uniform",
        "; ".join(f"of `{name}` " + ", ".join(f"{policies_of(each)[name]['relative']:.2f}" for each in sweep.values())
                  for name in PLAN["particles"]["policies"]) + ", with the settings that were chosen at M = 20 (step size "
        + ", ".join(f"{chosen(name)['step_size']:g} of `{name}`" for name in PLAN["particles"]["policies"]) + ").")
    if "policies" not in records[R6A]:
        text += paragraph("R6A itself: not run, since its files are given only to those who ask Yahoo! for them;",
                          "`scripts/results/news.py run --log FILE …` runs the same on them.")
    text += paragraph(f"Settings: {settings_tried()} tried a policy, on another log and with other policy seeds.",
                      backed(not any(map(open_ends, tuned_policies())), "None of the chosen values is the smallest or largest that was tried."),
                      f"Records by commit: {by_commit(records[MADE_UP].values())}; of the tuning runs: {by_commit(tuning_records())}.")
    return text + "All tables, commands, grids, and estimates on the Open Bandit sample: [results/news.md](results/news.md).\n"


def differences_text(entry, pairs):
    found = []
    for first, second in pairs:
        value, ends = difference_of(entry, first, second)
        found.append(f"`{first}` − `{second}` {percent(value, 2)} (95 % interval {interval_text(ends, 2)})")
    return ", ".join(found)


def settings_tried():
    """"24" or "21 to 24"."""
    counts = sorted({len(points(policy)) for policy in tuned_policies()})
    return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["tune", "run", "write"])
    parser.add_argument("policy", nargs="*", help="policies to tune; all of them where none is named")
    parser.add_argument("--log", nargs="+", type=pathlib.Path, help="files of R6A, in order of days")
    choice = parser.parse_args()
    if choice.action == "tune":
        tune(choice.policy or tuned_policies())
    elif choice.action == "run":
        at = clean_commit()
        if choice.log:
            run(R6A, [link_to(file) for file in choice.log], at)
        else:
            keep_truth(at)
            run(MADE_UP, reported_logs(), at)
    write()
