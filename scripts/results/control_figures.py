"""The figures of control.py."""
import statistics

import figures
from control_measures import AGENTS, CURVE_POINTS, FINAL, LEARNING, MEASURES, NAMES, POSTERIORS, PUBLISHED_ITERATIONS
from control_runs import KEPT_POINTS, PLAN
from results_page import IMAGES, half_width, readable


def panel(title, measure, entries):
    """`entries` by the label of the row."""
    marks = {}
    for label, entry in entries.items():
        values = MEASURES[measure](entry)
        mean = statistics.mean(values)
        marks[label] = figures.Mark(values, mean, half_width(values), text=readable(mean, 0 if abs(mean) >= 100 else 1))
    return figures.Panel(title, "mean discounted return" if measure == LEARNING else "return", marks)


def published(everything):
    """Entries of REINFORCE on cartpole-swingup with the steps of the published iterations."""
    return everything.get(("cartpole-swingup", "reinforce", PUBLISHED_ITERATIONS["cartpole-swingup"]), {})


def have_curves(planned):
    """Whether all records keep the curve of training; the first ones did not."""
    return all("discounted_return" in entry.get("curve", {}) for entries in planned.values() for entry in entries.values())


def learning_curve(method, entry):
    """Of training, with the interval over seeds."""
    points = []
    for k, values in enumerate(zip(*entry["curve"]["discounted_return"], strict=True), 1):
        mean, half = statistics.mean(values), half_width(values)
        points.append((k / KEPT_POINTS * entry["summary"]["steps"] / 1e6, mean, mean - half, mean + half))
    return figures.Curve(NAMES[method], method, method == "independent", points)


def draw(planned, everything, curves):
    def rows(methods):
        return [figures.Row(NAMES[method], method) for method in methods]

    tiers = [[panel(f"{task}: {title}", measure, {f"{AGENTS[agent]}/{NAMES[method]}": entry for agent in PLAN["agents"]
                                                  for method, entry in planned[task, agent].items()})
              for task in PLAN["tasks"]]
             for measure, title in ((FINAL, "final evaluation"), (LEARNING, "learning"))]
    figures.dots(IMAGES / "control_returns.svg", "Final returns and learning by method, agent and task",
                 {AGENTS[agent]: rows(PLAN["posteriors"]) for agent in PLAN["agents"]}, tiers)

    for agent in PLAN["agents"] if have_curves(planned) else ():
        figures.curves(IMAGES / f"control_learning_{agent}.svg", f"Learning curves of {AGENTS[agent]}",
                       {task: [learning_curve(method, planned[task, agent][method]) for method in PLAN["posteriors"]] for task in PLAN["tasks"]},
                       "environment steps of all particles (million)", "discounted return of training")

    entries = published(everything)
    by_name = {NAMES[method]: entry for method, entry in entries.items()}
    figures.dots(IMAGES / "control_1000.svg", "REINFORCE on cartpole-swingup with the steps of 1,000 iterations", {"": rows(entries)},
                 [[panel("final evaluation", FINAL, by_name), panel("learning", LEARNING, by_name)]])

    panels = {}
    for (task, agent, posterior), entry in curves.items():
        points = []
        for share in CURVE_POINTS:
            values = entry["evaluations"][str(share)]
            mean, half = statistics.mean(values), half_width(values)
            points.append((share * PLAN["curves"]["tasks"][task] / 1e6, mean, mean - half, mean + half))
        label = f"{AGENTS[agent]}, {POSTERIORS[posterior]}"
        panels.setdefault(task, []).append(figures.Curve(label, agent, posterior == "none", points))
    figures.curves(IMAGES / "control_curves.svg", "Learning curves of two MuJoCo tasks", panels,
                   "environment steps of all particles (million)", "return of evaluation episodes")
