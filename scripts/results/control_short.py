"""The section of control.py on the short page of results."""
import itertools
import statistics

from control_measures import AGENTS, FINAL, LEARNING, MEASURES, NAMES, PAIRS, POSTERIORS, PUBLISHED_ITERATIONS, verdict
from control_runs import PLAN
from control_tuning import at_ends, tuning_records
from records import by_commit
from results_page import backed, bounds_of_difference, difference, interval_of, paragraph, readable, with_interval


def tally(planned, first, second, measure):
    """{verdict: the (task, agent) that have it}."""
    found = {"ahead": [], "open": [], "behind": []}
    for key, entries in planned.items():
        found[verdict(MEASURES[measure], entries[first], entries[second])].append(key)
    return found


def short(planned, everything, curves):
    """The section of the short page; what it says is checked against the records."""
    plain = tally(planned, "s2vgd", "svgd", LEARNING)
    text = "## Control\n\n" + paragraph(
        "Does the structure of S2VGD help Stein policy gradient (REINFORCE and A2C, 16 particles, figure 4 of Zhang et al. 2018)?",
        "Published: S2VGD converges faster than SVGD and to higher returns, and better than SVGD\\* (SVGD on a 25-16 network); no numbers",
        "are given.",
        backed(not any(tally(planned, "s2vgd", "svgd-star", measure)["ahead"] for measure in MEASURES)
               and not plain["ahead"] and not plain["open"],
               "**That order is not reproduced here: S2VGD is nowhere ahead of SVGD\\*, and it learns more slowly than SVGD everywhere.**"))
    text += "![Final returns and learning by method, agent and task](results/images/control_returns.svg)\n\n"
    text += paragraph(
        f"Dots are seeds ({len(range(*PLAN['seeds']))}), bars means, lines 95 % intervals of the mean. Learning is the mean training return",
        "over the whole run, final evaluation the return afterwards without noise in the actions. The table counts in how many of the",
        f"{len(planned)} pairs of task and agent the first method is ahead, open or behind, by the 95 % interval of differences paired by",
        "seed (open: it contains 0).")
    text += f"| | {LEARNING}: ahead / open / behind | {FINAL}: ahead / open / behind |\n|---|---|---|\n"
    for first, second in PAIRS:
        cells = [" / ".join(str(len(keys)) for keys in tally(planned, first, second, measure).values()) for measure in MEASURES]
        text += f"| {NAMES[first]} against {NAMES[second]} | " + " | ".join(cells) + " |\n"
    text += "\n" + long_findings(everything) + settings_and_limits(planned)
    text += "![Learning curves of two MuJoCo tasks](results/images/control_curves.svg)\n\n" + curve_findings(curves)
    reported = [entry for entries in everything.values() for entry in entries.values()]
    text += paragraph(f"Records by commit: {by_commit(reported)}; of the tuning runs: {by_commit(tuning_records())}; of the learning curves:",
                      f"{by_commit(curves.values())}.")
    return text + "All tables, commands and choices: [results/control.md](results/control.md).\n"


def long_findings(everything):
    """What the runs of the published length say, and which of them are not there."""
    missing, there, all_methods = [], 0, len(PLAN["posteriors"])
    for (task, length), agent in itertools.product(PUBLISHED_ITERATIONS.items(), PLAN["agents"]):
        entries = everything.get((task, agent, length), {})
        there += len(entries)
        absent = [NAMES[method] for method in PLAN["posteriors"] if method not in entries]
        if absent:
            which = "" if len(absent) == all_methods else " (" + ", ".join(absent) + ")"
            missing.append(f"{AGENTS[agent]} on {task}{which}")
    entries = everything["cartpole-swingup", "reinforce", PUBLISHED_ITERATIONS["cartpole-swingup"]]
    learning, final = ([a - b for a, b in zip(value(entries["s2vgd"]), value(entries["svgd"]), strict=True)] for value in MEASURES.values())
    return paragraph(
        "The last two tasks have the steps of 200 iterations in these comparisons; 1,000 are published.",
        f"{there} of the {len(PUBLISHED_ITERATIONS) * len(PLAN['agents']) * all_methods} entries with 1,000 iterations have been run. REINFORCE on",
        f"cartpole-swingup is among them: S2VGD − SVGD is {interval_of(learning, 1)} in learning and {interval_of(final, 1)} in the final",
        "evaluation." + (f" Not run: {', '.join(missing)}." if missing else ""))


def settings_and_limits(planned):
    ends, choices = at_ends()
    means = [statistics.mean(MEASURES[FINAL](entry)) for (task, _), entries in planned.items() if task == "double-pendulum"
             for entry in entries.values()]
    return paragraph(
        f"Settings: {PLAN['settings_at_first']} for every method at first, on {len(range(*PLAN['tuning_seeds']))} other seeds over 30 % of the length, and more where the best",
        f"lay at an end of its grid ({ends} of {choices} choices still do); the one with the largest final evaluation was taken. The prior is N(0, 1), where the published code has next",
        f"to none. On double-pendulum no method learns much (mean final returns from {readable(min(means))} to {readable(max(means))}), so",
        "differences there say little.")


def curve_findings(curves):
    ends = {key: entry["summary"]["return"]["per_seed"] for key, entry in curves.items()}
    returns = {}
    for (task, agent, posterior), values in ends.items():
        returns.setdefault(task, []).append(f"{AGENTS[agent]} with {POSTERIORS[posterior]} {with_interval(values, 0)}")
    gain = {agent: [ends["cartpole-swingup-dm", agent, posterior] for posterior in ("s2vgd", "none")] for agent in ("a2c", "ppo")}
    pendulum = [ends["InvertedPendulum", "a2c", posterior] for posterior in ("s2vgd", "none")]
    shares = [100 * (share["prior"]["mean"] + share["repulsion"]["mean"]) for entry in curves.values() if (share := entry["summary"].get("posterior_share"))]
    least, most = (f"{end(shares):.2g}" for end in (min, max))
    return paragraph(
        f"**Two MuJoCo tasks**, every agent with its defaults, nothing tuned, {len(range(*PLAN['seeds']))} seeds; the 16 particles of `s2vgd`",
        "share the steps. Return without noise at the end, ± half the width of a 95 % interval:",
        "; ".join(f"{task}: " + ", ".join(parts) for task, parts in returns.items()) + ".",
        backed(bounds_of_difference(*gain["ppo"])[1] < 0, "At equal steps sixteen particles cost PPO return on cartpole-swingup-dm:"),
        f"{difference(*gain['ppo'])};",
        backed(bounds_of_difference(*gain["a2c"])[0] < 0 < bounds_of_difference(*gain["a2c"])[1], "of A2C it cannot be told:"),
        f"{difference(*gain['a2c'])}.",
        backed(bounds_of_difference(*pendulum)[1] < 0, "On InvertedPendulum they cost A2C"), f"{difference(*pendulum)}.",
        f"Prior and repulsion are {least} to {most} % of what moves these particles: little or no posterior.")
