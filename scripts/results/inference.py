#!/usr/bin/env python3
"""Runs the tests that hold the inference core to its laws and writes docs/inference.md from the figures that they measured.

    scripts/results/inference.py run      about two minutes of one core, from a clean commit only; needs a build/release of that commit,
                                          with LibTorch
    scripts/results/inference.py write    the page from the figures of the last run

The tests append a line of JSON a figure to the file that STEIN_PROOF_RECORD names (tests/inference/proof_record.h). The figures are kept
in docs/results/inference.json, with the command and the commit. Record and page are left as they were unless all tests pass.
"""
import math
import subprocess
import sys

from records import RESULTS, ROOT, commits_of, read_record, short_commit
from test_figures import command_of, recorded, run_or_write

PROGRAMS = ["test_inference", "test_inference_torch"]  # regressions are compared with LibTorch's too, and are in the second one
TAG = "[proof]"
COMMAND = command_of(PROGRAMS, TAG)
RECORD = RESULTS / "inference.json"
PLANTED = RESULTS / "mutants.json"
PLANTED_COMMAND = "scripts/mutants --keep"
PAGE = ROOT / "docs/inference.md"
COLUMNS = ["exact law", "linear regression", "data twice", "logistic regression"]
METHODS = ["sgld", "psgld, metric at rest", "psgld, β₁ = 0", "sghmc", "dropout-sghmc", "sgnht, one a particle",
           "sgnht, one a coordinate", "santa, splitting", "santa, Euler", "hmc", "nuts", "svgd, linear kernel", "svgd, RBF kernel", "sgd-momentum", "rmsprop", "adam",
           "mean-field Gaussian", "variational matrix Gaussian", "matrix Gaussian, K = 2"]
NOISE_MUTANTS = ["h for √h", "noise/N", "noise/√N", "lost ½"]
MUTANTS = NOISE_MUTANTS + ["prior sign", "no N/n"]
MUTANT = 10  # |z| of tests/inference/chain_statistics.h

HEAD = """# How the inference core is proven

Written by `scripts/results/inference.py` from what the tests tagged `[proof]` measured in one run; no figure of the tables is typed by hand.
`build/release/test_inference "[proof]"` and `build/release/test_inference_torch "[proof]"` run the same tests.

|z| is the largest distance between an average over chains and its law, in standard errors that come from the spread of 64 or more
independent chains, never from autocorrelation. Seeds are fixed. A right sampler has to stay below 6.1 in every comparison (with 64 chains,
Student's t: 7 false alarms in 10⁸ comparisons); a mutant (the same code with one error put in) has to exceed 10.

"""

TEXT = """
- **Exact law**: a Gaussian target with known noise in the gradient; a chain is compared with the law of the discretised chain, which is
  not the target. SGNHT: identities that hold exactly, and the value at which a shared thermostat settles. That value, and the law of Santa
  in every column, are those of a thermostat at rest, which it nearly is at a small η or with 1,024 coordinates. The metrics of pSGLD and Santa are
  at rest (constant), except in the row β₁ = 0, where the metric depends on the last gradient alone. SVGD: the distance from the known fixed
  point; that of the RBF kernel has too little variance and is known to two or three digits.
- **Linear regression**: correlated inputs, the closed-form posterior and the law of the chain on it along every direction of its Hessian:
  means, variances and covariances. SGNHT: identities that hold exactly at any step size. They hold the gradient and E r² to the posterior, but do not
  determine the covariance at a finite step, which depends on A and h and is not known; nor do they in the column "data twice". The covariance
  of SGNHT is tested by the logistic regression, at h → 0. Santa: orthogonal inputs,
  since Santa has a thermostat for every coordinate. HMC and NUTS: the posterior itself. Optimizers: the largest distance from its mode. Variational
  families: the optimum of their bound, 64 runs.
- **Matrix Gaussian, K = 2**: W = P Λ₁ C Λ₂ Qᵀ with two reflections a side, drawn from by NUTS. P and Q are orthogonal: with scales held at
  one the prior of W is N(0, I) whatever the reflectors, so the posterior of W is the plain one, and that of the reflectors their prior;
  both are compared, for two outputs. With scales as coordinates the prior of W is a mixture of Gaussians over the angle of P and the
  scales: "exact law" is the posterior of a linear regression under it, by quadrature, for no reflectors and for two.
- **Data twice**: every row twice and N doubled with minibatches of the same size. Every chain of SGLD, pSGLD, SGHMC,
  D-SGHMC and SGNHT draws its own minibatches of two rows, and the law includes their noise; the other methods, variational families among
  them, get halves of the data, which add no noise.
- **Logistic regression**: two coordinates (structured weights: three), a posterior that is no Gaussian, by quadrature on a grid. HMC and NUTS: |z| of means and
  covariances. The others: the bias of E (φ − m)ᵀ C⁻¹ (φ − m)/2 at h and at h/2; the tests require that the bias falls by more than √2 and
  less than 2√2, both by 6.1 standard errors. SGNHT: also at h/4, and the parabola through the three at h = 0, with its standard error; it
  has to be 0 within 6.1 of those. Santa with splitting gets 20,000 responses, because its thermostats are at rest only on stiff
  targets; the posterior of this row is therefore nearly Gaussian. The bias of Santa falls to cosh(α/2) − 1 = 0.8 % with sinh α = G = ¼, not
  to 0, because the friction does not fall with the step size.
- **Mutants killed**: of those that apply, see below; one that gives the number of an earlier row, but for rounding, is the same mutant and
  counts there.

pSGLD with its metric at rest is SGLD, and D-SGHMC that keeps every input is SGHMC, step for step; where they get the same noise, the
figures are the same.

A dash stands where there is nothing to compare with:

- pSGLD with a metric that moves does not have the posterior's law, since the published term Γ is left out: where the metric follows the
  gradient faster than the chain moves, the law is p/G. psgld_law_test.cpp tests for p/G, at β₁ = 0 for the law of the chain by
  quadrature. adaptive_metric_test.cpp writes out steps of pSGLD and Santa whose metric adapts, schedule_test.cpp the schedules and warm-ups.
- Santa by Euler steps has a variance too small by a share of α/2 at any step size: the column of the exact law tests for
  that variance.
- HMC and NUTS have no law of a discretised chain: HMC's Metropolis test, and the draw of NUTS from its trajectory, make the posterior exact.
  Their parts (energy error, reversibility,
  the joint distribution test, simulation-based calibration) are in hamiltonian_sampler_test.cpp.
- Not in the table: the IMQ kernel of SVGD (svgd_test.cpp writes a step out), schedules, pruning, spike and slab (masked_test.cpp,
  spike_and_slab_test.cpp).
- SVGD with the RBF kernel has the wrong variance by design, and its fixed points are known on N(0, I) only; the linear kernel is exact on
  Gaussians only. The mutants are tested with the RBF kernel, whose mean is exact by symmetry.
- Optimizers have no law besides their equations, which optimizer_test.cpp writes out; the mode of a second posterior would show nothing new.
- Variational families: variational_objective_test.cpp has the closed forms of bound and gradient; on logistic regression there are none.

## Mutants

The same statistics with one error put in: h for √h in the noise, noise divided by N or √N, a lost factor 2 of its variance; the sign of
the prior reversed; minibatches that are not scaled by N/n. The number is |z| of the mutant, or of the right sampler. A thermostat absorbs
wrong noise in E r²; therefore SGNHT and Santa are tested by the value at which their friction settles, or by what the noise adds to r² in
one step. The last two mutants are errors of the test's own target, and show that a sampler follows its target (Stein's own prior and N/n: below);
the mean of a conjugate posterior shows them, of structured weights mean and covariance on the linear regression. A dash: not tried. The
momenta of HMC and NUTS and ε of the variational families have no such mutants; optimizers and SVGD draw nothing.

"""


def by_cell(lines):
    """Figures of every (method, column) by what they are."""
    cells = {}
    for line in lines:
        cells.setdefault((line["method"], line["column"]), {}).setdefault(line["what"], []).append(line["figure"])
    return cells


def percent(share):
    return f"{100 * share:+.1f} %".replace("-", "−")


def cell(figures):
    if not figures:
        return "–"
    parts = []
    if "|z|" in figures:
        parts.append(f"≤ {max(figures['|z|']):.1f}")
    if "error" in figures:
        parts.append(f"error {max(figures['error']):.0e}")
    if "bias at h" in figures:
        parts.append(f"{percent(figures['bias at h'][0])} → {percent(figures['bias at h/2'][0])}")
    if "bias at 0" in figures:
        error = f"{100 * figures['error of the bias at 0'][0]:.1f} %"
        parts.append(f"at h = 0: {percent(figures['bias at 0'][0])} ± {error}")
    return ", ".join(parts)


def twin(cells, method, name):
    """The method of an earlier row for which the mutant gave the same number, but for rounding: it is the same mutant."""
    for earlier in METHODS[:METHODS.index(method)]:
        figures = cells.get((earlier, "mutants"), {})
        if name in figures and math.isclose(figures[name][0], cells[method, "mutants"][name][0], rel_tol=1e-6):
            return earlier
    return None


def killed(cells, method):
    """How many mutants of a row are killed, of those that no earlier row has."""
    figures = cells.get((method, "mutants"), {})
    asked = [figures[name][0] for name in MUTANTS if name in figures and twin(cells, method, name) is None]
    return f"{sum(z > MUTANT for z in asked)} of {len(asked)}" if asked else "–"


def mutant(cells, method, name):
    figures = cells[method, "mutants"]
    if name not in figures:
        return "–"
    if twin(cells, method, name) is not None:
        return f"as {twin(cells, method, name)}"
    z = figures[name][0]
    number = f"{z:,.0f}" if z < 1e9 else "no number"
    return f"{'killed' if z > MUTANT else 'survived'}, {number}"


def page(cells, commits):
    text = HEAD + f"Commit of the figures: {' and '.join(map(short_commit, commits))}.\n\n"
    text += "| method | exact law, \\|z\\| | linear regression, \\|z\\| | data twice, \\|z\\| | logistic regression | mutants killed |\n"
    text += "|---" * (len(COLUMNS) + 2) + "|\n"
    for method in METHODS:
        row = [cell(cells.get((method, column))) for column in COLUMNS] + [killed(cells, method)]
        text += f"| {method} | " + " | ".join(row) + " |\n"
    text += TEXT + "| method | right | " + " | ".join(MUTANTS) + " |\n" + "|---" * (len(MUTANTS) + 2) + "|\n"
    for method in METHODS:
        figures = cells.get((method, "mutants"))
        if figures:
            row = [f"{figures['right'][0]:.1f}"] + [mutant(cells, method, name) for name in MUTANTS]
            text += f"| {method} | " + " | ".join(row) + " |\n"
    return text


def planted():
    """The table of errors in the product's own code, nothing if there is no record of them."""
    record = read_record(PLANTED, PLANTED_COMMAND)
    if record is None:
        return ""
    listed = subprocess.run([ROOT / "scripts/mutants", "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    known = dict(line.split() for line in listed.splitlines())
    if not set(record["planted"]) <= set(known):
        sys.exit(f"{PLANTED.relative_to(ROOT)} has other bugs than scripts/mutants plants: run `{PLANTED_COMMAND}`")
    text = "\n## Errors planted in the product's own code\n\nThe mutants above are errors that the tests put in. `make mutants` changes a line of the "
    text += f"product, one at a time, and\nruns the test files named with it; the last column has those of them that failed.\n\n"
    text += "| error | file | noticed by | commit |\n|---|---|---|---|\n"
    for name, file in known.items():
        if name not in record["planted"]:
            text += f"| {name} | {file} | not run | |\n"
            continue
        entry = record["planted"][name]
        commit = short_commit(entry.get("commit", record["commit"]))
        text += f"| {name} | {entry['file']} | {', '.join(entry['killed_by']) or '**no test**'} | {commit} |\n"
    return text


def write():
    record = recorded(RECORD, COMMAND)
    found = by_cell(record["figures"])
    unknown = {method for method, _ in found} - set(METHODS)
    if unknown:
        sys.exit(f"figures of methods that the page does not know: {', '.join(sorted(unknown))}")
    empty = {*COLUMNS, "mutants"} - {column for _, column in found}
    if empty:
        sys.exit(f"columns without a single figure, so the page is left as it was: {', '.join(sorted(empty))}")
    PAGE.write_text(page(found, commits_of(record)) + planted())


if __name__ == "__main__":
    run_or_write(__doc__, PROGRAMS, TAG, RECORD, write)
