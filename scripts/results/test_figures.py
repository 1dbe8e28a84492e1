"""Figures that tests measure where they hold something to its law: they append a line of JSON a figure to the file that STEIN_PROOF_RECORD
names (tests/inference/proof_record.h)."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from records import ROOT

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
