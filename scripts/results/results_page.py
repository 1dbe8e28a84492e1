"""What the scripts that fill docs/results.md share: the files of single results, intervals over seeds, and each script's own section."""
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/stein"
RESULTS = ROOT / "docs/results"
PAGE = ROOT / "docs/results.md"
# The 97.5 % quantile of Student's t by degrees of freedom 1, 2, …
STUDENT_T_975 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
                 2.101, 2.093]


def play(label, words, folder, environment=None):
    """Starts `stein words` in a run folder, or continues it where it was begun with the same words. The exit code and the summary, if
    there is one; an interruption ends the script."""
    note, asked = folder.parent / f"{folder.name}.command", " ".join(words)
    started = note.exists() and note.read_text() == asked and any((folder / "checkpoints").glob("*"))
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(asked)
    call = [str(PROGRAM), "resume", str(folder)] if started else [str(PROGRAM), *words, "--out", str(folder), "--overwrite"]
    print(f"{label}: {'resumed' if started else 'started'}", file=sys.stderr, flush=True)
    done = subprocess.run([*call, "--json", "--quiet"], env=environment or os.environ, stdout=subprocess.PIPE, text=True)
    if done.returncode == 0:
        summary = json.loads(done.stdout)
        del summary["run_directory"]  # a place on one machine, no result
        return 0, summary
    print(f"{label}: exit code {done.returncode}", file=sys.stderr, flush=True)
    if done.returncode == 75:
        sys.exit(75)
    return done.returncode, None


def keep(path, entry, indent=None):
    """Writes one result, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(entry, indent=indent) + "\n")
    partial.rename(path)


def half_width(values):
    """Of a 95 % interval of the mean; nothing for fewer than 2 values or more than 20."""
    freedom = len(values) - 1
    if not 1 <= freedom <= len(STUDENT_T_975):
        return None
    return STUDENT_T_975[freedom - 1] * statistics.stdev(values) / len(values) ** 0.5


def with_interval(values, digits):
    """"mean ± half the width"."""
    half = half_width(values)
    mean = f"{statistics.mean(values):.{digits}f}"
    return mean if half is None else f"{mean} ± {half:.{digits}f}"


def paired_difference(first, second):
    """The mean of first − second, paired by seed, and half the width of its interval."""
    values = [a - b for a, b in zip(first, second, strict=True)]
    return statistics.mean(values), half_width(values)


def bounds_of_difference(first, second):
    mean, half = paired_difference(first, second)
    return mean - half, mean + half


def difference(first, second):
    """The mean of first − second with its interval."""
    mean, half = paired_difference(first, second)
    return f"{mean:.1f}" if half is None else f"{mean:.1f}, 95 % interval {mean - half:.1f} to {mean + half:.1f}"


def write_section(script, text):
    """Puts `text` between the markers of a script, which come last on the page where there are none yet."""
    begin, end = f"<!-- {script}: begin -->\n", f"<!-- {script}: end -->\n"
    page = PAGE.read_text()
    if begin not in page:
        page = page.rstrip("\n") + "\n\n" + begin + end
    before, rest = page.split(begin)
    PAGE.write_text(before + begin + text + end + rest.split(end)[1])
