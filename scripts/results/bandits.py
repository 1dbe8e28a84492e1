#!/usr/bin/env python3
"""Runs the bandit tables of docs/results/bandits.md and writes them, with figures and the section of docs/results.md; resumable.

    scripts/results/bandits.py tune [POLICY …]   the tuning grid, on its own seeds
    scripts/results/bandits.py run [TABLE …]     the reported runs, with the options that tuning chose
    scripts/results/bandits.py write             the pages from whatever has been run

Experiments run from a clean commit only, with a program of that commit (records.py). Every run leaves
docs/results/<table>/<name>.json (the program's own --json object, the command and the commit) and is skipped the next time. An
interrupted run is continued from its checkpoint in runs/results/. Grid, seeds and budgets stand in bandits_plan.json, which is
committed before anything is run.
"""
import json
import os
import pathlib
import statistics
import sys

import figures
from records import DEFAULTS, RESULTS, ROOT, by_commit, clean_commit, keep, play, read_record, shown_command
from results_page import (IMAGES, backed, bounds_of_difference, choice_of, difference, ends_of_grid, half_width, interval_of, mean_of,
                          paragraph, readable, write_page, write_section)

PLAN = json.loads((pathlib.Path(__file__).parent / "bandits_plan.json").read_text())
RUNS = ROOT / "runs/results"


def environment():
    data = ROOT.parent / "shared/data"
    extra = {"STEIN_DATA": str(data)} if "STEIN_DATA" not in os.environ and data.is_dir() else {}
    return {**os.environ, **extra}


def command(env, policy, settings, seeds, preset=None):
    words = ["bandit", "--env", env, "--policy", policy] + (["--preset", preset] if preset else [])
    for key, value in settings.items():
        words += ["--set", f"{key}={value}"]
    return " ".join(["stein", *words, "--seeds", f"{seeds[0]}:{seeds[1]}"])


def result_file(table, name):
    return RESULTS / table / (name.replace(", ", "_").replace(" ", "-").replace("δ", "delta").replace("ε", "epsilon") + ".json")


def run(table, name, asked, commit):
    """Runs or continues one entry, unless its result is there already."""
    result = result_file(table, name)
    if read_record(result, asked):
        return
    code, summary = play(f"{table}/{name}", asked, RUNS / table / result.stem, environment())
    if code == 0:
        keep(result, asked, commit, {"defaults": DEFAULTS, "summary": summary}, indent=1)


def combinations(grid):
    """Every combination of the values of a grid, {option: values}, as (name, settings)."""
    found = [("", {})]
    for key, values in grid.items():
        found = [(f"{name}_{key}-{value}", {**settings, key: value}) for name, settings in found for value in values]
    return found


def grid(policy):
    """Every combination of the policy's grid, as (name, settings)."""
    return [(policy + name, settings) for name, settings in combinations(PLAN["tuning"]["grid"][policy])]


def tuning_command(policy, settings):
    plan = PLAN["tuning"]
    return command(plan["env"], policy, {"steps": plan["steps"], **settings}, plan["seeds"])


def tuned(policy):
    """(settings, record) of every point of the policy's grid; the record is None where it has not been run."""
    for name, settings in grid(policy):
        yield settings, read_record(result_file("tuning", name), tuning_command(policy, settings))


def tuning_records():
    return [entry for policy in PLAN["tuning"]["grid"] for _, entry in tuned(policy) if entry]


def tune(policies):
    commit = clean_commit()
    for policy in policies:
        for name, settings in grid(policy):
            run("tuning", name, tuning_command(policy, settings), commit)


def chosen(policy):
    """The settings with the smallest mean regret on the tuning seeds; nothing if the grid has not been run whole."""
    best, settings = None, None
    for candidate, entry in tuned(policy) if policy in PLAN["tuning"]["grid"] else []:
        if entry is None:
            return None
        regret = entry["summary"]["regret"]["mean"]
        if best is None or regret < best:
            best, settings = regret, candidate
    return settings if settings is not None else {}


def entries(table):
    for entry in PLAN["tables"][table]["entries"]:
        yield entry["name"], entry["policy"], entry.get("env", PLAN["tables"][table].get("env")), entry.get("settings", {})


def commands(table):
    """(name, command) of every entry of a table; no command where its policy has not been tuned yet."""
    plan = PLAN["tables"][table]
    for name, policy, env, settings in entries(table):
        choice = chosen(policy) if plan.get("tuned") else {}
        yield name, None if choice is None else command(env, policy, {**plan.get("settings", {}), **choice, **settings}, plan["seeds"])


def run_tables(tables):
    commit = clean_commit()
    for table in tables:
        for name, asked in commands(table):
            if asked is None:
                sys.exit(f"{table}/{name}: the tuning grid has not been run whole; run `tune` first")
            run(table, name, asked, commit)


def row(name, entry):
    summary = entry["summary"]
    regret = summary["regret"]
    seeds = ", ".join(f"{value:.0f}" for value in regret["per_seed"])
    return (f"| {name} | {regret['mean']:.1f} ± {regret['sd']:.1f} | {mean_of(summary['regret_percent_of_uniform']):.1f} | "
            f"{mean_of(summary['lock_in_share']):.2f} | {mean_of(summary['decisions_per_second']):.0f} | "
            f"{mean_of(summary['updates_per_second']):.0f} | {seeds} | `{shown_command(entry)}` |")


HEAD = ("| policy | regret, mean ± sd | % of uniform | lock-in share | decisions/s | updates/s | regret of each seed | command |\n"
        "|---|---|---|---|---|---|---|---|")


def results_of(table):
    """The record of every entry of a table that has been run, by name."""
    found = {name: read_record(result_file(table, name), asked) for name, asked in commands(table)}
    return {name: entry for name, entry in found.items() if entry}


def write():
    text = (pathlib.Path(__file__).parent / "bandits_head.md").read_text()
    for table, plan in PLAN["tables"].items():
        text += f"\n## {plan['title']}\n\n{plan['text']}\n\n{FIGURES_OF.get(table, '')}{HEAD}\n"
        results = results_of(table)
        for name, _, _, _ in entries(table):
            text += (row(name, results[name]) if name in results else f"| {name} | not run | | | | | | |") + "\n"
        text += f"\nRecords by commit: {by_commit(results.values())}.\n" if results else ""
        pairs = [pair for pair in plan.get("pairs", []) if all(name in results for name in pair)]
        if pairs:
            text += "\nDifferences of regret, paired by seed, which gives both the same contexts:\n\n"
        for first, second in pairs:
            text += f"- {first} − {second}: {difference(*regrets_of(results, first, second))}\n"
    plan = PLAN["tuning"]
    text += f"\n## Tuning\n\n{plan['text']}\n\n| policy and settings | regret, mean ± sd |\n|---|---|\n"
    for policy in plan["grid"]:
        for settings, entry in tuned(policy):
            label = policy + " " + " ".join(f"{key}={value}" for key, value in settings.items())
            regret = entry["summary"]["regret"] if entry else None
            text += f"| {label} | {regret['mean']:.1f} ± {regret['sd']:.1f} |\n" if regret else f"| {label} | not run |\n"
    text += f"\nRecords by commit: {by_commit(tuning_records())}.\n\n| policy | chosen |\n|---|---|\n"
    for policy, of_policy in plan["grid"].items():
        settings = chosen(policy)
        text += f"| {policy} | {'the grid has not been run whole' if settings is None else choice_of(of_policy, settings)} |\n"
    write_page("bandits", text)
    tables = {table: results_of(table) for table in PLAN["tables"]}
    missing = [name for table in tables for name, _, _, _ in entries(table) if name not in tables[table]]
    if missing:
        sys.exit(f"figures and docs/results.md are left as they were: not run yet: {', '.join(missing)}")
    draw(tables)
    write_section("bandits.py", short(**tables))


def regrets_of(results, *names):
    return [results[name]["summary"]["regret"]["per_seed"] for name in names]


def paired(results, first, second):
    return [a - b for a, b in zip(*regrets_of(results, first, second), strict=True)]


# Figures of the long page, by table.
FIGURES_OF = {
    "wheel": "![Regret on the wheel bandit in percent of that of uniform play](images/bandits_wheel.svg)\n\n",
    "mushroom": "![Regret on mushroom by policy](images/bandits_mushroom.svg)\n\n"
                "![Differences of regret, paired by seed](images/bandits_differences.svg)\n\n",
    "remedies": "![Regret of single seeds by remedy](images/bandits_remedies.svg)\n\n",
}


def regret_mark(entry):
    regret = entry["summary"]["regret"]
    return figures.Mark(regret["per_seed"], regret["mean"], half_width(regret["per_seed"]), text=readable(regret["mean"]))


def regret_panel(title, results, **more):
    uniform = next(iter(results.values()))["summary"]["uniform_regret"]["mean"]
    return figures.Panel(title, "cumulative regret (reward lost)", {name: regret_mark(entry) for name, entry in results.items()},
                         reference=(uniform, "uniform play"), **more)


def draw(tables):
    policies = {name: policy for table in ("mushroom", "lock_in") for name, policy, _, _ in entries(table) if policy != "uniform"}
    tuned, default = ({name: entry for name, entry in tables[table].items() if name in policies} for table in ("mushroom", "lock_in"))
    figures.dots(IMAGES / "bandits_mushroom.svg", "Cumulative regret on mushroom, by policy",
                 {"": [figures.Row(name, policy) for name, policy in policies.items()]},
                 [[regret_panel("10,000 interactions, tuned, 5 seeds", tuned, logarithmic=True),
                   regret_panel("2,000 interactions, defaults, 20 seeds", default, logarithmic=True)]])

    pairs = dict.fromkeys(tuple(pair) for table in ("mushroom", "lock_in") for pair in PLAN["tables"][table]["pairs"])
    panels = []
    for title, table in (("10,000 interactions, tuned", "mushroom"), ("2,000 interactions, defaults", "lock_in")):
        marks = {}
        for first, second in PLAN["tables"][table]["pairs"]:
            values = paired(tables[table], first, second)
            mean = statistics.mean(values)
            marks[f"{first} − {second}"] = figures.Mark(values, mean, half_width(values), text=readable(mean))
        panels.append(figures.Panel(title, "difference of cumulative regret", marks, reference=(0, "")))
    figures.dots(IMAGES / "bandits_differences.svg", "Differences of cumulative regret on mushroom, paired by seed",
                 {"": [figures.Row(f"{first} − {second}", first) for first, second in pairs]}, [panels])

    panels = []
    for delta in sorted({settings["delta"] for _, _, _, settings in entries("wheel")}):
        marks = {}
        for name, policy, _, settings in entries("wheel"):
            if settings["delta"] == delta:
                summary = tables["wheel"][name]["summary"]
                shares = [100 * regret / uniform for regret, uniform
                          in zip(summary["regret"]["per_seed"], summary["uniform_regret"]["per_seed"], strict=True)]
                mean = mean_of(summary["regret_percent_of_uniform"])
                marks[policy] = figures.Mark(shares, mean, text=f"{mean:.1f} %")
        panels.append(figures.Panel(f"δ = {delta}, 2 seeds", "regret (% of uniform play)", marks, reference=(100, ""), bounds=(0, 110)))
    figures.dots(IMAGES / "bandits_wheel.svg", "Wheel bandit: regret in percent of uniform play after 20,000 interactions",
                 {"": [figures.Row(policy, policy) for policy in dict.fromkeys(policy for _, policy, _, _ in entries("wheel"))]}, [panels])

    figures.dots(IMAGES / "bandits_remedies.svg", "Lock-in on mushroom: regret of single seeds by remedy",
                 {"": [figures.Row(name, policy) for name, policy, _, _ in entries("remedies")]},
                 [[regret_panel("1,000 interactions, 10 seeds; svgd unless named", tables["remedies"], bounds=(0,))]])


def settings_tried():
    """How many settings of every policy were tried; the same number for all."""
    count, = {len(list(grid(policy))) for policy in PLAN["tuning"]["grid"]}
    return count


def at_ends():
    """How many policies have a chosen value at an end of its grid."""
    return sum(bool(ends_of_grid(of_policy, chosen(policy))) for policy, of_policy in PLAN["tuning"]["grid"].items())


def locked_in(entry):
    """In how many seeds the regret is above that of uniform play."""
    return round(mean_of(entry["summary"]["lock_in_share"]) * len(entry["summary"]["seeds"]))


def with_sd(entry):
    regret = entry["summary"]["regret"]
    return f"{readable(regret['mean'])} ± {readable(regret['sd'])}"


def short(wheel, mushroom, lock_in, remedies):
    """The section of the short page; what it says is checked against the records."""
    def mean(results, name):
        return results[name]["summary"]["regret"]["mean"]

    def percent(results, name):
        return mean_of(results[name]["summary"]["regret_percent_of_uniform"])

    greedy = "epsilon-greedy, ε=0.01"
    tuning, seeds = PLAN["tuning"], len(lock_in["svgd"]["summary"]["seeds"])
    low, high = bounds_of_difference(*regrets_of(lock_in, "svgd", greedy))
    order = sorted((name for name in mushroom if name != "uniform"), key=lambda name: mean(mushroom, name))
    text = "## Bandits: plain particles, older runs\n\n" + paragraph(
        "Particles under N(0, 1) without anchors, from programs with uncommitted changes, few tuning seeds and choices at the ends of their grids:",
        "kept for the paper's question. What `stein bandit` does today stands under [defaults](#bandits-defaults).") + paragraph(
        "Does the structure of `s2vgd` (SVGD on matrix-Gaussian factors) lower the regret of Stein Thompson sampling? Published is an order",
        "(Zhang et al. 2018, figure 3a, without numbers): S2VGD < SVGD, VMG < ε-greedy in cumulative regret on mushroom.",
        backed(bounds_of_difference(*regrets_of(mushroom, "s2vgd", "svgd"))[0] > 0
               and bounds_of_difference(*regrets_of(lock_in, "s2vgd", "svgd"))[0] > 0,
               "**That order is not reproduced here: `s2vgd` has more regret than `svgd`, tuned and with the defaults of then.**"))
    text += "![Cumulative regret on mushroom by policy](results/images/bandits_mushroom.svg)\n\n"
    text += paragraph("Dots are seeds, bars means, lines 95 % intervals of the mean; the dashed line is the regret of uniformly drawn arms",
                      "(uniform play). Regret is the expected reward lost against the best arm.")
    text += paragraph(
        f"**Mushroom, 10,000 interactions**, {len(mushroom['svgd']['summary']['seeds'])} seeds, regret ± sd:",
        ", ".join(f"`{name}` {with_sd(mushroom[name])}" for name in order) + ".",
        f"`s2vgd` − `svgd`, paired by seed: {interval_of(paired(mushroom, 's2vgd', 'svgd'))};",
        f"`s2vgd` − `vmg`: {interval_of(paired(mushroom, 's2vgd', 'vmg'))}.",
        backed(order[:2] == ["lints", "linucb"] and order[2:4] == ["epsilon-greedy, ε=0", greedy],
               "The linear policies have the least regret, then ε-greedy with ε = 0 and 0.01."),
        f"Settings: {settings_tried()} a policy, tried on {len(range(*tuning['seeds']))} other seeds with {tuning['steps']} interactions; the one",
        f"with the least mean regret was taken; {at_ends()} of {len(tuning['grid'])} choices have a value at the end of its grid (of two values",
        "both are ends).")
    text += paragraph(
        f"**Mushroom, 2,000 interactions**, {seeds} seeds, every option but a named ε at its default, nothing tuned:",
        f"`s2vgd` − `svgd` {interval_of(paired(lock_in, 's2vgd', 'svgd'))};",
        backed(low < 0 < high,
               f"`svgd` and ε-greedy with ε = 0.01 cannot be told apart: {interval_of(paired(lock_in, 'svgd', greedy))}."))
    alone = [name for name in remedies if name not in ("none", "defaults") and not name.startswith("s2vgd")]
    text += paragraph(
        "**Lock-in**: after early losses a policy may never eat again and end above the regret of uniform play.",
        backed(not any(locked_in(entry) for entry in lock_in.values()),
               f"With the defaults of then none of {seeds} seeds of any policy does."),
        f"Without remedies {locked_in(remedies['none'])} of {len(remedies['none']['summary']['seeds'])} seeds of `svgd` do (1,000",
        "interactions);",
        "with one remedy alone: " + ", ".join(f"{name} {locked_in(remedies[name])}" for name in alone)
        + f"; with those defaults (forced pulls and scaled rewards) {locked_in(remedies['defaults'])}.")
    text += "![Wheel bandit: regret in percent of uniform play](results/images/bandits_wheel.svg)\n\n"
    shares = {policy: ", ".join(f"{percent(wheel, f'{policy}, δ={delta}'):.1f}" for delta in (0.5, 0.9, 0.99))
              for policy in ("lints", "svgd", "s2vgd")}
    text += paragraph(
        "**Wheel**, 20,000 interactions, regret in percent of uniform play at δ = 0.5, 0.9, 0.99: "
        + "; ".join(f"`{policy}` {numbers}" for policy, numbers in shares.items()) + ".",
        backed(min(percent(wheel, f"{policy}, δ=0.99") for policy in shares) > 80, "At δ = 0.99 these three are close to uniform play."),
        backed(all(len(entry["summary"]["seeds"]) == 2 for entry in wheel.values()),
               "These are two seeds with untuned settings, too few for an order of the policies."))
    text += paragraph("Not run: the other policies on the wheel.")
    reported = [entry for table in (wheel, mushroom, lock_in, remedies) for entry in table.values()]
    text += paragraph(f"Records by commit: {by_commit(reported)}; of the tuning runs: {by_commit(tuning_records())}.")
    return text + "All tables, commands, grids and figures: [results/bandits.md](results/bandits.md).\n"


if __name__ == "__main__":
    action = sys.argv[1] if len(sys.argv) > 1 else ""
    if action == "tune":
        tune(sys.argv[2:] or PLAN["tuning"]["grid"])
    elif action == "run":
        run_tables(sys.argv[2:] or PLAN["tables"])
    elif action != "write":
        sys.exit(__doc__)
    write()
