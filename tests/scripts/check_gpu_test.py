#!/usr/bin/env python3
"""Tests of scripts/check_gpu with programs that stand for those of a build and of NVIDIA.

    tests/scripts/check_gpu_test.py     needs Python alone; CTest runs it as scripts/check_gpu
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/check_gpu"


class CheckGpu(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.build, self.tools, self.out = (self.root / name for name in ("build", "tools", "out"))
        self.build.mkdir(), self.tools.mkdir()
        self.program(self.tools / "nvidia-smi", 'echo "NVIDIA H200, 575.1"')
        self.program(self.tools / "compute-sanitizer", 'echo "$@"')
        self.program(self.build / "stein", '[ "$1" = --version ] && echo "stein 1" || echo "{\\"benchmark\\": \\"$2\\"}"')
        for name in ("inference", "inference_torch", "policies", "agents", "supervised", "replay", "lm", "lm_torch", "torch"):
            self.program(self.build / f"test_{name}", 'echo "ran $0 $@"')

    @staticmethod
    def program(path, text):
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def check(self, *options, path=None):
        environment = {**os.environ, "PATH": path or f"{self.tools}:{os.environ['PATH']}"}
        return subprocess.run([sys.executable, str(SCRIPT), "--build", str(self.build), *options, str(self.out)], env=environment,
                              capture_output=True, text=True)

    def report(self):
        return json.loads((self.out / "report.json").read_text())

    def test_every_step_leaves_its_output_and_the_gpu_is_named(self):
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stderr)
        report = self.report()
        self.assertEqual(report["gpu"], {"name": "NVIDIA H200", "driver": "575.1"})
        self.assertEqual(report["version"], "stein 1")
        self.assertTrue(all(step["code"] == 0 for step in report["steps"].values()))
        self.assertEqual(json.loads((self.out / "bench_update-gpu.json").read_text()), {"benchmark": "update-gpu"})
        self.assertIn("[gpu]~[learning]", (self.out / "test_inference.log").read_text())
        self.assertIn("--tool racecheck", (self.out / "racecheck_policies.log").read_text())
        self.assertNotIn("[cuda]", (self.out / "memcheck_inference.log").read_text())  # cases of the host's side too
        names = list(report["steps"])
        self.assertLess(names.index("test_torch"), names.index("bench_lm-gpu"))
        self.assertLess(names.index("bench_envs-gpu"), names.index("memcheck_inference"))

    def test_a_step_that_failed_is_said_and_run_again_and_no_other(self):
        self.program(self.build / "test_agents", "exit 3")
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("test_agents: exit code 3", done.stdout)
        self.program(self.build / "test_agents", "exit 0")
        self.program(self.build / "test_inference", "exit 5")  # has passed
        done = self.check()
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("test_inference", done.stdout)
        self.assertIn("test_agents: passed", done.stdout)

    def test_what_there_is_no_time_for_is_not_run_and_comes_next(self):
        self.assertIn("0 passed, 0 failed", self.check("--minutes", "0").stdout)
        self.assertEqual(self.report()["steps"]["test_torch"]["not_run"], "no time was left")
        self.assertEqual(self.check().returncode, 0)
        self.assertEqual(self.report()["steps"]["test_torch"]["code"], 0)

    def test_what_a_benchmark_warns_of_is_not_in_its_record(self):
        self.program(self.build / "stein", '[ "$1" = --version ] && echo "stein 1" || (echo "a warning" >&2; echo "{}")')
        self.assertEqual(self.check().returncode, 0)
        self.assertEqual(json.loads((self.out / "bench_lm-gpu.json").read_text()), {})
        self.assertEqual((self.out / "bench_lm-gpu.log").read_text(), "a warning\n")

    def test_a_filter_without_cases_fails_and_what_was_skipped_is_said(self):
        self.program(self.build / "test_torch", 'echo "No test cases matched"')
        self.program(self.build / "test_replay", 'echo "skipped: no GPU | decisions go up together"')
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("test_torch: no case to run", done.stdout)
        self.assertIn("test_replay skipped: no GPU", done.stdout)

    def test_a_sanitizer_that_is_not_there_fails(self):
        (self.tools / "compute-sanitizer").unlink()
        done = self.check(path=f"{self.tools}:/usr/bin:/bin")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no compute-sanitizer", self.report()["steps"]["memcheck_inference"]["not_run"])

    def test_another_program_begins_anew(self):
        self.check()
        self.program(self.build / "stein", "echo stein 2")
        self.assertIn("test_inference: passed", self.check().stdout)
        self.assertEqual(self.report()["version"], "stein 2")

    def test_every_case_of_a_gpu_is_in_a_program_that_is_run(self):
        tests = SCRIPT.parents[1] / "tests"
        folders = {file.relative_to(tests).parts[0] for file in tests.rglob("*_test.cpp") if "[gpu]" in file.read_text()}
        self.check()
        run = {name.removeprefix("test_").removesuffix("_torch") for name in self.report()["steps"] if name.startswith("test_")}
        self.assertEqual(folders - {"bench"}, run)  # what the cases of bench/ look at is what benchmarks print

    def test_no_gpu_is_said(self):
        self.program(self.tools / "nvidia-smi", "echo 'no devices were found'; exit 6")
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("no GPU; nvidia-smi says: no devices were found", done.stderr)


if __name__ == "__main__":
    unittest.main()
