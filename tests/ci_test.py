#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the gates say: the last lines of .ci/run, the list of flaky tests, the result of scripts/nightly.sh, the workflows.

The scripts run in a tree of their own, in which what they call is replaced; tests/flaky_check.py is called as it is.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, ".ci"), os.path.join(ROOT, "tests")]
import flaky_check  # noqa: E402
import verdict  # noqa: E402


def ctest(total, failed=()):
    """What ctest prints: its summary, with the output of what failed."""
    lines = ["Test project /build"]
    for number, name in enumerate(failed, 1):
        lines += ["%d/%d Test #%d: %s ....***Failed    0.01 sec" % (number, total, number, name),
                  "output of %s" % name, ""]
    lines += ["%d/%d Test #%d: last ....   Passed    0.01 sec" % (total, total, total), "output of no interest", "",
              "%d%% tests passed, %d tests failed out of %d" % (100 * (total - len(failed)) // total, len(failed), total),
              "", "Label Time Summary:", "unit    =   0.00 sec*proc (1 test)", "", "Total Test time (real) =   0.01 sec",
              "", "The following tests did not run:", "\t  9 - e2e.skipped (Skipped)"]
    if failed:
        lines += ["", "The following tests FAILED:"]
        lines += ["\t%3d - %s (%s)" % (number, name, "Timeout" if number == 1 else "Failed")
                  for number, name in enumerate(failed, 1)]
    return "\n".join(lines + ["Errors while running CTest" if failed else "", ""])


def last_lines(*steps, listed=None):
    return verdict.verdict([verdict.Step(*step) for step in steps], listed or {})


class Verdict(unittest.TestCase):
    def test_everything_passes(self):
        lines, well = last_lines(("all tests", 0, ctest(30), ""), ("lint", 0, "lint: clean\n", ""))
        self.assertEqual(lines, ["flaky: none", "30 passed, 0 failed"])
        self.assertTrue(well)

    def test_a_step_without_tests_that_fails_counts_as_one(self):
        lines, well = last_lines(("all tests", 0, ctest(30), ""), ("lint", 1, "a.cc: too long\n", ""))
        self.assertEqual(lines, ["lint: a.cc: too long", "flaky: none", "30 passed, 1 failed"])
        self.assertFalse(well)

    def test_what_fails_twice_has_failed(self):
        names = ["e2e.page_test", 'Suite.Name/("a (b)", 3)']
        lines, well = last_lines(("all tests", 8, ctest(30, names), ctest(2, names)))
        self.assertEqual(lines[-2:], ["flaky: none", "28 passed, 2 failed"])
        self.assertIn("output of e2e.page_test", lines[0])
        self.assertNotIn("output of no interest", lines[0])
        self.assertFalse(well)

    def test_an_unlisted_flaky_test_fails_the_run(self):
        lines, well = last_lines(("all tests", 8, ctest(30, ["A.B", "C.D"]), ctest(2, ["C.D"])))
        self.assertEqual(lines[-3:], ["flaky: A.B failed first and passed second; it is not in tests/flaky.txt, so it FAILED",
                                      "flaky: 1, of which 1 not in tests/flaky.txt", "28 passed, 2 failed"])
        self.assertFalse(well)

    def test_a_listed_flaky_test_is_named_and_passes(self):
        lines, well = last_lines(("all tests", 8, ctest(30, ["A.B"]), ctest(1)),
                                 listed={"A.B": ("net", "It waits for a slow peer.")})
        self.assertEqual(lines[-3:], ["flaky: A.B failed first and passed second; net: It waits for a slow peer.",
                                      "flaky: 1, of which 0 not in tests/flaky.txt", "30 passed, 0 failed"])
        self.assertTrue(well)

    def test_a_second_try_that_did_not_end_passes_nothing(self):
        lines, well = last_lines(("all tests", 8, ctest(30, ["A.B"]), "ctest: out of memory"), listed={"A.B": ("", "")})
        self.assertEqual(lines[-2:], ["flaky: none", "29 passed, 1 failed"])
        self.assertFalse(well)

    def test_a_second_try_of_other_tests_passes_nothing(self):
        self.assertFalse(last_lines(("all tests", 8, ctest(30, ["A.B", "C.D"]), ctest(1)))[1])

    def test_a_second_try_that_is_skipped_passes_nothing(self):
        second = ctest(1).replace("e2e.skipped", "A.B")
        lines, well = last_lines(("all tests", 8, ctest(30, ["A.B"]), second), listed={"A.B": ("", "")})
        self.assertEqual((lines[-2:], well), (["flaky: none", "29 passed, 1 failed"], False))

    def test_a_step_without_tests_fails(self):
        lines, well = last_lines(("all tests", 0, "Test project /build\nNo tests were found!!!\n", ""))
        self.assertEqual((lines[-1], well), ("0 passed, 1 failed", False))

    def test_any_reason_is_read(self):
        first = ctest(30, ["A.B", "C.D"]).replace("(Timeout)", "(Signal 33)")
        lines, _ = last_lines(("all tests", 8, first, ctest(2, ["C.D"])))
        self.assertEqual(lines[-1], "28 passed, 2 failed")


# Prints what it is given; exits with 1 if that says that something failed.
FAKE_PROGRAM = """#!/bin/bash
cat "$(dirname "$0")/%s"; ! grep -Eq 'tests FAILED|broken| failed:' "$(dirname "$0")/%s"
"""


class Tree(unittest.TestCase):
    """A tree with scripts of this one, and fake programs for what they call."""

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="trainwatch-ci-")
        self.addCleanup(shutil.rmtree, self.root)

    def copy(self, *paths):
        for path in paths:
            os.makedirs(os.path.join(self.root, os.path.dirname(path)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, path), os.path.join(self.root, path))

    def write(self, path, text, executable=False):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755 if executable else 0o644)

    def fake_program(self, path, output):
        self.write(path, FAKE_PROGRAM % ((os.path.basename(path) + ".out",) * 2), executable=True)
        self.write(path + ".out", output)

    def run_script(self, *command):
        environment = dict(os.environ, PATH="%s/bin:%s" % (self.root, os.environ["PATH"]))
        done = subprocess.run(command, cwd=self.root, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout.rstrip("\n").split("\n")


class CiRun(Tree):
    def ends_with(self, tests, second, flaky="", lint="lint: clean\n"):
        self.copy(".ci/run", ".ci/verdict.py")
        self.write("tests/flaky.txt", flaky)
        self.fake_program("scripts/test.sh", tests)
        self.fake_program("scripts/lint.sh", lint)
        self.fake_program("bin/ctest", second)
        return self.run_script(".ci/run")

    def test_passes(self):
        status, lines = self.ends_with(ctest(30), "not called: broken")
        self.assertEqual((status, lines[-2:]), (0, ["flaky: none", "60 passed, 0 failed"]))  # two steps run the tests

    def test_a_flaky_test_fails_it_by_name(self):
        status, lines = self.ends_with(ctest(30, ["A.B"]), ctest(1))
        self.assertEqual((status, lines[-1]), (1, "58 passed, 2 failed"))
        self.assertEqual(sum(line.startswith("flaky: A.B failed first") for line in lines), 2)

    def test_a_listed_one_does_not(self):
        status, lines = self.ends_with(ctest(30, ["A.B"]), ctest(1), "# comment\nA.B | net | It waits for a slow peer.\n")
        self.assertEqual((status, lines[-2:]), (0, ["flaky: 2, of which 0 not in tests/flaky.txt", "60 passed, 0 failed"]))

    def test_lint_fails_it(self):
        status, lines = self.ends_with(ctest(30), "", lint="a.cc:1: broken\n")
        self.assertEqual((status, lines[-1]), (1, "60 passed, 1 failed"))
        self.assertIn("a.cc:1: broken", lines[-3])


GTEST = "[==========] %d tests from 3 test suites ran. (9 ms total)\n[  PASSED  ] %d tests.\n"
FUZZ = "fuzz: http: 100 executions in 20 s, cov: 9 ft: 9\nfuzz: json: 0 executions in 20 s, no coverage\n"


class Nightly(Tree):
    def result(self, *options, fuzz=FUZZ, tests=None, path="build/nightly/result.txt"):
        self.copy("scripts/nightly.sh")
        for name in ("bin/cmake", "bin/ninja", "scripts/setup.sh"):
            self.fake_program(name, "")
        self.fake_program("bin/git", "1234abc\n")
        self.fake_program("build/tsan/tests/daemon_tests", GTEST % (20, 20))
        self.fake_program("build/tsan/tests/commands_tests", GTEST % (10, 10))
        self.fake_program("scripts/fuzz.sh", fuzz)
        self.fake_program("scripts/test.sh", tests or ctest(7))
        status, _ = self.run_script("scripts/nightly.sh", *options)
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return status, [re.sub(r"\d+ s$", "9 s", line) for line in file.read().splitlines()]

    def test_a_line_for_each_part(self):
        status, lines = self.result()
        self.assertRegex(lines[0], r"^nightly: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, commit 1234abc, \d+ CPUs$")
        self.assertEqual((status, lines[1:]), (0, [
            "tsan: passed, 37 passed, 0 failed, 9 s", "fuzz: passed, 2 passed, 0 failed, 9 s",
            "long: passed, 7 passed, 0 failed, 9 s", "nightly: passed"]))

    def test_what_failed_is_named(self):
        status, lines = self.result("fuzz", "long", "--result=elsewhere/night.txt", tests=ctest(7, ["e2e.load_long"]),
                                    fuzz=FUZZ + "fuzz: json failed:\nSUMMARY: heap overflow\n",
                                    path="elsewhere/night.txt")
        self.assertEqual((status, lines[1:]), (1, [
            "fuzz: FAILED, 1 passed, 1 failed, 9 s", "long: FAILED, 6 passed, 1 failed, 9 s",
            "\t  1 - e2e.load_long (Timeout)", "nightly: FAILED: fuzz long"]))

    def test_another_run_begins_anew(self):
        self.result("fuzz")
        self.assertEqual(len(self.result("fuzz")[1]), 3)


class Workflows(unittest.TestCase):
    FOLDER = os.path.join(ROOT, ".github", "workflows")

    def read(self, name):
        with open(os.path.join(self.FOLDER, name), encoding="utf-8") as file:
            return yaml.safe_load(file)

    def test_yamllint(self):
        done = subprocess.run(["yamllint", "--strict", self.FOLDER], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_they_run_the_gates_and_may_only_read(self):
        for name, job, gate in (("ci.yml", "ci", ".ci/run"), ("nightly.yml", "nightly", "scripts/nightly.sh ${{ matrix.part }}")):
            made = self.read(name)
            self.assertEqual(made["permissions"], {"contents": "read"})
            self.assertEqual(made["jobs"][job]["container"]["image"], "debian:12")
            self.assertIn(gate, [step.get("run") for step in made["jobs"][job]["steps"]])


class FlakyList(unittest.TestCase):
    def complaints(self, text):
        return ["%d: %s" % found for found in flaky_check.complaints("", text)]

    def test_names_of_all_kinds_exist(self):
        lines = ["%s | net | It waits for a peer, and is being rewritten." % name for name in (
            "e2e.page_test", "CaseLanguage.AHeadingStartsACase", "RuleCase.step_spike/quiet_regime", "include_check",
            "Some/CaseLanguage.AHeadingStartsACase/3")]
        self.assertEqual(self.complaints("# comment\n\n" + "\n".join(lines) + "\n"), [])

    def test_what_is_wrong_is_said(self):
        sentence = " | net | It waits for a peer, and is being rewritten."
        self.assertEqual(self.complaints("CaseLanguage.Nothing" + sentence), ["1: there is no test 'CaseLanguage.Nothing'"])
        self.assertEqual(self.complaints("e2e.page_test | It waits."),
                         ["1: wanted is NAME | who looks after it | why it may fail, and what is done about it"])
        self.assertEqual(self.complaints("e2e.page_test | net | slow"),
                         ["1: a sentence says why 'e2e.page_test' may fail, and what is done about it"])
        self.assertEqual(self.complaints(("e2e.page_test" + sentence + "\n") * 2), ["2: 'e2e.page_test' is there twice"])
        self.assertIn("6: more than 5 tests are too many to be excused: mend one",
                      self.complaints(("e2e.page_test" + sentence + "\n") * 6))


if __name__ == "__main__":
    unittest.main()
