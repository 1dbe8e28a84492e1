"""How control.py tunes: grids that begin around a setting and grow until their best setting lies inside.

Every option has a ladder of values (control_plan.json). The grid of a task, an agent and a method begins with `settings_at_first`
settings, those next to where the plan says that it begins: nine values of one option, three by three of two. Where the best lies at an end of
the grid, the next value of the ladder is added there, until it lies inside or the ladder ends. Best is what has the largest mean return of the
final evaluation over the tuning seeds.
"""
import itertools
import math

from control_runs import PLAN, command, curve_of, record_of, run
from records import clean_commit
from results_page import ends_of_grid


def tuning_name(task, agent, method, candidate):
    return "tuning/" + "_".join([task, agent, method, *(f"{key}-{value:g}" for key, value in candidate.items())])


def tuning_command(task, agent, method, candidate):
    return command(task, agent, method, PLAN["tasks"][task]["tuning_iterations"], PLAN["tuning_seeds"], candidate)


def tuning_record(task, agent, method, candidate):
    point = task, agent, method, candidate
    return record_of(tuning_name(*point), tuning_command(*point))


def candidates(grid):
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def first_grid(task, agent, method):
    """{option: values}, the settings next to where the plan says that the grid begins."""
    ladders, centre = PLAN["ladders"][method], PLAN["begin"][task][agent][method]
    side = round(PLAN["settings_at_first"] ** (1 / len(ladders))) // 2
    grid = {}
    for (option, ladder), value in zip(ladders.items(), centre, strict=True):
        middle = ladder.index(value)
        grid[option] = ladder[max(0, middle - side):middle + side + 1]
    return grid


def longer(grid, settings, ladders):
    """The grid with one value more beyond every end that the settings lie at; itself where its ladders have none."""
    grown = {}
    for option, values in grid.items():
        end, ladder = ends_of_grid(grid, settings).get(option), ladders[option]
        low, high = ladder.index(values[0]), ladder.index(values[-1])
        grown[option] = ladder[max(0, low - (end == "smallest")):high + 1 + (end == "largest")]
    return grown


def best_of(task, agent, method, grid):
    """The best settings of a grid; None where it has not been run whole, or everything diverged."""
    entries = [(candidate, tuning_record(task, agent, method, candidate)) for candidate in candidates(grid)]
    if not all(entry for _, entry in entries):
        return None
    best, settings = -math.inf, None
    for candidate, entry in entries:
        if "diverged" not in entry and entry["summary"]["return"]["mean"] > best:
            best, settings = entry["summary"]["return"]["mean"], candidate
    return settings


def grid_of(task, agent, method):
    """What is to be tried as far as is known: the grid after everything that its records make longer."""
    grid = first_grid(task, agent, method)
    while settings := best_of(task, agent, method, grid):
        grown = longer(grid, settings, PLAN["ladders"][method])
        if grown == grid:
            return grid
        grid = grown
    return grid


def chosen(task, agent, method):
    """The best settings; None as long as the grid has not been run whole."""
    return best_of(task, agent, method, grid_of(task, agent, method))


def entries_of_plan():
    return itertools.product(PLAN["tasks"], PLAN["agents"], PLAN["posteriors"])


def tuning_records():
    """Those of the whole plan that there are."""
    return [entry for point in entries_of_plan() for candidate in candidates(grid_of(*point)) if (entry := tuning_record(*point, candidate))]


def tune(tasks):
    commit = clean_commit()
    for task, agent, method in itertools.product(tasks, PLAN["agents"], PLAN["posteriors"]):
        before, grid = None, first_grid(task, agent, method)
        while grid != before:
            for candidate in candidates(grid):
                point = task, agent, method, candidate
                run(tuning_name(*point), tuning_command(*point), commit, curve_of)
            before, grid = grid, grid_of(task, agent, method)


def at_ends():
    """How many choices of the whole plan lie at an end of their grid, and how many there are."""
    made = [bool(ends_of_grid(grid_of(*point), settings)) for point in entries_of_plan() if (settings := chosen(*point))]
    return sum(made), len(made)
