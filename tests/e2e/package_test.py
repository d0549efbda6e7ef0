# SPDX-License-Identifier: Apache-2.0
"""The Debian package and the Python wheel: their form, and that the wheel's command watches a job in a fresh virtual
environment. tests/peers/debian_package_test.py installs, upgrades and removes the former."""

import glob
import os
import shutil
import subprocess
import sys
import zipfile

import harness

BUILD = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[1])))
FILES = os.path.join(BUILD, "packaging", "files")


def do(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError("%s failed: %s" % (command, done.stdout[-2000:]))
    return done.stdout


def build_deb(out):
    do("cpack", "-G", "DEB", "-B", os.path.join(out, "cpack"), "-D", "CPACK_OUTPUT_FILE_PREFIX=" + out, cwd=BUILD)
    return glob.glob(out + "/*.deb")[0]


def build_wheel(out):
    do(os.path.join(harness.ROOT, "packaging", "wheel.sh"), harness.binary(), out)
    return glob.glob(out + "/*.whl")[0]


def carried(*folders):
    """Files of the sources that both packages have, as paths below the root."""
    for folder in folders:
        for place, _, names in os.walk(os.path.join(harness.ROOT, folder), followlinks=True):
            if not place.endswith(("docs/decisions", "docs/images")):
                yield from (os.path.relpath(os.path.join(place, name), harness.ROOT) for name in names)


class PackageTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        self.out = os.path.join(os.path.dirname(self.directory), "out")

    def test_lintian_has_no_complaint(self):
        if shutil.which("lintian") is None:
            self.skipTest("lintian is not installed")
        deb = build_deb(self.out)
        self.assertEqual(do("lintian", "--allow-root", "--fail-on=error,warning", deb), "")

    def test_both_have_the_documentation_and_what_it_names(self):
        root = os.path.join(self.out, "root")
        do("dpkg-deb", "-x", build_deb(self.out), root)
        for path in carried("docs", "config"):
            with self.subTest(path):
                self.assertTrue(path == "config/trainwatch.yaml"  # in /etc
                                or os.path.exists(os.path.join(root, "usr/share/doc/trainwatch", path)))
        with zipfile.ZipFile(build_wheel(self.out)) as wheel:
            names = set(wheel.namelist())
        self.assertEqual([path for path in carried("docs", "config") if "trainwatch/" + path not in names], [])

    def test_the_same_commit_gives_the_same_package(self):
        environment = dict(os.environ, SOURCE_DATE_EPOCH="1795000000")
        packages = []
        for name in ("first", "second"):
            out = os.path.join(self.out, name)
            do("cpack", "-G", "DEB", "-B", os.path.join(self.out, "cpack"), "-D", "CPACK_OUTPUT_FILE_PREFIX=" + out, cwd=BUILD,
               env=environment)
            with open(glob.glob(out + "/*.deb")[0], "rb") as file:
                packages.append(file.read())
        self.assertEqual(packages[0], packages[1])

    def test_the_wheel_watches_a_job(self):
        """How long that takes: scripts/measure_install.sh."""
        wheel = build_wheel(self.out)
        self.assertRegex(wheel, r"/trainwatchd-[\d.]+-py3-none-manylinux_2_27_x86_64\.whl$")
        environment = os.path.join(self.out, "venv")
        do("/usr/bin/python3", "-m", "venv", environment)
        do(environment + "/bin/pip", "install", "--no-index", "--disable-pip-version-check", wheel)
        command = environment + "/bin/trainwatch"
        self.assertEqual(do(command, "version"), harness.run("version").stdout)
        self.assertEqual(subprocess.run([command, "run", "--nonsense"], stderr=subprocess.DEVNULL, check=False).returncode, 2)
        do(environment + "/bin/python", "-c", "import trainwatch, sys\n"
           "watch = trainwatch.Watch(sys.argv[1])\nwith watch.step(): pass\nwatch.close()", self.directory)
        shutil.copytree(harness.JOB, self.directory + "/recorded")
        sys.argv[1], here = command, sys.argv[1]
        try:
            with harness.Trainwatch(self.directory) as trainwatch:
                harness.wait_for(lambda: trainwatch.json("/api/v1/alerts?after=0")["alerts"], "an alert")
                harness.wait_for(lambda: trainwatch.metric("trainwatch_steps_total") >= 601, "all steps are read")
        finally:
            sys.argv[1] = here


class ManualTest(harness.unittest.TestCase):
    def test_every_flag_of_every_command_is_in_the_manual(self):
        manual = self.page("trainwatch.1.gz")
        for line in harness.run("--help").stdout.split("Subcommands:")[1].split("\n\n")[0].split("\n")[1:]:
            command = line.split()[0]
            self.assertIn("\n   %s\n" % command, manual)
            for flag in harness.run(command, "--help").stdout.split("Settings (keys")[0].split():
                if flag.startswith("--") and flag != "--help":
                    self.assertIn(flag.strip("'"), manual)

    def test_every_setting_and_every_parameter_is_in_the_manual(self):
        manual = self.page("trainwatch.yml.5.gz")
        settings = harness.run("run", "--help").stdout.split("Settings (keys of the file):")[1]
        for word in settings.split():
            if word.startswith("--"):
                self.assertIn(word[2:].replace("-", "_"), manual)
        for rule in harness.json.loads(harness.run("rules", "--format=json").stdout):
            self.assertIn("\n   %s\n" % rule["id"], manual)
            for param in rule["params"]:
                self.assertIn(param["name"], manual)

    def page(self, name):
        """A page as man shows it, without a warning."""
        if shutil.which("man") is None:
            self.skipTest("man is not installed")
        done = subprocess.run(["man", "--warnings", "-l", os.path.join(FILES, name)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=True,
                              env=dict(os.environ, MANWIDTH="1000", MAN_KEEP_FORMATTING="", LC_ALL="C.UTF-8"))
        self.assertEqual(done.stderr, "")
        return done.stdout


class CompletionTest(harness.unittest.TestCase):
    def bash(self, *words):
        script = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _trainwatch; printf "%s\\n" "${COMPREPLY[@]}"'
        return do("bash", "-c", script, os.path.join(FILES, "trainwatch"), *words).split()

    def test_bash(self):
        self.assertEqual(self.bash("trainwatch", "re"), ["replay", "report"])
        self.assertEqual(self.bash("trainwatch", "replay", "--fail"), ["--fail-on"])
        self.assertIn("--web.listen-address", self.bash("trainwatch", "run", "--web."))
        self.assertEqual(self.bash("trainwatch", "run", "--log.format", "=", "j"), ["json"])
        self.assertEqual(self.bash("trainwatch", "run", "--log.level", "="), ["debug", "info", "warn", "error"])
        self.assertCountEqual(self.bash("trainwatch", "replay", harness.JOB[:-1]),
                              [harness.JOB, harness.JOB + ".truth.json"])

    def test_zsh(self):
        if shutil.which("zsh") is None:
            self.skipTest("zsh is not installed")
        path = os.path.join(FILES, "_trainwatch")
        do("zsh", "-n", path)
        # What the completion system would be asked for, by functions of its names.
        script = ('_describe() { print -l $commands }; _arguments() { print -l "$@" }; words=(%s); CURRENT=%d; source "$0"')
        self.assertIn("replay:", do("zsh", "-c", script % ("trainwatch re", 2), path))
        self.assertIn("*--fail-on=[", do("zsh", "-c", script % ("trainwatch replay --", 3), path))


if __name__ == "__main__":
    if "libstdc++.so" in do("readelf", "-d", harness.binary()):
        harness.skip("built for this machine alone (TRAINWATCH_PORTABLE)")
    harness.main()
