# SPDX-License-Identifier: Apache-2.0
"""Whatever files hold, the process holds at most 200 MB, and the job beside them has its alerts, in a replay as live and it is
ready whatever it reads. Catalogue 99. Each input once by itself; `memory_bombs` says what they aim at."""

import json
import os
import shutil
import subprocess
import time

import harness
import memory_bombs
import process_figures

MOST_MIB = 200
READY_SECONDS = 60  # it says so after 20
LIVE = ["json lines", "members that have begun", "dumps that do not end", "steps of a cycle", "nodes", "watchdogs", "GPUs"]


class MemoryTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(harness.JOB, os.path.join(self.directory, "good"), ignore=shutil.ignore_patterns("*.py"))
        self.bomb = os.path.join(self.directory, "bomb")

    def explode(self, name):
        shutil.rmtree(self.bomb, ignore_errors=True)
        os.mkdir(self.bomb)
        memory_bombs.TABLE[name](self.bomb)

    def of_the_job(self, alerts):
        return {id: (alert["rule"], alert["value"], alert["started_at"]) for id, alert in harness.final(alerts).items()
                if alert["subject"].get("job") == "good"}

    def test_replay(self):
        expected = self.of_the_job(harness.replay(self.directory))
        self.assertTrue(expected)
        for name in memory_bombs.TABLE:
            with self.subTest(name):
                self.explode(name)
                begin = time.monotonic()
                with open(self.state + ".alerts", "w+") as output:
                    succeeded, peak = process_figures.run_and_peak([harness.binary(), "replay", self.directory], stdout=output,
                                                                   stderr=subprocess.DEVNULL)
                    output.seek(0)
                    alerts = [json.loads(line) for line in output]
                print("%s: %.1f s, peak %.0f MiB" % (name, time.monotonic() - begin, peak))
                self.assertTrue(succeeded)
                self.assertLessEqual(peak, MOST_MIB)
                self.assertEqual(self.of_the_job(alerts), expected)

    def test_live(self):
        expected = self.of_the_job(harness.replay(self.directory))
        for name in LIVE:
            with self.subTest(name):
                self.explode(name)
                shutil.rmtree(self.state, ignore_errors=True)
                begin = time.monotonic()
                with harness.Trainwatch(self.directory, state=self.state, patience=READY_SECONDS) as trainwatch:
                    ready = time.monotonic() - begin
                    harness.wait_for(lambda: expected.items() <= self.of_the_job(
                        trainwatch.json("/api/v1/alerts?after=0&limit=1000")["alerts"]).items(), "the alerts of the job")
                    peak = process_figures.peak_own_mib(trainwatch.pid)
                print("%s: ready after %.1f s, peak %.0f MiB" % (name, ready, peak))
                self.assertLessEqual(peak, MOST_MIB)

    def test_it_is_ready_while_a_compressed_file_is_read(self):
        """Service managers end who is not ready after 90 s, and start it again."""
        memory_bombs.zeros(os.path.join(self.directory, "metrics.jsonl.gz"), gigabytes=200)
        with harness.Trainwatch(self.directory, state=self.state, patience=READY_SECONDS) as trainwatch:
            files = {os.path.basename(file["path"]): file for file in trainwatch.json("/api/v1/status")["files"]}
            self.assertLess(files["metrics.jsonl.gz"]["offset"], files["metrics.jsonl.gz"]["size"])


if __name__ == "__main__":
    harness.main()
