"""Cumulative regret over the interactions of a run, in percent of uniform play: from its metrics to a figure."""
import collections
import json
import statistics

import figures

POINTS = 50  # of a curve at most
# By the policy's name: the colour of its curve.
COLOURS = {"greedy": "epsilon-greedy", "svgd": "svgd", "lints": "lints", "neural-linear": "vmg", "function-svgd": "s2vgd",
           "uniform": "uniform"}


def curve_of(metrics, steps):
    """{"step": […], "regret": {"mean": […], "sd": […]}, "regret_percent_of_uniform": the same} over the seeds of a run, at the last
    recorded steps before multiples of steps / POINTS; the file metrics.jsonl has the sums so far of each seed."""
    sums = collections.defaultdict(dict)
    with metrics.open() as lines:
        for line in lines:
            record = json.loads(line)
            if record["tag"] in ("regret", "uniform_regret"):
                sums[record["step"]][record["tag"], record["seed"]] = record["value"]
    curve = {"step": thinned(sums, steps), "regret": {"mean": [], "sd": []}, "regret_percent_of_uniform": {"mean": [], "sd": []}}
    for step in curve["step"]:
        seeds = [seed for tag, seed in sums[step] if tag == "regret"]
        regrets = [sums[step]["regret", seed] for seed in seeds]
        percents = [100 * sums[step]["regret", seed] / sums[step]["uniform_regret", seed] for seed in seeds]
        for name, values in (("regret", regrets), ("regret_percent_of_uniform", percents)):
            curve[name]["mean"].append(round(statistics.mean(values), 3))
            curve[name]["sd"].append(round(statistics.stdev(values), 3) if len(values) > 1 else 0)
    return curve


def thinned(recorded, steps):
    """The last of the recorded steps up to each of steps / POINTS, 2 steps / POINTS, …; every step once."""
    found = []
    for point in range(1, POINTS + 1):
        before = [step for step in recorded if step * POINTS <= point * steps]
        if before and max(before) not in found:
            found.append(max(before))
    return found


def panel_of(entries):
    """The curves of the records of one bandit, {policy: record}, each with a band of one sd over seeds on both sides, which the logarithmic
    axis needs cut at a tenth of the mean."""
    curves = []
    for name, entry in entries.items():
        curve, percent = entry["curve"], entry["curve"]["regret_percent_of_uniform"]
        points = [(step, mean, max(mean - sd, mean / 10), mean + sd)
                  for step, mean, sd in zip(curve["step"], percent["mean"], percent["sd"], strict=True) if mean > 0]
        curves.append(figures.Curve(name, COLOURS[name], name == "uniform", points))
    return curves


def draw(path, title, panels):
    """Panels side by side, {title: {policy: record}}."""
    figures.curves(path, title, {name: panel_of(entries) for name, entries in panels.items()}, "interactions",
                   "regret so far (% of uniform play)", logarithmic=True)
