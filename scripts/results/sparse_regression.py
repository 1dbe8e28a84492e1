#!/usr/bin/env python3
"""Runs the large-p small-n tables of Deng et al. 2019 (tables 1 and 4) and writes their rows in docs/results.md; resumable.

    scripts/results/sparse_regression.py run [linear|logistic] [--seeds A:B] [--steps N]   the cells, then the rows
    scripts/results/sparse_regression.py write                                             the rows of whatever has been run

A cell is one (task, method, v0, sigma, seed): docs/results/sparse_regression/<task>_<method>_<v0>_<sigma>_<seed>_<steps>.json holds what
examples/sparse_regression printed and the command, and is skipped the next time. The rows stand between the markers of docs/results.md
and are those of the longest runs there are. The program is built against an installed copy of build/release under build/examples.
"""
import argparse
import json
import os
import subprocess
import sys

from results_page import RESULTS, ROOT, keep, with_interval, write_section

CELLS = RESULTS / "sparse_regression"
EXAMPLE = ROOT / "examples/sparse_regression"
BUILD = ROOT / "build/examples/sparse_regression"
PROGRAM = BUILD / "example_sparse_regression"
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


def run(task, seeds, steps):
    for (v0, sigma), published in PUBLISHED[task].items():
        for method in published:
            for seed in seeds:
                words = [task, method, v0, sigma, str(seed), str(steps)]
                result = CELLS / ("_".join(words) + ".json")
                if result.exists():
                    continue
                print(" ".join(words), file=sys.stderr, flush=True)
                done = subprocess.run([str(PROGRAM), *words], stdout=subprocess.PIPE, text=True, check=True)
                entry = {"command": "example_sparse_regression " + " ".join(words), "outcome": json.loads(done.stdout)}
                keep(result, entry)


def outcomes(task, method, v0, sigma):
    """The outcomes of the longest runs of a cell by seed, and their steps."""
    found = {}
    for path in CELLS.glob(f"{task}_{method}_{v0}_{sigma}_*.json"):
        seed, steps = (int(word) for word in path.stem.split("_")[4:])
        found.setdefault(steps, {})[seed] = json.loads(path.read_text())["outcome"]
    return (found[max(found)], max(found)) if found else ({}, 0)


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


TEXT = """## Sparse regression, p = 1000

Made by `scripts/results/sparse_regression.py` from `docs/results/sparse_regression/`: the simulations of Deng et al. 2019, tables 1
(linear, n = 100) and 4 (logistic, n = 500). Every seed draws its own weights, training set, 50 test rows and noise; methods share them.
Errors are against the test responses, which are drawn like the training ones: even the true means have the errors of the column "true
means". "Averaged" predicts with the mean over the samples of the second half of the chain, "one sample" with one of them at a time; the
paper does not say which it means. Mean over seeds ± half the width of a 95 % interval. SGLD keeps ρ = δ = 0.5 and σ where they start.

"""


def write():
    text = TEXT
    for task, cells in PUBLISHED.items():
        text += f"### {task.capitalize()}\n\n"
        text += "| v₀ | σ at the start | method | published MAE / MSE | averaged MAE / MSE | one sample | true means | seeds | steps |\n"
        text += "|---|---|---|---|---|---|---|---|---|\n"
        for (v0, sigma), published in cells.items():
            for method in published:
                text += row(task, v0, sigma, method, published[method])
        text += "\n"
    write_section("sparse_regression.py", text)


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
        build()
        for name in [choice.task] if choice.task else PUBLISHED:
            run(name, range(first, last), choice.steps)
    write()
