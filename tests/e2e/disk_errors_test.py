# SPDX-License-Identifier: Apache-2.0
"""Calls on the state's files that fail for a while (strace makes them fail): trainwatch goes on, or ends
with an error so that a restart can repair it. Nothing is lost, and no alert comes twice."""

import os
import subprocess
import tempfile
import unittest

import harness
import judge
import spiky_job

# `when` counts the calls of one thread: below, of the one that stores, and in STARTING, of the one
# that starts.
RUNNING = ["fdatasync:error=EIO:when=3..6", "fdatasync:error=EIO:when=12", "pwrite64:error=EIO:when=20..25",
           "pwrite64:error=ENOSPC:when=30..60", "pwrite64:retval=7:when=11", "ftruncate:error=EIO:when=1..2"]
STARTING = ["fdatasync:error=EIO:when=1", "fdatasync:error=EIO:when=2", "pwrite64:error=EIO:when=1",
            "pwrite64:error=ENOSPC:when=2", "ftruncate:error=EIO:when=1", "pread64:error=EIO:when=8..9",
            "pread64:error=EIO:when=18..19"]


def strace(fault, trace, *arguments):
    return ["strace", "-f", "-o", trace, "-e", "trace=" + fault.split(":")[0], "-e", "inject=" + fault,
            *arguments]


class Tracer:
    """strace on a running process, which goes on without it in the end."""

    def __init__(self, command, pid):
        self._process = subprocess.Popen([*command, "-p", str(pid)], stderr=subprocess.PIPE, text=True)
        if "attached" not in self._process.stderr.readline():
            raise AssertionError("strace does not attach")

    def close(self):
        self._process.terminate()
        self._process.wait()
        self._process.stderr.close()


class DiskErrorsTest(unittest.TestCase):
    def setUp(self):
        self._scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self._scratch.cleanup)

    def prepare(self, name, steps=80):
        scratch = os.path.join(self._scratch.name, name)
        self.directory, self.state = os.path.join(scratch, "job"), os.path.join(scratch, "state")
        self.trace = os.path.join(scratch, "trace")
        os.makedirs(self.directory)
        self.job = spiky_job.SpikyJob(self.directory, steps, seed=1, ranks=2)
        self.job.write_some(50)

    def trainwatch(self):
        return harness.Trainwatch(self.directory, *spiky_job.RULES, state=self.state)

    def failed_calls(self):
        with open(self.trace) as trace:
            return sum("INJECTED" in line for line in trace)

    def check(self, client, what):
        """The rest of the job, in peace."""
        self.job.write_all()
        replayed = harness.replay(self.directory, *spiky_job.RULES)
        with self.trainwatch() as trainwatch:
            client = judge.Client(trainwatch.url, client)
            client.poll_until_all(replayed)
            self.assertEqual(trainwatch.stop(), 0)
        found = judge.judge(client.alerts, replayed)
        print("%s: %d calls failed; %s" % (what, self.failed_calls(), found))
        self.assertGreater(self.failed_calls(), 0)
        self.assertEqual(set(found.values()), {0}, found)

    def fails_while_running(self, fault):
        with self.trainwatch() as trainwatch:
            tracer = Tracer(strace(fault, self.trace), trainwatch.pid)
            client = judge.Client(trainwatch.url)
            harness.wait_for(lambda: not client.poll() or not self.job.write_some(5), "all is written")
            harness.wait_for(lambda: self.failed_calls() > 0, "calls fail")
            client.poll()
            tracer.close()
            self.assertEqual(trainwatch.stop(), 0)
        self.check(client, fault)

    def test_while_it_runs(self):
        for number, fault in enumerate(RUNNING):
            with self.subTest(fault=fault):
                # Nothing is truncated before the log has 1,000 pages, and on a busy machine alerts share commits.
                self.prepare(str(number), steps=320 if fault.startswith("ftruncate") else 80)
                self.fails_while_running(fault)

    def fails_at_the_start(self, fault):
        with self.trainwatch() as trainwatch:
            client = judge.Client(trainwatch.url)
            harness.wait_for(lambda: client.poll() and client.alerts, "the first alert")
        self.job.write_some(50)
        code = 0
        try:  # strace as a grandchild: signals reach trainwatch
            with harness.Trainwatch(self.directory, *spiky_job.RULES, state=self.state,
                                    prefix=strace(fault, self.trace, "-D")) as trainwatch:
                trainwatch.get("/-/healthy")
        except harness.Ended as ended:
            code = ended.args[0]
        self.check(client, "at the start, exit %d, %s" % (code, fault))
        self.assertIn(code, (0, 1))

    def test_at_the_start(self):
        for number, fault in enumerate(STARTING):
            with self.subTest(fault=fault):
                self.prepare("start-%d" % number)
                self.fails_at_the_start(fault)


if __name__ == "__main__":
    if not harness.can_trace():
        harness.skip("strace is not installed, or may not trace here")
    harness.main()
