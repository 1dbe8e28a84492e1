"""The tuned comparison of bandit_defaults.py: grids of the same size, seeds for tuning that are others than the reported ones."""
import statistics
import sys

from bandit_runs import PLAN, POLICIES, check_names, combinations, command_of, experiment, result_file, shares
from records import by_commit, clean_commit, read_record, shown_command
from results_page import choice_of, ends_of_grid

TUNED = PLAN["tuned"]


def grid_of(bandit, policy):
    """The values of every option, {option: values}: those of the plan's grid, and those that it was extended by, for all bandits or for
    this one."""
    more = [TUNED["extended"].get(policy, {}), TUNED["extended_on"].get(bandit["name"], {}).get(policy, {})]
    return {option: sorted(values + [value for each in more for value in each.get(option, [])])
            for option, values in TUNED["grid"][policy].items()}


def settings_tried():
    """How many settings of every policy the plan began with; the same number for all."""
    count, = {len(combinations(grid)) for grid in TUNED["grid"].values()}
    return count


def tuning_runs(bandit, policy):
    """(settings, record's file, command) of every point of the grid."""
    for name, settings in combinations(grid_of(bandit, policy)):
        yield (settings, result_file("tuning", bandit["name"], policy + name),
               command_of(bandit, POLICIES[policy], bandit["tuning_steps"], TUNED["tuning_seeds"], settings))


def tuning_records(bandit, policy):
    """(settings, record) of every point of the grid; the record is None where it has not been run."""
    return [(settings, read_record(result, asked)) for settings, result, asked in tuning_runs(bandit, policy)]


def chosen(bandit, policy):
    """The settings of the smallest mean regret on the tuning seeds; None where the grid has not been run whole."""
    found = tuning_records(bandit, policy)
    if not all(entry for _, entry in found):
        return None
    return min(found, key=lambda point: point[1]["summary"]["regret"]["mean"])[0]


def reported(bandit, policy, settings):
    """(record's file, command) of the reported run with the chosen settings."""
    return result_file("tuned", bandit["name"], policy), command_of(bandit, POLICIES[policy], bandit["steps"], PLAN["seeds"], settings)


def wanted(names):
    check_names(names, TUNED["grid"], "policy of the tuned comparison")
    return [(bandit, policy) for policy in names or TUNED["grid"] for bandit in TUNED["bandits"]]


def tune(names):
    commit = clean_commit()
    for bandit, policy in wanted(names):
        for _, result, asked in tuning_runs(bandit, policy):
            experiment(result, asked, commit, with_curve=False)


def run_tuned(names):
    """The reported runs. Ends the script where a choice lies at an end of its grid: what lies beyond has to be tried first."""
    commit = clean_commit()
    for bandit, policy in wanted(names):
        settings = chosen(bandit, policy)
        if settings is None:
            sys.exit(f"{policy} on {bandit['name']}: the tuning grid has not been run whole; run `tune` first")
        for option, end in ends_of_grid(grid_of(bandit, policy), settings).items():
            sys.exit(f"{policy} on {bandit['name']}: the chosen {option} {settings[option]:g} is the {end} of its grid; put values beyond it "
                     "into `extended` or `extended_on` of the plan and run `tune` again")
        experiment(*reported(bandit, policy, settings), commit, with_curve=False)


def section(defaults):
    """The section of the page; `defaults` is {bandit: {policy: record}} of the runs with nothing tuned."""
    text = (f"## Tuned\n\n{TUNED['text']} {settings_tried()} settings of every policy at first, seeds {TUNED['tuning_seeds'][0]} to "
            f"{TUNED['tuning_seeds'][1] - 1}; the settings of the smallest mean regret are reported on the seeds of the tables above.\n\n"
            "| bandit | policy | settings tried | chosen | tuned, % of uniform | defaults, % of uniform | command |\n|---|---|---|---|---|---|---|\n")
    entries = []
    for bandit in TUNED["bandits"]:
        for policy in TUNED["grid"]:
            points, settings = tuning_records(bandit, policy), chosen(bandit, policy)
            entries += [entry for _, entry in points if entry]
            label = f"| {bandit['name']}, {bandit['steps']:,} | {policy} | {len(points)}"
            if settings is None:
                text += f"{label} | the grid has not been run whole | | | |\n"
                continue
            entry = read_record(*reported(bandit, policy, settings))
            entries += [entry] if entry else []
            text += (f"{label} | {choice_of(grid_of(bandit, policy), settings)} | {cell(entry)} | {cell(defaults[bandit['name']].get(policy))} | "
                     f"{f'`{shown_command(entry)}`' if entry else ''} |\n")
    return text + (f"\nRecords by commit, those of tuning included: {by_commit(entries)}.\n" if entries else "")


def cell(entry):
    return "not run" if entry is None else f"{statistics.mean(shares(entry)):.1f} ± {statistics.stdev(shares(entry)):.1f}"
