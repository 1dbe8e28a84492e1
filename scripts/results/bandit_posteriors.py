#!/usr/bin/env python3
"""Runs the tests that hold posteriors of bandit policies to the exact one of a linear network, and writes docs/results/bandit_posteriors.md
from the figures that they measured.

    scripts/results/bandit_posteriors.py run      some minutes of one core, from a clean commit only; needs a build/release of that commit
    scripts/results/bandit_posteriors.py write    the page from the figures of the last run

The figures are kept in docs/results/bandit_posteriors.json, with the command and the commit.
"""
import figures
from records import RESULTS, commits_of, short_commit
from results_page import IMAGES, write_page
from test_figures import command_of, recorded, run_or_write

PROGRAMS = ["test_policies", "test_agents"]
TAG = "[conjugate]"
COMMAND = command_of(PROGRAMS, TAG)
RECORD = RESULTS / "bandit_posteriors.json"
COLUMNS = ["sd", "bias", "regret"]
# Half of a 95 % interval, as a share of the figure: of sds of independent draws, and of regrets by what seeds are apart.
CHANCE = {"sd": .05, "regret": .08}

HEAD = """# Posteriors of bandit policies beside the exact one

Made by `scripts/results/bandit_posteriors.py` from what the tests tagged `[conjugate]` measured in one run; they hold every figure inside
bounds (`tests/policies/conjugate_posterior_test.cpp`, `tests/agents/bandits/conjugate_regret_test.cpp`, where settings stand).

On a linear network with the noise given the posterior is known. *sd*: that of predictions in units of the exact one, 100 networks of 8
coefficients after 60 rows (95 % interval ± 5 % for independent draws, which those of a chain only about are). *Bias*: root mean square of the
differences of means, in exact sds. *Regret*: on `linear`, rewards with an sd of ½, after 2,000 interactions, in units of that of `lints` under the
same prior and noise, means of seeds 1000 to 1002 (95 % interval ± 8 %). [bandit-findings.md](../bandit-findings.md#are-they-posteriors) says what follows.

![Sds and regrets beside those of the exact posterior](images/bandit_posteriors.svg)

"""


def draw(rows):
    """Policies without and with anchors, beside the exact posterior."""
    def marks(what):
        return {policy: figures.Mark([], found[what], CHANCE[what] * found[what], text=f"{found[what]:.2f}") for policy, found in rows.items() if what in found}

    figures.dots(IMAGES / "bandit_posteriors.svg", "Posteriors of bandit policies beside the exact one", {"": [figures.Row(policy, "svgd") for policy in sorted(rows)]},
                 [[figures.Panel("sd of predictions", "in units of the exact sd", marks("sd"), reference=(1, "exact"), bounds=(0,)),
                   figures.Panel("regret on linear", "in units of that of lints", marks("regret"), reference=(1, "lints"), bounds=(0,))]])


def write():
    record = recorded(RECORD, COMMAND)
    rows = {}
    for line in record["figures"]:
        rows.setdefault(line["method"], {})[line["what"]] = line["figure"]
    text = HEAD + "| policy | sd | bias | regret |\n|---|---|---|---|\n"
    for policy in sorted(rows):
        text += f"| {policy} | {' | '.join(f'{rows[policy][what]:.2f}' if what in rows[policy] else '' for what in COLUMNS)} |\n"
    draw(rows)
    write_page("bandit_posteriors", text + f"\nCommit of the figures: {' and '.join(map(short_commit, commits_of(record)))}. Command: `{COMMAND}`.\n")


if __name__ == "__main__":
    run_or_write(__doc__, PROGRAMS, TAG, RECORD, write)
