"""Figures that tests measure where they hold something to its law: they append a line of JSON a figure to the file that STEIN_PROOF_RECORD
names (tests/inference/proof_record.h)."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from records import ROOT, clean_commit, keep, name_of, read_record

BUILD = ROOT / "build/release"


def command_of(programs, tag):
    return " && ".join(f"{program} {tag}" for program in programs)


def build(programs):
    """Builds the tests; clean_commit has seen to it that the rest is of the present commit."""
    subprocess.run(["cmake", "--build", str(BUILD), "--target", *programs], check=True, stdout=subprocess.DEVNULL)


def measured(programs, tag):
    """The figures that the tests of a tag wrote; the script ends if one of them fails."""
    with tempfile.TemporaryDirectory() as folder:
        record = pathlib.Path(folder) / "record.jsonl"
        environment = {"OMP_NUM_THREADS": "1", **os.environ, "STEIN_PROOF_RECORD": str(record)}
        for program in programs:
            done = subprocess.run([str(BUILD / program), tag], env=environment, stdout=subprocess.PIPE, text=True)
            if done.returncode != 0:
                sys.exit(done.stdout + "a test fails: record and page are left as they were")
        return [json.loads(line) for line in record.read_text().splitlines()]


def recorded(path, command):
    """The record of the last run; the script ends where there is none."""
    record = read_record(path, command)
    if record is None:
        sys.exit(f"{name_of(path)} is not there: run the tests first, with `run`")
    return record


def run_or_write(description, programs, tag, path, write):
    """What a script of such figures does: `run` keeps those of a run in `path` first, and the page is written from them."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "write"])
    if parser.parse_args().action == "run":
        commit = clean_commit()
        build(programs)
        keep(path, command_of(programs, tag), commit, {"figures": measured(programs, tag)})
    write()
