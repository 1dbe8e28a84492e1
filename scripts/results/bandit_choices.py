"""How defaults of single networks were chosen, a part of bandit_defaults.py: the same few settings of each on tuning seeds, over many bandits."""
import statistics

from bandit_runs import OF_GROUPS, PLAN, check_names, combinations, command_of, experiment, result_file, shares
from records import by_commit, clean_commit, read_record

CHOICES = PLAN["choices"]


def choosing_runs(policy, settings, name):
    """(record's file, command) of a setting on every bandit."""
    return [(result_file("choices", bandit["name"], policy + name),
             command_of(bandit, OF_GROUPS[policy], bandit["steps"], CHOICES["seeds"], settings)) for bandit in CHOICES["bandits"]]


def run(names):
    """All policies, or those that are named."""
    check_names(names, CHOICES["policies"], "policy of the choices", "they have")
    commit = clean_commit()
    for policy in names or CHOICES["policies"]:
        for name, settings in combinations(CHOICES["grid"]):
            for result, asked in choosing_runs(policy, settings, name):
                experiment(result, asked, commit, with_curve=False)


def section():
    """The section of the page: of every policy and setting the mean over bandits."""
    settings_tried, every, columns = combinations(CHOICES["grid"]), [], []
    for policy in CHOICES["policies"]:
        means = []
        for name, settings in settings_tried:
            entries = [read_record(*of_bandit) for of_bandit in choosing_runs(policy, settings, name)]
            every += [entry for entry in entries if entry]
            means.append(statistics.mean(statistics.mean(shares(entry)) for entry in entries) if all(entries) else None)
        least = min((mean for mean in means if mean is not None), default=None)
        columns.append(["not run" if mean is None else f"**{mean:.1f}**" if mean == least else f"{mean:.1f}" for mean in means])
    options = list(CHOICES["grid"])
    text = (f"## {CHOICES['title']}\n\n{CHOICES['text']}\n\n| {' | '.join(f'`{option}`' for option in options)} | {' | '.join(CHOICES['policies'])} |\n"
            f"{'|---' * (len(options) + len(columns))}|\n")
    for (_, settings), cells in zip(settings_tried, zip(*columns, strict=True), strict=True):
        text += f"| {' | '.join(f'{settings[option]:g}' for option in options)} | {' | '.join(cells)} |\n"
    return text + (f"\nRecords by commit: {by_commit(every)}.\n" if every else "")
