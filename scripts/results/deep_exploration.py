#!/usr/bin/env python3
"""Runs agents on deep seas of several sizes and writes docs/results/deep_exploration.md with its figure; resumable.

    scripts/results/deep_exploration.py run     the runs of the plan (two hours of a core)
    scripts/results/deep_exploration.py write   the page from whatever has been run

Does it pay to draw a policy for a whole episode where chance in every step does not meet the reward? Experiments run from a clean commit
only, with a program of that commit (records.py). Every run leaves docs/results/deep_exploration/<agent>_<method>_<size>.json and is skipped
the next time. Sizes, methods, steps and seeds stand in deep_exploration_plan.json; no method is tuned.
"""
import itertools
import json
import pathlib
import statistics

import figures
from records import RESULTS, ROOT, by_commit, play_missing, read_record
from results_page import IMAGES, backed, paragraph, run_or_write, write_page, write_section

PLAN = json.loads((pathlib.Path(__file__).parent / "deep_exploration_plan.json").read_text())
ENTRIES = RESULTS / "deep_exploration"
RUNS = ROOT / "runs/results/deep_exploration"
POSTERIORS = [method for method, how in PLAN["methods"].items() if "preset" in how and "settings" not in how]
FREE = {method: f"{method}, no prior" for method in POSTERIORS}  # the same without prior and repulsion


def command_of(agent, method, size):
    how, (first, end) = PLAN["methods"][method], PLAN["seeds"]
    settings = {"size": size, "steps": PLAN["steps"], **how.get("settings", {}), **how.get("of_agent", {}).get(agent, {})}
    preset = f" --preset {how['preset']}" if "preset" in how else ""
    return (f"stein rl --env {PLAN['env']} --agent {agent} --posterior {how['posterior']}{preset} --set "
            f"{' '.join(f'{key}={value}' for key, value in settings.items())} --seeds {first}:{end}")


def name_of(agent, method, size):
    return f"{agent}_{method.replace(', ', '-').replace(' ', '-')}_{size}"


def points():
    return itertools.product(PLAN["sizes"], PLAN["agents"], PLAN["methods"])


def record_of(agent, method, size):
    return read_record(ENTRIES / f"{name_of(agent, method, size)}.json", command_of(agent, method, size), env_version=PLAN["env_version"])


def run():
    play_missing(ENTRIES, RUNS, ((name_of(agent, method, size), command_of(agent, method, size), record_of(agent, method, size)) for size, agent, method in points()))


def returns(entry):
    return entry["summary"]["return"]["per_seed"]


def found(entry):
    """In how many seeds the final policy gets to the treasure, more often than not."""
    return sum(value > PLAN["found"] for value in returns(entry))


def met(entry):
    """In how many seeds some particle of the final policy does."""
    return sum(value > PLAN["found"] for value in entry["summary"]["particles"]["max"]["per_seed"])


def cell(entry):
    if entry is None:
        return "not run"
    first = [steps for steps in entry["summary"]["steps_to_threshold"]["per_seed"] if steps is not None]
    median = f", after {statistics.median(first):,.0f} steps" if first and found(entry) else ""
    return f"{found(entry)} of {len(returns(entry))} ({abs(round(statistics.mean(returns(entry)), 2)):.2f}{median})"


def against_free(entries):
    """What prior and repulsion are worth, in words; nothing where a run of either side is missing."""
    pairs = [(entries[agent, method, size], entries[agent, FREE[method], size])
             for agent, method, size in itertools.product(PLAN["agents"], POSTERIORS, PLAN["sizes"])]
    if not all(entry for pair in pairs for entry in pair):
        return ""
    more = [found(one) - found(other) for one, other in pairs]
    tries, largest = len(returns(pairs[0][0])), max(map(abs, more))
    apart = f"at most {largest} of {tries} more or fewer" if largest else "as many"
    return (f"{sum(found(other) for _, other in pairs)} seeds find the treasure where {sum(found(one) for one, _ in pairs)} do with them, of {tries * len(pairs)} "
            f"({apart} for each agent, posterior and size)")


def independent_particles(entries):
    """In how many seeds some independent particle gets there, in words."""
    methods = [method for method in PLAN["methods"] if PLAN["methods"][method]["posterior"] == "independent"]
    texts = []
    for agent, method in itertools.product(PLAN["agents"], methods):
        of_sizes = [entries[agent, method, size] for size in PLAN["sizes"]]
        if all(of_sizes):
            texts.append(f"{agent.upper()}, {method}: {', '.join(str(met(entry)) for entry in of_sizes)}")
    return f" (seeds where at least one does, by size: {'; '.join(texts)})" if texts else ""


def panels(entries):
    """By agent: of every method the share of seeds that find the treasure, over the size. Without prior and repulsion the curves lie on
    those with them."""
    drawn = {}
    for agent in PLAN["agents"]:
        drawn[agent.upper()] = []
        for method, how in PLAN["methods"].items():
            if method in FREE.values():
                continue
            of_sizes = [(size, entries[agent, method, size]) for size in PLAN["sizes"] if entries[agent, method, size]]
            shares = [(size, 100 * found(entry) / len(returns(entry))) for size, entry in of_sizes]
            drawn[agent.upper()].append(figures.Curve(method, how["colour"], "settings" in how, [(x, y, y, y) for x, y in shares]))
    return drawn


def short(entries):
    """The section of docs/results.md."""
    def most(methods, size):
        return max(found(entries[agent, method, size]) for agent in PLAN["agents"] for method in methods)

    others = [method for method in PLAN["methods"] if method not in (*POSTERIORS, *FREE.values())]
    first, end = PLAN["seeds"]
    least = {size: min(found(entries["ppo", method, size]) for method in POSTERIORS) for size in PLAN["sizes"]}
    return "## Deep exploration\n\n" + paragraph(
        "What are many policies that share what they see good for? Where no chance of single actions meets the reward (`deep-sea`, after bsuite), a policy that",
        "is drawn for an episode can mean to go there.",
        backed(all(least[size] > most(others, size) for size in (20, 40, 80)),
               f"Of {end - first} seeds of PPO with the preset `explore`, {least[20]}, {least[40]} and {least[80]} or more find the treasure of seas of 20, 40 and 80 "
               f"rows, under `svgd` and `s2vgd`; without the preset, wide starts and entropy bonuses included, at most {most(others, 20)}, {most(others, 40)} and "
               f"{most(others, 80)} end with a policy that gets there more often than not."),
        "A2C finds it less often than PPO. It takes the start of the preset: with the defaults, whose policies begin as chance, `svgd` does not",
        f"explore either. And it does not take a posterior: without prior and repulsion (α = 1e-9) {against_free(entries)}.") + \
        "![Share of seeds that find the treasure, by size](results/images/deep_exploration.svg)\n\nTable and commands: " \
        "[results/deep_exploration.md](results/deep_exploration.md).\n"


def write():
    entries = {(agent, method, size): record_of(agent, method, size) for size, agent, method in points()}
    first, end = PLAN["seeds"]
    text = f"""# Deep exploration

Made by `scripts/results/deep_exploration.py` from the records in `docs/results/deep_exploration/`; the plan is
`scripts/results/deep_exploration_plan.json`.

`deep-sea` (after Osband et al. 2020) pays at the end of one path of N steps that all cost a little: an agent that draws every action by chance
finds it in one of 2^N episodes, and what it sees teaches it to stay away. An agent that draws a policy for an episode can draw one that means to go right
everywhere. Nothing but the start is tuned: every agent has its defaults, or what the name of its row says: an entropy bonus of 0.03, a wide start
(`output_spread=10`: a policy prefers something everywhere from the first step on), rollouts as short as those of Stein posteriors (independent particles have
16 x 32 steps each with A2C and 8 x 256 with PPO otherwise, so few iterations: 25 and 7), or the preset `explore` of Stein posteriors, which is the same start
for particles that share their rollouts under a prior. {PLAN["steps"]:,} steps of all particles together, seeds {first} to {end - 1}; the start was
looked for on seeds 1000 to 1004 and 0 to 4 of sizes 10 to 80, by trials of which no record is kept.

![Share of seeds that find the treasure, by size](images/deep_exploration.svg)

(The rows "no prior" of the tables are not drawn.) Seeds whose final policies get there more often than not (mean return over seeds; median of the steps of all particles until an evaluation first did, of
the seeds where one did; none where no final policy gets there). A policy that is drawn to act is one of all particles: of independent ones, which do not learn from one another, some get there and most
do not{independent_particles(entries)}.

"""
    for agent in PLAN["agents"]:
        text += f"| {agent.upper()} | {' | '.join(f'N = {size}' for size in PLAN['sizes'])} |\n|---|{'---|' * len(PLAN['sizes'])}\n"
        for method in PLAN["methods"]:
            text += f"| {method} | {' | '.join(cell(entries[agent, method, size]) for size in PLAN['sizes'])} |\n"
        text += "\n"
    text += """The place is seen as two numbers, so a random network can mean "right" everywhere; bsuite's one-hot places, with an action of their own in every row,
leave nothing to draw at once, and of that sea nothing is said here. Nor is it the posterior that finds the treasure: the rows "no prior"
have `alpha=1e-9`, where prior and repulsion move nothing and the program says so, and"""
    text += f" {against_free(entries) or 'not all of them have been run'}.\n"
    text += """What is shown is no more than this: particles that start as different policies, of which one is drawn for an episode and all learn from what it saw,
explore where a simple policy leads to the reward, and chance in every step does not.

## Commands

| runs | command |
|---|---|
"""
    for agent, method in itertools.product(PLAN["agents"], PLAN["methods"]):
        text += f"| {agent.upper()}, {method} | `{command_of(agent, method, 'N')}` |\n"
    text += "\nRecords by commit: " + (by_commit([entry for entry in entries.values() if entry]) or "none yet") + ".\n"
    write_page("deep_exploration", text)
    if all(entries.values()):
        write_section("deep_exploration.py", short(entries))
        figures.curves(IMAGES / "deep_exploration.svg", "Share of seeds that find the treasure of a deep sea, by its size", panels(entries),
                       "rows and columns of the sea", "seeds that find it, %")


if __name__ == "__main__":
    run_or_write(__doc__, run, write)
