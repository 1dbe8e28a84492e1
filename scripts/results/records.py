"""Records of single results, the JSON files below docs/results: how experiments are run for them, how they are kept and read again.

Experiments run from a clean commit only, by a program of that commit. A record names the command that made it and its commits; one that
the plan would not make today ends the script instead of standing on a page.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/stein"
RESULTS = ROOT / "docs/results"

# Defaults of bandits and their policies that have changed since some records were made, which do not say them: of every change what was the
# default before. A record says how many changes it has seen, and shows its command with what the later ones changed. Programs of today do the
# same with it, bit for bit.
LEARNING = "every policy that learns in minibatches"
CHANGES = [
    {
        LEARNING: {"buffer": "4096", "updates": "64"},
        "svgd": {"anchors": "false", "noise_per_arm": "false", "prior_scale": "weights", "draw": "one"},
        "s2vgd": {"anchors": "false", "noise_per_arm": "false", "prior_scale": "weights", "draw": "one", "reflectors": "8",
                  "scale_deviation": "1"},
        "vmg": {"prior_scale": "weights", "likelihood_power": "1", "step_size": "0.001"},
    },
    {policy: {"noise_precision": "1"}
     for policy in ("epsilon-greedy", "ensemble", "bootstrap", "dropout", "parameter-noise", "neural-ucb", "neural-ts")},
    {"dropout": {"step_size": "0.001"}},
]
DEFAULTS = len(CHANGES)


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def clean_commit():
    """The commit that experiments run from. Ends the script where tracked files differ from it or the program is of another commit."""
    changed = git("diff", "--name-only", "HEAD").splitlines()
    if changed:
        sys.exit(f"experiments run from a clean commit only, but these tracked files differ from HEAD: {', '.join(changed)}")
    added = git("ls-files", "--others", "--exclude-standard", "*.cpp", "*.h", "*.inc", "*.cu", "CMakeLists.txt", "*.cmake").splitlines()
    if added:
        sys.exit(f"experiments run from a clean commit only, but the build would take these files, which are in none: {', '.join(added)}")
    commit = git("rev-parse", "HEAD")
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM.relative_to(ROOT)} is not there: run `make build` first")
    version = subprocess.run([str(PROGRAM), "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    built, = re.findall(r"\((.*)\)", version)
    if built != commit:
        sys.exit(f"{PROGRAM.relative_to(ROOT)} was built from commit {built}, HEAD is {commit}: run `make build` first")
    return commit


def is_clean(commit):
    """Whether a program names one commit for all of its files: "+" marks changed files, "unknown" a build outside a checkout."""
    return commit != "unknown" and not commit.endswith("+")


def can_continue(folder):
    """Whether a run in `folder` has a checkpoint and was worked on by programs of clean commits only."""
    if not any((folder / "checkpoints").glob("*")):
        return False
    manifest = json.loads((folder / "manifest.json").read_text())
    return all(map(is_clean, [manifest["commit"], *manifest.get("later_commits", [])]))


def play(label, command, folder, environment=None):
    """Starts the command, "stein …", in a run folder, or continues it where it was begun with the same command. The exit code and the
    summary, if there is one; an interruption ends the script."""
    note, words = folder.parent / f"{folder.name}.command", command.split()[1:]
    started = note.exists() and note.read_text() == command and can_continue(folder)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(command)
    call = [str(PROGRAM), "resume", str(folder)] if started else [str(PROGRAM), *words, "--out", str(folder), "--overwrite"]
    print(f"{label}: {'resumed' if started else 'started'}", file=sys.stderr, flush=True)
    # In the repository's root, so that commands can name files below it.
    done = subprocess.run([*call, "--json", "--quiet"], cwd=ROOT, env=environment or os.environ, stdout=subprocess.PIPE, text=True)
    if done.returncode == 0:
        summary = json.loads(done.stdout)
        if not all(map(is_clean, summary["commits"])):
            sys.exit(f"{label}: made by a program of {', '.join(summary['commits'])}; only results of clean commits are kept")
        del summary["run_directory"]  # a place on one machine, no result
        return 0, summary
    print(f"{label}: exit code {done.returncode}", file=sys.stderr, flush=True)
    if done.returncode == 75:
        sys.exit(75)
    return done.returncode, None


def keep(path, command, commit, results, indent=None):
    """Writes one record, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps({"command": command, "commit": commit, **results}, indent=indent) + "\n")
    partial.rename(path)


def play_missing(entries, runs, points):
    """Plays what has no record yet, of every (name, command, its record or None): in the folder of its name below `runs`, with the summary
    as record below `entries`."""
    commit = clean_commit()
    for name, asked, record in points:
        if record:
            continue
        code, summary = play(name, asked, runs / name)
        if code == 0:
            keep(entries / f"{name}.json", asked, commit, {"summary": summary}, indent=1)


def defaults_before(policy, seen):
    """What the defaults of a policy were for a program that had seen so many changes, where they are others today."""
    before = {}
    for change in reversed(CHANGES[seen:]):
        before.update(change.get(policy, {}))
    return before


def shown_command(record):
    """The command of a record of bandits or logs as one would type it today."""
    command, seen = record["command"], record.get("defaults", 0)
    words = command.split()
    policies = words[words.index("--policy") + 1].split(",")
    given = {word.split("=")[0] for word in words if "=" in word}
    before = {}
    if words[1] == "bandit" and not {"uniform", "lints", "linucb"}.issuperset(policies):
        before.update(defaults_before(LEARNING, seen))
    for policy in policies:
        prefix = f"{policy}." if len(policies) > 1 else ""
        before.update({prefix + key: value for key, value in defaults_before(policy, seen).items() if key not in given})
    before = [f"{key}={value}" for key, value in before.items() if key not in given]
    return f"{command} --set {' '.join(before)}" if before else command


def read_record(path, command, **versions):
    """The record at `path`, None if there is none. Ends the script where the record or its summary has another version of something than
    `versions`, or is not one of `command`, what the plan runs today (None where the plan cannot say, since tuning is not complete)."""
    if not path.exists():
        return None
    entry = json.loads(path.read_text())
    for name, version in versions.items():
        found = entry.get(name, entry.get("summary", {}).get(name, "none"))
        if found != version:
            refuse(path, f"{name} {version}", f"{name} {found}")
    if command is None:
        sys.exit(f"{name_of(path)} cannot be checked, since its tuning grid has not been run whole; run `tune` first")
    found = entry.get("command", "no command")
    if found != command:
        refuse(path, *apart(command, found))
    return entry


def commits_of(record):
    """The commits of the programs that made a record, as they named themselves; empty where it names none."""
    summary = record.get("summary", {})
    return summary.get("commits") or [commit for commit in (record.get("commit") or summary.get("commit"),) if commit]


def by_commit(records):
    """"2672c2c00aba with uncommitted changes (4), commit not recorded (3)": how many records come from where."""
    counts = collections.Counter(" and ".join(map(short_commit, commits_of(record))) or "commit not recorded" for record in records)
    return ", ".join(f"{commits} ({count})" for commits, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def short_commit(commit):
    return commit if commit == "unknown" else commit[:12] + (" with uncommitted changes" if commit.endswith("+") else "")


def name_of(path):
    return path.relative_to(ROOT)


def refuse(path, expected, found):
    sys.exit(f"{name_of(path)} is no record of the present plan: expected {expected}, found {found}; restore the plan, or remove the record "
             "and run it again")


def apart(expected, found):
    """The options that only one of two commands has, of each; the whole commands where they differ in order alone."""
    options = [re.split(" (?=--)", command) for command in (expected, found)]
    only = [[option for option in options[i] if option not in options[1 - i]] for i in range(2)]
    if not any(only):
        return f"`{expected}`", f"`{found}`"
    return [f"`{' '.join(part)}`" if part else "no such option" for part in only]
