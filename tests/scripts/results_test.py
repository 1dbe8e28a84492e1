#!/usr/bin/env python3
"""Tests of scripts/results on a copy of the published records, in a repository of its own with stand-ins for the programs.

    tests/scripts/results_test.py     needs Python and git alone; CTest runs it as scripts/results
"""
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "scripts/results"))
sys.dont_write_bytecode = True
import bandit_curves
import bandit_paper
import bandit_runs
import bandit_tuned
import records
import results_page
import sequences

# Without `site`, which takes longer than most of what is called here, nor what stands before this Python on the PATH.
PYTHON = [sys.executable, "-S", "-B"]

# Without what a surrounding call of git may have set.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}

# Every way of running experiments.
EXPERIMENTS = [("control.py", "tune"), ("control.py", "run"), ("control.py", "curves"),
               ("sparse_regression.py", "run"), ("inference.py", "run"), ("bandit_posteriors.py", "run"), ("news.py", "tune"), ("news.py", "run"), ("sequences.py", "run"), ("tables.py", "tune"), ("tables.py", "run"), ("classifiers.py", "run"),
               ("empirical_bayes.py", "run"), ("deep_exploration.py", "run"), ("control_goals.py", "run"), ("control_posteriors.py", "run"), ("bandit_defaults.py", "run"), ("bandit_defaults.py", "group", "long"),
               ("bandit_defaults.py", "choose"), ("bandit_defaults.py", "options"), ("bandit_defaults.py", "paper"), ("bandit_defaults.py", "tune"), ("bandit_defaults.py", "tuned")]

# Prints what the files beside it say and notes that it was called; a run leaves metrics as a short run of two evaluations would. Of bandits,
# seed s has lost (1 + s)/4 of what uniform play loses, 2 an interaction.
PROGRAM = f"#!{sys.executable} -S" + """
import json, os, pathlib, sys
here = pathlib.Path(__file__)
if sys.argv[1:] == ["--version"]:
    print(f"stein 0.1.0 ({here.with_suffix('.commit').read_text()})")
    sys.exit()
here.with_suffix(".called").write_text(" ".join(sys.argv[1:]))
answer = here.with_suffix(".answer").read_text()
print(answer)
if "STEIN_PROOF_RECORD" in os.environ:
    with open(os.environ["STEIN_PROOF_RECORD"], "a") as record:
        record.write(answer)
if "--out" in sys.argv:
    folder, summary = pathlib.Path(sys.argv[sys.argv.index("--out") + 1]), json.loads(answer)
    folder.mkdir(parents=True)
    (folder / "metrics.jsonl").write_text("".join(
        json.dumps({"tag": tag, "seed": seed, "step": step, "value": value}) + "\\n"
        for seed in summary["seeds"] for step in (1, summary["steps"])
        for tag, value in (("evaluation_return", 1), ("regret", (1 + seed) / 2 * step), ("uniform_regret", 2 * step))))
"""


def setUpModule():
    """All tests have one repository, which each finds as published: it takes longer to make than most tests."""
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    ResultsTest.publish(pathlib.Path(folder.name))


class ResultsTest(unittest.TestCase):
    @classmethod
    def publish(cls, root):
        cls.root = root
        cls.stein = cls.root / "build/release/stein"
        for part in ("scripts/results", "docs"):
            shutil.copytree(SOURCE / part, cls.root / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(SOURCE / "README.md", cls.root)
        shutil.copy(SOURCE / "scripts/mutants", cls.root / "scripts")
        cls.git("init", "--quiet")
        cls.commit()
        cls.published = cls.head()

    def setUp(self):
        self.git("reset", "--quiet", "--hard", self.published)
        self.git("clean", "--quiet", "-fdx")
        self.stand_in("build/release/stein")

    @classmethod
    def git(cls, *words):
        settings = ["user.name=test", "user.email=test@localhost", "commit.gpgsign=false", "core.hooksPath=/dev/null"]
        call = ["git", *(word for setting in settings for word in ("-c", setting)), *words]
        return subprocess.run(call, cwd=cls.root, env=ENVIRONMENT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    @classmethod
    def commit(cls):
        """Commits the scripts and pages as they stand; the program, if there is one, is of this commit too."""
        cls.git("add", "--all", "scripts", "docs", "README.md")
        cls.git("commit", "--quiet", "--message", "As they stand")
        if cls.stein.exists():
            cls.stein.with_suffix(".commit").write_text(cls.head())

    @classmethod
    def head(cls):
        return cls.git("rev-parse", "HEAD")

    def stand_in(self, path, answer=""):
        """Puts a program of the present commit at `path` that prints `answer`."""
        program = self.root / path
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(PROGRAM)
        program.chmod(0o755)
        program.with_suffix(".commit").write_text(self.head())
        program.with_suffix(".answer").write_text(answer)
        return program

    def record(self, path):
        return json.loads((self.root / "docs/results" / path).read_text())

    def rewrite(self, path, record):
        (self.root / "docs/results" / path).write_text(json.dumps(record))

    def call(self, script, *words, path=""):
        call = [*PYTHON, str(self.root / "scripts/results" / script), *words]
        environment = {**ENVIRONMENT, "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]}
        return subprocess.run(call, env=environment, capture_output=True, text=True)

    def succeeds(self, *words, **more):
        done = self.call(*words, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def refuses(self, *words, because, **more):
        """The script ends with the sentence `because`, and has changed nothing."""
        before = self.git("status", "--porcelain", "docs")
        done = self.call(*words, **more)
        self.assertEqual(done.returncode, 1, f"{words}: {done.stdout}{done.stderr}")
        self.assertIn(because, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(self.git("status", "--porcelain", "docs"), before)

    def run_again(self, path, *words, **more):
        """Takes a record away, in a commit, and has the script run it again with a program that prints the same; the new record."""
        old = self.record(path)
        (self.root / "docs/results" / path).unlink()
        self.commit()
        summary = {**old["summary"], "commit": self.head(), "commits": [self.head()], "run_directory": "/somewhere"}
        self.stein.with_suffix(".answer").write_text(json.dumps(summary))
        self.succeeds(*words, **more)
        new = self.record(path)
        # Records of control from before its presets name none.
        self.assertEqual(re.sub(" --preset [^ ]+", "", new["command"]), old["command"])
        return new


# A record of every script, words of its command, and other ones.
RECORDS = [("bandit_defaults.py", "defaults/wheel-delta=0.5_svgd.json", "--set delta=0.5", "--set delta=0.6"),
           ("bandit_defaults.py", "defaults/tuning/adult_greedy_step_size-0.001_noise_precision-1.json", "--seeds 2000:2005", "--seeds 2000:2006"),
           ("bandit_defaults.py", "defaults/tuned/mushroom_lints.json", "--seeds 0:10", "--seeds 0:11"),
           ("control.py", "control/cartpole_a2c_svgd.json", "--set alpha=0.001", "--set alpha=0.01"),
           ("control.py", "control/cartpole-swingup_reinforce_svgd_1000.json", "--set steps=160000000", "--set steps=32000000"),
           ("control.py", "control/tuning/cartpole_a2c_svgd_step_size-0.01_alpha-0.01.json", "--set step_size=0.01", "--set step_size=0.02"),
           ("control.py", "control/curves/InvertedPendulum_ppo_none.json", "--posterior none", "--posterior svgd"),
           ("sparse_regression.py", "sparse_regression/linear_sa_0.1_2_0_500000.json", "example_sparse_regression linear sa 0.1 2 0 500000",
            "example_sparse_regression linear sa 0.1 1 0 500000"),
           ("news.py", "news/news-synthetic/policies.json", "--seeds 0:10", "--seeds 0:11"),
           ("news.py", "news/news-synthetic/particles=50.json", "--set svgd.particles=50", "--set svgd.particles=40"),
           ("news.py", "news/tuning/linucb_alpha-0.1_prior_precision-1.json", "--set linucb.alpha=0.1", "--set linucb.alpha=0.2"),
           ("sequences.py", "sequences/trec_trec-psgld.json", "--seeds 0:5", "--seeds 0:6"),
           ("inference.py", "inference.json", "test_inference [proof] && test_inference_torch [proof]", "test_inference [proof]")]


class RefusalTest(ResultsTest):
    def test_a_record_of_another_command_is_refused_with_what_was_expected_and_found(self):
        for script, path, expected, found in RECORDS:
            record = self.record(path)
            self.assertIn(expected, record["command"])
            self.rewrite(path, {**record, "command": record["command"].replace(expected, found)})
            self.refuses(script, "write", because=f"docs/results/{path} is no record of the present plan: "
                         f"expected `{expected}`, found `{found}`; restore the plan, or remove the record and run it again")
            self.rewrite(path, record)

    def test_a_record_of_another_version_is_refused(self):
        path = "sparse_regression/linear_sa_0.1_2_0_500000.json"
        record = self.record(path)
        self.rewrite(path, {**record, "version": 2})
        self.refuses("sparse_regression.py", "write", because=f"docs/results/{path} is no record of the present plan: "
                     "expected version 1, found version 2; restore the plan, or remove the record and run it again")
        del record["version"]
        self.rewrite(path, record)
        self.refuses("sparse_regression.py", "write", because="expected version 1, found version none")
        self.commit()
        self.refuses("sparse_regression.py", "run", "linear", because="expected version 1, found version none",
                     path=self.stand_in("tools/cmake").parent)

    def test_a_record_of_another_version_of_a_task_is_refused(self):
        path = "control/cartpole_a2c_svgd.json"
        record = self.record(path)
        self.rewrite(path, {**record, "summary": {**record["summary"], "env_version": 7}})
        self.refuses("control.py", "write", because=f"docs/results/{path} is no record of the present plan: "
                     "expected env_version 1, found env_version 7")

    def test_options_that_only_one_command_has_are_named(self):
        path = "defaults/wheel-delta=0.5_svgd.json"
        record = self.record(path)
        self.rewrite(path, {**record, "command": record["command"] + " --set window=10"})
        self.refuses("bandit_defaults.py", "write", because="expected no such option, found `--set window=10`")
        self.rewrite(path, {**record, "command": record["command"].replace(" --set delta=0.5", "")})
        self.refuses("bandit_defaults.py", "write", because="expected `--set delta=0.5`, found no such option")
        self.rewrite(path, {"summary": record["summary"]})
        self.refuses("bandit_defaults.py", "write", because=f"expected `{record['command']}`, found `no command`")

    def test_a_run_does_not_replace_a_record_of_another_command(self):
        for script, words, path in (("bandit_defaults.py", ["run", "svgd"], "defaults/mushroom_svgd.json"),
                                    ("control.py", ["curves"], "control/curves/InvertedPendulum_ppo_none.json")):
            record = self.record(path)
            self.rewrite(path, {**record, "command": record["command"].replace("--seeds 0:", "--seeds 1:")})
            self.commit()
            self.refuses(script, *words, because="expected `--seeds 0:")
        self.assertFalse(self.stein.with_suffix(".called").exists())

    def test_a_reported_record_is_refused_where_its_grid_is_not_whole(self):
        (self.root / "docs/results/control/tuning/cartpole_a2c_svgd_step_size-0.03_alpha-0.01.json").unlink()
        self.refuses("control.py", "write", because="docs/results/control/cartpole_a2c_svgd.json cannot be checked, since its tuning grid has not been run whole")


class CommitTest(ResultsTest):
    def test_experiments_are_refused_where_tracked_files_differ_from_the_commit(self):
        page = self.root / "docs/results.md"
        page.write_text(page.read_text() + "One line more.\n")
        for words in EXPERIMENTS:
            self.refuses(*words, because="these tracked files differ from HEAD: docs/results.md")
        self.git("add", "docs/results.md")
        for words in EXPERIMENTS:
            self.refuses(*words, because="these tracked files differ from HEAD: docs/results.md")
        self.assertFalse(self.stein.with_suffix(".called").exists())

    def test_experiments_are_refused_where_the_program_is_of_another_commit(self):
        for built, scripts in (("0123456789ab", EXPERIMENTS), (self.head() + "+", EXPERIMENTS[:1]), ("unknown", EXPERIMENTS[:1])):
            self.stein.with_suffix(".commit").write_text(built)
            for words in scripts:
                self.refuses(*words, because=f"build/release/stein was built from commit {built}, HEAD is {self.head()}")

    def test_commits_are_counted_as_the_records_name_them(self):
        a, b = "a" * 40, "b" * 40
        for record, commits in (({"summary": {"commit": a + "+"}}, [a + "+"]), ({"commit": b, "outcome": {}}, [b]), ({"outcome": {}}, []),
                                ({"commit": b, "summary": {"commit": b, "commits": [a, b]}}, [a, b])):
            self.assertEqual(records.commits_of(record), commits)
        self.assertEqual(records.by_commit([{"commit": b}, {"commit": a + "+"}, {}, {"commit": b}, {"summary": {"commits": [a, b]}}]),
                         "bbbbbbbbbbbb (2), aaaaaaaaaaaa and bbbbbbbbbbbb (1), aaaaaaaaaaaa with uncommitted changes (1), "
                         "commit not recorded (1)")

    def test_pages_name_the_commits_of_their_records(self):
        for topic, path in (("control", "control/cartpole_a2c_svgd.json"),
                            ("control", "control/tuning/cartpole_a2c_svgd_step_size-0.01_alpha-0.01.json"),
                            ("control", "control/curves/InvertedPendulum_ppo_none.json"),
                            ("sparse_regression", "sparse_regression/linear_sa_0.1_2_0_500000.json"),
                            ("news", "news/news-synthetic/policies.json"), ("news", "news/tuning/linucb_alpha-0.1_prior_precision-1.json")):
            record = self.record(path)
            commit = "123456789abc" + "0" * 28
            summary = {"summary": {**record["summary"], "commits": [commit]}} if "summary" in record else {"commit": commit}
            self.rewrite(path, {**record, **summary})
            self.succeeds(f"{topic}.py", "write")
            for page in ("results.md", f"results/{topic}.md"):
                text = " ".join((self.root / "docs" / page).read_text().split())  # a line may end anywhere
                self.assertTrue("123456789abc (1)" in text, f"{path} on {page}")
            self.git("reset", "--quiet", "--hard", self.published)

    def test_a_record_of_a_bandit_names_its_commit(self):
        new = self.run_again("defaults/wheel-delta=0.5_lints.json", "bandit_defaults.py", "run", "lints")
        self.assertEqual(new["commit"], self.head())

    def test_a_record_of_control_names_its_commit(self):
        new = self.run_again("control/curves/InvertedPendulum_ppo_none.json", "control.py", "curves")
        self.assertEqual(new["commit"], self.head())

    def test_no_record_is_kept_of_a_program_that_had_changes_when_it_was_run(self):
        path = "defaults/wheel-delta=0.5_lints.json"
        summary = self.record(path)["summary"]
        (self.root / "docs/results" / path).unlink()
        self.commit()
        mixed = [self.head() + "+", self.head()]
        self.stein.with_suffix(".answer").write_text(json.dumps({**summary, "commits": mixed, "run_directory": "/somewhere"}))
        done = self.call("bandit_defaults.py", "run", "lints")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"made by a program of {', '.join(mixed)}; only results of clean commits are kept", done.stderr)
        self.assertFalse((self.root / "docs/results" / path).exists())

    def test_a_run_is_continued_only_where_all_its_programs_had_clean_commits(self):
        run = self.root / "runs/one"
        (run / "checkpoints/10").mkdir(parents=True)
        for manifest, continues in (({"commit": "a1"}, True), ({"commit": "a1", "later_commits": ["b2"]}, True), ({"commit": "a1+"}, False),
                                    ({"commit": "a1", "later_commits": ["b2+"]}, False), ({"commit": "unknown"}, False)):
            (run / "manifest.json").write_text(json.dumps(manifest))
            self.assertEqual(records.can_continue(run), continues, manifest)

    def test_a_record_of_the_sparse_regression_names_its_commit(self):
        path = "sparse_regression/linear_sa_0.1_2_0_500000.json"
        old = self.record(path)
        (self.root / "docs/results" / path).unlink()
        self.commit()
        example = self.stand_in("build/examples/sparse_regression/example_sparse_regression", json.dumps(old["outcome"]))
        self.succeeds("sparse_regression.py", "run", "linear", path=self.stand_in("tools/cmake").parent)
        self.assertEqual(example.with_suffix(".called").read_text(), "linear sa 0.1 2 0 500000")
        new = self.record(path)
        self.assertEqual(new["commit"], self.head())
        self.assertEqual(new, {**old, "commit": self.head()})

    def test_the_record_of_the_proofs_names_its_commit(self):
        figures = [{"method": "sgld", "column": column, "what": "|z|", "figure": 1.3}
                   for column in ("exact law", "logistic regression", "linear regression", "data twice")]
        figures.append({"method": "sgld", "column": "mutants", "what": "right", "figure": 0.1})
        lines = [json.dumps(figure) + "\n" for figure in figures]
        self.stand_in("build/release/test_inference", "".join(lines[:2]))
        self.stand_in("build/release/test_inference_torch", "".join(lines[2:]))
        self.succeeds("inference.py", "run", path=self.stand_in("tools/cmake").parent)
        command = "test_inference [proof] && test_inference_torch [proof]"
        self.assertEqual(self.record("inference.json"), {"command": command, "commit": self.head(), "figures": figures})
        self.assertIn("| sgld | ≤ 1.3 | ≤ 1.3 | ≤ 1.3 | ≤ 1.3 |", (self.root / "docs/inference.md").read_text())

    def test_the_record_of_policies_beside_the_exact_posterior_names_its_commit(self):
        figures = [{"method": "svgd, anchors", "column": "conjugate", "what": what, "figure": figure}
                   for what, figure in (("sd", 1.34), ("bias", 0.1), ("regret", 1.18))]
        lines = [json.dumps(figure) + "\n" for figure in figures]
        self.stand_in("build/release/test_policies", "".join(lines[:2]))
        self.stand_in("build/release/test_agents", lines[2])
        self.succeeds("bandit_posteriors.py", "run", path=self.stand_in("tools/cmake").parent)
        command = "test_policies [conjugate] && test_agents [conjugate]"
        self.assertEqual(self.record("bandit_posteriors.json"), {"command": command, "commit": self.head(), "figures": figures})
        self.assertIn("| svgd, anchors | 1.34 | 0.10 | 1.18 |", (self.root / "docs/results/bandit_posteriors.md").read_text())

    def test_the_page_of_the_proofs_is_left_where_a_column_has_no_figures(self):
        self.stand_in("build/release/test_inference", json.dumps({"method": "sgld", "column": "mutants", "what": "right", "figure": 0.1}))
        self.stand_in("build/release/test_inference_torch")
        done = self.call("inference.py", "run", path=self.stand_in("tools/cmake").parent)
        self.assertEqual(done.returncode, 1)
        self.assertIn("columns without a single figure, so the page is left as it was: data twice, exact law, linear", done.stderr)
        self.assertEqual(self.git("diff", "--name-only", "HEAD", "docs/inference.md"), "")


    def test_a_record_of_other_planted_bugs_than_there_are_is_refused(self):
        record = self.record("mutants.json")
        record["planted"]["prior-sing"] = record["planted"].pop("prior-sign")
        (self.root / "docs/results/mutants.json").write_text(json.dumps(record))
        done = self.call("inference.py", "write")
        self.assertEqual(done.returncode, 1)
        self.assertIn("docs/results/mutants.json has other bugs than scripts/mutants plants", done.stderr)

    def test_a_source_that_no_commit_has_is_no_clean_commit(self):
        (self.root / "inference").mkdir()
        (self.root / "inference/new.cpp").write_text("")
        done = self.call("inference.py", "run")
        self.assertEqual(done.returncode, 1)
        self.assertIn("in none: inference/new.cpp", done.stderr)


class PageTest(ResultsTest):
    def test_pages_and_figures_are_what_the_scripts_write_from_the_records(self):
        for script in ("bandit_defaults.py", "control.py", "sparse_regression.py", "inference.py", "news.py", "sequences.py", "tables.py", "classifiers.py", "empirical_bayes.py", "deep_exploration.py", "control_goals.py",
                       "control_posteriors.py"):
            self.succeeds(script, "write")
            self.assertEqual(self.git("status", "--porcelain", "docs", "README.md"), "", f"run scripts/results/{script} write")


class BanditDefaultsTest(ResultsTest):
    """Every record is made up by `keep`."""

    def setUp(self):
        super().setUp()
        self.plan = json.loads((self.root / "scripts/results/bandit_defaults_plan.json").read_text())

    def command(self, bandit, policy, steps, seeds, settings=None, preset=""):
        of_policy, = (entry for entry in self.plan["policies"] if entry["name"] == policy)
        every = {"steps": steps, **bandit.get("settings", {}), **of_policy.get("settings", {}), **(settings or {})}
        words = [f"--set {option}={value}" for option, value in every.items()]
        return (f"stein bandit --env {bandit['env']} --policy {of_policy['policy']}{preset} {' '.join(words)} "
                f"--seeds {seeds[0]}:{seeds[1]}")

    def keep(self, path, command, percents, steps, curve=True):
        def law(values):
            return {"mean": sum(values) / len(values), "sd": 1, "per_seed": values}

        summary = {"seeds": list(range(len(percents))), "steps": steps, "regret": law(percents), "uniform_regret": law([100] * len(percents)),
                   "regret_percent_of_uniform": law(percents), "lock_in_share": law([0] * len(percents)), "wall_seconds": 2,
                   "commits": [self.head()]}
        record = {"command": command, "commit": self.head(), "defaults": records.DEFAULTS, "summary": summary}
        if curve:
            of_percent = {"mean": [90, percents[0]], "sd": [1, 2]}
            record["curve"] = {"step": [10, steps], "regret": of_percent, "regret_percent_of_uniform": of_percent}
        file = self.root / "docs/results/defaults" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(record))

    def tuning_values(self, option):
        """What lints is tuned over, extensions included."""
        plan = self.plan["tuned"]
        return plan["grid"]["lints"][option] + plan["extended"].get("lints", {}).get(option, [])

    def keep_tuning(self, percent_of):
        """The whole grid of lints on the first bandit of the tuned comparison, with the regrets that `percent_of(settings)` says."""
        plan = self.plan["tuned"]
        bandit = plan["bandits"][0]
        for precision, rate in itertools.product(self.tuning_values("prior_precision"), self.tuning_values("prior_rate")):
            settings = {"prior_precision": precision, "prior_rate": rate}
            self.keep(f"tuning/mushroom_lints_prior_precision-{precision}_prior_rate-{rate}.json",
                      self.command(bandit, "lints", bandit["tuning_steps"], plan["tuning_seeds"], settings),
                      [percent_of(settings)] * 5, bandit["tuning_steps"], curve=False)

    def test_curves_are_the_last_recorded_steps_before_as_many_points_as_there_are(self):
        self.assertEqual(bandit_curves.thinned([1, 2, 3, 64, 128, 1000], 100), [2, 3, 64])
        self.assertEqual(bandit_curves.thinned(range(1, 10001), 10000), list(range(200, 10001, 200)))
        self.assertEqual(bandit_curves.thinned([], 100), [])

    def test_a_record_keeps_means_and_deviations_of_the_regret_over_interactions(self):
        (self.root / "docs/results/defaults/long/mushroom_greedy.json").unlink()
        self.commit()
        summary = {"seeds": [0, 2], "steps": 100, "commits": [self.head()], "run_directory": "/somewhere"}
        self.stein.with_suffix(".answer").write_text(json.dumps(summary))
        self.call("bandit_defaults.py", "group", "long", "greedy")  # the page then lacks what a summary has
        record = self.record("defaults/long/mushroom_greedy.json")
        bandit = self.plan["groups"]["long"]["bandits"][0]
        self.assertEqual(record["command"], self.command(bandit, "greedy", 50000, [0, 10]))
        # Seeds 0 and 2 have lost 1/4 and 3/4 of 200: 50 and 150, with sd 50 √2.
        self.assertEqual(record["curve"]["step"], [1, 100])
        self.assertEqual(record["curve"]["regret"], {"mean": [1, 100], "sd": [0.707, 70.711]})
        self.assertEqual(record["curve"]["regret_percent_of_uniform"], {"mean": [50, 50], "sd": [35.355, 35.355]})

    def test_pages_show_curves_the_protocol_and_what_is_published(self):
        for path in (self.root / "docs/results/defaults").glob("*.json"):  # other policies would stand on the short page too
            path.unlink()
        shutil.rmtree(self.root / "docs/results/defaults/protocol", ignore_errors=True)
        for bandit in self.plan["bandits"]:
            stem = bandit["name"].replace(", ", "-").replace(" ", "-").replace("δ", "delta")
            for number, policy in enumerate(self.plan["main"]):
                percents = [10 * (number + 1) + seed / 5 for seed in range(10)]
                self.keep(f"{stem}_{policy}.json", self.command(bandit, policy, bandit["steps"], [0, 10]), percents, bandit["steps"])
        wheel, = (bandit for bandit in self.plan["groups"]["protocol"]["bandits"] if bandit["name"] == "wheel δ=0.9")
        self.keep("protocol/wheel-delta=0.9_neural-linear.json",
                  self.command(wheel, "neural-linear", 80000, [0, 10], preset=" --preset showdown"), [5, 6] * 5, 80000)
        self.succeeds("bandit_defaults.py", "write")
        page = (self.root / "docs/results/bandit_defaults.md").read_text()
        self.assertIn("| wheel δ=0.9 | NeuralLinear | 4.65 ± 0.18 | 80,000 | 50 | 2 | neural-linear | 5.5 ± 0.5 | 40.9 ± 0.6 |", page)
        # README.md of the published code: (5235 − 4365)/(5235 + 4930).
        self.assertIn("| mushroom, showdown rewards, short | LinFullPost | 8.56 | 2,000 | 1 | 1 | lints | not run |  |", page)
        for bandit in ("mushroom", "wheel-delta=0.9", "mushroom-showdown-rewards"):
            self.assertIn(f"](images/bandit_defaults_{bandit}_curves.svg)", page)
            self.assertTrue((self.root / f"docs/results/images/bandit_defaults_{bandit}_curves.svg").exists())
        self.assertRegex(page, r"`svgd` on no bandit above 1\.5 × greedy \| \d\.\d\d × at worst \(.*\) \| no \|")
        self.assertRegex(page, r"`neural-linear` on mushroom within 1\.2 × `lints` \| 1\.\d\d ×; .* \| no \|")
        short = " ".join((self.root / "docs/results.md").read_text().split())
        self.assertIn("`greedy` 10.9, `svgd` 20.9, `lints` 30.9, `neural-linear` 40.9, `function-svgd` 50.9.", short)
        self.assertIn("![Regret over interactions](results/images/bandit_defaults.svg)", short)

    def test_the_short_page_has_no_section_before_the_stein_policy_has_run_on_all_bandits(self):
        (self.root / "docs/results/defaults/mushroom_svgd.json").unlink()
        short = self.root / "docs/results.md"
        short.write_text(short.read_text().split("<!-- bandit_defaults.py: begin -->")[0])
        self.succeeds("bandit_defaults.py", "write")
        self.assertNotIn("bandit_defaults.py: begin", short.read_text())
        page = (self.root / "docs/results/bandit_defaults.md").read_text()
        self.assertIn("| svgd | not run on all |", page)
        self.assertNotIn("first or second of all policies", page)

    def test_a_grid_is_made_longer_for_all_bandits_or_for_one(self):
        plan = self.plan["tuned"]
        begun, longer = (part["svgd"]["function_deviation"] for part in (plan["grid"], plan["extended"]))
        of_wheel = plan["extended_on"]["wheel δ=0.9"]["svgd"]["function_deviation"]
        self.assertEqual(bandit_tuned.grid_of({"name": "mushroom"}, "svgd")["function_deviation"], sorted(begun + longer))
        self.assertEqual(bandit_tuned.grid_of({"name": "wheel δ=0.9"}, "svgd")["function_deviation"], sorted(begun + longer + of_wheel))

    def test_the_order_of_the_paper_is_told_claim_by_claim_with_lock_ins(self):
        percents = {"ε-greedy, ε = 0": 10, "ε-greedy, ε = 0.01": 20, "ε-greedy, ε = 0.05": 30, "svgd": 20, "s2vgd": 25, "vmg": 40}
        for table, plan in bandit_paper.TABLES.items():
            for row in plan["rows"]:
                file, command = bandit_paper.asked(table, row)
                seeds = range(*plan["seeds"])
                self.assertIn("--policy", command)
                self.assertIn(" --preset paper ", command)
                values = [percents.get(row["name"], 50) + (-1) ** seed * (row["name"] != "svgd") for seed in seeds]
                self.keep(file.relative_to(bandit_runs.FOLDER), command, values, plan["bandit"]["steps"], curve=False)
        self.succeeds("bandit_defaults.py", "write")
        page = (self.root / "docs/results/bandit_defaults.md").read_text()
        self.assertIn("| ε-greedy, ε = 0.01 | 20.2 ± 1.1 | 0 of 5 | 0.2 (95 % interval −1.2 to 1.6) | `epsilon=0.01` |", page)
        self.assertIn("](images/bandit_paper_remedies.svg)", page)
        short = " ".join((self.root / "docs/results.md").read_text().split())
        for claim in ("s2vgd < svgd: no, 5.2", "s2vgd < vmg: yes, −15.0", "svgd < ε-greedy, ε = 0: no, 9.8", "svgd < ε-greedy, ε = 0.01: not told apart, −0.2",
                      "svgd < ε-greedy, ε = 0.05: yes, −10.2", "vmg < ε-greedy, ε = 0.05: no, 10.0"):
            self.assertIn(claim, short)
        self.assertIn("svgd, prior functions 0 of 10", short)

    def test_what_an_option_is_worth_is_a_difference_to_the_defaults_paired_by_seed(self):
        shutil.rmtree(self.root / "docs/results/defaults/options", ignore_errors=True)
        bandit = self.plan["options"]["bandits"][0]
        for file, settings, more in (("defaults", {}, 0), ("N-0--1--on-every-weight", {"prior_scale": "weights"}, 5)):
            percents = [10 + seed + more + seed % 2 for seed in range(10)] if more else [10 + seed for seed in range(10)]
            self.keep(f"options/mushroom_{file}.json", self.command(bandit, "svgd", bandit["steps"], [0, 10], settings), percents, bandit["steps"], curve=False)
        self.succeeds("bandit_defaults.py", "write")
        page = (self.root / "docs/results/bandit_defaults.md").read_text()
        self.assertIn("| defaults | 14.5 ± 3.0 |  | not run |  |  |", page)
        # 5 and 6 in turn: 5.5 ± 2.262 · 0.527/√10.
        self.assertIn("| N(0, 1) on every weight | 20.0 ± 3.2 | 5.5 (5.1 to 5.9) | not run |  | `prior_scale=weights` |", page)
        self.refuses("bandit_defaults.py", "options", "anchor", because="no change of the plan: anchor; it has defaults, N(0, 1) on every weight")

    def test_settings_that_defaults_are_chosen_from_are_averaged_over_bandits(self):
        shutil.rmtree(self.root / "docs/results/defaults/choices", ignore_errors=True)
        choices = self.plan["choices"]
        settings_tried = [dict(zip(choices["grid"], values)) for values in itertools.product(*choices["grid"].values())]
        for settings in settings_tried[:2]:
            name = "".join(f"_{option}-{value}" for option, value in settings.items())
            for number, bandit in enumerate(choices["bandits"]):
                stem = bandit["name"].replace(" ", "-").replace("δ", "delta")
                self.keep(f"choices/{stem}_greedy{name}.json", self.command(bandit, "greedy", bandit["steps"], choices["seeds"], settings),
                          [number + 1000 * settings["step_size"]] * 5, bandit["steps"], curve=False)
        self.succeeds("bandit_defaults.py", "write")
        page = (self.root / "docs/results/bandit_defaults.md").read_text()
        # 0 … 9 and a thousand steps: 4.5 + 0.1 and 4.5 + 0.3.
        others = " | ".join(["not run"] * (len(choices["policies"]) - 1))
        for settings, found in zip(settings_tried, ["**4.6**", "4.8", "not run"]):
            self.assertIn(f"| {' | '.join(f'{value:g}' for value in settings.values())} | {found} | {others} |", page)
        self.refuses("bandit_defaults.py", "choose", "svgd", because="no policy of the choices: svgd; they have greedy, neural-ts, neural-ucb, dropout")

    def test_a_choice_at_the_end_of_its_grid_is_not_reported(self):
        self.keep_tuning(lambda settings: 1000 - settings["prior_precision"])
        self.commit()
        largest = max(self.tuning_values("prior_precision"))
        self.refuses("bandit_defaults.py", "tuned", "lints",
                     because=f"lints on mushroom: the chosen prior_precision {largest} is the largest of its grid; put values beyond it into")
        self.assertFalse(self.stein.with_suffix(".called").exists())

    def test_the_tuned_run_has_the_settings_of_the_least_regret_and_other_seeds(self):
        shutil.rmtree(self.root / "docs/results/defaults/tuned", ignore_errors=True)
        self.keep_tuning(lambda settings: abs(settings["prior_precision"] - 4) + abs(settings["prior_rate"] - 6))
        self.commit()
        self.stein.with_suffix(".answer").write_text(json.dumps({"seeds": [0], "steps": 1, "commits": [self.head()], "run_directory": "/x"}))
        self.call("bandit_defaults.py", "tuned", "lints")  # ends at the next bandit, whose grid has not been run
        self.assertEqual(self.record("defaults/tuned/mushroom_lints.json")["command"],
                         "stein bandit --env mushroom --policy lints --set steps=10000 --set prior_precision=4 --set prior_rate=6 --seeds 0:10")

    def test_grids_of_the_tuned_comparison_are_as_long_and_their_seeds_are_not_reported(self):
        plan = self.plan["tuned"]
        sizes = {math.prod(map(len, grid.values())) for grid in plan["grid"].values()}
        self.assertEqual(len(sizes), 1)
        self.assertGreaterEqual(len(range(*plan["tuning_seeds"])), 5)
        self.assertFalse(set(range(*plan["tuning_seeds"])) & set(range(*self.plan["seeds"])))
        self.assertTrue(all(len(values) >= 3 for grid in plan["grid"].values() for values in grid.values()))


class SequencesTest(ResultsTest):
    def test_a_name_is_of_all_rows_of_a_table_that_can_be_run_or_of_one(self):
        self.assertEqual([row["name"] for _, row in sequences.TABLES.wanted(["ptb-first-epoch", "pruning/sgd"])], ["bbb", "sharpening", "sgd"])
        self.assertEqual(list(sequences.TABLES.wanted(["photographs"])), [])

    def test_an_unknown_row_is_refused_with_the_rows_that_there_are(self):
        done = self.call("sequences.py", "run", "ptb-first-epoch/sgd")
        self.assertEqual(done.returncode, 2)
        self.assertIn("table 'ptb-first-epoch' has no row 'sgd'; it has bbb, sharpening", done.stderr)

    def test_a_run_that_a_row_looks_at_is_made_again_where_it_is_gone(self):
        row, = (row for row in sequences.PLAN["tables"]["pruning"]["rows"] if row["name"] == "sgd-dropout")
        trained = sequences.row_named("ptb-small", "sgd-dropout")
        measured = {"perplexity": {"mean": 2, "per_seed": [2]}}
        summary = {"seeds": [0], "steps": 1, "run_directory": "/somewhere", "commit": self.head(), "commits": [self.head()],
                   "test": {"protocol": "stateful-1", "averaged": measured}, "averaged": measured, "pruned": [{"share": 0.5, **measured}] * 8}
        record = {"command": sequences.command(trained), "commits": [self.head()], "version": sequences.PLAN["version"], "summary": summary}
        self.rewrite("sequences/ptb-small_sgd-dropout.json", record)
        (self.root / "docs/results/sequences/pruning_sgd-dropout.json").unlink(missing_ok=True)
        self.stein.with_suffix(".answer").write_text(json.dumps(summary))
        self.commit()
        self.succeeds("sequences.py", "run", "pruning/sgd-dropout")
        self.assertTrue((self.root / "runs/results/sequences/ptb-small_sgd-dropout/metrics.jsonl").exists())
        self.assertEqual(self.record("sequences/ptb-small_sgd-dropout.json"), record)
        self.assertEqual(self.record("sequences/pruning_sgd-dropout.json")["command"], sequences.command(row))


class GridTest(ResultsTest):
    def test_a_choice_says_which_values_lie_at_the_end_of_their_grid(self):
        grid = {"step_size": [0.001, 0.003, 0.01], "noise_precision": [4, 1], "updates": [64]}
        for settings, sentence in (((0.003, 1, 64), "smallest noise precision"), ((0.001, 4, 64), "smallest step size, largest noise precision"),
                                   ((0.01, 1, 64), "largest step size, smallest noise precision")):
            step, noise, updates = settings
            self.assertEqual(results_page.choice_of(grid, dict(zip(grid, settings))),
                             f"step_size {step}, noise_precision {noise}, updates {updates} (at the end of its grid: {sentence})")
        self.assertEqual(results_page.choice_of({"alpha": [0.1, 0.01, 0.001]}, {"alpha": 0.01}), "alpha 0.01")

    def test_the_page_of_control_takes_the_ends_from_the_plan_and_the_choices(self):
        page = self.root / "docs/results/control.md"
        self.assertTrue("| SVGD | step_size 0.03, alpha 0.001 |" in page.read_text())
        self.assertTrue("0 of 24 choices at an end of their ladder" in " ".join(page.read_text().split()))
        plan = self.root / "scripts/results/control_plan.json"
        text = json.loads(plan.read_text())
        ladder = text["ladders"]["svgd"]["step_size"]
        text["ladders"]["svgd"]["step_size"] = ladder[:ladder.index(0.03) + 1]  # what three choices are
        plan.write_text(json.dumps(text))
        self.succeeds("control.py", "write")
        self.assertTrue("| SVGD | step_size 0.03, alpha 0.001 (at the end of its grid: largest step size) |" in page.read_text())
        self.assertTrue("3 of 24 choices at an end of their ladder" in " ".join(page.read_text().split()))
        short = " ".join((self.root / "docs/results.md").read_text().split())
        self.assertTrue("(3 of 24 choices still do)" in short)


if __name__ == "__main__":
    unittest.main()
