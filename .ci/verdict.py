#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The last lines of .ci/run: what failed, which tests are flaky, and the counts. Exits with 1 if anything failed.

    verdict.py FOLDER LIST

FOLDER holds of each step, in the order of their names: STEP.name; STEP.status, the exit status of its command; STEP.first,
what it printed; and STEP.second, what ctest printed that ran the tests which failed once more, each alone.

A test that fails first and passes second is flaky. It is named, and counts as passed only if LIST (tests/flaky.txt) has it.
"""

import os
import re
import sys

SUMMARY = re.compile(r"^\d+% tests passed, (\d+) tests? failed out of (\d+)$", re.MULTILINE)
FAILED_LIST = re.compile(r"^The following tests FAILED:\n((?:[ \t]+\d+ - .*\n?)*)", re.MULTILINE)
SKIPPED_LIST = re.compile(r"^The following tests did not run:\n((?:[ \t]+\d+ - .*\n?)*)", re.MULTILINE)
NAMED_TEST = re.compile(r"^\s+\d+ - (.*) \([\w ]+\)", re.MULTILINE)
NO_TESTS = "No tests were found!!!"
RESULT_LINE = re.compile(r"^ *\d+/\d+ Test +#")


def read_list(text):
    """(line number, fields) of each line of tests/flaky.txt: the name, who looks after it, and a sentence."""
    return [(number, [field.strip() for field in line.split("|")]) for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.startswith("#")]


def named(kind, text):
    """The tests in the last list of this kind."""
    lists = kind.findall(text)
    return NAMED_TEST.findall(lists[-1]) if lists else []


class Tests:
    """What ctest says of one run, in its summary: the last one that `text` has."""

    def __init__(self, text):
        summaries = SUMMARY.findall(text)
        self.finished = bool(summaries)
        self.bad, self.total = map(int, summaries[-1]) if summaries else (0, 0)
        self.failed = named(FAILED_LIST, text) if self.bad else []
        self.skipped = named(SKIPPED_LIST, text)


def last_lines(text, most):
    return "\n".join(text.rstrip("\n").split("\n")[-most:])


def outputs_of_failures(text):
    """What the tests that failed printed; ctest prints it below the line that starts with the number of the test."""
    shown, lines = False, []
    for line in text.split("\n"):
        if RESULT_LINE.match(line):
            shown = "***" in line
        if shown and "(Skipped)" not in line and "***Skipped" not in line:
            lines.append(line)
    return last_lines("\n".join(lines), 80)


class Step:
    """One step: how many tests passed and failed, the flaky ones, and the story of what failed."""

    def __init__(self, name, status, first, second):
        tests, again = Tests(first), Tests(second)
        self.flaky, self.story = [], []
        if tests.bad == 0:
            lost = NO_TESTS in first  # a label that is gone, say; ctest calls it a success
            self.failed = 0 if status == 0 and not lost else 1  # a build, or lint
            self.passed = tests.total
            if self.failed:
                self.story.append("%s: %s" % (name, last_lines(first, 20)))
            return
        # Without a list of names, or if ctest did not get to its end, nothing has passed the second time.
        known = again.finished and again.total == tests.bad and len(tests.failed) == tests.bad \
            and len(again.failed) == again.bad
        self.failed = again.bad if known else tests.bad
        self.passed = tests.total - tests.bad
        if known:
            skipped = [test for test in tests.failed if test in again.skipped]  # has not passed, and does not count as such
            self.flaky = [test for test in tests.failed if test not in again.failed and test not in skipped]
            self.failed += len(skipped)
        self.story.append("%s, first try: %d failed: %s\n%s" % (name, tests.bad, ", ".join(tests.failed),
                                                               outputs_of_failures(first)))
        self.story.append("%s, second try: %s" % (name, "%d failed: %s" % (again.bad, outputs_of_failures(second))
                                                  if known else "not known: " + last_lines(second, 20)))


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def steps_in(folder):
    for name in sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".name")):
        part = [read(os.path.join(folder, name + suffix)) for suffix in (".name", ".status", ".first", ".second")]
        yield Step(part[0].strip(), int(part[1].strip() or 1), part[2], part[3])


def verdict(steps, listed):
    """The last lines, and whether all is well. `listed`: name -> (who looks after the test, sentence)."""
    lines, passed, failed, flaky, unlisted = [], 0, 0, 0, 0
    for step in steps:
        lines += step.story
    for step in steps:
        passed, failed = passed + step.passed, failed + step.failed
        for test in step.flaky:
            flaky += 1
            if test in listed:
                passed += 1
                lines.append("flaky: %s failed first and passed second; %s: %s" % (test, *listed[test]))
            else:
                failed, unlisted = failed + 1, unlisted + 1
                lines.append("flaky: %s failed first and passed second; it is not in tests/flaky.txt, so it FAILED" % test)
    lines.append("flaky: none" if not flaky else "flaky: %d, of which %d not in tests/flaky.txt" % (flaky, unlisted))
    lines.append("%d passed, %d failed" % (passed, failed))
    return lines, failed == 0


def main():
    folder, listed = sys.argv[1:]
    known = {fields[0]: tuple(fields[1:3]) for _, fields in read_list(read(listed)) if len(fields) == 3}
    lines, well = verdict(list(steps_in(folder)), known)
    print("\n".join(lines))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
