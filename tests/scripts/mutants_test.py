#!/usr/bin/env python3
"""Tests that the bugs of scripts/mutants can still be planted: their lines change with the product, which no build tells of.

    tests/scripts/mutants_test.py     needs Python alone; CTest runs it as scripts/mutants
"""
import importlib.machinery
import importlib.util
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def load():
    loader = importlib.machinery.SourceFileLoader("mutants", str(SOURCE / "scripts/mutants"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants", loader))
    sys.modules["mutants"] = module  # a dataclass looks its module up
    loader.exec_module(module)
    return module


class PlantedBugs(unittest.TestCase):
    def setUp(self):
        self.bugs = load().MUTANTS

    def test_each_has_its_place(self):
        places = {bug.name: (SOURCE / bug.file).read_text().count(bug.before) for bug in self.bugs}
        self.assertEqual({name: count for name, count in places.items() if count != 1}, {})

    def test_each_changes_something(self):
        self.assertEqual([bug.name for bug in self.bugs if bug.before == bug.after], [])

    def test_names_are_names(self):
        names = [bug.name for bug in self.bugs]
        self.assertEqual(sorted(set(names)), sorted(names))

    def test_each_has_tests(self):
        for bug in self.bugs:
            re.compile(bug.tests)
            self.assertTrue(bug.tests.startswith("^"), bug.name)


if __name__ == "__main__":
    unittest.main()
