# SPDX-License-Identifier: Apache-2.0
"""The Debian package in a Debian of its own: installed, started, upgraded over a configuration that was edited, removed,
purged."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
import harness  # noqa: E402
import systems  # noqa: E402

BUILD = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[1])))
CONFIGURATION = "/etc/trainwatch/trainwatch.yaml"


def build(out):
    subprocess.run(["cpack", "-G", "DEB", "-B", out + "/cpack", "-D", "CPACK_OUTPUT_FILE_PREFIX=" + out], cwd=BUILD, check=True,
                   stdout=subprocess.DEVNULL)
    return glob.glob(out + "/*.deb")[0]


def older(deb, out):
    """The same package with a smaller version and another configuration."""
    tree = out + "/older"
    subprocess.run(["dpkg-deb", "-R", deb, tree], check=True)
    for path, pattern, text in ((tree + "/DEBIAN/control", r"(?m)^Version: .*", "Version: 0.0.1-1"),
                                (tree + CONFIGURATION, r"\A", "# An older one.\n")):
        with open(path) as file:
            changed = re.sub(pattern, text, file.read(), count=1)
        with open(path, "w") as file:
            file.write(changed)
    os.remove(tree + "/DEBIAN/md5sums")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", tree, out + "/older.deb"], check=True, stdout=subprocess.DEVNULL)
    return out + "/older.deb"


class DebianPackageTest(harness.unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = scratch.name + "/root"
        self.shared = scratch.name + "/shared"
        os.mkdir(self.shared)
        os.mkdir(self.shared + "/job")
        systems.make("bookworm", self.root, variant="apt", include=("init-system-helpers", "procps", "systemd", "man-db"))
        self.prefix = systems.inside(self.root, self.shared)

    def there(self, *command, code=0):
        done = subprocess.run([*self.prefix, "env", "DEBIAN_FRONTEND=noninteractive", *command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, code, done.stdout[-2000:])
        return done.stdout

    def path(self, name):
        return self.root + name

    def start(self):
        """What the unit starts, by hand: there is no systemd."""
        with open(self.path("/usr/lib/systemd/system/trainwatch.service")) as file:
            line = re.search(r"^ExecStart=(.*)$", file.read(), re.M).group(1)
        self.assertEqual(line, "/usr/bin/trainwatch run --config.file=%s --storage.path=%%S/trainwatch" % CONFIGURATION)
        installed = ["sh", "-c", 'shift; exec /usr/bin/trainwatch "$@"', "sh"]
        return harness.Trainwatch(None, "--config.file=" + CONFIGURATION, state="/var/lib/trainwatch",
                                  prefix=[*self.prefix, *installed])

    def alerts(self, service):
        return service.json("/api/v1/alerts?after=0")["alerts"]

    def test_a_life(self):
        new = build(self.shared)
        old = older(new, self.shared)
        self.there("apt-get", "install", "-qy", old)
        self.assertEqual(self.there("dpkg-query", "-W", "-f", "${Status} ${Version}", "trainwatch"), "install ok installed 0.0.1-1")
        self.there("deb-systemd-helper", "--quiet", "was-enabled", "trainwatch.service", code=1)
        self.there("systemd-analyze", "verify", "/usr/lib/systemd/system/trainwatch.service")
        self.there("trainwatch", "check-config", CONFIGURATION)
        self.assertIn("nothing to watch", self.there("trainwatch", "run", "--config.file=" + CONFIGURATION, code=2))

        # Somebody says what to watch, and how few alerts to keep.
        with open(self.path(CONFIGURATION)) as file:
            text = file.read()
        edited = text.replace("\nwatch: []", "\nwatch: [%s/job]" % self.shared)
        self.assertNotEqual(edited, text)
        with open(self.path(CONFIGURATION), "w") as file:
            file.write(edited)
        shutil.copytree(harness.JOB, self.shared + "/job/recorded")
        with self.start() as service:
            harness.wait_for(lambda: service.metric("trainwatch_steps_total") >= 600, "all steps are read")
            alerts = self.alerts(service)
        self.assertTrue(alerts)

        # An upgrade keeps what was edited, lays the new one beside it, and goes on with the state.
        self.there("apt-get", "install", "-qy", "-o", "Dpkg::Options::=--force-confold", new)
        with open(self.path(CONFIGURATION)) as file:
            self.assertEqual(file.read(), edited)
        with open(self.path(CONFIGURATION + ".dpkg-dist")) as file:
            self.assertNotIn("An older one", file.read())
        with self.start() as service:
            self.assertEqual(self.alerts(service)[:len(alerts)], alerts)

        self.there("apt-get", "remove", "-qy", "trainwatch")
        self.assertFalse(os.path.exists(self.path("/usr/bin/trainwatch")))
        self.assertTrue(os.path.exists(self.path(CONFIGURATION)))
        self.assertTrue(os.path.exists(self.path("/var/lib/trainwatch")))
        # What a service for a made-up user leaves: its directory, and a link to it.
        os.makedirs(self.path("/var/lib/private"), exist_ok=True)
        shutil.move(self.path("/var/lib/trainwatch"), self.path("/var/lib/private/trainwatch"))
        os.symlink("private/trainwatch", self.path("/var/lib/trainwatch"))
        self.there("apt-get", "purge", "-qy", "trainwatch")
        for path in ("/etc/trainwatch", "/var/lib/trainwatch", "/var/lib/private/trainwatch", "/usr/share/doc/trainwatch"):
            self.assertFalse(os.path.lexists(self.path(path)), path)
        self.assertEqual(self.there("sh", "-c", "dpkg-query -W -f '${Status}' trainwatch 2>/dev/null || true"), "")


if __name__ == "__main__":
    if systems.why_not():
        harness.skip(systems.why_not())
    if shutil.which("cpack") is None:
        harness.skip("cpack is not installed")
    harness.main()
