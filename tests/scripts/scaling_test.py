#!/usr/bin/env python3
"""Tests of the cost model behind docs/scaling.md.

    tests/scripts/scaling_test.py     needs Python alone; CTest runs it as scripts/scaling
"""
import json
import math
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts/results"))
import scaling  # noqa: E402
from scaling_model import Cluster, Link, OwnRuns, SharedSteps, SummedSteps, fitted  # noqa: E402

FREE = Cluster(ranks_per_machine=10**6, within=Link({64: 0.0, 128: 0.0}), between=Link({64: 0.0, 128: 0.0}))


class Messages(unittest.TestCase):
    def test_times_lie_on_the_line_between_sizes_and_at_the_largest_rate_above(self):
        link = Link({64: 1e-6, 1064: 3e-6})
        self.assertEqual(link.time(1), 1e-6)
        self.assertAlmostEqual(link.time(564), 2e-6)
        self.assertAlmostEqual(link.time(2128), 6e-6)

    def test_what_is_stated_is_latency_and_rate(self):
        self.assertAlmostEqual(Link.stated(2e-6, 1e9).time(4096), 2e-6 + 4.096e-6)

    def test_a_gather_within_a_machine_and_between_two(self):
        cluster = Cluster(ranks_per_machine=4, within=Link.stated(1e-6, 1e10), between=Link.stated(5e-6, 1e9))
        self.assertEqual(cluster.all_gather(1, 1000), 0)
        within = 1e-6 + 3 * 1000 / 1e10 + 1e-6  # two steps of a tree, three messages received
        self.assertAlmostEqual(cluster.all_gather(4, 1000), within)
        between = 2 * 5e-6 + 4 * 8 * 1000 / 1e9  # of 12 ranks on three machines, four receive from eight
        self.assertAlmostEqual(cluster.all_gather(12, 1000), within + between, delta=1e-7)

    def test_a_sum_of_slices_is_two_gathers_of_slices(self):
        cluster = Cluster(ranks_per_machine=8, within=Link.stated(0, 1e9), between=Link.stated(0, 1e9))
        # Of eight terms of 8,000 bytes each of four ranks has two, and receives a quarter of six and three quarters of the sum.
        self.assertAlmostEqual(cluster.sum_of_slices(4, 8000, 8), (6 * 2000 + 3 * 2000) / 1e9, delta=2e-7)
        self.assertEqual(cluster.sum_of_slices(1, 8000, 8), 0)


class Rounds(unittest.TestCase):
    def test_equal_parts_and_free_messages_are_shared_without_loss(self):
        rounds = SharedSteps(parts=8, seconds=8.0, everywhere=0.0, bytes=0)
        for ranks, factor in ((1, 1), (2, 2), (3, 8 / 3), (8, 8), (16, 8)):
            self.assertAlmostEqual(rounds.speed_up(ranks, FREE), factor)

    def test_what_every_rank_does_is_the_limit(self):
        rounds = SharedSteps(parts=16, seconds=4.0, everywhere=1.0, bytes=0)
        self.assertAlmostEqual(rounds.speed_up(16, FREE), rounds.most())
        self.assertAlmostEqual(rounds.most(), 5 / 1.25)

    def test_the_slowest_of_two_ranks_is_waited_for(self):
        rounds = SharedSteps(parts=2, seconds=2.0, everywhere=0.0, bytes=0, spread=0.1)
        self.assertAlmostEqual(2 / rounds.speed_up(2, FREE, rounds=20000), 1 + 0.1 / math.sqrt(math.pi), delta=0.003)

    def test_messages_that_take_longer_than_the_work_make_it_slower(self):
        slow = Link.stated(1.0, 1e9)
        rounds = SharedSteps(parts=16, seconds=1.0, everywhere=0.0, bytes=8)
        self.assertLess(rounds.speed_up(16, Cluster(16, slow, slow)), 1)

    def test_constants_are_found_again(self):
        truth = SharedSteps(parts=16, seconds=2e-3, everywhere=5e-4, bytes=4096, spread=0.05)
        link = Link.stated(1e-5, 1e9)
        rounds = 1000
        wait = truth.spread * truth.seconds / 16 * math.sqrt(8) / math.sqrt(math.pi)
        exchange = link.time(8 * 4096) + wait
        sharing = {"work_seconds": rounds * 1e-3, "exchange_seconds": rounds * exchange, "exchanges": rounds, "bytes": rounds * 8 * 4096}
        found = fitted(SharedSteps, 16, rounds * 2.5e-3, rounds * (1e-3 + 5e-4 + exchange), sharing, 2, link)
        for name in ("parts", "seconds", "everywhere", "bytes", "spread"):
            self.assertAlmostEqual(getattr(found, name), getattr(truth, name), msg=name)
        alone, together = 2.5e-3, 1e-3 + 5e-4 + exchange
        self.assertAlmostEqual(found.speed_up(2, Cluster(2, link, link), rounds=20000), alone / together, delta=0.01)

    def test_bytes_of_a_term_are_found_again(self):
        truth, ranks = SummedSteps(parts=8, seconds=1.0, everywhere=0.0, bytes=1024), 4
        received = 3 / 4 * 1024 * (2 + 1)  # slices of six terms that others have, and the slices of the sum
        self.assertAlmostEqual(SummedSteps.bytes_of_part(received, ranks, truth.parts), truth.bytes)
        link = Link.stated(0, 1e6)
        self.assertAlmostEqual(truth.exchange(ranks, Cluster(8, link, link)), received / 1e6, delta=2e-4)


class Seeds(unittest.TestCase):
    def test_the_longest_queue_counts(self):
        runs = OwnRuns(seconds=10.0, begin=1.0)
        self.assertAlmostEqual(runs.speed_up(4, 2), 40 / 21)
        self.assertAlmostEqual(runs.speed_up(5, 4), 50 / 21)

    def test_what_the_root_does_alone_is_not_spread(self):
        self.assertAlmostEqual(OwnRuns(seconds=10.0, begin=0.0, end=10.0).speed_up(4, 4), 80 / 50)


class Page(unittest.TestCase):
    def test_it_is_that_of_its_record(self):
        record = json.loads(scaling.RECORD.read_text())
        self.assertEqual(scaling.page(record).rstrip("\n") + "\n", scaling.PAGE.read_text())


if __name__ == "__main__":
    unittest.main()
