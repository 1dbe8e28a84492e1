#!/usr/bin/env python3
"""Measures what two ranks bring on one machine, and writes docs/scaling.md: what more ranks would bring, by the model of scaling_model.py.

    scripts/results/scaling.py run              a quarter of an hour of a machine with two free cores and mpirun, from a clean commit
    scripts/results/scaling.py write            the page from the record of the last run
    scripts/results/scaling.py predict FILE     the tables for a cluster of one's own: FILE is what `mpirun -n 2 stein ranks --json` printed,
                                                with a rank on each of two machines

Commands and clusters stand in scaling_plan.json, the record in docs/results/scaling.json.
"""
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import figures
from records import PROGRAM, RESULTS, ROOT, clean_commit, commits_of, short_commit
from scaling_model import Cluster, Link, OwnRuns, SharedSteps, SummedSteps, fitted

PLAN = json.loads((pathlib.Path(__file__).parent / "scaling_plan.json").read_text())
RECORD = RESULTS / "scaling.json"
PAGE = ROOT / "docs/scaling.md"
RANKS = 2
CURVE = [1, 2, 4, 8, 16, 32, 64, 128]
COLOURS = ("svgd", "s2vgd", "lints", "epsilon-greedy", "ensemble", "linucb")  # of figures.py, of the workloads in the order of the plan


def launcher():
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun", *root, "--oversubscribe", "--bind-to", "none", "-n", str(RANKS)]


def timed(words, folder):
    """Seconds of the whole command in a folder, its summary, and what it cost the root to share."""
    start = time.monotonic()
    done = subprocess.run([*words, "--out", "run", "--json", "--quiet"], cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    elapsed = time.monotonic() - start
    cost = json.loads((pathlib.Path(folder) / "run/cost.json").read_text())
    return {"elapsed": elapsed, "wall_seconds": json.loads(done.stdout)["wall_seconds"], "sharing": cost.get("sharing")}


def measured(entry):
    """One process and two ranks in turn: {"alone": […], "together": […]}. What an entry has to `prepare` is made in the folder of each run."""
    found = {"alone": [], "together": []}
    for _ in range(PLAN["repeats"]):
        for name, before in (("alone", []), ("together", launcher())):
            with tempfile.TemporaryDirectory() as folder:
                if "prepare" in entry:
                    subprocess.run([str(PROGRAM), *entry["prepare"].split()[1:]], cwd=folder, stdout=subprocess.DEVNULL, check=True)
                found[name].append(timed([*before, str(PROGRAM), *entry["command"].split()[1:]], folder))
    return found


def run():
    commit = clean_commit()
    messages = json.loads(subprocess.run([*launcher(), str(PROGRAM), "ranks", "--json"], stdout=subprocess.PIPE, text=True, check=True).stdout)
    for place in messages["ranks"]:
        del place["machine"]  # a name, no result
    record = {"commit": commit, "messages": messages, "runs": {}}
    for entry in PLAN["shared"] + PLAN["seeds"]:
        print(entry["name"], file=sys.stderr, flush=True)
        record["runs"][entry["name"]] = {"command": entry["command"], **measured(entry)}
    RECORD.write_text(json.dumps(record, indent=1) + "\n")


def link_of(messages):
    return Link({each["bytes"]: each["seconds"] for each in messages["messages"]})


def middle(runs, key="wall_seconds"):
    """The run of the median."""
    return sorted(runs, key=lambda each: each[key])[len(runs) // 2]


def rounds_of(entry, record):
    """The model of a workload whose constants are its own."""
    runs = record["runs"][entry["name"]]
    together = middle(runs["together"])
    kind = SummedSteps if entry.get("sums") else SharedSteps
    return fitted(kind, entry["parts"], middle(runs["alone"])["wall_seconds"], together["wall_seconds"], together["sharing"], RANKS,
                  link_of(record["messages"]))


def measured_speed_up(name, record, key="wall_seconds"):
    runs = record["runs"][name]
    return middle(runs["alone"], key)[key] / middle(runs["together"], key)[key]


def one_link(link):
    """All ranks see one another through the same link."""
    return Cluster(ranks_per_machine=10**6, within=link, between=link)


def one_machine(record):
    return one_link(link_of(record["messages"]))


def clusters(record, between):
    return [(each, Cluster(each["ranks_per_machine"], link_of(record["messages"]), between)) for each in PLAN["clusters"]]


def best(rounds, ranks, cluster):
    """The speed-up with as many of the ranks as are worth it, and how many these are."""
    candidates = sorted({1, ranks, *(2**power for power in range(11) if 2**power <= min(ranks, rounds.parts))})
    return max((rounds.speed_up(count, cluster), -count) for count in candidates)


def constants_table(record):
    text = "| workload | parts | a round: what is shared | by every rank | messages | spread of a part | two ranks, measured | with the start of `mpirun` | by the model |\n"
    text += "|---|---|---|---|---|---|---|---|---|\n"
    cluster = one_machine(record)
    for entry in PLAN["shared"]:
        if not entry.get("fit"):
            continue
        rounds = rounds_of(entry, record)
        text += (f"| {entry['name']} | {rounds.parts} | {1e6 * rounds.seconds:.0f} µs | {1e6 * rounds.everywhere:.0f} µs | "
                 f"{rounds.bytes * (1 if entry.get('sums') else rounds.parts) / 1024:.1f} KiB | {100 * rounds.spread:.0f} % | "
                 f"{measured_speed_up(entry['name'], record):.2f} × | {measured_speed_up(entry['name'], record, 'elapsed'):.2f} × | "
                 f"{rounds.speed_up(RANKS, cluster):.2f} × |\n")
    return text


def held_out(record):
    """Workloads whose constants are those of another, as a table of what the model says of them and what was measured."""
    by_name = {entry["name"]: entry for entry in PLAN["shared"]}
    text = "| workload | constants of | by the model | measured |\n|---|---|---|---|\n"
    for entry in PLAN["shared"]:
        if "of" not in entry:
            continue
        source = rounds_of(by_name[entry["of"]], record)
        share = entry["parts"] / source.parts
        moved = type(source)(parts=entry["parts"], seconds=source.seconds * share, everywhere=source.everywhere, bytes=source.bytes,
                             spread=source.spread)
        text += (f"| {entry['name']} | {entry['of']} | {moved.speed_up(RANKS, one_machine(record)):.2f} × | "
                 f"{measured_speed_up(entry['name'], record):.2f} × |\n")
    return text


def cluster_table(record, between):
    places = clusters(record, between)
    text = f"| workload | {' | '.join(each['name'] for each, _ in places)} | with messages that cost nothing |\n"
    text += f"|---|{'---|' * (len(places) + 1)}\n"
    for entry in PLAN["shared"]:
        if not entry.get("fit"):
            continue
        rounds = rounds_of(entry, record)
        cells = []
        for each, cluster in places:
            factor, count = best(rounds, each["ranks"], cluster)
            cells.append(f"{factor:.1f} × ({-count} ranks)")
        text += f"| {entry['name']} | {' | '.join(cells)} | {rounds.most():.1f} × |\n"
    for entry in PLAN["seeds"]:
        runs = own_runs(entry, record)
        cells = [f"{runs.speed_up(each['ranks'], each['ranks']):.0f} × ({each['ranks']:,} seeds)" for each, _ in places]
        text += f"| {entry['name'].split(',')[0]}, as many seeds as ranks | {' | '.join(cells)} | |\n"
    return text


def own_runs(entry, record):
    runs = record["runs"][entry["name"]]
    count = seeds_of(entry["command"])
    alone = middle(runs["alone"], "elapsed")
    begin = middle(runs["together"], "elapsed")["elapsed"] - middle(runs["together"])["wall_seconds"]
    each = alone["elapsed"] / count
    spread = max(0.0, middle(runs["together"])["wall_seconds"] / (count / RANKS * each) - 1)
    return OwnRuns(seconds=each, begin=begin, spread=spread)


def seeds_of(command):
    first, end = command.split("--seeds ")[1].split()[0].split(":")
    return int(end) - int(first)


def gpu_table():
    """One chain whose gradient GPUs share: what its messages cost beside its step."""
    text = "| GPUs | messages | gradient of a chunk | messages of a step | a step | speed-up |\n|---|---|---|---|---|---|\n"
    chain, kinds = PLAN["gpu_chain"], {each["name"]: each for each in PLAN["gpu_links"]}
    for name, gpus in [("within a machine", 8), ("between machines", 64), ("between machines", 512), ("through the host", 8)]:
        link = kinds[name]
        cluster = one_link(Link.stated(link["latency"], link["bytes_per_second"]))
        size = 4 * chain["weights"]
        own = chain["gradient_seconds"] / gpus
        summed = cluster.sum_of_slices(gpus, size, gpus)
        step = own + summed + chain["sampler_seconds"]
        alone = chain["gradient_seconds"] + chain["sampler_seconds"]
        text += (f"| {gpus} | {name}: {link['text']} | {1e3 * own:.2f} ms | {1e3 * summed:.1f} ms | {1e3 * step:.1f} ms | "
                 f"{alone / step:.2g} × |\n")
    return text


def gpu_particles():
    """What 8 GPUs of a machine make of particles whose gradients they share: (seconds of a step on one, on 8)."""
    how, link = PLAN["gpu_particles"], next(each for each in PLAN["gpu_links"] if each["name"] == "within a machine")
    row, = json.loads((ROOT / "docs/performance/mlp-gpu.json").read_text())["rows"]
    gradient = 6 * how["weights"] * row["particles"] * row["rows"] / (1e9 * row["ours"])  # forward, weights, slopes of units: two operations each
    move = how["moved_bytes_per_weight"] * how["weights"] * row["particles"] / PLAN["gpu_chain"]["memory_bytes_per_second"]
    cluster = one_link(Link.stated(link["latency"], link["bytes_per_second"]))
    gathered = cluster.all_gather(8, 4 * how["weights"] * row["particles"] / 8)
    return gradient + move, gradient * math.ceil(row["particles"] / 8) / row["particles"] + gathered + move


def draw(record, between):
    panels = {}
    for title, cluster in (("all ranks on one machine", one_machine(record)), ("16 ranks a machine", Cluster(16, link_of(record["messages"]), between))):
        members = []
        for entry, colour in zip([each for each in PLAN["shared"] if each.get("fit")], COLOURS, strict=True):
            rounds = rounds_of(entry, record)
            points = [(math.log2(count), *[rounds.speed_up(count, cluster)] * 3) for count in CURVE]
            members.append(figures.Curve(entry["name"], colour, False, points))
        panels[title] = members
    figures.curves(RESULTS / "images/scaling.svg", "Speed-up of one seed over ranks, by the model", panels, "log2 of ranks",
                   "times as fast as one process")


def stated_network():
    network = PLAN["network"]
    return Link.stated(network["latency"], network["bytes_per_second"])


def page(record):
    messages = {each["bytes"]: each["seconds"] for each in record["messages"]["messages"]}
    largest = max(messages)
    chain = PLAN["gpu_chain"]
    seeds = PLAN["seeds"][0]
    replay, = (entry["name"] for entry in PLAN["shared"] if not entry.get("fit") and "of" not in entry)
    particles, shared = gpu_particles()
    commands = "".join(f"| {name} | {middle(runs['alone'])['wall_seconds']:.1f} s | {middle(runs['together'])['wall_seconds']:.1f} s | "
                       f"`{runs['command']}` |\n" for name, runs in record["runs"].items())
    return f"""# What more ranks bring

Written by `scripts/results/scaling.py` from docs/results/scaling.json; the model is `scripts/results/scaling_model.py`. How runs are spread is in
[many-machines.md](many-machines.md).

**Measured**: runs in one process and on two ranks of one machine with two cores, and the messages between these two ranks. **Extrapolated**:
everything beyond two ranks, and every figure with a network in it ({PLAN["network"]["text"]}). **Not measured**: anything on several GPUs.

## In short

- **Seeds and sweeps first.** They exchange next to nothing: {measured_speed_up(seeds["name"], record, "elapsed"):.2f} × on two ranks, start of
  `mpirun` included. As many ranks as seeds is the best use of a cluster.
- **Then the steps of one run**, up to as many ranks as it has particles (or chunks of slots, or `gradient_chunks`), all on one machine where they
  fit. What every rank does by itself sets the limit; the last column of the second table is that limit. Where that is most of a round, as for the
  language model and the small classifier of that table, sharing brings little or costs time: look before a long run.
- **Messages win** where a round of work takes less than messages between machines do. Look with `mpirun -n 2 stein ranks`, and at
  `sharing` in a run's `cost.json`: where `exchange_seconds` are near `work_seconds`, more ranks gain little, and soon nothing.

## The model

A run whose steps are shared goes in rounds: every rank does its parts, all exchange what the parts left, and every rank does by itself what is not
shared. With n parts, W seconds of work in a round, S seconds that every rank needs by itself, and B bytes in all,

    seconds of a round on r ranks = slowest of r ranks, of n/r parts each + S + exchange(r, B/r)

    exchange(r, b) = tree steps × latency + what a rank receives, (r − 1) b, ÷ rate;
                     of a machine with k ranks, k (r − k) b over its one link to the others

Chunks of a minibatch are terms of one sum of B bytes: each rank gets its slice of every term, adds it in the order of the chunks, and gives the sum to the others, so
that is exchange(r, n/r · B/r) + exchange(r, B/r).

The slowest rank is drawn: parts have a spread. Seeds are queues: with R ranks, the longest of R queues of whole seeds.

Constants, each workload's from its own run in one process and on two ranks: S is what the root spent neither on its parts nor on exchanges, W is the rest of the time in one
process. The spread is what exchanges took beyond a message of their size: it stands for all that makes a rank late, parts of unequal length, the operating system,
reading what has arrived. It is the least certain of them, and pessimistic for many ranks. What the model says of two ranks stands beside what was measured; the table after the next one has a
workload that it did not see. Policies of a replay have no model: one that takes long does so in all
rounds, so what counts is how they fall to the ranks. Four with networks took {measured_speed_up(replay, record):.2f} times less on two ranks (name such policies apart).

{constants_table(record)}
A message of {min(messages)} bytes took {1e6 * messages[min(messages)]:.0f} µs between the two ranks, one of {largest // 2**20} MiB {1e3 * messages[largest]:.0f} ms
({largest / messages[largest] / 1e9:.1f} GB/s).

Constants of one workload, taken to another:

{held_out(record)}
## What clusters would give

As many of the ranks as are worth it for one seed; extrapolated.

{cluster_table(record, stated_network())}
![Speed-up of one seed over ranks, by the model](results/images/scaling.svg)

## GPUs

Seeds, and chains that average their samples at the end, go to GPUs as to cores: one each, nothing exchanged. What one chain gains where GPUs share its
gradient ([many-machines.md](many-machines.md#on-gpus)) is extrapolated, as no machine with several was at hand: {chain["weights"] / 1e6:.0f} million weights ({chain["text"]}), as many chunks as GPUs, whose gradients are added in order,
so that the bits do not depend on how many there are. A chunk is taken to need its share of the time, which is the best that can be: of a recurrent network launches take as long for a few rows.

{gpu_table()}
So one chain of this size is not worth sharing beyond a machine: a gradient is as large as the weights whatever the number of GPUs, and each GPU receives it about twice. Chains beside each other use 8 GPUs 8 times, and
512 GPUs 512 times, as long as each chain has its burn-in. The last row is the way by the hosts and MPI, the others are NCCL's.

The other workloads on 8 GPUs of one machine, by the same link: {PLAN["gpu_particles"]["text"]} takes {1e3 * particles:.2f} ms a step on one
(its gradient as docs/performance/mlp-gpu.json has it), and {1e3 * shared:.2f} ms on 8, {particles / shared:.1f} times as fast; runs of bandits, agents and replays go there by their seeds and policies, 8 at once, as on cores: an update
of a bandit is 8 launches whatever the number of its particles, and rollouts of an agent are one.

## A cluster of one's own

    mpirun -n 2 --map-by node stein ranks --json > mine.json
    scripts/results/scaling.py predict mine.json

prints the table of clusters with its messages in the place of the stated network.

## Commands

Medians of {PLAN["repeats"]} runs in turn at commit {", ".join(map(short_commit, commits_of(record)))}; seconds of the run without the start of `mpirun`.

| workload | one process | two ranks | command |
|---|---|---|---|
{commands}"""


def write():
    if not RECORD.exists():
        sys.exit("docs/results/scaling.json is not there: run `scripts/results/scaling.py run` first")
    record = json.loads(RECORD.read_text())
    for entry in PLAN["shared"] + PLAN["seeds"]:
        if record["runs"].get(entry["name"], {}).get("command") != entry["command"]:
            sys.exit(f"docs/results/scaling.json has no run of `{entry['command']}`: run `scripts/results/scaling.py run` again")
    draw(record, stated_network())
    PAGE.write_text(page(record).rstrip("\n") + "\n")


def predict(path):
    messages = json.loads(pathlib.Path(path).read_text())
    if len(messages.get("ranks", [])) != 2 or not messages.get("messages"):
        sys.exit(f"{path}: expected what `mpirun -n 2 stein ranks --json` printed, of two ranks")
    print(cluster_table(json.loads(RECORD.read_text()), link_of(messages)), end="")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run"]:
            run()
            write()
        case ["write"]:
            write()
        case ["predict", path]:
            predict(path)
        case _:
            sys.exit(__doc__)
