"""Means and differences of the records of bandit_defaults.py: {bandit: {policy: record}}, regrets in percent of uniform play."""
import statistics

from bandit_runs import PLAN, POLICIES, locked_seeds, paired, shares
from results_page import half_width, mean_of


def difference(entries, policy, other, times=1.0):
    """A policy's share of uniform's regret less `times` another's on one bandit, seed by seed."""
    return paired(entries[policy], entries[other], times)


def against(found, policy, other):
    """The same of every seed averaged over the bandits; None where one lacks either."""
    if not all({policy, other}.issubset(entries) for entries in found.values()):
        return None
    return [statistics.mean(seed) for seed in zip(*[difference(entries, policy, other) for entries in found.values()], strict=True)]


def together(found, of_group):
    """The records of the defaults and of a group on the same bandits."""
    return {bandit: {**found[bandit], **entries} for bandit, entries in of_group.items()}


def below_zero(differences):
    """Whether all of the 95 % interval of their mean is."""
    return statistics.mean(differences) + half_width(differences) < 0


def average(found, policy, bandits=PLAN["bandits"]):
    """A policy's mean regret over some bandits, in percent of uniform; None where it has not run on one of them."""
    entries = [found[bandit["name"]].get(policy) for bandit in bandits]
    return statistics.mean(statistics.mean(shares(entry)) for entry in entries) if all(entries) else None


WHEELS = [bandit for bandit in PLAN["bandits"] if bandit["env"] == "wheel"]
OTHERS = [bandit for bandit in PLAN["bandits"] if bandit["env"] != "wheel"]


def worst_share(found, policy):
    """The largest regret of a policy ÷ greedy's on one bandit."""
    return max(mean_of(entries[policy]["summary"]["regret"]) / mean_of(entries[PLAN["greedy"]]["summary"]["regret"]) for entries in found.values())


def locked_in(found, bandits, policy):
    """In how many runs on some bandits a policy locked in, and how many there were."""
    entries = [found[bandit][policy] for bandit in bandits]
    return sum(map(locked_seeds, entries)), sum(len(shares(entry)) for entry in entries)


def share_of(found, bandit, policy):
    """A policy's mean regret on a bandit, in percent of uniform; None where it was not run."""
    entry = found[bandit].get(policy)
    return statistics.mean(shares(entry)) if entry else None


def complete_policies(found):
    """Those that have run on all bandits."""
    return [policy for policy in POLICIES if average(found, policy) is not None]
