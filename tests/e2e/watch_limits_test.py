# SPDX-License-Identifier: Apache-2.0
"""Where the kernel gives too few inotify watches, no inotify at all, or drops its events, changes are
found all the same."""

import contextlib
import os
import signal
import subprocess
import tempfile
import unittest

import harness
import judge
import spiky_job

QUEUE = "/proc/sys/fs/inotify/max_queued_events"
SLOW_POLL, BEFORE_THE_POLL_SECONDS = "--tail.poll-interval=1m", 55  # so that only inotify can be what wakes it


def limited(name, value):
    """A command that runs another in a user namespace of its own, with a limit of its own."""
    return ["unshare", "--user", "--map-root-user", "sh", "-c",
            'echo %d > /proc/sys/user/%s && exec "$0" "$@"' % (value, name)]


def watches(pid):
    """How many directories its inotify watches."""
    found, folder = 0, "/proc/%d/fdinfo" % pid
    for number in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError), open(os.path.join(folder, number)) as info:  # of a file just closed
            found += sum(line.startswith("inotify ") for line in info)
    return found


class WatchLimitsTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = os.path.join(scratch.name, "job")
        os.mkdir(self.directory)
        self.job = spiky_job.SpikyJob(self.directory, 60, seed=1, ranks=2)

    def check_degraded(self, limit, reason):
        if subprocess.run([*limited(*limit), "true"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("user namespaces with limits of their own are not available")
        with harness.Trainwatch(self.directory, *spiky_job.RULES, prefix=limited(*limit)) as trainwatch:
            client = judge.Client(trainwatch.url)
            while self.job.write_some(60):
                client.poll()
            replayed = harness.replay(self.directory, *spiky_job.RULES)
            client.poll_until_all(replayed)
            harness.wait_for(lambda: client.poll() and any(map(judge.is_about_itself, client.alerts)),
                             "it says so")
            self.assertIn('trainwatch_watch_degraded{reason="%s"} 1' % reason, trainwatch.get("/metrics"))
            self.assertEqual(trainwatch.json("/api/v1/status")["watch_degraded"], reason)
        found = judge.judge(client.alerts, replayed)
        self.assertEqual(set(found.values()), {0}, found)
        self.assertEqual([alert["rule"] for alert in client.alerts if judge.is_about_itself(alert)],
                         ["_self/watch_degraded"])

    def test_too_few_watches(self):
        self.check_degraded(("max_inotify_watches", 1), "watch_limit")

    def test_watches_are_added_once_there_is_room(self):  # catalogue 44
        if subprocess.run([*limited("max_inotify_watches", 1), "true"], stderr=subprocess.DEVNULL,
                          check=False).returncode:
            self.skipTest("user namespaces with limits of their own are not available")
        self.job.write_all()
        directories = sum(1 for _ in os.walk(self.directory))
        degraded = 'trainwatch_watch_degraded{reason="%s"}'
        with harness.Trainwatch(self.directory, *spiky_job.RULES,
                                prefix=limited("max_inotify_watches", 1)) as trainwatch:
            trainwatch.wait_until_read()
            harness.wait_for(lambda: degraded % "watch_limit" + " 1\n" in trainwatch.get("/metrics"), "it says so")
            self.assertEqual(watches(trainwatch.pid), 1)
            subprocess.run(["nsenter", "--user", "--preserve-credentials", "--target=%d" % trainwatch.pid, "sh", "-c",
                            "echo 1000 > /proc/sys/user/max_inotify_watches"], check=True)
            harness.wait_for(lambda: watches(trainwatch.pid) == directories, "all directories are watched")
            harness.wait_for(lambda: degraded % "none" + " 0\n" in trainwatch.get("/metrics"), "it says so")
        self.assertGreater(directories, 4)

    def test_no_inotify(self):
        self.check_degraded(("max_inotify_instances", 0), "unavailable")

    def test_dropped_events(self):
        with open(QUEUE) as file:
            usual = file.read()
        try:
            with open(QUEUE, "w") as file:
                file.write("16")
        except OSError:
            self.skipTest("only root may set " + QUEUE)
        try:  # an inotify keeps the length that it was made with
            trainwatch = self.enterContext(
                harness.Trainwatch(self.directory, *spiky_job.RULES, SLOW_POLL))
        finally:
            with open(QUEUE, "w") as file:
                file.write(usual)
        client = judge.Client(trainwatch.url)
        trainwatch.signal(signal.SIGSTOP)
        for number in range(100):  # far more than the queue holds
            os.mkdir(os.path.join(self.directory, str(number)))
        self.job.write_all()
        trainwatch.signal(signal.SIGCONT)
        replayed = harness.replay(self.directory, *spiky_job.RULES)
        harness.wait_for(lambda: client.catch_up() and client.has_all(replayed), "all alerts", BEFORE_THE_POLL_SECONDS)
        found = judge.judge(client.alerts, replayed)
        self.assertEqual(set(found.values()), {0}, found)


if __name__ == "__main__":
    harness.main()
