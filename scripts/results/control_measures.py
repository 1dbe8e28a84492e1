"""What the methods of control.py are compared by, and how they are called on its pages."""
from results_page import bounds_of_difference

CURVE_POINTS = (0.1, 0.2, 0.3, 0.5, 0.7, 1)  # of the steps
NAMES = {"independent": "independent", "svgd": "SVGD", "svgd-star": "SVGD* (25-16)", "s2vgd": "S2VGD, K = 4"}
LEAST_SHARE = 1e-3  # of prior and repulsion in what moves particles
PUBLISHED_ITERATIONS = {"cartpole-swingup": 1000, "double-pendulum": 1000}  # where fewer are planned
AGENTS = {"reinforce": "REINFORCE", "a2c": "A2C", "ppo": "PPO"}
POSTERIORS = {"none": "one policy", "s2vgd": "s2vgd"}  # of the learning curves

# What methods are compared by: its name, and its value of every seed.
MEASURES = {"learning, discounted": lambda entry: entry["curve"]["mean"]["discounted_return"],
            "final evaluation, undiscounted": lambda entry: entry["summary"]["return"]["per_seed"]}
PAIRS = [("s2vgd", "svgd-star"), ("s2vgd", "svgd"), ("svgd-star", "svgd"), ("svgd", "independent")]
LEARNING, FINAL = MEASURES


def verdict(value, first, second):
    """Whether the first of two entries is ahead or behind in a measure, by the interval of the differences; "open" if that contains 0."""
    low, high = bounds_of_difference(value(first), value(second))
    return "ahead" if low > 0 else "behind" if high < 0 else "open"
