"""The paper's bandit, a part of bandit_defaults.py: Zhang et al. 2018, figure 3a, and what keeps its settings from locking in."""
import statistics

import figures
from bandit_runs import PLAN, check_names, command_of, experiment, locked_seeds, paired, result_file, shares
from bandit_tuned import cell
from records import by_commit, clean_commit, read_record
from results_page import IMAGES, bounds_of_difference, half_width, interval_of, paragraph, readable

PAPER = PLAN["paper"]
TABLES = PAPER["tables"]


def asked(table, row):
    """(record's file, command) of a row of a table."""
    bandit = TABLES[table]["bandit"]
    return (result_file("paper", table, row["name"]), command_of(bandit, row, bandit["steps"], TABLES[table]["seeds"], preset="paper"))


def run(names):
    """All tables, or those that are named, each whole or of some rows: TABLE or TABLE/ROW."""
    every = {f"{table}/{row['name']}": (table, row) for table, plan in TABLES.items() for row in plan["rows"]}
    check_names(names, [*TABLES, *every], "table or row of the paper's bandit", "there are")
    commit = clean_commit()
    for name, (table, row) in every.items():
        if not names or table in names or name in names:
            experiment(*asked(table, row), commit, with_curve=False)


def records(table):
    """{row: record} of what has been run."""
    found = {row["name"]: read_record(*asked(table, row)) for row in TABLES[table]["rows"]}
    return {name: entry for name, entry in found.items() if entry}


def rows_of(table, found):
    base = TABLES[table]["base"]
    text = f"| policy | regret in percent of uniform, mean ± sd | lock-ins | difference to `{base}`, 95 % interval | set |\n|---|---|---|---|---|\n"
    for row in TABLES[table]["rows"]:
        name = row["name"]
        if name not in found:
            text += f"| {name} | not run | | | |\n"
            continue
        apart = interval_of(paired(found[name], found[base]), 1) if base in found and name != base else ""
        settings = " ".join(f"{option}={value}" for option, value in row.get("settings", {}).items())
        text += (f"| {name} | {cell(found[name])} | {locked_seeds(found[name])} of {len(shares(found[name]))} | {apart} | "
                 f"{f'`{settings}`' if settings else ''} |\n")
    return text


def image_of(table):
    return IMAGES / f"bandit_paper_{table}.svg"


def draw(table, found):
    """Every seed's regret, of a table that is complete."""
    plan = TABLES[table]
    marks = {name: figures.Mark(shares(entry), statistics.mean(shares(entry)), half_width(shares(entry)), text=f"{statistics.mean(shares(entry)):.1f} %")
             for name, entry in found.items()}
    figures.dots(image_of(table), f"Regret with the paper's settings: {plan['title']}",
                 {"": [figures.Row(row["name"], row["policy"]) for row in plan["rows"]]},
                 [[figures.Panel(f"{plan['bandit']['steps']:,} interactions, {len(range(*plan['seeds']))} seeds", "regret (% of uniform play)", marks,
                                 reference=(100, "uniform play"), bounds=(0,))]])


def is_complete(table, found):
    return len(found) == len(TABLES[table]["rows"])


def section():
    """The section of the page, with its figures."""
    text, every = f"## {PAPER['title']}\n\n{PAPER['text']}\n\n", []
    for table, plan in TABLES.items():
        found = records(table)
        every += found.values()
        text += f"### {PAPER['title']}: {plan['title']}\n\n{plan['text']} `{asked(table, {'name': '', 'policy': 'POLICY'})[1]}`\n\n"
        if is_complete(table, found):
            draw(table, found)
            text += f"![Regret of every seed with the paper's settings](images/{image_of(table).name})\n\n"
        text += rows_of(table, found) + "\n"
    return text + f"Records by commit: {by_commit(every) or 'none yet'}.\n\n"


def order_of(found):
    """What the paper's order is here, in words: of each of its claims whether it is met."""
    def is_below(first, second):
        low, high = bounds_of_difference(shares(found[first]), shares(found[second]))
        return "yes" if high < 0 else "no" if low > 0 else "not told apart"

    greedy = [name for name in found if name.startswith("ε-greedy")]
    claims = [("s2vgd", "svgd"), ("s2vgd", "vmg"), *((name, other) for name in ("svgd", "vmg") for other in greedy)]
    return "; ".join(f"{first} < {second}: {is_below(first, second)}, {interval_of(paired(found[first], found[second]), 1)}" for first, second in claims)


def short():
    """Sentences of the short page; empty where the first table is not complete."""
    found = records("mushroom")
    if not is_complete("mushroom", found):
        return ""
    plan, order = TABLES["mushroom"], sorted(found, key=lambda name: statistics.mean(shares(found[name])))
    text = f"![Regret with the paper's settings](results/images/{image_of('mushroom').name})\n\n" + paragraph(
        f"**With the paper's settings** (`--preset paper`), mushroom, {plan['bandit']['steps']:,} interactions, {len(range(*plan['seeds']))} seeds, nothing tuned:",
        ", ".join(f"{name} {readable(statistics.mean(shares(found[name])), 1)}" for name in order) + ".",
        "Published is an order without numbers (Zhang et al. 2018, figure 3a): S2VGD < SVGD, VMG < ε-greedy. Here:", order_of(found) + ".")
    remedies = records("remedies")
    if is_complete("remedies", remedies):
        text += paragraph("**Lock-in** (more regret than uniform play, after 1,000 interactions):",
                          ", ".join(f"{name} {locked_seeds(entry)} of {len(shares(entry))}" for name, entry in remedies.items()) + ".")
    return text
