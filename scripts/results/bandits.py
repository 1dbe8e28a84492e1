#!/usr/bin/env python3
"""Runs the bandit tables of docs/results.md and writes their rows; resumable.

    scripts/results/bandits.py tune [POLICY …]   the tuning grid, on its own seeds
    scripts/results/bandits.py run [TABLE …]     the reported runs, with the options that tuning chose
    scripts/results/bandits.py write             docs/results.md from whatever has been run

Every run leaves docs/results/<table>/<name>.json (the program's own --json object and the command) and is skipped the next time.
An interrupted run is continued from its checkpoint in runs/results/. Grid, seeds and budgets stand in bandits_plan.json, which is
committed before anything is run.
"""
import json
import os
import pathlib
import sys

from results_page import RESULTS, ROOT, difference, keep, play, write_section

PLAN = json.loads((pathlib.Path(__file__).parent / "bandits_plan.json").read_text())
RUNS = ROOT / "runs/results"


def environment():
    data = ROOT.parent / "shared/data"
    extra = {"STEIN_DATA": str(data)} if "STEIN_DATA" not in os.environ and data.is_dir() else {}
    return {**os.environ, **extra}


def command(env, policy, settings, seeds):
    words = ["bandit", "--env", env, "--policy", policy]
    for key, value in settings.items():
        words += ["--set", f"{key}={value}"]
    return words + ["--seeds", f"{seeds[0]}:{seeds[1]}"]


def result_file(table, name):
    return RESULTS / table / (name.replace(", ", "_").replace(" ", "-").replace("δ", "delta").replace("ε", "epsilon") + ".json")


def run(table, name, words):
    """Runs or continues one entry, unless its result is there already."""
    result = result_file(table, name)
    if result.exists():
        return json.loads(result.read_text())
    code, summary = play(f"{table}/{name}", words, RUNS / table / result.stem, environment())
    if code != 0:
        return None
    entry = {"command": "stein " + " ".join(words), "summary": summary}
    keep(result, entry, indent=1)
    return entry


def grid(policy):
    """Every combination of the policy's grid, as (name, settings)."""
    combinations = [("", {})]
    for key, values in PLAN["tuning"]["grid"][policy].items():
        combinations = [(f"{name}_{key}-{value}", {**settings, key: value})
                        for name, settings in combinations for value in values]
    return [(policy + name, settings) for name, settings in combinations]


def tune(policies):
    plan = PLAN["tuning"]
    for policy in policies:
        for name, settings in grid(policy):
            run("tuning", name, command(plan["env"], policy, {"steps": plan["steps"], **settings}, plan["seeds"]))


def chosen(policy):
    """The settings with the smallest mean regret on the tuning seeds; nothing if the grid has not been run whole."""
    best, settings = None, None
    for name, candidate in grid(policy) if policy in PLAN["tuning"]["grid"] else []:
        result = result_file("tuning", name)
        if not result.exists():
            return None
        regret = json.loads(result.read_text())["summary"]["regret"]["mean"]
        if best is None or regret < best:
            best, settings = regret, candidate
    return settings if settings is not None else {}


def entries(table):
    for entry in PLAN["tables"][table]["entries"]:
        yield entry["name"], entry["policy"], entry.get("env", PLAN["tables"][table].get("env")), entry.get("settings", {})


def run_tables(tables):
    for table in tables:
        plan = PLAN["tables"][table]
        for name, policy, env, settings in entries(table):
            tuned = chosen(policy) if plan.get("tuned") else {}
            if tuned is None:
                sys.exit(f"{policy}: the tuning grid has not been run whole; run `tune` first")
            run(table, name, command(env, policy, {**plan.get("settings", {}), **tuned, **settings}, plan["seeds"]))


def row(name, entry):
    summary = entry["summary"]
    regret = summary["regret"]
    seeds = ", ".join(f"{value:.0f}" for value in regret["per_seed"])
    return (f"| {name} | {regret['mean']:.1f} ± {regret['sd']:.1f} | {summary['regret_percent_of_uniform']:.1f} | "
            f"{summary['lock_in_share']:.2f} | {summary['decisions_per_second']:.0f} | {summary['updates_per_second']:.0f} | "
            f"{seeds} | `{entry['command']}` |")


HEAD = ("| policy | regret, mean ± sd | % of uniform | lock-in share | decisions/s | updates/s | regret of each seed | command |\n"
        "|---|---|---|---|---|---|---|---|")


def write():
    text = (pathlib.Path(__file__).parent / "bandits_head.md").read_text()
    for table, plan in PLAN["tables"].items():
        text += f"\n### {plan['title']}\n\n{plan['text']}\n\n{HEAD}\n"
        results = {name: json.loads(result_file(table, name).read_text())
                   for name, _, _, _ in entries(table) if result_file(table, name).exists()}
        for name, _, _, _ in entries(table):
            text += (row(name, results[name]) if name in results else f"| {name} | not run | | | | | | |") + "\n"
        pairs = [pair for pair in plan.get("pairs", []) if all(name in results for name in pair)]
        if pairs:
            text += "\nDifferences of regret, paired by seed, which gives both the same contexts:\n\n"
        for first, second in pairs:
            regrets = [results[name]["summary"]["regret"]["per_seed"] for name in (first, second)]
            text += f"- {first} − {second}: {difference(*regrets)}\n"
    plan = PLAN["tuning"]
    text += f"\n### Tuning\n\n{plan['text']}\n\n| policy and settings | regret, mean ± sd |\n|---|---|\n"
    for policy in plan["grid"]:
        for name, settings in grid(policy):
            result = result_file("tuning", name)
            label = policy + " " + " ".join(f"{key}={value}" for key, value in settings.items())
            regret = json.loads(result.read_text())["summary"]["regret"] if result.exists() else None
            text += f"| {label} | {regret['mean']:.1f} ± {regret['sd']:.1f} |\n" if regret else f"| {label} | not run |\n"
    write_section("bandits.py", text)


if __name__ == "__main__":
    action = sys.argv[1] if len(sys.argv) > 1 else ""
    if action == "tune":
        tune(sys.argv[2:] or PLAN["tuning"]["grid"])
    elif action == "run":
        run_tables(sys.argv[2:] or PLAN["tables"])
    elif action != "write":
        sys.exit(__doc__)
    write()
