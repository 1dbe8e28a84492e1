#!/usr/bin/env python3
"""Estimates on the samples of the Open Bandit Dataset, each beside what the other logging policy really earned.

    scripts/results/open_bandit.py run      seconds, from a clean commit only; needs the data set and a build/release of that commit

STEIN_DATA names the folder in which `obd/{random,bts}/{men,women}/*.csv.gz` lie. A record of docs/results/obd is one run of the
program: command, commit, checksums of what it read, and what it says. Two stationary policies stand in tables, which are made here from
the log of `bts`: its decisions have the propensity of the chosen item alone, and its posterior moved while it logged.

- mean-bts-propensity: the mean of the propensities logged for an item in a position, divided by the sum of these means in that position.
  The sum is more than 1, since an item is logged more often while its propensity is large: the policy leans to items that `bts` preferred
  for a time.
- bts-frequency: how often an item was shown in a position. Its expectation is the mean of the propensities of `bts` over time.
"""
import argparse
import collections
import csv
import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile

from records import PROGRAM, RESULTS, ROOT, clean_commit, is_clean, keep, name_of

FOLDER = RESULTS / "obd"
TABLES_FOLDER = ROOT / "runs/results/open_bandit"  # of the data set, which is not kept with the project
START = "stein replay --log $STEIN_DATA/obd/{log}/{campaign}/{campaign}.csv.gz --format open-bandit"
ESTIMATORS = "--estimators ips,snips,dm,dr,switch"
TABLES = ["mean-bts-propensity", "bts-frequency"]
OF_LOG = ["events", "bad_lines", "arms", "reward", "uniformly_logged", "uniform"]
OF_POLICY = ["policy", "events", "accepted", "clicks", "ctr", "interval", "relative", "estimates", "weights"]


def table_file(campaign, table):
    return TABLES_FOLDER / f"{campaign}-{table}.csv"


def plan():
    """Commands by the names of their records."""
    commands = {}
    for campaign in ["men", "women"]:
        for log in ["bts", "random"]:
            start = START.format(log=log, campaign=campaign)
            commands[f"{campaign}-{log}"] = f"{start} --policy uniform,logged {ESTIMATORS}"
        for table in TABLES:
            file = name_of(table_file(campaign, table))
            commands[f"{campaign}-random-{table}"] = (f"{start} --policy fixed-propensities,logged {ESTIMATORS} "
                                                      f"--set fixed-propensities.table={file}")
    return commands


def expanded(text):
    return os.path.expandvars(text)


def propensities(campaign):
    """Lists of the propensities that `bts` logged, by position (from 1) and item."""
    logged = collections.defaultdict(lambda: collections.defaultdict(list))
    with gzip.open(expanded(f"$STEIN_DATA/obd/bts/{campaign}/{campaign}.csv.gz"), "rt", newline="") as file:
        for row in csv.DictReader(file):
            logged[int(row["position"])][row["item_id"]].append(float(row["propensity_score"]))
    return logged


def write_tables(campaign):
    """One row for every position and item that `bts` showed there. The column is that of the position in the context."""
    shares = {
        "mean-bts-propensity": lambda values: sum(values) / len(values),
        "bts-frequency": len,
    }
    for table in TABLES:
        lines = ["column,arm,propensity"]
        for position, items in sorted(propensities(campaign).items()):
            weights = {item: shares[table](values) for item, values in items.items()}
            total = sum(weights.values())
            lines += [f"{position - 1},{item},{weights[item] / total!r}" for item in sorted(weights, key=int)]
        table_file(campaign, table).write_text("\n".join(lines) + "\n")


def checksums(command):
    """SHA-256 of the files that a command reads, by the names that it has for them."""
    files = [word.split("=")[-1] for word in command.split() if word.endswith((".csv", ".csv.gz"))]
    return {file: hashlib.sha256((ROOT / expanded(file)).read_bytes()).hexdigest() for file in files}


def replayed(command):
    """What the program says of the log and of each policy, without the machine's own figures: speeds, places, memory."""
    with tempfile.TemporaryDirectory() as folder:
        words = expanded(command).split()[1:]
        done = subprocess.run([str(PROGRAM), *words, "--json", "--quiet", "--out", f"{folder}/run"], cwd=ROOT,
                              stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: exit code {done.returncode}")
    summary = json.loads(done.stdout)
    if not all(map(is_clean, summary["commits"])):
        sys.exit(f"made by a program of {', '.join(summary['commits'])}; only results of clean commits are kept")
    return {"log": {key: summary["log"][key] for key in OF_LOG},
            "policies": [{key: policy[key] for key in OF_POLICY} for policy in summary["policies"]],
            "differences": summary["differences"]}


def run():
    if "STEIN_DATA" not in os.environ:
        sys.exit("STEIN_DATA has to name the folder in which obd/ lies")
    commit = clean_commit()
    for folder in [FOLDER, TABLES_FOLDER]:
        folder.mkdir(parents=True, exist_ok=True)
    for campaign in ["men", "women"]:
        write_tables(campaign)
    for name, command in plan().items():
        keep(FOLDER / f"{name}.json", command, commit, {"checksums": checksums(command), **replayed(command)}, indent=1)
        print(f"{name}: {command}", file=sys.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run"])
    parser.parse_args()
    run()
