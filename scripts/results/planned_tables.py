"""Tables of results whose rows are commands of a plan: how rows are run, what they measured, and how they stand on a page.

The plan NAME_plan.json has a version and tables by name, each with title, note, unit, source of what was published, hours of two cores that a
row may take, columns (heading, path in the summary, digits, scale) and rows: name, label, what was published, and the command without
`stein`. A row may look at the run of another row ("of": "TABLE/ROW", {run} in its command), which is to be run before it; one that cannot be
run here says why ("absent"). Records are docs/results/NAME/TABLE_ROW.json, runs lie in runs/results/NAME.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

from records import PROGRAM, RESULTS, ROOT, by_commit, clean_commit, keep, play, read_record
from results_page import with_interval


def at(summary, path):
    """What stands at "test/averaged/perplexity"; nothing where the summary has no such part."""
    for key in path.split("/"):
        if isinstance(summary, list):
            summary = summary[int(key)]
        elif key not in summary:
            return None
        else:
            summary = summary[key]
    return summary


def of_repetitions(measured):
    """One number a seed or fold."""
    return next(measured[key] for key in ("per_seed", "per_fold", "per_split") if key in measured)


def cell(summary, column):
    """A number with its interval where there are several of it, if all are finite."""
    measured = at(summary, column["path"])
    if measured is None:
        return ""
    if isinstance(measured, str):
        return measured
    if not isinstance(measured, dict):
        return f"{column.get('scale', 1) * measured:.{column['digits']}f}"
    values = of_repetitions(measured)
    if None in values:  # a probability that is 0 in double precision where it should not be
        return f"not finite in {values.count(None)} of {len(values)}"
    return with_interval([column.get("scale", 1) * value for value in values], column["digits"])


def hours_of(record):
    """Of the clock, until the summary was there; 0 where nothing was run."""
    return ((record or {}).get("summary", {}).get("wall_seconds") or 0) / 3600


def is_look(row):
    """Whether a row only looks at the run of another one, and leaves none."""
    return "of" in row and not row["command"].startswith("compress")


class PlannedTables:
    def __init__(self, name):
        self.plan = json.loads((pathlib.Path(__file__).parent / f"{name}_plan.json").read_text())
        self.tables = self.plan["tables"]
        self.entries, self.runs = RESULTS / name, ROOT / "runs/results" / name

    def name_of(self, table, row):
        return f"{table}_{row['name']}"

    def run_of(self, table, row):
        """The folder of a row's run."""
        return self.runs / self.name_of(table, row)

    def command(self, row):
        """As it is typed in the repository's root."""
        folder = self.runs.relative_to(ROOT) / row["of"].replace("/", "_") if "of" in row else ""
        return f"stein {row['command'].format(run=folder)}"

    def record_of(self, table, row):
        return read_record(self.entries / f"{self.name_of(table, row)}.json", self.command(row), version=self.plan["version"])

    def row_named(self, table, name):
        row, = (each for each in self.tables[table]["rows"] if each["name"] == name)
        return row

    def wanted(self, names):
        """Pairs of a table and a row, those that can be run, of names "TABLE" and "TABLE/ROW"."""
        for name in names:
            table, _, only = name.partition("/")
            yield from ((table, row) for row in self.tables[table]["rows"] if "absent" not in row and only in ("", row["name"]))

    def run(self, names, after=lambda table, row: None):
        """Runs the rows that have no record yet; `after` is called for all of them."""
        commit = clean_commit()
        for table, row in self.wanted(names):
            if not self.record_of(table, row) and self.has_what_it_needs(row):
                (self.look if is_look(row) else self.train)(table, row, commit)
            after(table, row)

    def has_what_it_needs(self, row):
        """Makes the run of the row that this one begins with where it is gone; false before that row has a result."""
        if "of" not in row:
            return True
        table, name = row["of"].split("/")
        trained = self.row_named(table, name)
        if "summary" not in (self.record_of(table, trained) or {}):
            return False
        folder = self.run_of(table, trained)
        if not (folder / "summary.json").exists():
            play(folder.name, self.command(trained), folder)
        return True

    def train(self, table, row, commit):
        name = self.name_of(table, row)
        code, summary = play(name, self.command(row), self.runs / name)
        result = {4: {"diverged": True}, 0: {"summary": summary}}.get(code)
        if result:
            keep(self.entries / f"{name}.json", self.command(row), commit, {"version": self.plan["version"], **result})

    def look(self, table, row, commit):
        name = self.name_of(table, row)
        print(f"{name}: started", file=sys.stderr, flush=True)
        words = self.command(row).split()[1:]
        done = subprocess.run([str(PROGRAM), *words, "--json", "--quiet"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        if done.returncode == 0:
            keep(self.entries / f"{name}.json", self.command(row), commit,
                 {"version": self.plan["version"], "summary": json.loads(done.stdout)})

    def line(self, table, row):
        columns, record = self.tables[table]["columns"], self.record_of(table, row)
        if record is None:
            cells = [f"not run: {row['absent']}" if "absent" in row else "not run"] + [""] * len(columns)
        elif "diverged" in record:
            cells = ["diverged"] + [""] * len(columns)
        else:
            cells = [cell(record["summary"], column) for column in columns]
            hours = hours_of(record)
            cells.append(f"{hours:.2f}" if hours else "")
        published = "–" if row["published"] is None else row["published"]
        return f"| {row['label']} | {published} | {' | '.join(cells)} | `{self.command(row)}` |\n"

    def table_text(self, table):
        plan = self.tables[table]
        budget = f" Budget: {plan['hours']:g} hours a row." if plan["hours"] else ""
        text = f"## {plan['title']}\n\n{plan['note']} Published: {plan['source']}. In {plan['unit']}.{budget}\n\n"
        headings = ["", "published", *(column["heading"] for column in plan["columns"]), "hours", "command"]
        text += f"| {' | '.join(headings)} |\n" + "|---" * len(headings) + "|\n"
        text += "".join(self.line(table, row) for row in plan["rows"])
        there = [record for row in plan["rows"] if (record := self.record_of(table, row))]
        over = [row["label"] for row in plan["rows"] if plan["hours"] and hours_of(self.record_of(table, row)) > plan["hours"]]
        if over:
            text += f"\nOver the budget, beside other work: {'; '.join(over)}.\n"
        return text + (f"\nRecords by commit: {by_commit(there)}.\n\n" if there else "\n")

    def values(self, table, name, path, scale=1):
        """What a row that has been run measured, one number a seed or fold."""
        row = self.row_named(table, name)
        return [scale * value for value in of_repetitions(at(self.record_of(table, row)["summary"], path))]

    def mean_of(self, table, name, path, scale=1):
        return statistics.mean(self.values(table, name, path, scale))

    def rows_run(self, table):
        """The rows of a table that have been run to their end."""
        return [row for row in self.tables[table]["rows"] if "summary" in (self.record_of(table, row) or {})]

    def has(self, *names):
        """Whether rows "TABLE/ROW" have been run to their end."""
        return all(self.row_named(*name.split("/")) in self.rows_run(name.split("/")[0]) for name in names)

    def is_complete(self, table):
        """Whether all rows of a table have been run to their end."""
        return self.rows_run(table) == self.tables[table]["rows"]

    def counts(self):
        """How many rows have been run, and how many there are."""
        planned = [(table, row) for table, plan in self.tables.items() for row in plan["rows"]]
        return sum(self.record_of(table, row) is not None for table, row in planned), len(planned)

    def check_names(self, names, parser):
        """Ends the script for a name "TABLE/ROW" that is none."""
        for name in names:
            table, _, row = name.partition("/")
            if table not in self.tables:
                parser.error(f"there is no table '{table}'; there are {', '.join(self.tables)}")
            there = [each["name"] for each in self.tables[table]["rows"]]
            if row and row not in there:
                parser.error(f"table '{table}' has no row '{row}'; it has {', '.join(there)}")


def carry_out(description, tables, write, after=lambda table, row: None, **more):
    """What a script of such tables does: `run` the rows that are named, or all, `write` the pages, or one of `more` before; `description` is
    its help."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("run").add_argument("tables", nargs="*", metavar="TABLE[/ROW]")
    for action in (*more, "write"):
        actions.add_parser(action)
    arguments = parser.parse_args()
    if arguments.action == "run":
        tables.check_names(arguments.tables, parser)
        tables.run(arguments.tables or list(tables.tables), after)
    elif arguments.action in more:
        more[arguments.action]()
    write()
