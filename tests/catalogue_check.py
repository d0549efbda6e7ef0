#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/README.md names a test that exists for each case of the fault catalogue.

A row is `| case | fault | test | note |`. A test is written as the end of its file's path, which only one file has, a colon, and
`Suite.Name` or `Class.method`; several are separated by <br>, and one without a file is in that of the one before it.
"""

import os
import re
import sys

from text_check import ROOT, report, repository_files

TABLE = "tests/README.md"
CASES = 100

ROW = re.compile(r"^\|\s*(\d+)\s*\|(.*)\|(.*)\|(.*)\|$")
TEST = re.compile(r"^(?:(?P<file>[\w/.-]+\.(?:cc|py)): )?(?P<suite>\w+)\.(?P<name>\w+)$")
GTEST = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
PY_CLASS = re.compile(r"^class (\w+)\b.*:$")
PY_METHOD = re.compile(r"^    def (test_\w+)\(")


def tests_in(path, text):
    """The names Suite.Name or Class.method of a file."""
    if path.endswith(".cc"):
        return {"%s.%s" % found for found in GTEST.findall(text)}
    names, inside = set(), None
    for line in text.split("\n"):
        if line and not line[0].isspace():
            found = PY_CLASS.match(line)
            inside = found and found.group(1)
        found = PY_METHOD.match(line)
        if found and inside:
            names.add("%s.%s" % (inside, found.group(1)))
    return names


class Tests:
    """Which tests the files below tests/ have; `read` gives the text of one."""

    def __init__(self, paths, read):
        self._paths = [path for path in paths if path.startswith("tests/") and path.endswith((".cc", ".py"))]
        self._read = read
        self._names = {}

    def path(self, name):
        """The one file of this name, or None."""
        found = [path for path in self._paths if path == "tests/" + name or path.endswith("/" + name)]
        return found[0] if len(found) == 1 else None

    def has(self, path, name):
        if path not in self._names:
            self._names[path] = tests_in(path, self._read(path))
        return name in self._names[path]


def cell_complaints(cell, tests):
    path = None
    for entry in (part.strip().strip("`") for part in cell.split("<br>")):
        found = TEST.match(entry)
        if not found:
            yield "not the name of a test: %s" % (entry or "(empty)")
            continue
        if found.group("file"):
            path = tests.path(found.group("file"))
        name = "%s.%s" % (found.group("suite"), found.group("name"))
        if path is None:
            yield "no file, or several: %s" % entry
        elif not tests.has(path, name):
            yield "%s has no test %s" % (path, name)


def complaints(text, tests):
    expected = 1
    for number, line in enumerate(text.split("\n"), 1):
        row = ROW.match(line)
        if not row:
            continue
        case = int(row.group(1))
        if case != expected:
            yield number, "case %d where %d is due" % (case, expected)
        expected = case + 1
        if not row.group(2).strip():
            yield number, "case %d says nothing of its fault" % case
        for complaint in cell_complaints(row.group(3), tests):
            yield number, "case %d: %s" % (case, complaint)
    if expected != CASES + 1:
        yield 1, "the last case is %d of %d" % (expected - 1, CASES)


def test_itself():
    files = {"tests/unit/a_test.cc": "TEST(A, One) {\nTEST_P(B, Two) {\n  TYPED_TEST(C, D) {\n",
             "tests/e2e/b_test.py": "class K(X):\n    def test_x(self):\n        pass\n\n\ndef test_y():\n",
             "tests/x/c.cc": "", "tests/y/c.cc": ""}
    tests = Tests(files, files.get)
    assert not list(cell_complaints("`a_test.cc: A.One` <br> `B.Two` <br> `C.D`<br>`e2e/b_test.py: K.test_x`", tests))
    for wrong in ("", "A.One", "a_test.cc: A.Two", "c.cc: A.One", "none.cc: A.One", "b_test.py: K.test_y", "a b"):
        assert len(list(cell_complaints(wrong, tests))) == 1, wrong
    rows = ["| %d | f | `a_test.cc: A.One` | |" % case for case in range(1, CASES + 1)]
    assert not list(complaints("\n".join(rows), tests))
    assert [number for number, _ in complaints("\n".join(rows[:3] + rows[4:]), tests)] == [4]
    assert len(list(complaints("\n".join(rows[:-1]), tests))) == 1
    assert len(list(complaints("\n".join(rows[:5] + rows[4:]), tests))) == 1


def main():
    test_itself()

    def read(path):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return file.read()
    tests = Tests(repository_files(), read)
    return report("catalogue check, %d cases" % CASES, [TABLE], lambda path, text: complaints(text, tests))


if __name__ == "__main__":
    sys.exit(main())
