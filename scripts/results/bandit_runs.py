"""The plan of bandit_defaults.py, bandit_defaults_plan.json, and how one run of it is played and kept."""
import json
import os
import pathlib
import sys

from bandit_curves import curve_of
from records import DEFAULTS, RESULTS, ROOT, keep, play, read_record
from results_page import mean_of

PLAN = json.loads((pathlib.Path(__file__).parent / "bandit_defaults_plan.json").read_text())
FOLDER = RESULTS / "defaults"
RUNS = ROOT / "runs/results/defaults"
POLICIES = {policy["name"]: policy for policy in PLAN["policies"]}
OF_GROUPS = {**POLICIES, **{policy["name"]: policy for policy in PLAN["of_groups"]}}  # those of groups only besides
for group in PLAN["groups"].values():
    group.setdefault("bandits", PLAN["bandits"])


def environment():
    data = ROOT.parent / "shared/data"
    extra = {"STEIN_DATA": str(data)} if "STEIN_DATA" not in os.environ and data.is_dir() else {}
    return {**os.environ, **extra}


def combinations(grid):
    """Every combination of the values of a grid, {option: values}, as (name, settings)."""
    found = [("", {})]
    for key, values in grid.items():
        found = [(f"{name}_{key}-{value}", {**settings, key: value}) for name, settings in found for value in values]
    return found


def result_file(*names):
    """Of a run that these names tell from others: a group or none, a bandit, a policy."""
    *folders, bandit, policy = names
    file = f"{bandit}_{policy}.json".replace(", ", "-").replace(" ", "-").replace("δ", "delta").replace("ε", "epsilon")
    return FOLDER.joinpath(*folders, file)


def command_of(bandit, policy, steps, seeds, settings=None, preset=None):
    """The command of a bandit and a policy of the plan; `settings` rank above those of both."""
    every = {"steps": steps, **bandit.get("settings", {}), **policy.get("settings", {}), **(settings or {})}
    words = ["bandit", "--env", bandit["env"], "--policy", policy["policy"]] + (["--preset", preset] if preset else [])
    for key, value in every.items():
        words += ["--set", f"{key}={value}"]
    return " ".join(["stein", *words, "--seeds", f"{seeds[0]}:{seeds[1]}"])


def check_names(names, known, what, have="it has"):
    """Ends the script where a name is none of those known; `what` says what it should have been."""
    if unknown := set(names) - set(known):
        sys.exit(f"no {what}: {', '.join(sorted(unknown))}; {have} {', '.join(known)}")


def experiment(result, asked, commit, with_curve=True):
    """Plays one run, unless its record is there already."""
    if read_record(result, asked):
        return
    name = result.relative_to(FOLDER).with_suffix("")
    folder = RUNS / name
    code, summary = play(str(name), asked, folder, environment())
    if code == 0:
        curve = {"curve": curve_of(folder / "metrics.jsonl", summary["steps"])} if with_curve else {}
        keep(result, asked, commit, {"defaults": DEFAULTS, "summary": summary, **curve}, indent=1)


def shares(entry):
    """Regret in percent of that of uniform play, of every seed."""
    return entry["summary"]["regret_percent_of_uniform"]["per_seed"]


def paired(entry, other, times=1.0):
    """Its shares less `times` those of another record, seed by seed."""
    return [a - times * b for a, b in zip(shares(entry), shares(other), strict=True)]


def locked_seeds(entry):
    """In how many seeds the regret is above that of uniform play."""
    return round(mean_of(entry["summary"]["lock_in_share"]) * len(shares(entry)))
