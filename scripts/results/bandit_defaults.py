#!/usr/bin/env python3
"""Runs all policies with their defaults on all bandits, longer runs, the Showdown's protocol and a tuned comparison, and writes
docs/results/bandit_defaults.md with its figures and, of runs that are complete, the section of docs/results.md; resumable.

    scripts/results/bandit_defaults.py run [POLICY …]           the defaults on all bandits, policy by policy as the plan has them
    scripts/results/bandit_defaults.py group NAME [POLICY …]    a group of the plan: long, held-out, clicks, published-prior, protocol
    scripts/results/bandit_defaults.py choose [POLICY …]        the settings that the defaults of single networks were chosen from
    scripts/results/bandit_defaults.py options [CHANGE …]       what each option of the Stein policy is worth
    scripts/results/bandit_defaults.py paper [TABLE …]          the paper's bandit: tables of the plan, or rows as TABLE/ROW
    scripts/results/bandit_defaults.py tune [POLICY …]          the grids of the tuned comparison, on their own seeds
    scripts/results/bandit_defaults.py tuned [POLICY …]         what tuning chose, on the reported seeds
    scripts/results/bandit_defaults.py write                    the page from whatever has been run

Experiments run from a clean commit only, with a program of that commit (records.py). Every run leaves
docs/results/defaults/<bandit>_<policy>.json (of a group in a folder of its name) and is skipped the next time. Bandits, lengths, seeds
and policies stand in bandit_defaults_plan.json, which is committed before anything is run; the seeds are others than those that
defaults were looked for on. Published numbers stand in showdown_published.json.
"""
import json
import pathlib
import statistics
import sys

import bandit_choices
import bandit_curves
import bandit_options
import bandit_paper
import bandit_tuned
from bandit_goals import goals
from bandit_means import OTHERS, WHEELS, against, average, below_zero, complete_policies, locked_in, together, worst_share
from bandit_runs import OF_GROUPS, PLAN, POLICIES, command_of, experiment, result_file
from bandit_tuned import cell
from records import ROOT, by_commit, clean_commit, read_record
from results_page import IMAGES, half_width, interval_of, paragraph, readable, write_page, write_section

PUBLISHED = json.loads((pathlib.Path(__file__).parent / "showdown_published.json").read_text())
PUBLISHED_PRIOR = "greedy, published prior"
SHOWN = ("mushroom", "wheel δ=0.9")  # bandits whose curves stand on the short page


def asked(bandit, policy, group=None):
    """(record's file, command) of a run of the table of defaults, or of a group."""
    return result_file(*([group] if group else []), bandit["name"], policy), command_in(group, bandit, OF_GROUPS[policy])


def command_in(group, bandit, policy):
    """The command of a bandit and a policy in a group of the plan, or in the table of defaults."""
    plan = PLAN["groups"][group] if group else PLAN
    return command_of(bandit, policy, bandit["steps"], plan.get("seeds", PLAN["seeds"]), preset=plan.get("preset"))


def run(names):
    play_all(PLAN["bandits"], POLICIES, names)


def run_group(group, names):
    if group not in PLAN["groups"]:
        sys.exit(f"no group of the plan: {group}; it has {', '.join(PLAN['groups'])}")
    play_all(PLAN["groups"][group]["bandits"], PLAN["groups"][group]["policies"], names, group)


def play_all(bandits, policies, names, group=None):
    commit = clean_commit()
    unknown = set(names) - set(policies)
    if unknown:
        sys.exit(f"no policy of the plan: {', '.join(sorted(unknown))}")
    if group:  # a bandit after the other: the first is what the group is for
        pairs = [(bandit, policy) for bandit in bandits for policy in policies]
    else:
        pairs = [(bandit, policy) for policy in policies for bandit in bandits]
    for bandit, policy in pairs:
        if not names or policy in names:
            experiment(*asked(bandit, policy, group), commit)


def records(bandits, policies, group=None):
    """{bandit: {policy: record}} of what has been run."""
    found = {}
    for bandit in bandits:
        entries = {policy: read_record(*asked(bandit, policy, group)) for policy in policies}
        found[bandit["name"]] = {name: entry for name, entry in entries.items() if entry}
    return found


def beside_stein(found, of_group):
    """How the Stein policy's defaults stand to the policies of a group on the same bandits."""
    both = together(found, of_group)
    text = f"| policy | mean over bandits | difference of `{PLAN['stein']}` to it, 95 % interval |\n|---|---|---|\n"
    for policy in next(iter(of_group.values())):
        differences = against(both, PLAN["stein"], policy)
        if differences is not None:
            text += f"| {policy} | {average(of_group, policy):.1f} | {interval_of(differences, 1)} |\n"
    return text + "\n"


def hours(found):
    """That all runs took together."""
    return sum(entry["summary"].get("wall_seconds", 0) for entries in found.values() for entry in entries.values()) / 3600


def overview(found, policies):
    """A row a policy: its means over all bandits, over the wheels and over the others, and how it stands to greedy."""
    text = ("| policy | mean over bandits | over the wheels | without them | difference to greedy, 95 % interval | worst regret ÷ greedy's | lock-ins |\n"
            "|---|---|---|---|---|---|---|\n")
    for name in policies:
        differences = against(found, name, PLAN["greedy"])
        if differences is None:
            text += f"| {name} | not run on all | | | | | |\n"
            continue
        mean, half = statistics.mean(differences), half_width(differences)
        locked, runs = locked_in(found, found, name)
        locks = "–" if name == "uniform" else f"{locked} of {runs}"
        text += (f"| {name} | {average(found, name):.1f} | {average(found, name, WHEELS):.1f} | {average(found, name, OTHERS):.1f} | {readable(mean, 1)} ({readable(mean - half, 1)} to {readable(mean + half, 1)}) | "
                 f"{worst_share(found, name):.2f} | {locks} |\n")
    return text


def means(found, policies, columns):
    """A row a policy, {name: what stands in its first cell}, the least mean first; a column of means for {title: bandits}."""
    rows = sorted(policies.items(), key=lambda row: average(found, row[0]))
    return (f"| policy | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}\n"
            + "".join(f"| {title} | {' | '.join(f'{average(found, name, bandits):.1f}' for bandits in columns.values())} |\n" for name, title in rows))


def write_guides(found):
    """The tables of means in README.md and in the page of what was found."""
    noisy = [bandit for bandit in PLAN["bandits"] if bandit["name"] in PLAN["guides"]["noisy"]]
    write_section("bandit_defaults.py", means(found, PLAN["guides"]["README.md"], {
        "thirteen bandits": PLAN["bandits"], "four whose rewards are noisy": noisy, "five wheels, whose good arms are rare": WHEELS}), ROOT / "README.md")
    write_section("bandit_defaults.py", means(found, PLAN["guides"]["bandit-findings.md"], {
        "all thirteen": PLAN["bandits"], "five wheels": WHEELS, "the other eight": OTHERS}), ROOT / "docs/bandit-findings.md")


def table(bandits, policies, found):
    """Regrets in percent of uniform play: a row a policy, a column a bandit."""
    head = " | ".join(f"{bandit['name']}, {bandit['steps']:,}" for bandit in bandits)
    text = f"| policy | {head} |\n|---|{'---|' * len(bandits)}\n"
    for policy in policies:
        cells = [cell(found[bandit["name"]].get(policy)) for bandit in bandits]
        text += f"| {policy} | {' | '.join(cells)} |\n"
    return text


EARLIER = (400, 1000, 2000, 5000)  # interactions


def share_after(entry, interactions):
    """Mean regret in percent of uniform at the last point of a curve that is not beyond so many interactions."""
    steps = entry["curve"]["step"]
    return entry["curve"]["regret_percent_of_uniform"]["mean"][max(k for k, step in enumerate(steps) if step <= interactions)]


def earlier(found):
    """Averages over all bandits on the way, the policy of the least after 1,000 interactions first."""
    def of(policy):
        entries = [found[bandit["name"]][policy] for bandit in PLAN["bandits"]]
        return [statistics.mean(share_after(entry, interactions) for entry in entries) for interactions in EARLIER]

    rows = sorted(((policy, of(policy)) for policy in complete_policies(found)), key=lambda row: row[1][1])
    text = f"| policy | {' | '.join(f'{interactions:,}' for interactions in EARLIER)} | at the end |\n|---|{'---|' * (len(EARLIER) + 1)}\n"
    return text + "".join(f"| {policy} | {' | '.join(f'{value:.1f}' for value in values)} | {average(found, policy):.1f} |\n" for policy, values in rows)


def published_percent(row):
    """"4.65 ± 0.18", or of a single run from its reward and those of the best arms and of uniform play."""
    if "percent" in row:
        return f"{row['percent']:.2f} ± {row['error']:.2f}"
    return f"{100 * (row['best'] - row['reward']) / (row['best'] - row['uniform']):.2f}"


def published(found, protocol):
    text = """## Published on the Showdown's bandits

Numbers as their sources print them, in percent of uniform play; those of source 1 are computed from the rewards that it prints. ± is what the
sources call the standard error. Beside them ours, mean ± sd: by the Showdown's protocol, and with the defaults of the tables above. Where
interactions differ, so do percentages: they fall as a run goes on. Sources 1 and 3 do not agree on LinFullPost on mushroom. Tables of the Showdown's paper itself
were not at hand; these sources have nothing on covertype and adult.

| bandit | method | published | interactions | trials | source | ours | by the protocol | with defaults |
|---|---|---|---|---|---|---|---|---|
"""
    for row in PUBLISHED["rows"]:
        ours = [cell(entries[row["bandit"]].get(row["policy"])) if row["bandit"] in entries else "" for entries in (protocol, found)]
        interactions = f"{row['interactions']:,}" if "interactions" in row else "not said"
        text += (f"| {row['bandit']} | {row['method']} | {published_percent(row)} | {interactions} | {row['trials']} | "
                 f"{list(PUBLISHED['sources']).index(row['source']) + 1} | {row['policy']} | {' | '.join(ours)} |\n")
    sources = [f"{number}. {source}" for number, source in enumerate(PUBLISHED["sources"].values(), 1)]
    return text + "\nSources: " + "; ".join(sources) + ".\n"


def with_curves(entries):
    """The main policies of {policy: record} whose records have a curve."""
    return {name: entries[name] for name in PLAN["main"] if "curve" in entries.get(name, {})}


def draw(bandits, found, group=None):
    """A figure of every bandit that has curves; the lines of the page that show them."""
    text = ""
    for bandit in bandits:
        entries = with_curves(found[bandit["name"]])
        if entries:
            title = f"{bandit['name']}, {bandit['steps']:,} interactions"
            image = IMAGES / f"bandit_{group or 'defaults'}_{result_file(bandit['name'], 'curves').stem}.svg"
            bandit_curves.draw(image, f"Regret over interactions: {title}", {title: entries})
            text += f"![Regret over interactions: {title}](images/{image.name})\n\n"
    return text


def commands(bandits, group=None):
    """A line a bandit: the command of each of its policies, `POLICY` standing for it."""
    any_policy = {"name": "POLICY", "policy": "POLICY"}
    where = f", {PLAN['groups'][group]['title'][0].lower()}{PLAN['groups'][group]['title'][1:]}" if group else ""
    return "".join(f"| {bandit['name']}{where} | `{command_in(group, bandit, any_policy)}` |\n" for bandit in bandits)


def write():
    found = records(PLAN["bandits"], POLICIES)
    groups = {name: records(group["bandits"], group["policies"], name) for name, group in PLAN["groups"].items()}
    low, high = PLAN["seeds"]
    text = f"""# Bandits: every policy with its defaults

Made by `scripts/results/bandit_defaults.py` from the records in `docs/results/defaults/`; the plan is `scripts/results/bandit_defaults_plan.json`.
Nothing is tuned here but where it says so: each policy has the defaults that `stein bandit` gives it, the same on every bandit, and greedy is
epsilon-greedy with ε = 0. The defaults were looked for on seeds 1000 to 1002 by trials of which no record is kept, but for how often a chain that leaves the finite numbers
may go back: ten times, since seed 3 of `sghmc` on shuttle ended with three. Those of `bbb` and `vmg` were chosen anew, on seeds 1000 and 1001 of short runs, after
their first ones had been run on the seeds of this page; the noise of single networks so too, [on tuning seeds](#how-the-prior-of-single-networks-was-chosen). These are seeds {low} to {high - 1}; covertype is the part of 15,120 rows, 2,160 of every class, since the whole file
was not at hand: no published number is of it. Hours of computing came into the plan after the first runs. A program of another commit, or a processor with
other vectors, rounds networks otherwise, and so plays other games on the same seeds; what `lints` and `linucb` do has the same bits.
Numbers are regrets in percent of that of uniform play on the same contexts, mean ± sd over seeds; below 100 is better than chance, 0 is perfect. The table
took {hours(found):.0f} hours of machines that did other work too, 1 to 9 of a policy of twenty particles, by its records.

## Over all bandits

The difference to greedy is paired by seed and averaged over the bandits; its interval is Student's over seeds. The worst is the largest
ratio of the mean regrets of the policy and of greedy on one bandit. A lock-in is a seed with more regret than uniform play.

{overview(found, POLICIES)}
## What was wanted

The bounds came into the plan after greedy, `svgd`, `lints` and `neural-linear` had run; they were not moved since.

{goals(found, groups)}
## By bandit

{table(PLAN["bandits"], POLICIES, found)}
## Earlier in the runs

After so many interactions (of wheels at the last point of the curve before), averaged over the bandits.

{earlier(found)}
"""
    curves = draw(PLAN["bandits"], found)
    if curves:
        text += f"## Over interactions\n\nMeans over seeds with bands of one sd on both sides, cut at a tenth of the mean.\n\n{curves}"
    for name, group in PLAN["groups"].items():
        text += f"## {group['title']}\n\n{group['text']}\n\n{table(group['bandits'], group['policies'], groups[name])}\n"
        if group.get("overview"):
            text += overview(groups[name], group["policies"]) + "\n"
        else:
            text += beside_stein(found, groups[name]) if group.get("beside_stein") else draw(group["bandits"], groups[name], name)
    text += bandit_choices.section() + "\n" + bandit_options.section() + "\n" + published(found, groups["protocol"]) + "\n" + bandit_paper.section() + bandit_tuned.section(found)
    settings = ", ".join(f"`{policy['name']}` is `{policy['policy']}` with `{' '.join(f'{key}={value}' for key, value in policy['settings'].items())}`"
                         for policy in OF_GROUPS.values() if policy.get("settings"))
    text += f"\n## Commands\n\nOf every policy, its name in the place of `POLICY` ({settings}); each record has its own.\n\n<details><summary>By bandit and table</summary>\n\n| bandit | command |\n|---|---|\n"
    text += commands(PLAN["bandits"]) + "".join(commands(group["bandits"], name) for name, group in PLAN["groups"].items())
    every = [entry for table_of in (found, *groups.values()) for entries in table_of.values() for entry in entries.values()]
    text += "\n</details>\n\nRecords by commit: " + (by_commit(every) or "none yet") + ".\n"
    write_page("bandit_defaults", text)
    main = [policy for policy in PLAN["main"] if all(policy in with_curves(entries) for entries in found.values())]
    if PLAN["greedy"] in main and PLAN["stein"] in main:
        write_short(found, main, groups["published-prior"])
    if all(average(found, name) is not None for of_page in ("README.md", "bandit-findings.md") for name in PLAN["guides"][of_page]):
        write_guides(found)


def under_published_prior(found, of_group):
    """A sentence on greedy as it was by default once; empty where it has not been run on all bandits."""
    differences = against(together(found, of_group), PLAN["stein"], PUBLISHED_PRIOR)
    if differences is None:
        return ""
    return (f"The published prior of single networks holds them back on wheels: greedy has {average(of_group, PUBLISHED_PRIOR):.1f} under it, and `{PLAN['stein']}` beside that "
            f"{interval_of(differences, 1)}.")


def write_short(found, main, of_group):
    """The figure and the section of the short page, of the main policies that have run on all bandits."""
    titles = {f"{bandit['name']}, {bandit['steps']:,} interactions": {name: found[bandit["name"]][name] for name in main}
              for bandit in PLAN["bandits"] if bandit["name"] in SHOWN}
    bandit_curves.draw(IMAGES / "bandit_defaults.svg", "Regret over interactions on mushroom and on the wheel, nothing tuned", titles)
    order = sorted((name for name in complete_policies(found) if name != "uniform"), key=lambda name: average(found, name))
    gains = {name: against(found, name, PLAN["greedy"]) for name in order}
    better = [f"`{name}` {interval_of(gain, 1)}" for name, gain in gains.items() if below_zero(gain)]
    text = "## Bandits: defaults\n\n![Regret over interactions](results/images/bandit_defaults.svg)\n\n" + paragraph(
        f"Nothing is tuned; {len(range(*PLAN['seeds']))} seeds, means with bands of one sd. Regret in percent of uniform play, averaged over the",
        f"{len(PLAN['bandits'])} bandits that a policy has to have run on to stand here: " + ", ".join(f"`{name}` {average(found, name):.1f}" for name in order) + ".",
        f"Less than greedy, by the difference paired by seed: {', '.join(better) or 'none'}.", under_published_prior(found, of_group)) + paragraph(
        "Every bandit and policy, longer runs, the Showdown's protocol with published numbers beside, and the tuned comparison:",
        "[results/bandit_defaults.md](results/bandit_defaults.md).") + bandit_paper.short()
    write_section("bandit_defaults.py", text)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run", *names]:
            run(names)
        case ["group", group, *names]:
            run_group(group, names)
        case ["choose", *names]:
            bandit_choices.run(names)
        case ["options", *names]:
            bandit_options.run(names)
        case ["paper", *names]:
            bandit_paper.run(names)
        case ["tune", *names]:
            bandit_tuned.tune(names)
        case ["tuned", *names]:
            bandit_tuned.run_tuned(names)
        case ["write"]:
            pass
        case _:
            sys.exit(__doc__)
    write()
