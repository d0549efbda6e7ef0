# SPDX-License-Identifier: Apache-2.0
"""`scripts/build.sh` in a fresh clone, on Debian 12 roots with odd sets of packages: it ends with a binary that runs, or with
one sentence. Takes a quarter of an hour; $TRAINWATCH_CCACHE, a folder of ccache's, saves half of that."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
import harness  # noqa: E402
import systems  # noqa: E402

AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
OLD_NODE = "#!/bin/sh\necho v12.22.9\n"
NO_NPM = "Package: npm\nPin: release *\nPin-Priority: -1\n"
UBUNTU = 'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n'


class Root:
    """A system in a directory, with a fresh clone in /src."""

    def __init__(self, path, cache):
        self.path = path
        shutil.rmtree(path + "/src", ignore_errors=True)
        systems.copy_sources(path + "/src")
        shutil.copy("/etc/resolv.conf", path + "/etc/resolv.conf")
        if os.path.exists(AUTHORITIES):  # this machine's, as its registries may be mirrors
            shutil.copy(AUTHORITIES, path + "/authorities.crt")
        self.prefix = systems.inside(path, cache)
        self.environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
                            "CCACHE_DIR": cache, "npm_config_cafile": "/authorities.crt"}

    def write(self, name, text, mode=0o644):
        with open(self.path + name, "w") as file:
            file.write(text)
        os.chmod(self.path + name, mode)

    def run(self, *command):
        """Its exit code, standard output, and the lines of standard error."""
        with open(self.path + "/log", "w+") as log:
            done = subprocess.run([*self.prefix, *command], env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=log, text=True, check=False)
            log.seek(0)
            return done.returncode, done.stdout, log.read().splitlines()

    def install(self, *packages):
        self.run("apt-get", "update", "-qq")
        code, _, log = self.run("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-qqy", "--no-install-recommends",
                                *packages)
        if code != 0:
            raise AssertionError("\n".join(log[-20:]))

    def installed(self, package):
        return self.run("dpkg-query", "-W", "-f", "${Status}", package)[1] == "install ok installed"


class DoorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = scratch.name
        cls.cache = os.environ.get("TRAINWATCH_CCACHE", cls.scratch + "/ccache")
        os.makedirs(cls.cache, exist_ok=True)
        systems.make("bookworm", cls.scratch + "/bare", variant="apt")
        with open(cls.scratch + "/bare/etc/dpkg/dpkg.cfg.d/fast", "w") as file:
            file.write("force-unsafe-io\n")  # does not wait for the disk after each of 500 packages
        # A root in which one build was made has the packages for the next ones.
        cls.built = cls.copy("bare", "built")
        cls.first = cls.timed(cls.built, "bare", "/src/scripts/build.sh")

    @classmethod
    def copy(cls, name, to):
        subprocess.run(["cp", "-a", "--reflink=auto", "%s/%s" % (cls.scratch, name), "%s/%s" % (cls.scratch, to)], check=True)
        return Root("%s/%s" % (cls.scratch, to), cls.cache)

    @staticmethod
    def timed(root, name, *command):
        start = time.monotonic()
        result = root.run(*command)
        print("%s: %.0f s, exit code %d; last words: %s" % (
            name, time.monotonic() - start, result[0], result[2][-1] if result[2] else ""), flush=True)
        return result

    def root(self, name, of="bare"):
        root = self.copy(of, name)
        self.addCleanup(shutil.rmtree, root.path)
        return root

    def build(self, root):
        return self.timed(root, self.id().rsplit(".test_", 1)[1], "/src/scripts/build.sh")

    def demand_binary(self, root, result, page):
        code, out, log = result
        self.assertEqual(code, 0, "\n".join(log[-30:]))
        self.assertEqual(out, "/src/build/release/bin/trainwatch\n")
        self.assertEqual(root.run(out.strip(), "version")[0], 0)
        self.assertEqual(log[-1].startswith("build: WITHOUT THE PAGE: "), not page, log[-1])
        return log

    def demand_sentence(self, result, pattern):
        code, out, log = result
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(log[-1], r"^setup: ")
        self.assertRegex(log[-1], pattern)
        self.assertNotRegex("\n".join(log), "command not found")

    def test_bare(self):
        log = self.demand_binary(self.built, self.first, page=True)
        said = next(line for line in log if line.startswith("setup: installing"))
        self.assertRegex(said, r"^setup: installing \d+ packages, [\d.]+ MB to fetch, [\d.]+ MB on the disk: ")

    def test_gtest_only(self):
        root = self.root("gtest", "built")
        root.install("libgtest-dev")
        self.demand_binary(root, self.build(root), page=True)

    def test_gmock_only(self):
        root = self.root("gmock", "built")
        root.install("libgmock-dev")
        self.demand_binary(root, self.build(root), page=True)

    def test_another_boost(self):
        root = self.root("boost")
        root.install("libboost-dev")
        self.demand_sentence(self.build(root), r"would remove libboost-dev libboost1\.74-dev: .*docker build -f packaging/Containerfile \.")
        self.assertTrue(root.installed("libboost-dev"))

    def test_an_old_node_before_debians(self):
        root = self.root("old_node", "built")
        for name in ("node", "npm"):
            root.write("/usr/local/bin/" + name, OLD_NODE, 0o755)
        self.demand_binary(root, self.build(root), page=True)

    def test_an_old_node_alone(self):
        root = self.root("node_alone", "built")
        for name in ("node", "npm"):
            os.remove(root.path + "/usr/bin/" + name)
            root.write("/usr/local/bin/" + name, OLD_NODE, 0o755)
        log = self.demand_binary(root, self.build(root), page=False)
        self.assertIn("/usr/local/bin/node is v12.22.9, and the page needs 18 or newer", log[-1])

    def test_no_npm(self):
        root = self.root("no_npm")
        root.write("/etc/apt/preferences.d/npm", NO_NPM)
        log = self.demand_binary(root, self.build(root), page=False)
        self.assertIn("npm is not installed" if root.installed("nodejs") else "node is not installed", log[-1])
        self.assertTrue([line for line in log if re.match("setup: without node and npm, so without the page: ", line)])

    def test_ubuntu(self):
        root = self.root("ubuntu")
        os.remove(root.path + "/etc/os-release")
        root.write("/etc/os-release", UBUNTU)
        self.demand_sentence(self.build(root), r"not on Ubuntu 24\.04\.1 LTS: .*docker build .*wheel")

    def test_neither_root_nor_sudo(self):
        root = self.root("user")
        root.prefix = [*root.prefix, "setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"]
        self.demand_sentence(self.build(root), "run as root, or install sudo")


if __name__ == "__main__":
    if systems.why_not():
        harness.skip(systems.why_not())
    harness.main()
