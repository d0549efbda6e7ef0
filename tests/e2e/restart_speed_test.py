# SPDX-License-Identifier: Apache-2.0
"""With 1,000 files and 100,000 stored alerts a restart costs a small part of the CPU time of reading all of that. How long it
takes until it is ready: scripts/bench.sh restart."""

import json
import os
import signal
import sqlite3
import tempfile
import unittest
import urllib.error

import harness
import process_figures
import spiky_job

FILES, TELLINGS = 1000, 100000
MOST_SHARE = 0.25  # where nothing is wrong it is some 0.05


def ready(port):
    try:
        return harness.fetch("http://127.0.0.1:%d/-/ready" % port)
    except (urllib.error.URLError, OSError):
        return None


def get(port, path):
    return json.loads(harness.fetch("http://127.0.0.1:%d%s" % (port, path)))


class RestartSpeedTest(unittest.TestCase):
    def test_a_restart_is_cheap(self):
        with tempfile.TemporaryDirectory() as scratch:
            directory, state = os.path.join(scratch, "job"), os.path.join(scratch, "state")
            job = spiky_job.SpikyJob(directory, 64000, seed=3, steps_per_file=390)
            job.write_all()
            files = sum(len(names) for _, _, names in os.walk(directory))
            port = harness.free_port()
            with open(os.path.join(scratch, "log"), "w+") as log:
                first = self.run_once(directory, state, port, log)
                again = self.restart(directory, state, port, log)
            stored = sqlite3.connect(os.path.join(state, "state.db")).execute(
                "select count(*) from outbox").fetchone()[0]
            print("%d files, %d stored alerts: %.2f s of CPU time until they are read, %.2f s for a restart" %
                  (files, stored, first, again))
            self.assertGreaterEqual(files, FILES)
            self.assertGreaterEqual(stored, TELLINGS)
            self.assertLess(again, MOST_SHARE * first)

    def run_once(self, directory, state, port, log):
        """The first run: everything is read, 100,000 alerts are published and stored. The CPU seconds until then."""
        process = spiky_job.start(directory, state, port, log)
        harness.wait_for(lambda: ready(port), "all is read", seconds=3 * harness.PATIENCE_SECONDS)
        used = process_figures.cpu_seconds(process.pid)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(harness.PATIENCE_SECONDS), 0)
        return used

    def restart(self, directory, state, port, log):
        """The CPU seconds until it is ready, with a newest alert to be had."""
        process = spiky_job.start(directory, state, port, log)
        harness.wait_for(lambda: ready(port), "ready again")
        used = process_figures.cpu_seconds(process.pid)
        last = get(port, "/api/v1/alerts?after=0&limit=1")["last_seq"]
        self.assertEqual(len(get(port, "/api/v1/alerts?after=%d" % (last - 10))["alerts"]), 10)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(harness.PATIENCE_SECONDS), 0)
        return used


if __name__ == "__main__":
    harness.main()
