#!/usr/bin/env python3
"""Runs the large-p small-n tables of Deng et al. 2019 (tables 1 and 4) and writes docs/results/sparse_regression.md; resumable.

    scripts/results/sparse_regression.py run [linear|logistic] [--seeds A:B] [--steps N]   the cells, then the pages
    scripts/results/sparse_regression.py write                                             the pages from whatever has been run

A cell is one (task, method, v0, sigma, seed): docs/results/sparse_regression/<task>_<method>_<v0>_<sigma>_<seed>_<steps>.json holds what
examples/sparse_regression printed, the command, the commit and the version of the record, and is skipped the next time. Experiments run
from a clean commit only, with a build/release of that commit (records.py). Tables, figures and the section of docs/results.md show the
longest runs of every cell. The program is built against an installed copy of build/release under build/examples.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

import figures
from records import RESULTS, ROOT, by_commit, clean_commit, keep, read_record
from results_page import IMAGES, backed, bounds_of_difference, half_width, paragraph, with_interval, write_page, write_section

CELLS = RESULTS / "sparse_regression"
EXAMPLE = ROOT / "examples/sparse_regression"
BUILD = ROOT / "build/examples/sparse_regression"
PROGRAM = BUILD / "example_sparse_regression"
VERSION = 1  # of the records; changes when the same command no longer means the same experiment or figures
DRAWN = ("0.1", "1")  # v₀ and σ of the runs whose posteriors are drawn, as in the paper's figures 1 and 3
METHODS = {"sa": "SGLD-SA", "em": "SGLD-EM", "fixed": "SGLD"}
# By task, (v0, sigma) and method: the published MAE and MSE.
PUBLISHED = {
    "linear": {
        ("0.01", "2"): {"sa": "1.89 / 5.56", "em": "3.49 / 19.31", "fixed": "15.85 / 416.39"},
        ("0.1", "2"): {"sa": "1.72 / 5.64", "em": "2.23 / 8.22", "fixed": "15.85 / 416.39"},
        ("0.01", "1"): {"sa": "1.48 / 3.51", "em": "2.23 / 19.28", "fixed": "11.86 / 229.38"},
        ("0.1", "1"): {"sa": "1.54 / 4.42", "em": "2.07 / 6.94", "fixed": "7.72 / 88.90"},
    },
    "logistic": {
        ("0.01", "1"): {"sa": "0.177 / 0.108", "em": "0.207 / 0.131", "fixed": "0.295 / 0.272"},
        ("0.001", "1"): {"sa": "0.188 / 0.114", "em": "0.361 / 0.346", "fixed": "0.335 / 0.301"},
        ("0.01", "2"): {"sa": "0.182 / 0.116", "em": "0.204 / 0.132", "fixed": "0.350 / 0.338"},
        ("0.001", "2"): {"sa": "0.187 / 0.113", "em": "0.376 / 0.360", "fixed": "0.337 / 0.319"},
    },
}


def build():
    prefix = ROOT / "build/install"
    for words in (["cmake", "--install", ROOT / "build/release", "--prefix", prefix],
                  ["cmake", "-G", "Ninja", "-S", EXAMPLE, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={prefix}"],
                  ["cmake", "--build", BUILD]):
        subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)


def command(words):
    return " ".join([PROGRAM.name, *words])


def run(task, seeds, steps, commit):
    for (v0, sigma), published in PUBLISHED[task].items():
        for method in published:
            for seed in seeds:
                words = [task, method, v0, sigma, str(seed), str(steps)]
                result = CELLS / ("_".join(words) + ".json")
                if read_record(result, command(words), version=VERSION):
                    continue
                print(" ".join(words), file=sys.stderr, flush=True)
                done = subprocess.run([str(PROGRAM), *words], stdout=subprocess.PIPE, text=True, check=True)
                keep(result, command(words), commit, {"version": VERSION, "outcome": json.loads(done.stdout)})


def picture_of(task, method, steps):
    """Where the record of a run stands whose posterior and predictions are drawn, and what is told to the program."""
    return CELLS / "pictures" / f"{task}_{method}.json", [task, method, *DRAWN, "0", str(steps)]


def run_pictures(task, steps, commit):
    for method in METHODS:
        result, words = picture_of(task, method, steps)
        if not read_record(result, command(words), version=VERSION):
            print("picture of", *words, file=sys.stderr, flush=True)
            done = subprocess.run([str(PROGRAM), *words], stdout=subprocess.PIPE, text=True, check=True)
            keep(result, command(words), commit, {"version": VERSION, "outcome": json.loads(done.stdout)})


def draw_pictures(task):
    """Posteriors of β₁ to β₃ and predictions of one seed; a sentence with both pictures, or nothing before the runs are there."""
    records = {method: read_record(path, command(words), version=VERSION)
               for method in METHODS for path, words in [picture_of(task, method, 500_000)]}
    if not all(records.values()):
        return ""
    outcome = {method: record["outcome"] for method, record in records.items()}
    groups, marks = {}, {}
    for j in range(3):
        truth = outcome["sa"]["truth"][j]
        heading = f"β{'₁₂₃'[j]} = {truth:.2f}"
        groups[heading] = [figures.Row(name, name.lower()) for name in METHODS.values()]
        for method, name in METHODS.items():
            values = outcome[method]["quantiles"][j]
            marks[f"{heading}/{name}"] = figures.Mark(values, values[2], None, truth)
    figures.dots(IMAGES / f"sparse_regression_{task}_posterior.svg", f"Posteriors of three weights, {task} regression", groups,
                 [[figures.Panel("Quantiles .05, .25, .5, .75 and .95 over samples", "weight", marks)]])
    text = (f"![Posteriors of the three weights that are not 0](images/sparse_regression_{task}_posterior.svg)\n\nOne seed, v₀ = {DRAWN[0]} and "
            f"σ = {DRAWN[1]} at the start: dots are quantiles over the samples, bars medians, diamonds the true weights")
    if task == "linear":
        text += "; and what the same chains say of 50 rows of their training set and of the 50 test rows:\n\n"
        for part, answers, said, title in (("training", "learned", "fitted", "Fit of 50 rows of the training set"),
                                           ("fit", "responses", "predicted", "Predictions of 50 new rows")):
            figures.fits(IMAGES / f"sparse_regression_{task}_{part}.svg", title, "response", "averaged prediction",
                         {name: (name.lower(), list(zip(outcome[method][answers], outcome[method][said], strict=True)))
                          for method, name in METHODS.items()})
            text += f"![{title}](images/sparse_regression_{task}_{part}.svg)\n\n"
    else:
        text += ".\n\n"
    return text + f"Records by commit: {by_commit(list(records.values()))}.\n\n"


def cell_records(task, method, v0, sigma):
    """The records of the longest runs of a cell by seed, and their steps."""
    found = {}
    for path in CELLS.glob(f"{task}_{method}_{v0}_{sigma}_*.json"):
        words = path.stem.split("_")
        seed, steps = map(int, words[4:])
        found.setdefault(steps, {})[seed] = read_record(path, command(words), version=VERSION)
    return (found[max(found)], max(found)) if found else ({}, 0)


def outcomes(task, method, v0, sigma):
    """What they came to by seed, and their steps."""
    by_seed, steps = cell_records(task, method, v0, sigma)
    return {seed: record["outcome"] for seed, record in by_seed.items()}, steps


def records_of(task):
    """The records of all cells of a task."""
    return [record for (v0, sigma), published in PUBLISHED[task].items() for method in published
            for record in cell_records(task, method, v0, sigma)[0].values()]


def good_outcomes(task, method, v0, sigma):
    """Those of `outcomes` that did not diverge."""
    return {seed: outcome for seed, outcome in outcomes(task, method, v0, sigma)[0].items() if "diverged" not in outcome}


def row(task, v0, sigma, method, published):
    by_seed, steps = outcomes(task, method, v0, sigma)
    head = f"| {v0} | {sigma} | {METHODS[method]} | {published} |"
    if not by_seed:
        return head + " not run | | | | |\n"
    good = [outcome for outcome in by_seed.values() if "diverged" not in outcome]
    diverged = len(by_seed) - len(good)
    digits = 2 if task == "linear" else 3
    cells = [f"{with_interval([o[a] for o in good], digits)} / {with_interval([o[b] for o in good], digits)}" if good else "diverged"
             for a, b in (("mae", "mse"), ("sample_mae", "sample_mse"), ("ideal_mae", "ideal_mse"))]
    count = f"{len(by_seed)}" + (f", {diverged} diverged" if diverged else "")
    return f"{head} {cells[0]} | {cells[1]} | {cells[2]} | {count} | {steps} |\n"


TEXT = """# Sparse regression, p = 1000

The findings in short: [results.md](../results.md#sparse-regression-p--1000).

Made by `scripts/results/sparse_regression.py` from `docs/results/sparse_regression/`: the simulations of Deng et al. 2019, tables 1
(linear, n = 100) and 4 (logistic, n = 500). Every seed draws its own weights, training set, 50 test rows and noise; methods share them.
Errors are against the test responses, which are drawn like the training ones: even the true means have the errors of the column "true
means". "Averaged" predicts with the mean over the samples of the second half of the chain, "one sample" with one of them at a time; the
paper does not say which it means. Mean over seeds ± half the width of a 95 % interval. SGLD keeps ρ = δ = 0.5 and σ where they start.
The published values of SGLD with σ = 2 are the same for v₀ = 0.01 and 0.1, 15.85 and 416.39, which no two priors give: they cannot be of both
cells. Nearest to the published mean squared errors are our single samples with v₀ = 0.1 (column "one sample"; published 88.90 and 416.39), whose
intervals do not hold them; with v₀ = 0.01 nothing of ours is near (published 229.38 and 416.39). More is not known of it.
In the figures of errors dots are seeds, bars means, lines 95 % intervals of the mean, diamonds published values, and
the dashed line is the error of the true means.

"""


def write():
    text = TEXT
    for task, cells in PUBLISHED.items():
        text += f"## {task.capitalize()}\n\n![Errors of {task} regression, ours and published](images/sparse_regression_{task}.svg)\n\n"
        text += "| v₀ | σ at the start | method | published MAE / MSE | averaged MAE / MSE | one sample | true means | seeds | steps |\n"
        text += "|---|---|---|---|---|---|---|---|---|\n"
        for (v0, sigma), published in cells.items():
            for method in published:
                text += row(task, v0, sigma, method, published[method])
        text += f"\nRecords by commit: {by_commit(records_of(task))}.\n\n" if records_of(task) else "\n"
        text += draw_pictures(task)
    write_page("sparse_regression", text)
    missing = [f"{task} {METHODS[method]} v0={v0} sigma={sigma}" for task, (v0, sigma), method, _ in all_cells()
               if not good_outcomes(task, method, v0, sigma)]
    if missing:
        sys.exit(f"figures and docs/results.md are left as they were: no result yet of {', '.join(missing)}")
    for task in PUBLISHED:
        draw(task)
    write_section("sparse_regression.py", short())


def all_cells():
    """(task, (v0, sigma), method, {measure: published value}) of every cell."""
    for task, cells in PUBLISHED.items():
        for start, published in cells.items():
            for method, values in published.items():
                yield task, start, method, dict(zip(("mae", "mse"), map(float, values.split(" / ")), strict=True))


def draw(task):
    groups, marks, digits = {}, {"mae": {}, "mse": {}}, 2 if task == "linear" else 3
    for of_task, (v0, sigma), method, published in all_cells():
        if of_task != task:
            continue
        good = list(good_outcomes(task, method, v0, sigma).values())
        heading = f"v₀ = {v0}, σ = {sigma} at the start"
        label = f"{METHODS[method]}, {len(good)} seeds"
        groups.setdefault(heading, []).append(figures.Row(label, METHODS[method].lower()))
        for measure in marks:
            values = [outcome[measure] for outcome in good]
            mean = statistics.mean(values)
            marks[measure][f"{heading}/{label}"] = figures.Mark(values, mean, half_width(values), published[measure], f"{mean:.{digits}f}")
    v0, sigma = next(iter(PUBLISHED[task]))  # other cells have the same data, some of fewer seeds
    ideal = good_outcomes(task, "sa", v0, sigma).values()
    panels = [figures.Panel(f"{measure.upper()}, averaged predictions", f"{name} error on 50 test rows", marks[measure], task == "linear",
                            (statistics.mean(outcome[f"ideal_{measure}"] for outcome in ideal), "true means"))
              for measure, name in (("mae", "mean absolute"), ("mse", "mean squared"))]
    figures.dots(IMAGES / f"sparse_regression_{task}.svg", f"Errors of {task} regression with 1,000 weights, ours and published (diamonds)",
                 groups, [panels])


def errors(task, start, method, measure):
    return [outcome[measure] for outcome in good_outcomes(task, method, *start).values()]


def placed(measure, ours):
    """How many published values of a measure lie below, within and above the 95 % intervals of ours."""
    below = within = above = 0
    for task, start, method, published in all_cells():
        values = errors(task, start, method, ours)
        mean, half = statistics.mean(values), half_width(values)
        below += published[measure] < mean - half
        above += published[measure] > mean + half
        within += abs(published[measure] - mean) <= half
    return below, within, above


def against(other):
    """In how many of the eight cells the MAE of SGLD-SA is below and above that of another method, by intervals of differences paired
    by seed."""
    below = above = 0
    for task, cells in PUBLISHED.items():
        for start in cells:
            first, second = (good_outcomes(task, method, *start) for method in ("sa", other))
            shared = sorted(first.keys() & second.keys())
            low, high = bounds_of_difference([first[seed]["mae"] for seed in shared], [second[seed]["mae"] for seed in shared])
            below += high < 0
            above += low > 0
    return below, above


def short():
    """The section of the short page; what it says is checked against the records."""
    cells = [(task, start) for task, starts in PUBLISHED.items() for start in starts]
    best = sum(min(METHODS, key=lambda method: statistics.mean(errors(*cell, method, "mae"))) == "sa" for cell in cells)
    em, fixed = against("em"), against("fixed")
    text = "## Sparse regression, p = 1000\n\n" + paragraph(
        "The simulations of Deng et al. 2019: three weights of 1,000 are not 0, n = 100 (linear, table 1) or 500 (logistic, table 4), spike",
        "and slab starting at v₀ and σ. SGLD-SA adapts the prior by stochastic approximation, SGLD-EM by EM steps, SGLD not at all.",
        backed(best == len(cells) and em[1] == fixed[1] == 0,
               f"**Published and found: SGLD-SA has the smallest mean absolute error (MAE) of the three in all {len(cells)} cells**;"),
        f"by 95 % intervals of differences paired by seed it is below SGLD-EM in {em[0]} and below SGLD in {fixed[0]}, above in none.")
    text += "![Errors of linear regression, ours and published](results/images/sparse_regression_linear.svg)\n\n"
    text += paragraph("Diamonds are published values, dots seeds, bars means, lines 95 % intervals of the mean; the dashed line is the error of",
                      "the true means.")
    text += "MAE, published / ours ± half the width of a 95 % interval (predictions averaged over samples):\n\n"
    text += "| | v₀ | σ | " + " | ".join(METHODS.values()) + " | seeds |\n" + "|---" * (len(METHODS) + 4) + "|\n"
    for task, (v0, sigma) in cells:
        digits = 2 if task == "linear" else 3
        parts = [f"{PUBLISHED[task][v0, sigma][method].split(' / ')[0]} / {with_interval(errors(task, (v0, sigma), method, 'mae'), digits)}"
                 for method in METHODS]
        counts = [len(errors(task, (v0, sigma), method, "mae")) for method in METHODS]
        seeds = str(counts[0]) if len(set(counts)) == 1 else ", ".join(map(str, counts))
        text += f"| {task} | {v0} | {sigma} | " + " | ".join(parts) + f" | {seeds} |\n"
    mae, mse = placed("mae", "mae"), placed("mse", "mse")
    one, one_mse = placed("mae", "sample_mae"), placed("mse", "sample_mse")
    linear = [("linear", (v0, sigma)) for v0, sigma in PUBLISHED["linear"]]
    text += "\n" + paragraph(
        f"Of the {sum(mae)} published MAEs {mae[0]} are below our interval (ours is worse), {mae[1]} inside and {mae[2]} above; of the mean",
        f"squared errors (MSE) {mse[0]}, {mse[1]} and {mse[2]}. With single samples in place of averages the counts are {one[0]}, {one[1]} and",
        f"{one[2]} of the MAEs, {one_mse[0]}, {one_mse[1]} and {one_mse[2]} of the MSEs. The paper gives no spread, and does not say whether",
        "it averages predictions.",
        backed(all(statistics.mean(errors(*cell, "fixed", "mae")) < .5 * float(PUBLISHED[cell[0]][cell[1]]["fixed"].split(" / ")[0])
                   for cell in linear),
               "With averaged predictions our linear SGLD has less than half of the published MAE in every cell,"),
        backed(all(bounds_of_difference(*(errors("linear", ("0.01", sigma), method, "mae") for method in ("fixed", "em")))[1] < 0
                   for sigma in ("1", "2")),
               "and with v₀ = 0.01 it is below SGLD-EM; the published SGLD is far above it."))
    text += paragraph("All settings are the published ones (the regression here has an intercept besides); nothing was tuned.",
                      backed(all(len(errors(task, cell, method, "mae")) == 10 for task in PUBLISHED for cell in PUBLISHED[task] for method in METHODS),
                             "Every cell has ten seeds."))
    text += paragraph(f"Records by commit: {by_commit([record for task in PUBLISHED for record in records_of(task)])}.")
    return text + "Both tables with MSE, single samples and true means: [results/sparse_regression.md](results/sparse_regression.md).\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "write"])
    parser.add_argument("task", nargs="?", choices=list(PUBLISHED))
    parser.add_argument("--seeds", default="0:10", help="A:B, half open")
    parser.add_argument("--steps", type=int, default=500_000)
    choice = parser.parse_args()
    if choice.action == "run":
        first, last = (int(word) for word in choice.seeds.split(":"))
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        commit = clean_commit()
        build()
        for name in [choice.task] if choice.task else PUBLISHED:
            run(name, range(first, last), choice.steps, commit)
            run_pictures(name, choice.steps, commit)
    write()
