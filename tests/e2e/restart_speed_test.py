# SPDX-License-Identifier: Apache-2.0
"""With 1,000 files and 100,000 stored alerts a restart is ready within a second."""

import json
import os
import signal
import sqlite3
import tempfile
import time
import unittest
import urllib.error

import harness
import spiky_job

FILES, TELLINGS, LIMIT_SECONDS = 1000, 100000, 1.0


def ready(port):
    try:
        return harness.fetch("http://127.0.0.1:%d/-/ready" % port)
    except (urllib.error.URLError, OSError):
        return None


def get(port, path):
    return json.loads(harness.fetch("http://127.0.0.1:%d%s" % (port, path)))


class RestartSpeedTest(unittest.TestCase):
    def test_ready_within_a_second(self):
        with tempfile.TemporaryDirectory() as scratch:
            directory, state = os.path.join(scratch, "job"), os.path.join(scratch, "state")
            job = spiky_job.SpikyJob(directory, 64000, seed=3, steps_per_file=390)
            job.write_all()
            files = sum(len(names) for _, _, names in os.walk(directory))
            port = harness.free_port()
            with open(os.path.join(scratch, "log"), "w+") as log:
                self.run_once(directory, state, port, log)
                took = sorted(self.restart(directory, state, port, log) for _ in range(3))
            stored = sqlite3.connect(os.path.join(state, "state.db")).execute(
                "select count(*) from outbox").fetchone()[0]
            print("%d files, %d stored alerts: ready after %s s" %
                  (files, stored, ", ".join("%.2f" % seconds for seconds in took)))
            self.assertGreaterEqual(files, FILES)
            self.assertGreaterEqual(stored, TELLINGS)
            self.assertLess(took[0], LIMIT_SECONDS)

    def run_once(self, directory, state, port, log):
        """The first run: everything is read, 100,000 alerts are published and stored."""
        process = spiky_job.start(directory, state, port, log)
        begun = time.monotonic()
        harness.wait_for(lambda: ready(port), "all is read", seconds=240)
        print("read in %.1f s" % (time.monotonic() - begun))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(harness.PATIENCE_SECONDS), 0)

    def restart(self, directory, state, port, log):
        """Seconds from the start of the process to ready, with a newest alert to be had."""
        begun = time.monotonic()
        process = spiky_job.start(directory, state, port, log)
        harness.wait_for(lambda: ready(port), "ready again")
        took = time.monotonic() - begun
        last = get(port, "/api/v1/alerts?after=0&limit=1")["last_seq"]
        self.assertEqual(len(get(port, "/api/v1/alerts?after=%d" % (last - 10))["alerts"]), 10)
        with open("/proc/%d/status" % process.pid) as status:
            rss = next(line for line in status if line.startswith("VmRSS"))
        print("ready after %.3f s, %s" % (took, " ".join(rss.split())))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(harness.PATIENCE_SECONDS), 0)
        return took


if __name__ == "__main__":
    harness.main()
