"""What each option of a policy is worth, a part of bandit_defaults.py: its defaults with one of them changed."""
from bandit_runs import PLAN, check_names, command_of, experiment, result_file, shares
from bandit_tuned import cell
from records import by_commit, clean_commit, read_record
from results_page import paired_difference, readable

OPTIONS = PLAN["options"]
CHANGES = {change["name"]: change for change in OPTIONS["changes"]}
UNCHANGED = next(name for name, change in CHANGES.items() if not change["settings"] and "policy" not in change)


def asked(bandit, change):
    """(record's file, command) of a bandit and a change."""
    policy = {"policy": change.get("policy", OPTIONS["policy"]), "settings": change["settings"]}
    file = "".join(letter if letter.isalnum() else "-" for letter in change["name"])
    return result_file("options", bandit["name"], file), command_of(bandit, policy, bandit["steps"], PLAN["seeds"])


def run(names):
    """All changes, or those that are named."""
    check_names(names, CHANGES, "change of the plan")
    commit = clean_commit()
    for name in names or CHANGES:
        for bandit in OPTIONS["bandits"]:
            experiment(*asked(bandit, CHANGES[name]), commit, with_curve=False)


def difference(entry, base):
    """What a change adds to the percentages of the defaults, paired by seed."""
    if entry is None or base is None or entry is base:
        return ""
    mean, half = paired_difference(shares(entry), shares(base))
    return f"{readable(mean, 1)} ({readable(mean - half, 1)} to {readable(mean + half, 1)})"


def section():
    """The section of the page."""
    found = {bandit["name"]: {name: read_record(*asked(bandit, change)) for name, change in CHANGES.items()} for bandit in OPTIONS["bandits"]}
    heads = "".join(f" {bandit['name']}, {bandit['steps']:,} | to the defaults |" for bandit in OPTIONS["bandits"])
    text = f"## What an option is worth\n\n{OPTIONS['text']}\n\n| `{OPTIONS['policy']}` with |{heads} set |\n|---|{'---|' * (2 * len(found) + 1)}\n"
    for name, change in CHANGES.items():
        cells = [text_of for entries in found.values() for text_of in (cell(entries[name]), difference(entries[name], entries[UNCHANGED]))]
        words = [f"policy {change['policy']}"] if "policy" in change else []
        words += [f"{option}={value}" for option, value in change["settings"].items()]
        text += f"| {name} | {' | '.join(cells)} | {f'`{chr(32).join(words)}`' if words else ''} |\n"
    entries = [entry for of_bandit in found.values() for entry in of_bandit.values() if entry]
    return text + (f"\nRecords of these changes by commit: {by_commit(entries)}.\n" if entries else "")
