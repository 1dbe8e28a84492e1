#!/usr/bin/env python3
"""Steps of the MuJoCo tasks by the programs that they come from: tests/envs/reference/mujoco_vectors.json.

    python3 -m venv DIR && DIR/bin/pip install "gymnasium[mujoco]==1.2.3" dm_control==1.0.43 mujoco==3.10.0 numpy==2.4.6
    DIR/bin/python scripts/reference/mujoco_vectors.py > tests/envs/reference/mujoco_vectors.json

InvertedPendulum-v5 and InvertedDoublePendulum-v5 come from Gymnasium, the swing-up from dm_control, each with its own model. A case has
`state` (qpos, qvel), `action`, the `next` state, `observation`, `reward` and `terminated`. `path` is one episode of the swing-up that
runs into the ends of its rail: every state hangs on the solver's warm start from the one before.
"""
import json

import gymnasium
import mujoco
import numpy
from dm_control import suite

random = numpy.random.default_rng(20126)


def numbers(values):
    return [float(value) for value in values]


def case(state, action, physics, observation, reward, terminated):
    return {"state": numbers(state), "action": [float(action)], "next": numbers(physics.qpos) + numbers(physics.qvel),
            "observation": numbers(observation), "reward": float(reward), "terminated": bool(terminated)}


def gymnasium_cases(name, states, actions):
    environment = gymnasium.make(name).unwrapped
    environment.reset(seed=0)
    half = environment.model.nq
    cases = []
    for state, action in zip(states, actions):
        mujoco.mj_resetData(environment.model, environment.data)
        environment.set_state(state[:half], state[half:])
        observation, reward, terminated, _, _ = environment.step(numpy.array([action], dtype=numpy.float32))
        cases.append(case(state, action, environment.data, observation, reward, terminated))
    return cases


class SwingUp:
    def __init__(self):
        self.environment = suite.load("cartpole", "swingup", environment_kwargs={"flat_observation": True})

    def start(self, state):
        self.environment.reset()
        physics = self.environment.physics
        with physics.reset_context():
            physics.data.qpos[:], physics.data.qvel[:] = state[:2], state[2:]

    def step(self, state, action):
        result = self.environment.step(numpy.array([action]))
        observation = result.observation["observations"]
        # dm_control has the cosine before the sine, as we do.
        return case(state, action, self.environment.physics.data, observation, result.reward, False)


def swing_up_cases(states, actions):
    task = SwingUp()
    cases = []
    for state, action in zip(states, actions):
        task.start(state)
        cases.append(task.step(state, action))
    return cases


def swing_up_path():
    task = SwingUp()
    state = numpy.array([0.1, 3.0, 0.0, 0.1])
    task.start(state)
    cases = []
    for step in range(160):
        action = numpy.float32(1 if step // 80 % 2 == 0 else -0.75)
        cases.append(task.step(state, action))
        state = numpy.array(cases[-1]["next"])
    return cases


def uniform(count, *ranges):
    return numpy.stack([random.uniform(-r, r, count) for r in ranges], axis=1)


def single(count, limit):
    return random.uniform(-limit, limit, count).astype(numpy.float32)


count = 40
vectors = {
    "InvertedPendulum": gymnasium_cases("InvertedPendulum-v5", uniform(count, 1.1, 0.22, 3, 3), single(count, 4)),
    "InvertedDoublePendulum": gymnasium_cases("InvertedDoublePendulum-v5", uniform(count, 1.1, 0.6, 0.6, 3, 3, 12), single(count, 1.3)),
    "cartpole-swingup-dm": swing_up_cases(uniform(count, 2, 7, 5, 9), single(count, 1.3)),
    "cartpole-swingup-dm path": swing_up_path(),
}
lines = []
for name, cases in vectors.items():
    lines.append(json.dumps(name) + ": [\n  " + ",\n  ".join(json.dumps(case) for case in cases) + "\n ]")
print("{\n " + ",\n ".join(lines) + "\n}")
