#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No end-to-end test asserts how long something took (tests/README.md, "Time"): neither a clock nor a difference that was taken
from one is in an assertion."""

import re
import sys

from text_check import report, repository_files

STOPWATCH = r"time\.(?:monotonic|perf_counter)\(\)|performance\.now\(\)"  # where else would it be of use
CLOCK = r"(?:%s|time\.time\(\)|Date\.now\(\))" % STOPWATCH
DIFFERENCE = re.compile(r"^\s*(?:const |let )?(\w+) = [^\n]*?%s - \w|^\s*(?:const |let )?(\w+) = [^\n]*?- %s" % (CLOCK, CLOCK), re.M)
ASSERTION = re.compile(r"^[^\n#/]*\b(?:self\.assert\w+|assert(?:\.\w+)?)\b[^\n]*", re.M)
FOLDERS = ("tests/e2e/", "tests/peers/")
WAITING = ("tests/e2e/harness.py", "tests/e2e/page/browser.mjs")  # their loops end


def complaints(path, text):
    names = {name for found in DIFFERENCE.findall(text) for name in found if name}
    difference = re.compile(r"assert\w*(?:\.\w+)?\((?:max\(|min\(|sorted\()?(?:%s)\b(?! in)" % "|".join(names or {"$."}))
    for found in ASSERTION.finditer(text):
        if re.search("%s|%s -" % (STOPWATCH, CLOCK), found.group()) or difference.search(found.group()):
            yield text.count("\n", 0, found.start()) + 1, "asserts how long something took: " + found.group().strip()


def test_itself():
    text = ("began = time.monotonic()\n  took = time.monotonic() - began\nself.assertLess(took, 5)\nself.assertEqual(took_part, 1)\n"
            "self.assertLess(time.monotonic() - began, 5)\nassert.ok(Date.now() - began < 1000);\nself.assertEqual(other, took)\n"
            "self.assertLess(last, time.time() + 1)\n")
    assert [number for number, _ in complaints("a", text)] == [3, 5, 6], list(complaints("a", text))


def main():
    test_itself()
    return report("clock check", (path for path in repository_files() if path.startswith(FOLDERS) and path.endswith((".py", ".mjs"))
                                  and path not in WAITING), complaints)


if __name__ == "__main__":
    sys.exit(main())
