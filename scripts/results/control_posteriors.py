#!/usr/bin/env python3
"""Runs agents with and without a posterior over their policies, and writes docs/results/control_posteriors.md; resumable.

    scripts/results/control_posteriors.py run     the runs of the plan (an hour of a core)
    scripts/results/control_posteriors.py write   the page from whatever has been run

What are sixteen policies under a posterior worth beside one, at the same steps of all together? Experiments run from a clean commit only, with a
program of that commit (records.py). Every run leaves docs/results/control_posteriors/<task>_<agent>_<method>.json and is skipped the next
time. Tasks, methods, steps and seeds stand in control_posteriors_plan.json; nothing is tuned.
"""
import json
import pathlib
import statistics

import figures
from records import RESULTS, ROOT, by_commit, play_missing, read_record
from results_page import (IMAGES, bounds_of_difference, half_width, paired_difference, paragraph, readable, run_or_write, with_interval,
                          write_page, write_section)

PLAN = json.loads((pathlib.Path(__file__).parent / "control_posteriors_plan.json").read_text())
ENTRIES = RESULTS / "control_posteriors"
RUNS = ROOT / "runs/results/control_posteriors"
ONE = "one policy"
COLOURS = {ONE: "uniform", "independent": "independent", "svgd": "svgd", "s2vgd": "s2vgd"}  # of figures.py, by how a method's name begins


def command_of(task, agent, method):
    how, (first, end) = PLAN["methods"][method], PLAN["seeds"]
    settings = {"steps": PLAN["tasks"][task]["steps"], "evaluate_every": PLAN["evaluate_every"], **how.get("settings", {}),
                **how.get("of_agent", {}).get(agent, {})}
    return (f"stein rl --env {task} --agent {agent} --posterior {how['posterior']} --set "
            f"{' '.join(f'{key}={value}' for key, value in settings.items())} --seeds {first}:{end}")


def name_of(task, agent, method):
    return f"{task}_{agent}_{method.replace(', ', '-').replace(' ', '-')}"


def points():
    return [(task, agent, method) for task, how in PLAN["tasks"].items() for agent in how["agents"] for method in PLAN["methods"]]


def record_of(*point):
    return read_record(ENTRIES / f"{name_of(*point)}.json", command_of(*point), env_version=PLAN["env_version"])


def run():
    play_missing(ENTRIES, RUNS, ((name_of(*point), command_of(*point), record_of(*point)) for point in points()))


def returns(entry):
    return entry["summary"]["return"]["per_seed"]


def steps_to_goal(entry):
    """Median of the seeds that got there, and how many did; a dash where the task has no threshold."""
    if entry["summary"].get("threshold") is None:
        return "–"
    steps = [value for value in entry["summary"]["steps_to_threshold"]["per_seed"] if value is not None]
    if not steps:
        return f"none of {len(returns(entry))}"
    few = "" if len(steps) == len(returns(entry)) else f", {len(steps)} of {len(returns(entry))}"
    return f"{statistics.median(steps):,.0f}{few}"


def of_posterior(entry, *keys):
    """Mean and range of a number that a run with several policies has; a dash for others."""
    value = entry["summary"]
    for key in keys:
        value = (value or {}).get(key)
    if value is None:
        return "–"
    percent, digits = (100, 2) if keys[0] == "posterior_share" else (1, 2)
    seeds = [percent * number for number in value["per_seed"]]
    return f"{statistics.mean(seeds):.{digits}f} ({min(seeds):.{digits}f} to {max(seeds):.{digits}f})"


def against_one(entry, one):
    if entry is one:
        return "–"
    if one is None:
        return "not run"
    mean, half = paired_difference(returns(entry), returns(one))
    return f"{readable(mean, 1)} ({readable(mean - half, 1)} to {readable(mean + half, 1)})"


def table(task, agent, entries):
    text = ("| | return | difference to one policy | worst seed | steps to the goal, median | prior, % | repulsion, % | `collapse` | `effective_share` |\n"
            "|---|---|---|---|---|---|---|---|---|\n")
    one = entries[task, agent, ONE]
    for method in PLAN["methods"]:
        entry = entries[task, agent, method]
        if entry is None:
            text += f"| {method} | not run | | | | | | | |\n"
            continue
        text += (f"| {method} | {readable_interval(returns(entry))} | {against_one(entry, one)} | {readable(min(returns(entry)), 1)} | {steps_to_goal(entry)} | "
                 f"{of_posterior(entry, 'posterior_share', 'prior')} | {of_posterior(entry, 'posterior_share', 'repulsion')} | "
                 f"{of_posterior(entry, 'collapse')} | {of_posterior(entry, 'effective_share')} |\n")
    return text


def readable_interval(values):
    return with_interval(values, 1).replace("-", "−")


def places():
    return [(task, agent) for task, how in PLAN["tasks"].items() for agent in how["agents"]]


def verdict(entries, method, other):
    """How often one method's return is ahead of another's, by paired intervals; None where not all have been run."""
    pairs = [(entries[*place, method], entries[*place, other]) for place in places()]
    if not all(first and second for first, second in pairs):
        return None
    ahead = behind = opened = 0
    for first, second in pairs:
        low, high = bounds_of_difference(returns(first), returns(second))
        ahead, behind, opened = ahead + (low > 0), behind + (high < 0), opened + (low <= 0 <= high)
    return f"{method} beside {other}: ahead in {ahead}, behind in {behind}, open in {opened} of {len(pairs)}"


def verdicts(entries):
    """Of every pair that is compared, as a list."""
    text = ""
    for method, other in [("svgd", ONE), ("s2vgd", ONE), ("svgd", "independent"), ("s2vgd", "independent"), ("svgd", "independent, short rollouts"),
                          ("s2vgd", "independent, short rollouts"), ("svgd", "svgd, no prior"), ("s2vgd", "s2vgd, no prior"),
                          ("svgd, behaviour", "svgd"), ("svgd, shared layer", "svgd"), ("s2vgd, shared layer", "s2vgd"),
                          ("svgd, alpha of returns", "svgd")]:
        found = verdict(entries, method, other)
        text += f"- {found}\n" if found else ""
    return text or "Not all of them have been run.\n"


def draw(entries):
    """Final returns, a panel for every task and agent."""
    def panel(task, agent):
        marks = {}
        for method in PLAN["methods"]:
            if entry := entries[task, agent, method]:
                marks[method] = figures.Mark(returns(entry), statistics.mean(returns(entry)), half_width(returns(entry)))
        return figures.Panel(f"{task}, {agent.upper()}", "return of an episode", marks)

    drawn = [panel(*place) for place in places() if any(entries[*place, method] for method in PLAN["methods"])]
    rows = [figures.Row(method, COLOURS[next(name for name in COLOURS if method.startswith(name))]) for method in PLAN["methods"]]
    figures.dots(IMAGES / "control_posteriors.svg", "Final returns of one policy and of sixteen", {"": rows},
                 [drawn[first:first + 2] for first in range(0, len(drawn), 2)])


def short(entries):
    """The section of docs/results.md."""
    first, end = PLAN["seeds"]
    found = [verdict(entries, *pair) for pair in [("svgd", ONE), ("svgd", "independent"), ("svgd", "svgd, no prior"), ("svgd, shared layer", "svgd")]]
    return "## Posteriors over policies\n\n" + paragraph(
        "Sixteen policies under a posterior beside one policy at the same steps of all together, with the defaults of every agent;",
        f"seeds {first} to {end - 1}, final returns, a comparison on each of {len(places())} pairs of a task and an agent.",
        f"{'; '.join(filter(None, found))}.") + \
        "![Final returns of one policy and of sixteen, by task and agent](results/images/control_posteriors.svg)\n\nTables and commands: " \
        "[results/control_posteriors.md](results/control_posteriors.md).\n"


def write():
    entries = {point: record_of(*point) for point in points()}
    first, end = PLAN["seeds"]
    text = f"""# Posteriors over policies

Made by `scripts/results/control_posteriors.py` from the records in `docs/results/control_posteriors/`; the plan is
`scripts/results/control_posteriors_plan.json`, which was committed before the runs.

What are sixteen policies under a posterior worth beside one policy, at the same steps of all together? Every agent has its defaults; "no prior" is
`alpha=1e-9`, under which prior and repulsion move nothing (the program warns of it), so that what is left are particles that began apart and share what they see;
independent particles share nothing, and by their defaults make a sixteenth of the iterations: with short rollouts they make as many. "Behaviour" is `kernel_sees=behaviour`,
"shared layer" `shared_layers=1`; "alpha of returns" has α in units of the normalised return (`gradient_scale=per_episode normalize_advantages=false`), annealed from .1 to about
an eighth of that. Seeds {first} to {end - 1}. Returns are those of the last policy, 100 episodes without noise, a particle drawn for each
episode, ± half of a 95 % interval of the mean over seeds; differences are paired by seed, with their 95 % interval. The goal is the task's threshold, looked at every
{PLAN["evaluate_every"]:,} steps. Prior and repulsion are shares of the length of what moves particles when it was last measured, `collapse` and `effective_share` as
[control.md](../control.md#a-posterior-over-policies) says; means over seeds, in brackets the lowest and highest.

Whose return is higher, by these intervals:

{verdicts(entries)}
"""
    if any(entries.values()):
        draw(entries)
        text += "![Final returns of one policy and of sixteen, by task and agent](images/control_posteriors.svg)\n\n"
    for task, how in PLAN["tasks"].items():
        for agent in how["agents"]:
            text += f"## {task}, {agent.upper()}, {how['steps']:,} steps\n\n{table(task, agent, entries)}\n"
    text += "## Commands\n\n<details><summary>By task, agent and method</summary>\n\n| run | command |\n|---|---|\n"
    for (task, agent, method), entry in entries.items():
        if entry:
            text += f"| {task}, {agent.upper()}, {method} | `{entry['command']}` |\n"
    text += "\n</details>\n\nRecords by commit: " + (by_commit([entry for entry in entries.values() if entry]) or "none yet") + ".\n"
    write_page("control_posteriors", text)
    write_section("control_posteriors.py", short(entries))


if __name__ == "__main__":
    run_or_write(__doc__, run, write)
