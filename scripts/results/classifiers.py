#!/usr/bin/env python3
"""Runs the tables of docs/results/classifiers.md (classifiers of images and tables) and writes them, with the section of docs/results.md; resumable.

    scripts/results/classifiers.py run [TABLE[/ROW] …]   the rows that have no record yet
    scripts/results/classifiers.py write                 the pages from whatever has been run

Experiments run from a clean commit only, with a program of that commit (records.py). The plan (commands, seeds, published values, hours of two
cores that a row may take) is classifiers_plan.json, its form that of planned_tables.py.
"""
from planned_tables import PlannedTables, carry_out
from results_page import paragraph, write_page, write_section

TABLES = PlannedTables("classifiers")

TEXT = """# Classifiers of images and tables

The findings in short: [results.md](../results.md#classifiers-of-images-and-tables).

Made by `scripts/results/classifiers.py` from `docs/results/classifiers/`. Settings are those of the presets, the published ones where a paper has
any, or the defaults; nothing was tuned on the test. "Averaged" is the average of the probabilities of all samples (of an optimizer, which has none,
the weights at the end), "one sample" the mean over samples of what each is worth alone. No number was chosen by the test. Means over seeds ± half the
width of a 95 % interval where there are several. Hours are of two shared
cores, or of a GPU where the command names one.

"""


def errors_of(table, path, digits=2):
    """Every row that has been run with what it is worth, and what was published."""
    def published(row):
        return f" (published {row['published']:.{digits}f})" if row["published"] else ""

    return ", ".join(f"{row['label']} {TABLES.mean_of(table, row['name'], path, 100):.{digits}f}{published(row)}" for row in TABLES.rows_run(table))


def compression_text():
    rows = [row for row in TABLES.rows_run("compression") if row["name"] != "dense"]
    if not rows:
        return ""
    found = ", ".join(f"{row['label']} {TABLES.mean_of('compression', row['name'], 'test/error', 100):.2f}" for row in rows)
    return paragraph("**Compression on MNIST**, 784-300-100-10, three seeds, test error in % of averages: dense "
                     f"{TABLES.mean_of('compression', 'dense', 'test/error', 100):.2f}, {found}.")


def covertype_text():
    def errors(name):
        return ", ".join(f"{TABLES.mean_of('covertype', f'{name}-{particles}', 'test/error', 100):.2f}" for particles in (1, 5, 10, 20, 50))

    return paragraph("**Reflectors and particles on Covertype**, its first 15,120 rows, logistic regression, five seeds, test error in % of 1, 5, 10, 20 and "
                     f"50 particles: SVGD {errors('svgd')}; S2VGD with K = 0 {errors('s2vgd-0')}, 1 {errors('s2vgd-1')}, 2 {errors('s2vgd-2')}, "
                     f"5 {errors('s2vgd-5')}.")


def short():
    done, planned = TABLES.counts()
    text = "## Classifiers of images and tables\n\n" + paragraph(f"{done} of {planned} rows have been run.")
    for table, title in (("softmax", "**Softmax regression on MNIST**, five chains"), ("convolutions", "**Convolutional networks on MNIST**, one seed"),
                         ("perceptrons", "**Perceptrons 784-400-400-10 on MNIST**, one seed")):
        if TABLES.rows_run(table):
            text += paragraph(f"{title}, test error in % of averages: {errors_of(table, 'test/error')}.")
    if TABLES.is_complete("covertype"):
        text += covertype_text()
    return text + compression_text() + "All tables and commands: [results/classifiers.md](results/classifiers.md).\n"


def write():
    write_page("classifiers", TEXT + "".join(map(TABLES.table_text, TABLES.tables)))
    write_section("classifiers.py", short())


if __name__ == "__main__":
    carry_out(__doc__, TABLES, write)
