#!/usr/bin/env python3
"""Single steps of the classic control tasks, from sources that are not Stein: tests/envs/reference/control_vectors.json.

    python3 -m venv DIR && DIR/bin/pip install gymnasium==1.2.3 numpy==2.4.6
    DIR/bin/python scripts/reference/control_vectors.py > tests/envs/reference/control_vectors.json

CartPole-v1, Pendulum-v1 and Acrobot-v1 come from Gymnasium. rllab's tasks come from their equations of motion (Duan et al. 2016 and
its MJCF/Box2D models), written here as a mass matrix that numpy solves. A case has `state`, `action`, the `next` state, `observation`,
`reward` and `terminated`.
"""
import json
import math

import gymnasium
import numpy

random = numpy.random.default_rng(20161)


def gymnasium_cases(name, states, actions):
    environment = gymnasium.make(name).unwrapped
    cases = []
    for state, action in zip(states, actions):
        environment.reset(seed=0)
        environment.state = numpy.array(state, dtype=numpy.float64)
        if hasattr(environment, "steps_beyond_terminated"):
            environment.steps_beyond_terminated = None
        given = int(action) if name != "Pendulum-v1" else numpy.array([action])
        observation, reward, terminated, _, _ = environment.step(given)
        cases.append({"state": list(map(float, state)), "action": [float(action)], "next": [float(x) for x in environment.state],
                      "observation": [float(x) for x in observation], "reward": float(reward), "terminated": bool(terminated)})
    return cases


def cart_pole_body(state, action):
    x, dx, angle, spin = state
    mass, pole, centre, inertia, gravity, dt = 1.0, 0.1, 0.5, 0.0334167, 10.0, 0.05
    force = min(max(action, -10.0), 10.0)
    sine, cosine = math.sin(angle), math.cos(angle)
    matrix = numpy.array([[mass + pole, -pole * centre * cosine], [-pole * centre * cosine, inertia]])
    right = numpy.array([force - pole * centre * sine * spin**2, pole * gravity * centre * sine])
    acceleration = numpy.linalg.solve(matrix, right)
    dx, spin = dx + dt * acceleration[0], spin + dt * acceleration[1]
    return [x + dt * dx, dx, angle + dt * spin, spin]


def cartpole(state, action):
    after = cart_pole_body(state, action)
    done = abs(after[0]) > 2.4 or abs(after[2]) > 0.2
    return after, after, 0.0 if done else 10 - (1 - math.cos(after[2])) - 1e-5 * action**2, done


def swing_up(state, action):
    after = cart_pole_body(state, action)
    done = abs(after[0]) > 3
    return after, after, -100.0 if done else math.cos(after[2]), done


def double_pendulum(side):
    def step(state, action):
        angle1, spin1, angle2, spin2 = state
        mass, length, centre, inertia, gravity, dt = 0.5, 1.0, 0.5, 0.167083, 10.0, 0.01
        torque = min(max(action, -50.0), 50.0)
        for _ in range(2):
            cosine, sine = math.cos(angle1 - angle2), math.sin(angle1 - angle2)
            matrix = numpy.array([[inertia + mass * length**2, mass * length * centre * cosine],
                                  [mass * length * centre * cosine, inertia]])
            right = numpy.array([-torque - mass * length * centre * sine * spin2**2
                                 - (mass * centre + mass * length) * gravity * math.sin(angle1),
                                 torque + mass * length * centre * sine * spin1**2 - mass * centre * gravity * math.sin(angle2)])
            acceleration = numpy.linalg.solve(matrix, right)
            spin1, spin2 = spin1 + dt * acceleration[0], spin2 + dt * acceleration[1]
            angle1, angle2 = angle1 + dt * spin1, angle2 + dt * spin2
        tip = numpy.array([length * math.sin(angle1) + side * length * math.sin(angle2),
                           -length * math.cos(angle1) - length * math.cos(angle2)])
        reward = -float(numpy.linalg.norm(tip - numpy.array([0, 2 * length])))
        seen = [math.sin(angle1), math.cos(angle1), spin1, math.sin(angle2), math.cos(angle2), spin2]
        return [angle1, spin1, angle2, spin2], seen, reward, False
    return step


def equation_cases(step, states, actions):
    cases = []
    for state, action in zip(states, actions):
        after, observation, reward, terminated = step(list(map(float, state)), float(action))
        cases.append({"state": list(map(float, state)), "action": [float(action)], "next": [float(x) for x in after],
                      "observation": [float(x) for x in observation], "reward": float(reward), "terminated": bool(terminated)})
    return cases


def uniform(count, *ranges):
    return numpy.stack([random.uniform(-r, r, count) for r in ranges], axis=1)


count = 40
vectors = {
    "CartPole-v1": gymnasium_cases("CartPole-v1", uniform(count, 2.6, 3, 0.25, 3), random.integers(0, 2, count)),
    "Pendulum-v1": gymnasium_cases("Pendulum-v1", uniform(count, 9, 8), random.uniform(-3, 3, count)),
    "Acrobot-v1": gymnasium_cases("Acrobot-v1", uniform(count, math.pi, math.pi, 12, 28), random.integers(0, 3, count)),
    "cartpole": equation_cases(cartpole, uniform(count, 2.6, 2, 0.25, 2), random.uniform(-15, 15, count)),
    "cartpole-swingup": equation_cases(swing_up, uniform(count, 3.2, 4, 7, 8), random.uniform(-15, 15, count)),
    "double-pendulum": equation_cases(double_pendulum(1), uniform(count, 7, 8, 7, 8), random.uniform(-70, 70, count)),
    "double-pendulum reward=rllab": equation_cases(double_pendulum(-1), uniform(count, 7, 8, 7, 8), random.uniform(-70, 70, count)),
}
lines = []
for name, cases in vectors.items():
    lines.append(json.dumps(name) + ": [\n  " + ",\n  ".join(json.dumps(case) for case in cases) + "\n ]")
print("{\n " + ",\n ".join(lines) + "\n}")
