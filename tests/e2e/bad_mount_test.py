# SPDX-License-Identifier: Apache-2.0
"""Files on a file system that gives 7 bytes at a time and no notice of changes, fails for a while, or hangs."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import fusepy
except (ImportError, OSError):
    fusepy = None

import harness
import judge
import spiky_job

HERE = os.path.dirname(os.path.abspath(__file__))
LINE = ('{"Type": "cpu", "Name": "cpu0", "Dimension": "CPUUtilization", "Value": 50, "NodeId": "algo-1", '
        '"Timestamp": 17000000%02d}\n')
EVERY = os.environ.get("TRAINWATCH_LONG") == "1"


class BadMountTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        # Of several directories each is a job with the name of its folder, which is the same behind the mount.
        self.paths = {name: os.path.join(scratch.name, folder) for name, folder in
                      (("backing", "behind/job"), ("mount", "job"), ("control", "control"), ("state", "state"))}
        for path in self.paths.values():
            os.makedirs(path)
        self.mount = self.paths["mount"]
        self.server = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "faulty_fs.py"), self.paths["backing"], self.mount,
             self.paths["control"]])
        self.addCleanup(self.unmount)
        harness.wait_for(lambda: os.path.ismount(self.mount), "it is mounted")
        self.job = spiky_job.SpikyJob(self.paths["backing"], 16, seed=1, ranks=2)

    def unmount(self):
        self.server.kill()  # hung reads end with it
        self.server.wait()
        subprocess.run(["umount", "--lazy", self.mount], check=True)

    def trainwatch(self, *arguments):
        return harness.Trainwatch(self.mount, *spiky_job.RULES, *arguments, state=self.paths["state"])

    def say(self, what):
        with open(os.path.join(self.paths["control"], what), "w"):
            pass

    def unsay(self, what):
        os.remove(os.path.join(self.paths["control"], what))

    def own(self, client):
        client.poll()
        return [(alert["rule"], alert["state"]) for alert in client.alerts if judge.is_about_itself(alert)]

    def conditions(self, trainwatch):
        return [condition for source in trainwatch.json("/api/v1/status")["sources"]
                for condition in source["conditions"]]

    def test_reads_that_fail_for_a_while(self):
        self.job.write_some(40)
        with self.trainwatch() as trainwatch:
            client = judge.Client(trainwatch.url)
            trainwatch.wait_until_read()
            self.assertEqual(trainwatch.json("/api/v1/status")["watch_degraded"], "network_fs")
            self.say("fail")
            self.job.write_some(40)
            harness.wait_for(lambda: self.own(client), "it says so")
            self.unsay("fail")
            harness.wait_for(lambda: "unreadable" not in self.conditions(trainwatch), "it goes on")
            self.job.write_all()
            replayed = harness.replay(self.paths["backing"], *spiky_job.RULES)
            client.poll_until_all(replayed)
            said = [("_self/unreadable", "firing")]
            if EVERY:
                said.append(("_self/unreadable", "resolved"))
                harness.wait_for(lambda: len(self.own(client)) > 1, "it is over")
            self.assertEqual(self.own(client), said)
        found = judge.judge(client.alerts, replayed)
        self.assertEqual(set(found.values()), {0}, found)

    def test_growth_without_a_notice_is_seen(self):
        """Case 43: no event comes, so polling finds it."""
        with harness.Trainwatch(self.mount, "--tail.poll-interval=1s", state=self.paths["state"]) as trainwatch:
            path, seconds = os.path.join(self.paths["backing"], "a.json"), []
            for step in range(5):
                with open(path, "a") as file:
                    file.write(LINE % step)
                size, began = os.path.getsize(path), time.monotonic()
                harness.wait_for(lambda: trainwatch.metric("trainwatch_input_bytes_total") == size, "it is read")
                seconds.append(time.monotonic() - began)
        print("seen after %s s" % ", ".join("%.2f" % one for one in seconds))

    def test_others_are_read_while_a_read_hangs(self):
        """Case 50: until its file system answers again, only what lies there waits."""
        near = os.path.join(os.path.dirname(self.mount), "near")
        os.mkdir(near)
        path, waits = os.path.join(near, "a.json"), []
        with self.trainwatch("--watch=" + near) as trainwatch:
            client = judge.Client(trainwatch.url)
            self.job.write_some(40)
            trainwatch.wait_until_read()
            self.say("hang")
            self.job.write_some(40)
            harness.wait_for(lambda: os.path.exists(os.path.join(self.paths["control"], "hangs")), "a read hangs")
            for step in range(8):
                with open(path, "a") as file:
                    file.write(LINE % step)
                size, began = os.path.getsize(path), time.monotonic()
                harness.wait_for(lambda: any(file["path"] == path and file["offset"] == size
                                             for file in trainwatch.json("/api/v1/status")["files"]), "it is read")
                waits.append(time.monotonic() - began)
            self.unsay("hang")  # only now, after all of them
            self.job.write_all()
            replayed = harness.replay(self.paths["backing"], near, *spiky_job.RULES)
            client.poll_until_all(replayed)
        found = judge.judge(client.alerts, replayed)
        self.assertEqual(set(found.values()), {0}, found)
        print("beside a hung mount: the first line after %.1f s, others after %.1f s at most" % (waits[0], max(waits[1:])))

    def test_a_read_that_hangs(self):
        self.job.write_some(40)
        with self.trainwatch() as trainwatch:
            client = judge.Client(trainwatch.url)
            trainwatch.wait_until_read()
            self.say("hang")
            self.job.write_some(40)
            harness.wait_for(lambda: ("_self/stuck", "firing") in self.own(client), "it says so")
            for path in ("/-/healthy", "/-/ready", "/metrics", "/api/v1/status", "/"):
                trainwatch.get(path)
            self.assertEqual(trainwatch.metric("trainwatch_watch_roots_missing"), 0)
            trainwatch.signal(signal.SIGTERM)
            harness.wait_for(lambda: "exiting without waiting" in trainwatch.log(), "it ends")
            # FUSE keeps the process until the server is gone, but not its state and sockets.
            with harness.Trainwatch(self.paths["control"], state=self.paths["state"]) as another:
                self.assertEqual(another.json("/api/v1/alerts")["epoch"], client.epoch)
                self.assertEqual(another.stop(), 0)
            self.server.kill()
            self.assertEqual(trainwatch.stop(), 0)


if __name__ == "__main__":
    if fusepy is None:
        harness.skip("python3-fusepy is not installed")
    if os.geteuid() != 0 or not os.access("/dev/fuse", os.W_OK):
        harness.skip("only root may mount, and /dev/fuse is needed")
    harness.main()
