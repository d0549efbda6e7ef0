# SPDX-License-Identifier: Apache-2.0
"""python -m trainwatch run: its sidecar beside a daemon that is quicker than it, or slower. The daemon is one of this test."""

import contextlib
import importlib.util
import io
import json
import os
import signal
import subprocess
import sys
import time
import unittest
from unittest import mock

import harness
from local_server import Handler, LocalServer

SPEC = importlib.util.spec_from_file_location("_sidecar", os.path.join(harness.ROOT, "python", "trainwatch", "_sidecar.py"))
LATER = "2100-01-01T00:00:00.000000Z"  # so that no answer is too old


class Daemon(LocalServer):
    """Says in the log that it listens before start() returns, and refuses the first requests."""

    def __init__(self, refuses=0):
        self.refuses = refuses
        outer = self

        class Api(Handler):
            def do_GET(self):
                outer.refuses -= 1
                body = json.dumps({"now": LATER, "files": [], "runs": [], "alerts": []}).encode()
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
