"""What ranks bring: a cost model and a small simulator of it.

Ranks that share the steps of one run work in rounds: each does its parts, then all exchange what the parts left, then every rank does by
itself what is not shared. A round ends with the slowest rank, so the simulator draws the time of every part. Ranks that have seeds of their
own, or runs of a sweep, exchange next to nothing: there the longest queue counts.
"""
import bisect
import dataclasses
import math
import random
import statistics


@dataclasses.dataclass(frozen=True)
class Link:
    """What messages between ranks cost: {bytes that each of two ranks gives: seconds}, measured by `stein ranks`."""
    seconds: dict[int, float]

    @staticmethod
    def stated(latency, bytes_per_second):
        """One that nobody here has measured, of what its maker states."""
        sizes = [64 * 8**power for power in range(11)]
        return Link({size: latency + size / bytes_per_second for size in sizes})

    def time(self, size):
        """Seconds of a message of so many bytes: between two sizes that were measured on the line through both, below them that of the
        smallest, above them at the rate of the largest."""
        sizes = sorted(self.seconds)
        if size <= sizes[0]:
            return self.seconds[sizes[0]]
        if size >= sizes[-1]:
            return self.seconds[sizes[-1]] * size / sizes[-1]
        above = bisect.bisect_left(sizes, size)
        low, high = sizes[above - 1], sizes[above]
        return self.seconds[low] + (self.seconds[high] - self.seconds[low]) * (size - low) / (high - low)

    @property
    def latency(self):
        return min(self.seconds.values())


@dataclasses.dataclass(frozen=True)
class Cluster:
    """Machines with so many ranks on each; messages within a machine, and between two."""
    ranks_per_machine: int
    within: Link
    between: Link

    def machines(self, ranks):
        return -(-ranks // self.ranks_per_machine)

    def all_gather(self, ranks, size):
        """Seconds until every rank has what each gave, `size` bytes: a tree's steps for latency, and what a rank receives. The ranks of a
        machine receive side by side within it, and one after the other over its link to the others."""
        if ranks == 1:
            return 0.0
        here = min(ranks, self.ranks_per_machine)
        seconds = max(0, math.ceil(math.log2(here)) - 1) * self.within.latency + self.within.time((here - 1) * size)
        machines = self.machines(ranks)
        if machines > 1:
            seconds += math.ceil(math.log2(machines)) * self.between.latency
            seconds += self.between.time(here * (ranks - here) * size) - self.between.latency
        return seconds

    def sum_of_slices(self, ranks, size, terms):
        """Seconds until every rank has the sum of so many terms of `size` bytes, of which each has its share: each gets a slice of all terms,
        adds it up, and gives it to the others."""
        return self.all_gather(ranks, terms / ranks * size / ranks) + self.all_gather(ranks, size / ranks)


@dataclasses.dataclass(frozen=True)
class SharedSteps:
    """Rounds of a run whose steps are shared."""
    parts: int  # particles, chunks of slots, chunks of a minibatch
    seconds: float  # of all parts of a round on one rank
    everywhere: float  # seconds a round that every rank spends on what is not shared
    bytes: float  # that a part leaves
    spread: float = 0.0  # the sd of a part's seconds ÷ their mean

    def round(self, ranks, cluster, source):
        """Seconds of one round."""
        slowest = 0.0
        mean = self.seconds / self.parts
        for rank in range(min(ranks, self.parts)):
            own = (rank + 1) * self.parts // ranks - rank * self.parts // ranks if ranks <= self.parts else 1
            deviation = self.spread * mean * math.sqrt(own)
            slowest = max(slowest, max(0.0, source.gauss(own * mean, deviation)) if own else 0.0)
        return slowest + self.everywhere + self.exchange(ranks, cluster)

    def exchange(self, ranks, cluster):
        """Seconds until every rank has what all parts left."""
        return cluster.all_gather(ranks, self.bytes * self.parts / ranks)

    @classmethod
    def bytes_of_part(cls, received, ranks, parts):
        """What a part leaves, where each of so many ranks receives so many bytes in a round."""
        return received * ranks / (ranks - 1) / parts

    def speed_up(self, ranks, cluster, rounds=400, seed=1):
        """One process's time ÷ that of so many ranks, by the simulator."""
        source = random.Random(seed)
        mean = statistics.fmean(self.round(ranks, cluster, source) for _ in range(rounds))
        return (self.seconds + self.everywhere) / mean

    def most(self):
        """The speed-up of ever more ranks whose messages cost nothing (Amdahl 1967): no more than as many as there are parts."""
        return (self.seconds + self.everywhere) / (self.seconds / self.parts + self.everywhere)


class SummedSteps(SharedSteps):
    """The same where the parts are terms of one sum, each of as many bytes as that (chunks of a minibatch)."""

    def exchange(self, ranks, cluster):
        return cluster.sum_of_slices(ranks, self.bytes, self.parts)

    @classmethod
    def bytes_of_part(cls, received, ranks, parts):
        return received * ranks / (ranks - 1) / (parts / ranks + 1)


@dataclasses.dataclass(frozen=True)
class OwnRuns:
    """Seeds, or runs of a sweep, each on a rank of its own."""
    seconds: float  # of one
    begin: float  # seconds that the launcher and every rank need before the first step
    end: float = 0.0  # seconds for each that the root spends at the end, after the others
    spread: float = 0.0  # the sd of one's seconds ÷ their mean

    def makespan(self, count, ranks, source):
        queues = [0.0] * ranks
        for i in range(count):
            queues[i % ranks] += max(0.0, source.gauss(self.seconds, self.spread * self.seconds))
        return max(queues) + self.begin + count * self.end

    def speed_up(self, count, ranks, rounds=200, seed=1):
        source = random.Random(seed)
        alone = count * (self.seconds + self.end)
        return alone / statistics.fmean(self.makespan(count, ranks, source) for _ in range(rounds))


def fitted(kind, parts, alone, together, sharing, ranks, link):
    """The rounds of a run, SharedSteps or SummedSteps, from its seconds in one process (`alone`), and on two ranks (`together`, with what it cost the root to share).

    What is not shared is what the root spent neither on its parts nor on exchanges. Its exchanges took longer than messages of their size
    do: the rest is waiting, for two ranks whose parts have a sd of s on average s/√π.
    """
    rounds = sharing["exchanges"]
    everywhere = max(0.0, together - sharing["work_seconds"] - sharing["exchange_seconds"]) / rounds
    seconds = alone / rounds - everywhere
    received = sharing["bytes"] / rounds
    waiting = max(0.0, sharing["exchange_seconds"] / rounds - link.time(received / (ranks - 1)))
    deviation = waiting * math.sqrt(math.pi)
    spread = deviation / (seconds / parts * math.sqrt(parts / ranks))
    return kind(parts=parts, seconds=seconds, everywhere=everywhere, bytes=kind.bytes_of_part(received, ranks, parts), spread=spread)
