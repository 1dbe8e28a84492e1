"""The plan of control.py, control_plan.json, and how one of its runs is played and kept."""
import itertools
import json
import pathlib
import re

from records import RESULTS, ROOT, keep, play, read_record

PLAN = json.loads((pathlib.Path(__file__).parent / "control_plan.json").read_text())
ENTRIES = RESULTS / "control"
RUNS = ROOT / "runs/results/control"


def settings_of(agent, method, chosen):
    return {**PLAN["settings"], **PLAN["agents"][agent], **PLAN["posteriors"][method]["settings"], **chosen}


def command(task, agent, method, iterations, seeds, chosen):
    settings = settings_of(agent, method, chosen)
    steps = iterations * settings["particles"] * settings["slots"] * settings["steps_per_slot"]
    posterior = PLAN["posteriors"][method]["posterior"]
    words = ["rl", "--env", task, "--agent", agent, "--posterior", posterior, "--preset", PLAN["presets"][posterior]]
    for key, value in {**settings, "steps": steps}.items():
        words += ["--set", f"{key}={value}"]
    return " ".join(["stein", *words, "--seeds", f"{seeds[0]}:{seeds[1]}"])


def recorded(folder):
    """By tag: [(step, value), …] of every seed, in the order of the seeds."""
    points = {}
    for line in (folder / "metrics.jsonl").read_text().splitlines():
        record = json.loads(line)
        points.setdefault(record["tag"], {}).setdefault(record["seed"], []).append((record["step"], record["value"]))
    return {tag: [of_seed[seed] for seed in sorted(of_seed)] for tag, of_seed in points.items()}


KEPT_POINTS = 40  # that are kept of a training return


def at_shares(points, steps):
    """The last value recorded up to each of so many shares of the steps; the first where none was before."""
    return [next((value for step, value in reversed(points) if step * KEPT_POINTS <= k * steps), points[0][1]) for k in range(1, KEPT_POINTS + 1)]


def curve_of(folder, summary):
    """By tag and seed: the mean over the run of a recorded curve, every record standing for the steps before it, its last value, and of the
    discounted return of training the curve itself."""
    points_by_tag, means, last = recorded(folder), {}, {}
    for tag, part in itertools.product(("return", "discounted_return"), ("", "_median", "_max")):
        for points in points_by_tag[tag + part]:
            before, total = 0, 0.0
            for step, value in points:
                total += (step - before) * value
                before = step
            means.setdefault(tag + part, []).append(total / before)
            last.setdefault(tag + part, []).append(points[-1][1])
    training = [[float(f"{value:.5g}") for value in at_shares(points, summary["steps"])] for points in points_by_tag["discounted_return"]]
    return {"curve": {"mean": means, "last": last, "discounted_return": training}}


def result_file(name):
    return ENTRIES / f"{name}.json"


def record_of(name, asked):
    """Records of programs that named no preset in their summaries were made when the settings of the plan's presets were the defaults:
    their commands do without the preset."""
    file = result_file(name)
    if asked and file.exists():
        entry = json.loads(file.read_text())
        if "preset" not in entry.get("summary", {}) and " --preset " not in entry.get("command", ""):
            asked = re.sub(" --preset [^ ]+", "", asked)
    return read_record(file, asked, env_version=PLAN["env_version"])


def shown_command(entry):
    """The command of a record as one would type it today: before its presets had names their settings were the defaults. Summaries name
    the preset, or none, since."""
    command = entry["command"]
    posterior, = re.findall("--posterior ([^ ]+)", command)
    if " --preset " in command or "preset" in entry.get("summary", {}):
        return command
    return command.replace(f"--posterior {posterior}", f"--posterior {posterior} --preset {PLAN['presets'][posterior]}")


def run(name, asked, commit, read):
    """Runs or continues one entry unless its result is there already. `read` makes more results of its folder and summary."""
    if record_of(name, asked):
        return
    code, summary = play(name, asked, RUNS / name)
    if code == 4:
        version = json.loads((RUNS / name / "manifest.json").read_text())["protocol"]["env_version"]
        keep(result_file(name), asked, commit, {"env_version": version, "diverged": True})
    elif code == 0:
        keep(result_file(name), asked, commit, {"summary": summary, **read(RUNS / name, summary)})
