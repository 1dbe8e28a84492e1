#!/usr/bin/env python3
"""Runs the control tables of docs/results.md (the figure of Zhang et al. 2018, §5.3) and writes their rows; resumable.

    scripts/results/control.py tune [TASK …]     the grid, on its own seeds; six settings for every method
    scripts/results/control.py run [TASK …] [--iterations N]   the reported runs, with the settings that tuning chose
    scripts/results/control.py write             docs/results.md from whatever has been run

Every run leaves docs/results/control/<task>_<agent>_<posterior>….json: the command, what the program printed, and what the curve of
returns came to; it is skipped the next time. An interrupted run is continued from its checkpoint in runs/results/control. The plan
(tasks, grids, seeds, budgets) is control_plan.json, committed before anything was run. A setting is chosen by the mean return of the
final evaluation on the tuning seeds. Runs of another length than planned (the published 1,000 iterations) have it in their name.
"""
import argparse
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/stein"
PLAN = json.loads((pathlib.Path(__file__).parent / "control_plan.json").read_text())
RESULTS = ROOT / "docs/results/control"
RUNS = ROOT / "runs/results/control"
BEGIN, END = "<!-- control.py: begin -->\n", "<!-- control.py: end -->\n"
STUDENT_T_975 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262}  # by degrees of freedom
NAMES = {"independent": "independent", "svgd": "SVGD", "svgd-star": "SVGD* (25-16)", "s2vgd": "S2VGD, K = 4"}


def settings_of(agent, method, chosen):
    return {**PLAN["settings"], **PLAN["agents"][agent], **PLAN["posteriors"][method]["settings"], **chosen}


def command(task, agent, method, iterations, seeds, chosen):
    settings = settings_of(agent, method, chosen)
    steps = iterations * settings["particles"] * settings["slots"] * settings["steps_per_slot"]
    words = ["rl", "--env", task, "--agent", agent, "--posterior", PLAN["posteriors"][method]["posterior"]]
    for key, value in {**settings, "steps": steps}.items():
        words += ["--set", f"{key}={value}"]
    return words + ["--seeds", f"{seeds[0]}:{seeds[1]}"]


def curve_of(folder):
    """By tag and seed: the mean over the run of a recorded curve, every record standing for the steps before it."""
    values = {}
    for line in (folder / "metrics.jsonl").read_text().splitlines():
        record = json.loads(line)
        if record["tag"] in ("return", "discounted_return", "return_median", "return_max"):
            values.setdefault(record["tag"], {}).setdefault(record["seed"], []).append((record["step"], record["value"]))
    means, last = {}, {}
    for tag, by_seed in values.items():
        for seed, points in sorted(by_seed.items()):
            before, total = 0, 0.0
            for step, value in points:
                total += (step - before) * value
                before = step
            means.setdefault(tag, []).append(total / before)
            last.setdefault(tag, []).append(points[-1][1])
    return {"mean": means, "last": last}


def run(name, words):
    result = RESULTS / f"{name}.json"
    if result.exists():
        return json.loads(result.read_text())
    folder = RUNS / name
    started = folder.exists() and any((folder / "checkpoints").glob("*"))
    call = [str(PROGRAM), "resume", str(folder)] if started else [str(PROGRAM), *words, "--out", str(folder), "--overwrite"]
    print(f"{name}: {'resumed' if started else 'started'}", file=sys.stderr, flush=True)
    done = subprocess.run([*call, "--json", "--quiet"], stdout=subprocess.PIPE, text=True)
    if done.returncode == 75:
        sys.exit(75)
    entry = {"command": "stein " + " ".join(words)}
    if done.returncode == 4:
        entry["diverged"] = True
    elif done.returncode != 0:
        print(f"{name}: exit code {done.returncode}", file=sys.stderr, flush=True)
        return None
    else:
        entry["summary"] = json.loads(done.stdout)
        entry["summary"].pop("run_directory", None)  # a place on one machine, no result
        entry["curve"] = curve_of(folder)
    result.parent.mkdir(parents=True, exist_ok=True)
    partial = result.with_suffix(".partial")
    partial.write_text(json.dumps(entry) + "\n")
    partial.rename(result)
    return entry


def grid(method):
    keys = list(PLAN["grid"][method])
    for values in itertools.product(*(PLAN["grid"][method][key] for key in keys)):
        yield dict(zip(keys, values))


def tuning_name(task, agent, method, candidate):
    return "tuning/" + "_".join([task, agent, method, *(f"{key}-{value}" for key, value in candidate.items())])


def tune(tasks):
    for task, agent, method in itertools.product(tasks, PLAN["agents"], PLAN["posteriors"]):
        for candidate in grid(method):
            run(tuning_name(task, agent, method, candidate),
                command(task, agent, method, PLAN["tasks"][task]["tuning_iterations"], PLAN["tuning_seeds"], candidate))


def chosen(task, agent, method):
    """The settings with the largest mean return on the tuning seeds; nothing if the grid has not been run whole."""
    best, settings = None, None
    for candidate in grid(method):
        result = RESULTS / f"{tuning_name(task, agent, method, candidate)}.json"
        if not result.exists():
            return None
        entry = json.loads(result.read_text())
        if "diverged" in entry:
            continue
        value = entry["summary"]["return"]["mean"]
        if best is None or value > best:
            best, settings = value, candidate
    return settings


def name_of(task, agent, method, iterations):
    planned = iterations == PLAN["tasks"][task]["iterations"]
    return f"{task}_{agent}_{method}" + ("" if planned else f"_{iterations}")


def run_tables(tasks, iterations):
    for task, agent, method in itertools.product(tasks, PLAN["agents"], PLAN["posteriors"]):
        settings = chosen(task, agent, method)
        if settings is None:
            print(f"{task}, {agent}, {method}: the grid has not been run whole; run `tune` first", file=sys.stderr)
            continue
        length = iterations or PLAN["tasks"][task]["iterations"]
        run(name_of(task, agent, method, length), command(task, agent, method, length, PLAN["seeds"], settings))


def with_interval(values):
    mean = statistics.mean(values)
    if len(values) < 2:
        return f"{mean:.1f}"
    return f"{mean:.1f} ± {STUDENT_T_975[len(values) - 1] * statistics.stdev(values) / len(values) ** 0.5:.1f}"


def row(method, entry):
    if entry is None:
        return f"| {NAMES[method]} | not run | | | | | | |\n"
    if "diverged" in entry:
        return f"| {NAMES[method]} | diverged | | | | | | `{entry['command']}` |\n"
    summary, curve = entry["summary"], entry["curve"]
    cells = [with_interval(curve["mean"]["return"]), with_interval(curve["mean"]["discounted_return"]),
             with_interval(curve["last"]["discounted_return"]), with_interval(summary["return"]["per_seed"]),
             " / ".join(with_interval(curve["last"][tag]) for tag in ("return", "return_median", "return_max"))]
    steps = f"{summary['env_steps'] / len(summary['seeds']) / 1e6:.1f} M"
    return f"| {NAMES[method]} | " + " | ".join(cells) + f" | {steps} | `{entry['command']}` |\n"


TEXT = """## Control: REINFORCE and A2C with a posterior

Made by `scripts/results/control.py` from `docs/results/control/`: the figure of Zhang et al. 2018, §5.3. 16 particles, 10,000 steps a
particle and iteration, kernel RBF with the median rule, particles that start independently, horizon 500, discount 0.99, actions normalised to [−1, 1] as rllab's runs have them, prior N(0, 1) on the weights
(independent: none, each particle on its own). Plan, grids and tuning seeds were committed first, six settings for every method; reported
seeds are others. "Learning" is the mean over the whole run of the training return (particles and seeds alike), which is what a faster
learner has more of. All are means over seeds ± half the width of a 95 % interval over them; the best particle stands apart and is no
result of the method.

Published, read from the figure as an order of learning speed: S2VGD ≥ SVGD* ≥ SVGD, all above independent.

"""
HEAD = ("| method | learning, undiscounted | learning, discounted | last iteration, discounted | final evaluation, no noise | "
        "last iteration: mean / median / max over particles | steps a seed | command |\n|---|---|---|---|---|---|---|---|\n")


def difference(first, second, entries):
    pairs = [entries[name]["curve"]["mean"]["discounted_return"] for name in (first, second)]
    values = [a - b for a, b in zip(*pairs)]
    half = STUDENT_T_975[len(values) - 1] * statistics.stdev(values) / len(values) ** 0.5
    mean = statistics.mean(values)
    return f"- {NAMES[first]} − {NAMES[second]}: {mean:.1f}, 95 % interval {mean - half:.1f} to {mean + half:.1f}\n"


def write():
    text = TEXT
    for task, agent in itertools.product(PLAN["tasks"], PLAN["agents"]):
        lengths = {PLAN["tasks"][task]["iterations"]}
        lengths |= {int(path.stem.rsplit("_", 1)[1]) for path in RESULTS.glob(f"{task}_{agent}_*_*.json")}
        for length in sorted(lengths):
            text += f"### {task}, {agent}, {length} iterations\n\n{HEAD}"
            entries = {}
            for method in PLAN["posteriors"]:
                result = RESULTS / f"{name_of(task, agent, method, length)}.json"
                entry = json.loads(result.read_text()) if result.exists() else None
                text += row(method, entry)
                if entry and "summary" in entry:
                    entries[method] = entry
            differences = [difference(first, second, entries) for first, second in
                           (("s2vgd", "svgd-star"), ("svgd-star", "svgd"), ("svgd", "independent"))
                           if first in entries and second in entries]
            if differences:
                text += "\nDifferences of learning, discounted, paired by seed:\n\n" + "".join(differences)
            text += "\n"
    page = ROOT / "docs/results.md"
    old = page.read_text()
    if BEGIN not in old:
        old = old.rstrip("\n") + "\n\n" + BEGIN + END
    before, rest = old.split(BEGIN)
    page.write_text(before + BEGIN + text + END + rest.split(END)[1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["tune", "run", "write"])
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
    write()
