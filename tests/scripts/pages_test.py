#!/usr/bin/env python3
"""What the pages link to is there: files, headings and pictures of README.md, docs/ and the examples.

    tests/scripts/pages_test.py     needs Python alone; CTest runs it as scripts/pages
"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def anchors(page):
    """The fragments by which its headings are reached, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def broken(page):
    """Links within the project that lead nowhere."""
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if re.match(r"\w+:", link):
            continue
        file, _, fragment = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (fragment and target.suffix == ".md" and fragment not in anchors(target)):
            yield link


class PagesTest(unittest.TestCase):
    def test_every_link_within_the_project_leads_somewhere(self):
        pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*/*.md")]
        self.assertGreater(len(pages), 20)
        found = {str(page.relative_to(ROOT)): links for page in pages if (links := list(broken(page)))}
        self.assertEqual(found, {})


if __name__ == "__main__":
    unittest.main()
