# SPDX-License-Identifier: Apache-2.0
"""python -m trainwatch run: its sidecar beside a daemon that is quicker than it, or slower. The daemon is one of this test."""

import contextlib
import fcntl
import importlib.util
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import harness
from local_server import Handler, LocalServer

SPEC = importlib.util.spec_from_file_location("_sidecar", os.path.join(harness.ROOT, "python", "trainwatch", "_sidecar.py"))
LATER = "2100-01-01T00:00:00.000000Z"  # so that no answer is too old


class Daemon(LocalServer):
    """Says in the log that it listens before start() returns, and refuses the first requests."""

    def __init__(self, refuses=0, runs=()):
        self.refuses = refuses
        outer = self

        class Api(Handler):
            def do_GET(self):
                outer.refuses -= 1
                body = json.dumps({"now": LATER, "files": [], "runs": runs, "alerts": []}).encode()
                self.answer(503 if outer.refuses >= 0 else 200, body)

        super().__init__(Api)

    def start(self, command, log):
        if command[1] == "run":
            log.write(b"msg=listening address=%s\n" % self.address.encode())
            log.flush()
        return subprocess.Popen(["sleep", "60"])


class Clock:
    """The module `time` where sleeping is all that takes time."""

    def __init__(self):
        self.slept = 0

    def sleep(self, seconds):
        self.slept += seconds

    def monotonic(self):
        return self.slept

    def time(self):
        return time.time() + self.slept


class SidecarTest(harness.JobTest):
    def said(self, daemon, clock=time):
        """What it says of a training that is over at once."""
        sidecar = importlib.util.module_from_spec(SPEC)
        SPEC.loader.exec_module(sidecar)
        read, write = os.pipe()
        os.close(write)
        interrupt = signal.getsignal(signal.SIGINT)
        self.addCleanup(signal.signal, signal.SIGINT, interrupt)
        with daemon, os.fdopen(read) as training, contextlib.redirect_stderr(io.StringIO()) as errors, \
                mock.patch.multiple(sidecar, start=daemon.start, time=clock, START_SECONDS=harness.PATIENCE_SECONDS), \
                mock.patch.object(sys, "stdin", training), \
                mock.patch.object(sys, "argv", ["_sidecar.py", self.directory, "127.0.0.1:0", "trainwatch", "null"]):
            sidecar.main()
        return errors.getvalue().splitlines()

    def test_a_daemon_that_listens_at_once_is_found(self):
        said = self.said(Daemon())
        self.assertIn("shows this training", said[0])
        self.assertEqual(said[1:], ["trainwatch: no step of a training was seen"])

    def test_a_busy_daemon_is_asked_again(self):
        said = self.said(Daemon(refuses=4))
        self.assertEqual(said[1:], ["trainwatch: no step of a training was seen"])

    def test_without_an_answer_there_is_no_summary(self):
        clock, daemon = Clock(), Daemon(refuses=100_000)
        said = self.said(daemon, clock)
        self.assertIn("shows this training", said[0])
        self.assertEqual(said[1:], ["trainwatch: has no summary: HTTP Error 503: Service Unavailable"])
        self.assertLess(clock.slept, 60)
        self.assertGreater(clock.slept, 5)

    def test_a_loop_that_is_not_seen_is_helped(self):
        for runs, helped in (((), True), (({"step": None},), True), (({"step": None}, {"step": 5}), False)):
            with self.subTest(runs), Daemon(runs=runs) as daemon, contextlib.redirect_stderr(io.StringIO()) as errors:
                sidecar = importlib.util.module_from_spec(SPEC)
                SPEC.loader.exec_module(sidecar)
                task = sidecar.Task(0, lambda: sidecar.say_if_unseen("http://" + daemon.address))
                task.tick()
                task.tick()
                self.assertEqual("with watch.step()" in errors.getvalue(), helped)
                self.assertEqual(len(errors.getvalue().splitlines()), 3 if helped else 0, "once")


class FilesTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.sidecar = importlib.util.module_from_spec(SPEC)
        SPEC.loader.exec_module(self.sidecar)

    def write(self, name, kib, age=0):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(bytes(kib << 10))
        os.utime(path, (self.now - age, self.now - age))
        return path

    def left(self):
        return sorted(os.path.relpath(os.path.join(folder, name), self.directory)
                      for folder, _, names in os.walk(self.directory) for name in names)

    def test_the_oldest_go_until_the_bound_holds(self):
        self.now = time.time()
        files = self.sidecar.Files(self.directory, 100 << 10)
        files._since = self.now - 10000
        self.write("framework/pevents/2026112901/1_0-a_pythontimeline.json", 40, age=9000)
        self.write("system/incremental/2026112901/1.a.json", 40, age=8000)
        self.write("logs/1_rank_0_a_stdout.out.1", 40, age=5000)
        self.write("framework/pevents/2026112903/2_0-a_pythontimeline.json", 40, age=300)
        self.write("system/incremental/2026112903/2.a.json", 5)
        self.write("framework/0-a_pythontimeline.json.tmp", 15)
        files.delete_oldest()
        self.assertEqual(self.left(), [
            "framework/0-a_pythontimeline.json.tmp", "framework/pevents/2026112903/2_0-a_pythontimeline.json",
            "logs/1_rank_0_a_stdout.out.1", "system/incremental/2026112903/2.a.json"])
        self.assertFalse(os.path.exists(os.path.join(self.directory, "system/incremental/2026112901")))

    def test_nothing_that_is_written_or_of_others_goes(self):
        self.now = time.time()
        kept = ["checkpoint.pt", "framework/pevents/2026112901/model_timeline.json", "logs/train.log"]
        for name in kept:
            self.write(name, 40)
        self.write("framework/pevents/2026112901/1_0-a_pythontimeline.json", 40, age=9000)  # of an earlier launch
        files = self.sidecar.Files(self.directory, 1 << 10)
        self.write("framework/1_0-a_launchtimeline.json", 40)
        log = self.write("logs/1_rank_0_a_stdout.out", 40)
        self.write("logs/2_rank_0_a_stdout.out", 40)
        self.write("system/incremental/2026112903/2.a.json", 40)
        self.write("framework/pevents/2026112903/2_0-a_pythontimeline.json", 40)
        with open(log, "r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            program = "import sys; sys.path.insert(0, %r); import _sidecar; files = _sidecar.Files(%r, 1024); " \
                "files._since = %r; files.delete_oldest()" % (os.path.dirname(SPEC.origin), self.directory, files._since)
            subprocess.run([sys.executable, "-c", program], check=True)  # a lock does not stop its own process
        self.assertEqual(self.left(), sorted(kept + [
            "framework/1_0-a_launchtimeline.json", "framework/pevents/2026112901/1_0-a_pythontimeline.json",
            "logs/1_rank_0_a_stdout.out", "system/incremental/2026112903/2.a.json"]))

    def test_the_log_of_the_daemon_is_bounded(self):
        self.now = time.time()
        self.write("trainwatch.log", 9 << 10)
        self.sidecar.Files(self.directory, 512 << 20).delete_oldest()
        self.assertEqual(os.path.getsize(os.path.join(self.directory, "trainwatch.log")), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
