#!/usr/bin/env python3
"""Runs the control tables of docs/results/control.md (figure 4 of Zhang et al. 2018) and writes them, with figures and the section of
docs/results.md; resumable.

    scripts/results/control.py tune [TASK …]     the grids, on their own seeds (control_tuning.py)
    scripts/results/control.py run [TASK …] [--iterations N]   the reported runs, with the settings that tuning chose
    scripts/results/control.py curves            learning curves of two MuJoCo tasks, with the defaults of every agent
    scripts/results/control.py write             the pages from whatever has been run

Experiments run from a clean commit only, with a program of that commit (records.py). Every run leaves
docs/results/control/<task>_<agent>_<posterior>….json: the command, the commit, what the program printed, and means and last values of the
training returns; it is skipped the next time. An interrupted run is continued from its checkpoint in runs/results/control. The plan
(tasks and their version, grids, seeds, budgets) is control_plan.json. A setting is chosen by the mean return of the final evaluation on
the tuning seeds. Runs of another length than planned (the published 1,000 iterations) have it in their name.
"""
import argparse
import itertools
import os
import sys

from control_figures import draw, have_curves, published
from control_measures import AGENTS, CURVE_POINTS, LEAST_SHARE, MEASURES, NAMES, PAIRS, POSTERIORS, verdict
from control_runs import ENTRIES, PLAN, curve_of, command, record_of, recorded, run, shown_command
from control_short import short
from control_tuning import at_ends, candidates, chosen, entries_of_plan, grid_of, tune, tuning_records
from records import by_commit, clean_commit
from results_page import choice_of, difference, mean_of, with_interval, write_page, write_section


def curve_command(task, agent, posterior):
    first, end = PLAN["seeds"]
    steps = PLAN["curves"]["tasks"][task]
    return f"stein rl --env {task} --agent {agent} --posterior {posterior} --set steps={steps} --seeds {first}:{end}"


def points_of(folder, summary):
    """By share of the steps: the evaluation then, or the last one before, of every seed."""
    evaluations = recorded(folder)["evaluation_return"]
    return {"evaluations": {str(share): [[value for step, value in points if step <= share * summary["steps"]][-1]
                                         for points in evaluations] for share in CURVE_POINTS}}


def name_of(task, agent, method, iterations):
    planned = iterations == PLAN["tasks"][task]["iterations"]
    return f"{task}_{agent}_{method}" + ("" if planned else f"_{iterations}")


def reported_command(task, agent, method, iterations):
    """None where the grid has not been run whole."""
    settings = chosen(task, agent, method)
    return None if settings is None else command(task, agent, method, iterations, PLAN["seeds"], settings)


def run_tables(tasks, iterations):
    commit = clean_commit()
    for task, agent, method in itertools.product(tasks, PLAN["agents"], PLAN["posteriors"]):
        entry = task, agent, method, iterations or PLAN["tasks"][task]["iterations"]
        asked = reported_command(*entry)
        if asked is None:
            print(f"{task}, {agent}, {method}: the grid has not been run whole; run `tune` first", file=sys.stderr)
            continue
        run(name_of(*entry), asked, commit, curve_of)


def curve_entries(task):
    for agent, posterior in itertools.product(PLAN["curves"]["agents"], PLAN["curves"]["posteriors"]):
        yield agent, posterior, f"curves/{task}_{agent}_{posterior}"


def run_curves():
    commit = clean_commit()
    for task in PLAN["curves"]["tasks"]:
        for agent, posterior, name in curve_entries(task):
            run(name, curve_command(task, agent, posterior), commit, points_of)


def curve_section():
    text = CURVES_TEXT
    for task, steps in PLAN["curves"]["tasks"].items():
        text += f"### {task}\n\n| agent | posterior | " + " | ".join(f"{share * steps / 1e6:g} M" for share in CURVE_POINTS)
        text += " | without noise at the end | command |\n" + "|---" * (len(CURVE_POINTS) + 4) + "|\n"
        there = {}
        for agent, posterior, name in curve_entries(task):
            entry = record_of(name, curve_command(task, agent, posterior))
            text += f"| {agent} | {posterior} | "
            if entry is None or "diverged" in entry:
                text += "not run" if entry is None else "diverged"
                text += " |" * (len(CURVE_POINTS) + 2) + "\n"
                continue
            cells = [with_interval(entry["evaluations"][str(share)], 0) for share in CURVE_POINTS]
            cells.append(with_interval(entry["summary"]["return"]["per_seed"], 0))
            text += " | ".join(cells) + f" | `{shown_command(entry)}` |\n"
            there[f"{AGENTS[agent]} with {POSTERIORS[posterior]}"] = entry
        text += f"\nRecords by commit: {by_commit(list(there.values()))}.\n\n" if there else "\n"
        text += in_name_only(there)
    return text


def over_particles(numbers, tag):
    return " / ".join(with_interval(numbers[tag + part], 1) for part in ("", "_median", "_max"))


def steps_a_seed(summary):
    """Environment steps of one seed; older records have the sum over seeds."""
    steps = summary["env_steps"]
    return mean_of(steps) if isinstance(steps, dict) else steps / len(summary["seeds"])


def row(method, settings, grid, entry):
    if entry is None:
        return f"| {NAMES[method]} | not run | | | | | | | | |\n"
    if "diverged" in entry:
        return f"| {NAMES[method]} | diverged | | | | | | | | `{shown_command(entry)}` |\n"
    summary, curve = entry["summary"], entry["curve"]
    cells = [choice_of(grid, settings),
             with_interval(curve["mean"]["return"], 1), with_interval(curve["mean"]["discounted_return"], 1),
             with_interval(summary["return"]["per_seed"], 1), with_interval(summary["discounted_return"]["per_seed"], 1),
             over_particles(curve["last"], "return"), over_particles(curve["last"], "discounted_return"),
             f"{mean_of(summary['iterations']):.0f}, {steps_a_seed(summary) / 1e6:.1f} M"]
    return f"| {NAMES[method]} | " + " | ".join(cells) + f" | `{shown_command(entry)}` |\n"


def differences(entries):
    """A table of all pairs that there are, by every measure."""
    text = "\n| difference, paired by seed | " + " | ".join(MEASURES) + " |\n" + "|---" * (len(MEASURES) + 1) + "|\n"
    for first, second in PAIRS:
        if first not in entries or second not in entries:
            continue
        cells = [difference(value(entries[first]), value(entries[second])) for value in MEASURES.values()]
        text += f"| {NAMES[first]} − {NAMES[second]} | " + " | ".join(cells) + " |\n"
    return text + "\n"


def in_name_only(entries, why=""):
    """What is said of posteriors, by name, whose prior and repulsion move next to nothing; nothing where there are none."""
    shares = {name: entry["summary"]["posterior_share"] for name, entry in entries.items() if "posterior_share" in entry["summary"]}
    weak = {name: share["prior"]["mean"] + share["repulsion"]["mean"] for name, share in shares.items()}
    weak = {name: sum_of for name, sum_of in weak.items() if sum_of < LEAST_SHARE}
    if not weak:
        return ""
    found = ", ".join(f"{100 * sum_of:.2g} % ({name})" for name, sum_of in weak.items())
    return f"A posterior in name only{why}: of what moves its particles prior and repulsion are {found}, so they are maxima of the return.\n\n"


def verdicts(everything):
    """A table of what the intervals of the differences say of every pair, by task and measure."""
    text = "| | " + " | ".join(f"{task}: {measure}" for task in PLAN["tasks"] for measure in MEASURES) + " |\n"
    text += "|---" * (len(PLAN["tasks"]) * len(MEASURES) + 1) + "|\n"
    for first, second in PAIRS:
        cells = []
        for task, value in itertools.product(PLAN["tasks"], MEASURES.values()):
            signs = []
            for agent in PLAN["agents"]:
                entries = everything.get((task, agent), {})
                if first in entries and second in entries:
                    signs.append(f"{agent} {verdict(value, entries[first], entries[second])}")
            cells.append(", ".join(signs))
        text += f"| {NAMES[first]} against {NAMES[second]} | " + " | ".join(cells) + " |\n"
    return text + "\n"


TEXT = """# Control: REINFORCE and A2C with a posterior

The findings in short: [results.md](../results.md#control).

Made by `scripts/results/control.py` from `docs/results/control/`: figure 4 of Zhang et al. 2018. 16 particles, 10,000 steps a particle and
iteration, kernel RBF with the median rule, particles that start independently, horizon 500, discount 0.99, actions normalised to [−1, 1]
as rllab's runs have them, prior N(0, 1) on the weights (independent: none, each particle on its own). REINFORCE plays its paths to their
end: it makes as many steps as so many iterations have, in somewhat fewer iterations.

Ladders of values, where each grid begins and {seeds} tuning seeds were committed before the tuning runs; reported seeds are others. Every method began with
{first} settings: three step sizes by three α of the Stein methods, a factor of about 3 and of 10 apart, nine step sizes of independent policies, a factor of
about 1.5 apart. Where the best lay at an end of its grid, the next value of the ladder was tried there, until it lay inside: {tried} settings at most, {ends} of
{choices} choices at an end of their ladder. Best is the largest final evaluation after 30 % of the length. Advantages are normalised for all. The grids begin
where an earlier tuning had ended (two seeds, nine settings, 14 of 24 choices at an end; advantages of independent policies with A2C not normalised): its
tables are those of this page at commit 65dee3f.

Records of the tuning runs by commit: {tuning_commits}.

"Learning" is the mean over the whole run of the training return (particles and seeds alike): a method that learns faster has more of it.
Settings were chosen by the final evaluation, so the order by that stands beside it. All are means over seeds ± half the width of a 95 %
interval over them; the best particle stands apart and is no result of the method. In the figures dots are seeds, bars means, lines 95 %
intervals of the mean.

"""
PUBLISHED = """Published: S2VGD converges faster than SVGD and to higher returns, and better than SVGD* (figure 4 and its text; no numbers are given).

Found, by 95 % intervals of differences paired by seed (ahead: the whole interval is above 0; behind: below 0; open: it contains 0):

"""
LIMITS = """The prior is N(0, 1), where the published code has next to none, and the last two tasks have fewer iterations than the published 1,000. On double-pendulum no
method learns much in these 32 M steps: untrained policies get −1,195 with drawn actions, and one PPO policy with the preset `paper` −1,036 ± 76
(sd of five seeds) after 1 M steps (`stein rl --env double-pendulum --agent ppo --preset paper --set steps=1000000 --seeds 0:5`; of these two figures no
record is kept). Differences there say little.

Of the published 1,000 iterations only the rows that stand below under that length have been run; the verdicts above are of the others.

"""
CURVES_TEXT = """## Learning curves of two MuJoCo tasks

Return of evaluation episodes (the most likely action, a particle drawn for each episode) after so many environment steps of all
particles together: mean over five seeds ± half the width of a 95 % interval. Every agent has its defaults; nothing was tuned for
these tasks.

![Learning curves of InvertedPendulum and cartpole-swingup-dm](images/control_curves.svg)

"""
HEAD = ("| method | chosen | learning | learning, discounted | final evaluation, no noise | the same, discounted | "
        "last iteration: mean / median / max over particles | the same, discounted | iterations, steps a seed | command |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n")


def write():
    everything, text = {}, ""
    for task, agent in itertools.product(PLAN["tasks"], PLAN["agents"]):
        lengths = {PLAN["tasks"][task]["iterations"]}
        lengths |= {int(path.stem.rsplit("_", 1)[1]) for path in ENTRIES.glob(f"{task}_{agent}_*_*.json")}
        for length in sorted(lengths):
            text += f"### {task}, {agent}, the steps of {length} iterations\n\n{HEAD}"
            entries, there = {}, []
            for method in PLAN["posteriors"]:
                entry = record_of(name_of(task, agent, method, length), reported_command(task, agent, method, length))
                text += row(method, chosen(task, agent, method), grid_of(task, agent, method), entry)
                if entry:
                    there.append(entry)
                if entry and "summary" in entry:
                    entries[method] = entry
            text += f"\nRecords by commit: {by_commit(there)}.\n" if there else ""
            text += differences(entries) + in_name_only({NAMES[method]: entry for method, entry in entries.items()}, ", for tuning chose so small an α")
            everything[task, agent, length] = entries
    planned = {(task, agent): everything[task, agent, PLAN["tasks"][task]["iterations"]]
               for task, agent in itertools.product(PLAN["tasks"], PLAN["agents"])}
    ends, choices = at_ends()
    tried = max(len(list(candidates(grid_of(*point)))) for point in entries_of_plan())
    head = TEXT.format(seeds=len(range(*PLAN["tuning_seeds"])), first=PLAN["settings_at_first"], tried=tried, ends=ends, choices=choices,
                       tuning_commits=by_commit(tuning_records()) or "none yet")
    write_page("control", head + PUBLISHED + verdicts(planned) + LIMITS + (LEARNING_FIGURES if have_curves(planned) else "") + RETURNS_FIGURES +
               text + curve_section())
    curves = {(task, agent, posterior): record_of(name, curve_command(task, agent, posterior))
              for task in PLAN["curves"]["tasks"] for agent, posterior, name in curve_entries(task)}
    missing = [f"{task} {agent} {method}" for (task, agent), entries in planned.items()
               for method in PLAN["posteriors"] if method not in entries]
    missing += [f"cartpole-swingup reinforce {method} at the published length" for method in PLAN["posteriors"] if method not in published(everything)]
    missing += [" ".join(key) for key, entry in curves.items() if entry is None or "evaluations" not in entry]
    if missing:
        sys.exit(f"figures and docs/results.md are left as they were: no result yet of {', '.join(missing)}")
    draw(planned, everything, curves)
    write_section("control.py", short(planned, everything, curves))


LEARNING_FIGURES = """## Curves

The published figure: discounted return of training, a mean over particles and seeds, by steps; bands are 95 % intervals over seeds.

![Learning curves of REINFORCE](images/control_learning_reinforce.svg)

![Learning curves of A2C](images/control_learning_a2c.svg)

"""
RETURNS_FIGURES = """## Tables by task, agent and length

![Final returns and learning by method, agent and task](images/control_returns.svg)

![Returns of REINFORCE on cartpole-swingup with the steps of 1,000 iterations](images/control_1000.svg)

"""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["tune", "run", "curves", "write"])
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument("--iterations", type=int, default=0)
    choice = parser.parse_args()
    wanted = choice.tasks or list(PLAN["tasks"])
    for task in wanted:
        if task not in PLAN["tasks"]:
            parser.error(f"unknown task '{task}', expected some of {', '.join(PLAN['tasks'])}")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if choice.action == "tune":
        tune(wanted)
    elif choice.action == "run":
        run_tables(wanted, choice.iterations)
    elif choice.action == "curves":
        run_curves()
    write()
