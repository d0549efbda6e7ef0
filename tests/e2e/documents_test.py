# SPDX-License-Identifier: Apache-2.0
"""The documentation that the program carries: what is served and printed is what docs/ has, and its links lead somewhere."""

import glob
import os
import re
import unittest
import urllib.error
import urllib.parse

import harness
from harness import ROOT, Trainwatch

DOCS = os.path.join(ROOT, "docs")
LINK = re.compile(r"\]\(([^)\s]+)\)")

# Documents whose links may lead out of what is served, to what the sources have, and why.
OUTSIDE = {"architecture": "explains the sources to those who have them"}


def names():
    """Of all documents, as `trainwatch docs` takes them."""
    files = [path for pattern in ("*.md", "rules/*.md", "api/*.yaml") for path in glob.glob(os.path.join(DOCS, pattern))]
    return sorted(re.sub(r"\.md$", "", os.path.relpath(path, DOCS)) for path in files)


def read(name):
    path = os.path.join(DOCS, name)
    with open(path if name.endswith(".yaml") else path + ".md", encoding="utf-8") as file:
        return file.read()


def links(name):
    return [link for link in LINK.findall(read(name)) if not re.match(r"https?://|mailto:|#", link)]


def is_outside(name, link):
    target = os.path.normpath(os.path.join("docs", os.path.dirname(name), link.partition("#")[0]))
    return name in OUTSIDE and os.path.exists(os.path.join(ROOT, target))


class DocumentsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.trainwatch = Trainwatch(harness.JOB).__enter__()
        cls.addClassCleanup(cls.trainwatch.__exit__)

    def is_served(self, path):
        try:
            return self.trainwatch.get(path) != ""
        except urllib.error.HTTPError:
            return False

    def test_all_are_served(self):
        for name in names():
            with self.subTest(name):
                self.assertEqual(self.trainwatch.get("/docs/" + name), read(name))
                if not name.endswith(".yaml"):
                    self.assertEqual(self.trainwatch.get("/docs/%s.md" % name), read(name))
        self.assertEqual(self.trainwatch.get("/docs/"), read("README"))
        self.assertEqual(self.trainwatch.get("/docs"), read("README"))

    def test_all_are_listed_and_printed(self):
        rows = [line.split(None, 1) for line in harness.run("docs").stdout.splitlines()]
        self.assertEqual(sorted(name for name, _ in rows), names())
        for name in names():
            with self.subTest(name):
                self.assertEqual(harness.run("docs", name).stdout, read(name))

    def test_every_relative_link_leads_somewhere(self):
        checked = 0
        for name in names():
            address = "/docs/" if name == "README" else "/docs/" + name
            for link in links(name):
                with self.subTest(name, link=link):
                    path = urllib.parse.urljoin(address, link.partition("#")[0])
                    self.assertTrue(self.is_served(path) or is_outside(name, link), "leads to %s, which is nowhere" % path)
                    checked += 1
        self.assertGreater(checked, 40)

    def test_runbooks_in_the_rules_for_prometheus_lead_somewhere(self):
        for path in glob.glob(os.path.join(ROOT, "config", "prometheus", "rules", "*.yml")):
            with open(path, encoding="utf-8") as file:
                for runbook in re.findall(r"runbook_url: (/docs/[^\s#]*)", file.read()):
                    with self.subTest(runbook):
                        self.assertTrue(self.is_served(runbook))


if __name__ == "__main__":
    harness.main()
