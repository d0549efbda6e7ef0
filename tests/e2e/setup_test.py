# SPDX-License-Identifier: Apache-2.0
"""scripts/setup.sh beside a made-up apt: what it installs, what it says first, and that it ends with one sentence where it
cannot. tests/door tries the same on real systems."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness

TOOLS = ("awk", "bash", "dirname", "env", "grep", "mktemp", "rm", "sed", "sh", "tail", "tee", "tr")
DEBIAN = 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'
FEDORA = 'ID=fedora\nVERSION_ID=40\nPRETTY_NAME="Fedora Linux 40"\n'
PLAN = """Reading package lists...
The following NEW packages will be installed:
  cmake g++
0 upgraded, 117 newly installed, 0 to remove and 0 not upgraded.
Need to get 121 MB of archives.
After this operation, 601 MB of additional disk space will be used.
Do you want to continue? [Y/n] N
Abort.
"""
REMOVES = """Reading package lists...
The following packages will be REMOVED:
  libboost-dev libboost1.74-dev
The following NEW packages will be installed:
  libboost1.81-dev
0 upgraded, 1 newly installed, 2 to remove and 0 not upgraded.
"""
UNKNOWN = "Reading package lists...\nE: Unable to locate package libcli11-dev\n"


class SetupTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        self.programs = self.scratch + "/bin"
        os.mkdir(self.programs)
        for name in TOOLS:
            os.symlink(shutil.which(name), os.path.join(self.programs, name))
        self.program("id", "echo 0\n")
        self.program("node", "echo v18.20.4\n")
        self.program("npm", "")
        self.system(DEBIAN)

    def program(self, name, text):
        path = os.path.join(self.programs, name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)

    def system(self, text):
        with open(self.scratch + "/os-release", "w") as file:
            file.write(text)

    def debian(self, missing, plan=PLAN, page_plan=None, install=0):
        """A Debian that lacks packages and has this to say of their installation, and of one that includes npm."""
        for name, text in (("plan", plan), ("page_plan", plan if page_plan is None else page_plan)):
            with open(os.path.join(self.scratch, name), "w") as file:
                file.write(text)
        self.program("dpkg-query", 'for package; do :; done\ncase " %s " in *" $package "*) exit 1 ;; esac\n'
                     'echo "install ok installed"\n' % " ".join(missing))
        self.program("apt-get", """echo "$*" >>{0}/calls
case "$*" in
  *update*) ;;
  *--assume-no*npm*) {1} "" {0}/page_plan; exit 1 ;;
  *--assume-no*) {1} "" {0}/plan; exit 1 ;;
  *) [ {2} -eq 0 ] || echo "E: Failed to fetch cmake.deb"; exit {2} ;;
esac
""".format(self.scratch, shutil.which("grep"), install))

    def setup(self, *arguments):
        """Its exit code, what it printed, and the lines of what it said."""
        done = subprocess.run([os.path.join(harness.ROOT, "scripts/setup.sh"), *arguments],
                              env={"PATH": self.programs, "TRAINWATCH_OS_RELEASE": self.scratch + "/os-release"},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                              check=False)
        return done.returncode, done.stdout, done.stderr.splitlines()

    def installed(self):
        """What apt-get was asked to install in earnest, one list for each try."""
        try:
            with open(self.scratch + "/calls") as file:
                calls = [line.split() for line in file if " install " in " " + line and "--assume-no" not in line]
        except FileNotFoundError:
            return []
        for call in calls:
            self.assertIn("--no-remove", call)
        return [[word for word in call[1:] if not re.match("-|DPkg::", word)] for call in calls]

    def test_nothing_is_missing(self):
        self.debian([])
        self.assertEqual(self.setup(), (0, "", ["setup: all packages are installed"]))
        self.assertEqual(self.setup("--missing"), (0, "\n", []))
        self.assertEqual(self.installed(), [])

    def test_the_size_is_said_first(self):
        self.debian(["cmake", "g++", "libgtest-dev", "clang-14"])
        self.assertEqual(self.setup("--missing", "build"), (0, "cmake g++\n", []))
        self.assertEqual(self.setup("build"), (0, "", [
            "setup: installing 117 packages, 121 MB to fetch, 601 MB on the disk: cmake g++"]))
        self.setup()
        self.setup("fuzz")
        self.assertEqual(self.installed(), [["cmake", "g++"], ["cmake", "g++", "libgtest-dev"],
                                            ["cmake", "g++", "libgtest-dev", "clang-14"]])

    def test_what_would_remove_packages_is_not_done(self):
        self.debian(["libboost1.81-dev"], plan=REMOVES)
        code, _, said = self.setup("build")
        self.assertEqual((code, len(said)), (1, 1), said)
        self.assertRegex(said[0], r"would remove libboost-dev libboost1\.74-dev: .*docker build")
        self.assertEqual(self.installed(), [])

    def test_what_apt_cannot_install(self):
        self.debian(["libcli11-dev"], plan=UNKNOWN)
        code, _, said = self.setup("build")
        self.assertEqual((code, len(said)), (1, 1), said)
        self.assertIn("E: Unable to locate package libcli11-dev", said[0])

    def test_what_fails_while_it_is_installed(self):
        self.debian(["cmake"], install=100)
        code, _, said = self.setup("build")
        self.assertEqual(code, 1)
        self.assertRegex(said[-1], r"^setup: apt-get failed \(E: Failed to fetch cmake\.deb\): try again, or build in a container")

    def test_another_system(self):
        self.system(FEDORA)  # without dpkg or apt
        for command in ((), ("build",)):
            code, _, said = self.setup(*command)
            self.assertEqual((code, len(said)), (1, 1), said)
            self.assertRegex(said[0], r"not on Fedora Linux 40: .*docker build -f packaging/Containerfile \..*podman, buildah.*wheel")
        self.debian([])  # one that has them all, as a relative of Debian may, needs no installation
        self.assertEqual(self.setup()[0], 0)

    def test_neither_root_nor_sudo(self):
        self.debian(["cmake"])
        self.program("id", "echo 1000\n")
        self.assertEqual(self.setup("build"), (1, "", ["setup: run as root, or install sudo: cmake"]))
        self.program("sudo", 'exec "$@"\n')
        self.assertEqual(self.setup("build")[0], 0)

    def test_node_is_installed_for_the_page_only(self):
        self.debian(["cmake", "nodejs", "npm"])
        self.assertEqual(self.setup("--missing", "build"), (0, "cmake\n", []), "another one is there")
        self.program("node", "echo v12.22.9\n")
        self.assertEqual(self.setup("--missing", "build"), (0, "cmake nodejs npm\n", []))
        self.assertEqual(self.setup("--missing", "build", "--without-page"), (0, "cmake\n", []))
        self.setup("build")
        self.assertEqual(self.installed(), [["cmake", "nodejs", "npm"]])

    def test_the_page_stops_nothing(self):
        self.program("node", "exit 127\n")
        self.debian(["cmake", "nodejs", "npm"], page_plan=UNKNOWN)
        code, _, said = self.setup("build")
        self.assertEqual(code, 0)
        self.assertIn("without the page: apt cannot install what is missing", said[0])
        self.assertEqual(self.installed(), [["cmake"]])
        self.debian(["npm"], page_plan=UNKNOWN)
        self.assertEqual(self.setup("build")[0], 0)
        self.system(FEDORA)
        self.assertEqual(self.setup("build")[0], 0)

    def build(self, *arguments, page="it was lost"):
        """scripts/build.sh in a tree of its own, with cmake and ninja that only say what they were asked for."""
        tree = self.scratch + "/tree"
        for name in ("scripts/build.sh", "scripts/setup.sh", "scripts/packages.txt", "daemon/web/find_node.sh"):
            os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
            shutil.copy(os.path.join(harness.ROOT, name), os.path.join(tree, name))
        for name in ("cat", "mkdir"):
            if not os.path.exists(os.path.join(self.programs, name)):
                os.symlink(shutil.which(name), os.path.join(self.programs, name))
        self.program("cmake", 'echo "cmake $*"\n')
        reason = "build/release/daemon/web/page/without_page"
        self.program("ninja", "mkdir -p %s\n" % os.path.dirname(reason) + ("echo %s >%s\n" % (page, reason) if page else ""))
        done = subprocess.run([tree + "/scripts/build.sh", *arguments],
                              env={"PATH": self.programs, "TRAINWATCH_OS_RELEASE": self.scratch + "/os-release"},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                              check=False)
        return done.returncode, done.stdout.replace(tree, ""), done.stderr.splitlines()

    def test_a_build_needs_nothing_of_the_tests(self):
        self.debian(["libgmock-dev", "prometheus-cpp-dev"])  # but there is libgtest-dev
        self.assertEqual(self.build(page=None), (0, "/build/release/bin/trainwatch\n", [
            "build: preset release", "cmake --preset release --log-level=WARNING -DTRAINWATCH_PAGE=AUTO -DBUILD_TESTING=OFF"]))
        self.debian([])  # what was configured stays
        self.assertIn("cmake --preset release --log-level=WARNING -DTRAINWATCH_PAGE=AUTO", self.build(page=None)[2])
        self.assertEqual(self.installed(), [])

    def test_the_last_words_of_a_build_without_the_page(self):
        self.debian(["nodejs", "npm"], page_plan=UNKNOWN)
        self.program("node", "exit 127\n")
        self.assertEqual(self.build("--without-page"), (0, "/build/release/bin/trainwatch\n", [
            "build: preset release", "cmake --preset release --log-level=WARNING -DTRAINWATCH_PAGE=OFF",
            "build: WITHOUT THE PAGE: it was lost"]))
        code, _, said = self.build()
        self.assertEqual((code, said[-1]), (0, "build: WITHOUT THE PAGE: it was lost"))

    def test_a_build_that_cannot_be_has_one_sentence(self):
        self.system(FEDORA)
        code, out, said = self.build()
        self.assertEqual((code, out, len(said)), (1, "", 1), said)
        self.assertIn("not on Fedora Linux 40", said[0])

    def configure(self, *options):
        return subprocess.run(["cmake", "-G", "Ninja", "-S", harness.ROOT, "-B", self.scratch + "/build", "--log-level=WARNING",
                               "-DTRAINWATCH_PORTABLE=OFF", "-DTRAINWATCH_PAGE=OFF", *options],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def test_cmake_names_all_that_is_missing(self):
        without = ["-DCMAKE_DISABLE_FIND_PACKAGE_%s=ON" % name for name in ("CLI11", "yaml-cpp", "prometheus-cpp")]
        done = self.configure(*without)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("missing, or are too old: libcli11-dev, libyaml-cpp-dev; scripts/setup.sh installs them.",
                      " ".join(done.stdout.split()))
        self.assertIn("libyaml-cpp-dev, prometheus-cpp-dev;", " ".join(self.configure("-DBUILD_TESTING=ON").stdout.split()))

    def test_cmake_needs_nothing_of_the_tests(self):
        done = self.configure("-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_prometheus-cpp=ON")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_cmake_looks_for_nothing_else(self):
        """But for what only saves time, and for the commit that the version names."""
        found = subprocess.run(["git", "grep", "-hE", r"^ *(find_[a-z]+|pkg_check_modules) ?\(", "--", "*CMakeLists.txt", "*.cmake",
                                ":!scripts/dependencies.cmake"], cwd=harness.ROOT, stdout=subprocess.PIPE, text=True,
                               check=False).stdout.split("\n")
        self.assertEqual(sorted(set(filter(None, found))),
                         ["find_package(Git QUIET)", "find_program(CCACHE ccache)", "find_program(MOLD mold)"])


if __name__ == "__main__":
    harness.main()
