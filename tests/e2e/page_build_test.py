# SPDX-License-Identifier: Apache-2.0
"""The page is built once for each lock file; without npm or the registry the program gets a notice instead."""

import os
import shutil
import subprocess
import tempfile
import unittest

import harness

SOURCE = os.path.join(harness.ROOT, "daemon", "web")


class PageBuildTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.out = os.path.join(scratch.name, "out")
        self.programs = os.path.join(scratch.name, "bin")
        os.mkdir(self.out)
        os.mkdir(self.programs)

    def program(self, name, text, folder=None):
        """A program that is found before others of its name."""
        path = os.path.join(folder or self.programs, name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)

    def node(self, text, version="v18.20.4", folder=None):
        self.program("node", "[ \"$1\" != --version ] || { echo %s; exit; }\n%s" % (version, text), folder)

    def build(self, page="AUTO", path=None):
        """`path`: where programs are looked for; otherwise those of the test, then those of the machine."""
        return subprocess.run(
            [shutil.which("cmake"), "-DSOURCE=" + SOURCE, "-DOUT=" + self.out, "-DPAGE=" + page,
             "-P", os.path.join(SOURCE, "build.cmake")],
            env=dict(os.environ, PATH=path or self.programs + os.pathsep + os.environ["PATH"]),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=harness.PATIENCE_SECONDS, check=False)

    def build_without_others(self):
        """No node or npm is found but those of the test."""
        for name in ("bash", "sh", "env"):
            os.symlink(shutil.which(name), os.path.join(self.programs, name))
        return self.build(path=self.programs)

    def made(self, name):
        with open(os.path.join(self.out, name)) as file:
            return file.read()

    def test_without_the_registry_it_is_a_notice(self):
        self.node("exit 1\n")
        self.program("npm", "echo 'npm error code ECONNREFUSED' >&2\nexit 1\n")
        done = self.build()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("ECONNREFUSED", done.stdout)
        self.assertIn("built without node, npm", self.made("index.html"))
        self.assertIn('href="/metrics"', self.made("index.html"))
        self.assertTrue(os.path.exists(os.path.join(self.out, "without_page")), "tried again by the next configuration")
        self.assertNotEqual(self.build("ON").returncode, 0)

    def test_an_authority_that_npm_does_not_know(self):
        self.node("exit 1\n")
        self.program("npm", "echo 'npm error code SELF_SIGNED_CERT_IN_CHAIN' >&2\nexit 1\n")
        self.assertEqual(self.build().returncode, 0)
        self.assertRegex(self.made("without_page"), r"SELF_SIGNED_CERT_IN_CHAIN.*npm config set cafile")

    def test_an_old_node(self):
        self.node("exit 1\n", version="v12.22.9")
        self.program("npm", "touch %s/tried\n" % self.out)
        self.assertEqual(self.build_without_others().returncode, 0)
        self.assertRegex(self.made("without_page"), r"^\S+/node is v12.22.9, and the page needs 18 or newer; [^\n]+\n$")
        self.assertFalse(os.path.exists(self.out + "/tried"))

    def test_a_newer_node_behind_an_old_one(self):
        self.node("exit 1\n", version="v12.22.9")
        newer = os.path.join(self.programs, "newer")
        os.mkdir(newer)
        self.node("exit 0\n", folder=newer)
        self.program("npm", "command -v node > %s/npms_node\n" % self.out, folder=newer)
        self.assertEqual(self.build("ON", os.pathsep.join((self.programs, newer, os.environ["PATH"]))).returncode, 0)
        self.assertEqual(self.made("npms_node").strip(), newer + "/node")

    def test_without_node(self):
        self.assertEqual(self.build_without_others().returncode, 0)
        self.assertIn("node is not installed", self.made("without_page"))

    def test_off_tries_nothing(self):
        self.program("npm", "touch %s/tried\nexit 1\n" % self.out)
        self.assertEqual(self.build("OFF").returncode, 0)
        self.assertFalse(os.path.exists(self.out + "/tried"))
        self.assertIn("built without node, npm", self.made("index.html"))

    def test_npm_runs_once_for_each_lock_file(self):
        self.program("npm", "echo run >> %s/runs\n" % self.out)
        self.node("exit 0\n")
        for _ in range(2):
            self.assertEqual(self.build("ON").returncode, 0)
        self.assertEqual(self.made("runs").split(), ["run"])
        with open(self.out + "/node_modules/.trainwatch-lock", "w") as file:
            file.write("another")
        self.build("ON")
        self.assertEqual(self.made("runs").split(), ["run", "run"])


if __name__ == "__main__":
    if shutil.which("cmake") is None:
        harness.skip("cmake is not installed")
    harness.main()
