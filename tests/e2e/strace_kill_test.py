# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at one system call after the other: a scripted run is killed at the N-th call of a kind, for
every N (or a sample: TRAINWATCH_LONG=1 takes all), then started again and left to finish. A client
that asks all the while must have what a replay gives, each once, in order.

strace counts the calls of each thread by itself, so the N-th call is that of the thread that comes
there first."""

import collections
import os
import random
import shutil
import signal
import tempfile
import unittest

import harness
import judge
import spiky_job

CALLS = ["openat", "read", "pread64", "write", "pwrite64", "ftruncate", "fdatasync", "fsync", "unlink",
         "rename", "sendmsg", "sendto", "writev"]
EVERY = os.environ.get("TRAINWATCH_LONG") == "1"
SAMPLE = 50  # points
SMALL = "--tail.chunk-bytes=4096"  # many commits


class StraceKillTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        path = lambda name: os.path.join(scratch.name, name)  # noqa: E731
        self.job, self.state, self.half, self.trace = map(path, ("job", "state", "half", "trace"))
        self.log = open(path("log"), "w+")
        self.addCleanup(self.log.close)
        self.port = harness.free_port()
        os.mkdir(self.job)
        self.write_job()
        self.replayed = harness.replay(self.job, *spiky_job.RULES)

    def write_job(self):
        """All of it; `half` is the state, and half_client the client, of before the second half."""
        job = spiky_job.SpikyJob(self.job, 150, seed=1, ranks=3)
        for _ in range(12):
            job.write_some(60)
        replayed = harness.replay(self.job, *spiky_job.RULES)
        self.half_client = self.run_to_end(self.client(), self.start(self.half), replayed)
        job.write_all()

    def client(self, earlier=None):
        return judge.Client("http://127.0.0.1:%d" % self.port, earlier)

    def start(self, state, prefix=()):
        return spiky_job.start(self.job, state, self.port, self.log, SMALL, prefix=prefix)

    def run_to_end(self, client, process, replayed):
        """Until all alerts came and it was stopped, or until it was killed."""
        def done():
            ended = process.poll() is not None
            return client.poll() and client.has_all(replayed) or ended
        harness.wait_for(done, "all alerts")
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(harness.PATIENCE_SECONDS)
        return client

    def scripted_run(self, resumed, prefix=()):
        """The scripted run: half of the job was read before, or nothing was."""
        shutil.rmtree(self.state, ignore_errors=True)
        if resumed:
            shutil.copytree(self.half, self.state)
        process = self.start(self.state, ["strace", "-D", "-f", "-q", "-o", self.trace, *prefix])
        client = self.client(self.half_client if resumed else None)
        self.run_to_end(client, process, self.replayed)
        return client, process.returncode

    def count(self, resumed):
        """Call -> how often the thread made it that made it most."""
        _, code = self.scripted_run(resumed, ["-e", "trace=" + ",".join(CALLS)])
        self.assertEqual(code, 0)
        calls = collections.Counter()
        with open(self.trace) as trace:
            for line in trace:
                calls[tuple(line.split("(")[0].split()[:2])] += 1
        most = collections.Counter()
        for (_, call), times in calls.items():
            if call in CALLS:
                most[call] = max(most[call], times)
        return most

    def kill_at(self, resumed, call, number):
        """Whether it came so far, and what is wrong."""
        client, code = self.scripted_run(resumed, [
            "-e", "trace=" + call, "-e", "inject=%s:signal=SIGKILL:when=%d" % (call, number)])
        process = self.start(self.state)
        self.run_to_end(client, process, self.replayed)
        self.assertEqual(process.returncode, 0)
        return code == -signal.SIGKILL, judge.judge(client.alerts, self.replayed)

    def test_every_call(self):
        points = []
        for resumed in (False, True):
            most = self.count(resumed)
            print("%s: %s" % ("resumed" if resumed else "fresh", dict(most)))
            points += [(resumed, call, number + 1) for call in most for number in range(most[call])]
        self.assertGreater(len(points), 500)
        random.Random(1).shuffle(points)
        tried, killed, total = 0, 0, collections.Counter()
        for point in points if EVERY else points[:SAMPLE]:
            with self.subTest(point=point):
                hit, found = self.kill_at(*point)
                tried, killed = tried + 1, killed + hit
                total.update(found)
                self.assertEqual(set(found.values()), {0}, found)
        print("%d of %d points, %d killed, %d alerts each: %s" %
              (tried, len(points), killed, len(harness.final(self.replayed)), dict(total)))
        self.assertGreater(killed, tried * 0.7)


if __name__ == "__main__":
    if not harness.can_trace():
        harness.skip("strace is not installed, or may not trace here")
    harness.main()
