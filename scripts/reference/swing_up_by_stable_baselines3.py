#!/usr/bin/env python3
"""What Stable-Baselines3 reaches with its defaults on dm_control's cartpole-swingup, within the steps that docs/results/control_goals.md gives ours.

    python3 -m venv DIR && DIR/bin/pip install torch==2.11.0 stable-baselines3==2.9.2 dm_control==1.0.43 mujoco==3.10.0
    DIR/bin/python scripts/reference/swing_up_by_stable_baselines3.py ppo 2000000 0 > ppo_0.json

The last policy plays 100 episodes of 1,000 steps without noise, from seeds that it did not train on, as those of Stein do.
"""
import argparse
import importlib.metadata
import json
import statistics
import time

import gymnasium
import numpy
import stable_baselines3
import torch
from dm_control import suite


EPISODES = 100


class SwingUp(gymnasium.Env):
    """The task as Gymnasium has tasks: position, cosine, sine and velocities are seen, the force lies between −1 and 1."""
    observation_space = gymnasium.spaces.Box(-numpy.inf, numpy.inf, (5,), numpy.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), numpy.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None or not hasattr(self, "environment"):
            self.environment = suite.load("cartpole", "swingup", task_kwargs={"random": seed}, environment_kwargs={"flat_observation": True})
        return self.seen(self.environment.reset()), {}

    def step(self, action):
        result = self.environment.step(action)
        return self.seen(result), float(result.reward), False, result.last(), {}  # an episode ends by its length alone

    @staticmethod
    def seen(result):
        return result.observation["observations"].astype(numpy.float32)


def episode(model, environment):
    observation, _ = environment.reset()
    total, over = 0.0, False
    while not over:
        action, _ = model.predict(observation, deterministic=True)
        observation, reward, _, over, _ = environment.step(action)
        total += reward
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", choices=("a2c", "ppo"))
    parser.add_argument("steps", type=int)
    parser.add_argument("seed", type=int)
    options = parser.parse_args()
    torch.set_num_threads(1)
    began = time.process_time()
    kind = {"a2c": stable_baselines3.A2C, "ppo": stable_baselines3.PPO}[options.agent]
    model = kind("MlpPolicy", SwingUp(), seed=options.seed, device="cpu")
    model.learn(options.steps)
    environment = SwingUp()
    environment.reset(seed=1_000_000 + options.seed)
    returns = [episode(model, environment) for _ in range(EPISODES)]
    print(json.dumps({"agent": options.agent, "steps": options.steps, "seed": options.seed, "return": statistics.mean(returns),
                      "processor_seconds": time.process_time() - began,
                      "versions": {name: importlib.metadata.version(name) for name in ("stable_baselines3", "dm_control", "mujoco", "torch")}}, indent=1))


if __name__ == "__main__":
    main()
