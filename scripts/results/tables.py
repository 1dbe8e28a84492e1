#!/usr/bin/env python3
"""Runs the regressions of docs/results/tables.md and writes them, with the section of docs/results.md; resumable.

    scripts/results/tables.py tune [TABLE[/METHOD] …]   the settings of the grids that have no record yet
    scripts/results/tables.py run [TABLE[/METHOD] …]    the chosen settings on the published splits, where a grid was tuned whole
    scripts/results/tables.py write                     the pages from whatever has been run

Experiments run from a clean commit only, with a program of that commit (records.py). The plan is tables_plan.json: grids, seeds, options and
hours of two cores that a table and method may take. A setting leaves docs/results/tables/tuning/<table>_<method>_<values>.json with what it is
worth on validation rows alone; a result docs/results/tables/<table>_<method>.json. A choice at an end of the grid of step sizes is refused: the
grid is to be made longer first.
"""
import argparse
import itertools
import json
import pathlib
import sys

from records import RESULTS, ROOT, by_commit, clean_commit, keep, play, read_record
from results_page import paragraph, with_error, with_interval, write_page, write_section

PLAN = json.loads((pathlib.Path(__file__).parent / "tables_plan.json").read_text())
ENTRIES, RUNS = RESULTS / "tables", ROOT / "runs/results/tables"


def wanted(names):
    """Pairs of a table and a method, of names "TABLE" and "TABLE/METHOD"; all where none is named."""
    for name in names or PLAN["tables"]:
        table, _, only = name.partition("/")
        yield from ((table, method) for method in PLAN["methods"] if only in ("", method))


def is_tuned(method):
    return method in PLAN["tuning"]["grid"]


def settings(method):
    """All settings of a grid, step sizes rising within each value of what else there is; none of a method that is not tuned."""
    if not is_tuned(method):
        return
    grid = PLAN["tuning"]["grid"][method]
    others = [key for key in grid if key != "step_size"]
    for values in itertools.product(*(grid[key] for key in others), grid["step_size"]):
        yield dict(zip([*others, "step_size"], values))


def command(table, method, setting, options, seeds):
    sampler = PLAN["methods"][method].get("sampler", method)
    words = ["stein regress", f"--data {table}", f"--sampler {sampler}", f"--seeds {seeds}", PLAN["tables"][table]["options"],
             PLAN["methods"][method]["options"], options,
             setting and "--set " + " ".join(f"{key}={value}" for key, value in setting.items())]
    return " ".join(word for word in words if word)


def tuning_command(table, method, setting):
    return command(table, method, setting, PLAN["tuning"]["options"], PLAN["tables"][table].get("tuning_seeds", PLAN["tuning"]["seeds"]))


def tuning_record(table, method, setting):
    path = ENTRIES / "tuning" / f"{table}_{method}_{'_'.join(setting.values())}.json"
    return path, read_record(path, tuning_command(table, method, setting), version=PLAN["version"])


def tune(names):
    commit = clean_commit()
    for table, method in wanted(names):
        for setting in settings(method):
            path, record = tuning_record(table, method, setting)
            if record:
                continue
            words = tuning_command(table, method, setting)
            code, summary = play(path.stem, words, RUNS / path.stem)
            if code == 4:
                keep(path, words, commit, {"version": PLAN["version"], "diverged": True})
            elif code == 0:  # what the setting is worth on test rows is not looked at
                keep(path, words, commit, {"version": PLAN["version"], "commits": summary["commits"],
                                           "wall_seconds": summary["wall_seconds"], "validation": summary["validation"]})


def worth(record):
    """Mean log-likelihood on validation rows."""
    return -float("inf") if "diverged" in record else record["validation"]["log_likelihood"]["mean"]


def tuned(table, method):
    """Records of all settings of a grid; None where one is missing."""
    records = [tuning_record(table, method, setting)[1] for setting in settings(method)]
    return records if all(records) else None


def chosen(table, method):
    """The setting that is best on validation rows, and whether its step size is at an end of the grid; None before all are there."""
    if not is_tuned(method):
        return {}, False
    records = tuned(table, method)
    if records is None:
        return None
    best, _ = max(zip(settings(method), records), key=lambda pair: worth(pair[1]))
    steps = PLAN["tuning"]["grid"][method]["step_size"]
    return best, best["step_size"] in (steps[0], steps[-1])


def run_command(table, method):
    choice = chosen(table, method)
    return choice and command(table, method, choice[0], "--set validation_share=0", "0:5" if table == "protein" else "0:20")


def record_of(table, method):
    path = ENTRIES / f"{table}_{method}.json"
    return read_record(path, run_command(table, method), version=PLAN["version"]) if path.exists() else None


def run(names):
    commit = clean_commit()
    for table, method in wanted(names):
        choice = chosen(table, method)
        if choice is None:
            print(f"{table}/{method}: run `tune` first", file=sys.stderr)
        elif choice[1]:
            print(f"{table}/{method}: step_size={choice[0]['step_size']} is at an end of its grid, which is to be made longer", file=sys.stderr)
        elif not record_of(table, method):
            name = f"{table}_{method}"
            code, summary = play(name, run_command(table, method), RUNS / name)
            if code == 0:
                keep(ENTRIES / f"{name}.json", run_command(table, method), commit, {"version": PLAN["version"], "summary": summary})


def values(table, method, score):
    return record_of(table, method)["summary"][score]["per_split"]


def line(table, method):
    record, label = record_of(table, method), PLAN["methods"][method]["label"]
    if record is None:
        words = run_command(table, method)
        reason = "not run yet" if words else "not run: its grid is not tuned whole"
        return f"| {table} | {label} | {reason} | | | | | {f'`{words}`' if words else ''} |\n"
    summary = record["summary"]
    cells = [with_error(values(table, method, "rmse"), 4), with_error(values(table, method, "log_likelihood"), 3),
             f"{100 * summary['test']['coverage']['mean']:.1f} %", with_error(summary["test"]["single_sample"]["rmse"]["per_split"], 4),
             f"{summary['wall_seconds'] / 3600:.3f}"]
    return f"| {table} | {label} | {' | '.join(cells)} | `{run_command(table, method)}` |\n"


def pairs(first, second):
    """Tables for which both methods have been run."""
    return [table for table in PLAN["tables"] if record_of(table, first) and record_of(table, second)]


def differences(table, first, second, score, digits):
    """Of the first and the second on the same splits."""
    return with_interval([a - b for a, b in zip(values(table, first, score), values(table, second, score))], digits)


def comparison(first, second):
    labels = " − ".join(PLAN["methods"][method]["label"] for method in (first, second))
    if not pairs(first, second):
        return f"{labels}: no table has both yet.\n\n"
    text = f"| | RMSE, {labels} | log-likelihood, {labels} |\n|---|---|---|\n"
    for table in pairs(first, second):
        text += f"| {table} | {differences(table, first, second, 'rmse', 4)} | {differences(table, first, second, 'log_likelihood', 3)} |\n"
    return text + "\n"


def tuning_text():
    text = "| | method | chosen | validation log-likelihood |\n|---|---|---|---|\n"
    for table, method in wanted([]):
        choice = chosen(table, method)
        if choice is None or not is_tuned(method):
            continue
        setting = ", ".join(f"{key}={value}" for key, value in choice[0].items())
        best = max(map(worth, tuned(table, method)))
        text += f"| {table} | {PLAN['methods'][method]['label']} | {setting}{' (at an end of the grid)' if choice[1] else ''} | {best:.3f} |\n"
    return text + "\n"


TEXT = """# Tables

The findings in short: [results.md](../results.md#tables).

Made by `scripts/results/tables.py` from `docs/results/tables/`.

## UCI regression

The protocol of Zhang et al. (2018): one hidden layer of 50 ReLU units (protein: 100), batches of 100 (1,000), 20 particles, the publisher's 20
splits (protein: 5), the noise's precision sampled, that of weights too but in rows that say "fixed"; 200 epochs. Numbers are those where training ended, never the best test epoch.
Means over splits ± their standard errors; differences ± half the width of a 95 % interval. The published table could not be read; its program reports the least test
error of a training. Hours are of two shared cores. Budget: {budget}.

"""


WHY = """As published, the precisions of weights and of reflectors are
sampled with the weights. Few particles in many coordinates follow the density rather than its mass, and the joint density of a precision and of the
values under it has its peak where the values are small and the precision is large: factors and reflectors shrink until steps of one size turn and
scale the weights at random. So both methods stand here three times: with sampled precisions and tuned steps, with fixed precisions and steps that decay,
tuned alike, and as the published program of SVGD has them: sampled precisions, RMSprop, a step of .001 (of S2VGD ten reflectors), nothing tuned.

"""


def budget():
    """Hours of two cores that a row may take, tables alike together."""
    tables = {}
    for name, table in PLAN["tables"].items():
        tables.setdefault(table["hours"], []).append(name)
    return "; ".join(f"{hours:g} hours a row of {', '.join(names)}" for hours, names in tables.items())


def write():
    records = [record for table, method in wanted([]) if (record := record_of(table, method))]
    rows = "".join(line(table, method) for table, method in wanted([]))
    text = TEXT.format(budget=budget()) + "| | | RMSE | log-likelihood, nats | in 90 % intervals | RMSE of one sample | hours | command |\n" + "|---" * 8 + "|\n" + rows
    text += "| YearPredictionMSD | all | not run: its 515,345 rows do not come with Stein's data sets | | | | | |\n"
    text += f"\nRecords by commit: {by_commit(records)}.\n" if records else ""
    text += "\n### Is S2VGD better than SVGD?\n\nDifferences on the same splits, both tuned alike on splits of their own. " + WHY
    text += comparison("s2vgd", "svgd") + comparison("s2vgd-decay", "svgd-decay") + comparison("s2vgd-published", "svgd-published")
    text += "What the two changes are worth to each method:\n\n"
    text += "".join(comparison(f"{method}-decay", method) for method in ("svgd", "s2vgd", "sghmc", "vmg"))
    text += ("### How far is SVGD from the posterior?\n\nNUTS draws from the posterior whose density SVGD's particles climb, but for the length of its "
             "chain. Differences on the same splits; NUTS was not tuned.\n\n" + comparison("nuts", "svgd") + comparison("nuts-fixed", "svgd-decay"))
    text += f"### Tuning\n\n{PLAN['tuning']['text']}\n\n" + tuning_text()
    write_page("tables", text)
    write_section("tables.py", "## Tables\n\n" + section() + "All tables, commands and grids: [results/tables.md](results/tables.md).")


def section():
    there = pairs("s2vgd", "svgd")
    if not there:
        return paragraph("Regression on tables of the UCI repository: nothing was run to its end yet.")

    def gains(first, second):
        return ", ".join(f"{table} {differences(table, first, second, 'log_likelihood', 3)}" for table in pairs(first, second))

    sentences = ["**Is S2VGD better than SVGD?** On tables of the UCI repository (one hidden layer of 50, 20 particles, both tuned alike on splits "
                 f"of their own) the log-likelihood of S2VGD less that of SVGD on the same splits, in nats a row: {gains('s2vgd', 'svgd')}."]
    if pairs("s2vgd-decay", "svgd-decay"):
        sentences += [f"With precisions of weights that are fixed and steps that decay: {gains('s2vgd-decay', 'svgd-decay')}; by these two changes S2VGD "
                      f"gains {gains('s2vgd-decay', 's2vgd')}, SVGD {gains('svgd-decay', 'svgd')}."]
    text = paragraph(*sentences, "Not run: " + (", ".join(table for table in PLAN["tables"] if table not in there) or "none of the nine") + ".")
    if pairs("nuts", "svgd"):
        text += paragraph("**How far is SVGD from the posterior?** NUTS, which is not tuned, draws from the same one. Its log-likelihood less that of "
                          f"SVGD, in nats a row: {gains('nuts', 'svgd')}.")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["tune", "run", "write"])
    parser.add_argument("names", nargs="*", metavar="TABLE[/METHOD]")
    arguments = parser.parse_args()
    for name in arguments.names:
        table, _, method = name.partition("/")
        if table not in PLAN["tables"] or method not in ("", *PLAN["methods"]):
            parser.error(f"there is no '{name}'; there are the tables {', '.join(PLAN['tables'])} and the methods {', '.join(PLAN['methods'])}")
    if arguments.action != "write":
        (tune if arguments.action == "tune" else run)(arguments.names)
    write()


if __name__ == "__main__":
    main()
