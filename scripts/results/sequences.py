#!/usr/bin/env python3
"""Runs the tables of docs/results/sequences.md (language models, captions, sentences) and writes them, with the section of docs/results.md;
resumable.

    scripts/results/sequences.py run [TABLE …]   the rows that have no record yet
    scripts/results/sequences.py write           the pages from whatever has been run

Experiments run from a clean commit only, with a program of that commit (records.py). Every row leaves
docs/results/sequences/<table>_<row>.json: the command, the commit and what the program printed; it is skipped the next time. An interrupted
run is continued from its checkpoint in runs/results/sequences. The plan (commands, seeds, published values, hours of two cores that a row
may take) is sequences_plan.json; nothing is tuned: settings are the published ones, as presets have them.
"""
import argparse
import json
import pathlib
import sys

from records import RESULTS, ROOT, by_commit, clean_commit, keep, play, read_record
from results_page import with_interval, write_page, write_section

PLAN = json.loads((pathlib.Path(__file__).parent / "sequences_plan.json").read_text())
ENTRIES = RESULTS / "sequences"
RUNS = ROOT / "runs/results/sequences"


def name_of(table, row):
    return f"{table}_{row['name']}"


def command(row):
    return f"stein {row['command']}"


def record_of(table, row):
    return read_record(ENTRIES / f"{name_of(table, row)}.json", command(row), version=PLAN["version"])


def run(tables):
    commit = clean_commit()
    for table in tables:
        for row in PLAN["tables"][table]["rows"]:
            if record_of(table, row):
                continue
            name = name_of(table, row)
            code, summary = play(name, command(row), RUNS / name)
            if code == 4:
                keep(ENTRIES / f"{name}.json", command(row), commit, {"version": PLAN["version"], "diverged": True})
            elif code == 0:
                keep(ENTRIES / f"{name}.json", command(row), commit, {"version": PLAN["version"], "summary": summary})


def values_of(measured):
    """One number a seed, fold or split."""
    return next(measured[key] for key in ("per_seed", "per_fold", "per_split") if key in measured)


def cell(table, scores):
    """A score with its interval; nothing where the part has none of that name."""
    if scores is None:
        return ""
    plan = PLAN["tables"][table]
    values = values_of(scores[plan["measure"]])
    if plan["kind"] == "classifier":
        return with_interval([100 * value for value in values], 2)
    return with_interval(values, 4 if plan["measure"] == "loss" else 2)


def line(table, row):
    plan, record = PLAN["tables"][table], record_of(table, row)
    head = f"| {row['label']} | {row['published'] if row['published'] is not None else '–'} |"
    if record is None:
        return f"{head} not run | | | | | | `{command(row)}` |\n"
    if "diverged" in record:
        return f"{head} diverged | | | | | | `{command(row)}` |\n"
    summary = record["summary"]
    scores = summary[plan.get("part", "test")]
    averaged = scores if plan["kind"] == "classifier" else scores["averaged"]
    cells = [cell(table, averaged), cell(table, scores.get("single_sample")), cell(table, scores.get("final_weights")),
             cell(table, scores.get("validation_chosen")), str(scores["samples"]), f"{summary['wall_seconds'] / 3600:.2f}"]
    return f"{head} {' | '.join(cells)} | `{command(row)}` |\n"


def table_text(table):
    plan = PLAN["tables"][table]
    text = f"## {plan['title']}\n\n{plan['note']} Published: {plan['source']}. In {plan['unit']}; budget: {plan['hours']:g} hours a row.\n\n"
    text += "| | published | averaged | one sample | weights at the end | best by validation | samples | hours | command |\n" + "|---" * 9 + "|\n"
    text += "".join(line(table, row) for row in plan["rows"])
    there = [record for row in plan["rows"] if (record := record_of(table, row))]
    return text + (f"\nRecords by commit: {by_commit(there)}.\n\n" if there else "\n")


TEXT = """# Sequences

The findings in short: [results.md](../results.md#sequences).

Made by `scripts/results/sequences.py` from `docs/results/sequences/`. Settings are the published ones, as the presets have them; nothing
was tuned here. "Averaged" is the average of the probabilities of all samples (of an optimizer, which has none, the weights at the end),
"one sample" the mean over samples of what each is worth alone, "best by validation" the weights with the best validation score. No number
was chosen by the test. Means over seeds or folds ± half the width of a 95 % interval where there are several. Hours are of two shared cores.

"""


def write():
    write_page("sequences", TEXT + "".join(table_text(table) for table in PLAN["tables"]))
    rows = [(table, row) for table, plan in PLAN["tables"].items() for row in plan["rows"]]
    done = sum(record_of(table, row) is not None for table, row in rows)
    write_section("sequences.py", f"## Sequences\n\n{done} of {len(rows)} rows have been run. All tables and commands: "
                               "[results/sequences.md](results/sequences.md).\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("run").add_argument("tables", nargs="*", metavar="TABLE")
    actions.add_parser("write")
    arguments = parser.parse_args()
    if arguments.action == "run":
        for table in arguments.tables:
            if table not in PLAN["tables"]:
                parser.error(f"there is no table '{table}'; there are {', '.join(PLAN['tables'])}")
        run(arguments.tables or list(PLAN["tables"]))
    write()


if __name__ == "__main__":
    main()
