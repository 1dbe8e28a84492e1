#!/usr/bin/env python3
"""Runs the regressions under spike-and-slab priors of docs/results/empirical_bayes.md and writes them, with the section of docs/results.md; resumable.

    scripts/results/empirical_bayes.py run [TABLE[/ROW] …]   the rows that have no record yet
    scripts/results/empirical_bayes.py write                 the pages from whatever has been run

Experiments run from a clean commit only, with a program of that commit (records.py). The plan (commands, seeds, published values, hours of two
cores that a row may take) is empirical_bayes_plan.json, its form that of planned_tables.py.
"""
from planned_tables import PlannedTables, carry_out
from results_page import paragraph, write_page, write_section

TABLES = PlannedTables("empirical_bayes")
DATA = ("boston", "yacht", "energy", "wine-red", "concrete")

TEXT = """# Spike-and-slab priors on tables

The findings in short: [results.md](../results.md#spike-and-slab-priors-on-tables).

Made by `scripts/results/empirical_bayes.py` from `docs/results/empirical_bayes/`. No number was chosen by the test, nothing was tuned. Means over
splits ± half the width of a 95 % interval. Hours are of two shared cores.

"""


def short():
    title = "## Spike-and-slab priors on tables\n\n"
    if not TABLES.is_complete("uci"):
        done, held = TABLES.counts()
        return title + paragraph(f"{done} of {held} rows have been run.")

    def means(method):
        return ", ".join(f"{TABLES.mean_of('uci', f'{data}-{method}', 'rmse'):.3f}" for data in DATA)

    methods = ", ".join(f"{method} {means(method.lower())}" for method in ("SGHMC", "A-SGHMC", "SGHMC-EM", "A-SGHMC-EM", "SGHMC-SA", "A-SGHMC-SA"))
    best = {}
    for data in DATA:
        best[data] = min((row for row in TABLES.rows_run("uci") if row["name"].startswith(f"{data}-")),
                         key=lambda row: TABLES.mean_of("uci", row["name"], "rmse"))["label"].split(", ")[1]
    return title + paragraph(
        f"**Adaptive empirical Bayes on UCI tables** (protocol of Deng et al. 2019, table 5; RMSE on {', '.join(DATA)}): {methods}.",
        "Least: " + ", ".join(f"{method} on {data}" for data, method in best.items()) + " (published: A-SGHMC-SA on all five).",
        "All commands, beside the published numbers: [results/empirical_bayes.md](results/empirical_bayes.md).")


def write():
    write_page("empirical_bayes", TEXT + "".join(map(TABLES.table_text, TABLES.tables)))
    write_section("empirical_bayes.py", short())


if __name__ == "__main__":
    carry_out(__doc__, TABLES, write)
