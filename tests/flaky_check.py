#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/flaky.txt is short, and each line has a test that exists, somebody who looks after it, and a sentence."""

import os
import re
import sys

from catalogue_check import GTEST
from text_check import ROOT, report, repository_files

sys.path.insert(0, os.path.join(ROOT, ".ci"))
from verdict import read_list  # noqa: E402

LIST = "tests/flaky.txt"
MOST = 5
ADDED = re.compile(r"\badd_test\(\s*NAME\s+([\w.]+)")
PROGRAM = re.compile(r"^tests/(e2e|peers|differential)/(?:\w+/)?(\w+_test)\.py$")
HEADING = re.compile(r"^== (\w+)", re.MULTILINE)


def names_in(path, text):
    """The tests of one file, by the names that ctest has for them, but for the parameters of GoogleTest's."""
    if path.endswith("CMakeLists.txt"):
        return ADDED.findall(text)
    if path.endswith(".cases"):
        rule = os.path.basename(path)[:-len(".cases")]
        return ["RuleCase.%s/%s" % (rule, heading) for heading in HEADING.findall(text)]
    if path.endswith(".cc"):
        return ["%s.%s" % found for found in GTEST.findall(text)]
    folder, name = PROGRAM.match(path).groups()
    return ["%s.%s" % (folder, name[:-len("_test")] if folder == "differential" else name)]


def tests():
    names = set()
    for path in repository_files():
        if path.startswith("tests/") and (path.endswith((".cc", ".cases", "/CMakeLists.txt")) or PROGRAM.match(path)):
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                names.update(names_in(path, file.read()))
    return names


def exists(name, known):
    """Also as one of several with parameters: Sizes/SplitterTest.Records/3."""
    plain = re.fullmatch(r"(?:\w+/)?(\w+)(?:/\w+)?\.(\w+)(?:/.*)?", name)
    return name in known or plain is not None and "%s.%s" % plain.groups() in known


def complaints(_, text):
    lines, known, seen = read_list(text), tests(), set()
    for number, fields in lines[MOST:]:
        yield number, "more than %d tests are too many to be excused: mend one" % MOST
    for number, fields in lines:
        if len(fields) != 3 or not all(fields):
            yield number, "wanted is NAME | who looks after it | why it may fail, and what is done about it"
            continue
        name, _, sentence = fields
        if not exists(name, known):
            yield number, "there is no test '%s'" % name
        if name in seen:
            yield number, "'%s' is there twice" % name
        seen.add(name)
        if len(sentence.split()) < 6 or not sentence.endswith("."):
            yield number, "a sentence says why '%s' may fail, and what is done about it" % name


if __name__ == "__main__":
    sys.exit(report("flaky_check", [LIST], complaints))
