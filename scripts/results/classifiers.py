#!/usr/bin/env python3
"""Runs the tables of docs/results/classifiers.md (classifiers of images and tables) and writes them, with the section of docs/results.md; resumable.

    scripts/results/classifiers.py run [TABLE[/ROW] …]   the rows that have no record yet
    scripts/results/classifiers.py write                 the pages from whatever has been run

Experiments run from a clean commit only, with a program of that commit (records.py). The plan (commands, seeds, published values, hours of two
cores that a row may take) is classifiers_plan.json, its form that of planned_tables.py.
"""
import csv
import json

import figures
from planned_tables import PlannedTables, carry_out
from records import ROOT, keep, read_record
from results_page import IMAGES, paragraph, write_page, write_section

TABLES = PlannedTables("classifiers")
PLANE_STEP = 2  # of the places of a run's grid, of those that are kept

TEXT = """# Classifiers of images and tables

The findings in short: [results.md](../results.md#classifiers-of-images-and-tables).

Made by `scripts/results/classifiers.py` from `docs/results/classifiers/`. Settings are those of the presets, the published ones where a paper has
any, or the defaults; nothing was tuned on the test. "Averaged" is the average of the probabilities of all samples (of an optimizer, which has none,
the weights at the end), "one sample" the mean over samples of what each is worth alone. No number was chosen by the test. Means over seeds ± half the
width of a 95 % interval where there are several. Hours are of two shared
cores, or of a GPU where the command names one.

"""


def plane_file(table, row):
    return TABLES.entries / "planes" / f"{TABLES.name_of(table, row)}.json"


def keep_plane(table, row):
    """Of tables with "planes" what a row's run says of places on the plane, at equal distances; the run has to be there."""
    folder, path = TABLES.run_of(table, row), plane_file(table, row)
    if "planes" not in TABLES.tables[table] or path.exists() or not (folder / "predictions.json").exists():
        return
    plane = json.loads((folder / "predictions.json").read_text())["plane"]
    across, up = plane["x"], plane["y"]
    lines = [[round(probabilities[1], 3) for probabilities in plane["probabilities"][j * len(across):(j + 1) * len(across)][::PLANE_STEP]]
             for j in range(0, len(up), PLANE_STEP)]
    manifest = json.loads((folder / "manifest.json").read_text())
    keep(path, TABLES.command(row), manifest["commit"],
         {"columns": [plane["x_name"], plane["y_name"]], "x": across[::PLANE_STEP], "y": up[::PLANE_STEP], "second": lines})


def with_figure(table):
    """The table, and where its rows lie on a plane a picture of what they say there."""
    text = TABLES.table_text(table)
    if "planes" not in TABLES.tables[table]:
        return text
    planes = {row["label"]: plane for row in TABLES.tables[table]["rows"]
              if (plane := read_record(plane_file(table, row), TABLES.command(row)))}
    if not planes:
        return text
    with open(ROOT / "scripts/results/two_classes.csv", newline="") as file:
        points = [(float(line["x"]), float(line["y"]), line["class"]) for line in csv.DictReader(file)]
    name = f"classifiers_{table}.svg"
    columns = next(iter(planes.values()))["columns"]
    figures.surfaces(IMAGES / name, TABLES.tables[table]["title"], columns, ("a", "b"), points,
                     {label: (plane["x"], plane["y"], plane["second"]) for label, plane in planes.items()})
    return text + f"![Twenty points and which class is how likely around them](images/{name})\n\n"


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
    write_page("classifiers", TEXT + "".join(map(with_figure, TABLES.tables)))
    write_section("classifiers.py", short())


if __name__ == "__main__":
    carry_out(__doc__, TABLES, write, keep_plane)
