# SPDX-License-Identifier: Apache-2.0
"""A file that kills the process at every start: the third start leaves it alone, and says so. What kills is stood in for by SIGKILL
while the file is decoded."""

import json
import os
import signal
import struct
import time
import unittest

import harness
from bombs_test import write_gzip


class PoisonTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        good = os.path.join(self.directory, "good")
        bad = os.path.join(self.directory, "bad")
        os.mkdir(good)
        os.mkdir(bad)
        now = time.time()
        with open(os.path.join(good, "metrics.jsonl"), "w") as log:
            for step in range(20):
                log.write(json.dumps({"step": step, "time": now - 100 + step, "loss": 2.0 if step < 10 else float("nan")}) + "\n")
        self.bad = os.path.join(bad, "metrics.jsonl.gz")
        line = json.dumps({"step": 1, "time": now - 100, "loss": 2.0}) + "\n"
        write_gzip(self.bad, line.encode() * 200000, 10)  # small, and seconds of work

    def is_decoding(self):
        """Whether the engine's thread has decoded it for long, and so notes it (daemon/app/decoding_mark.cc)."""
        try:
            with open(os.path.join(self.state, "state.db.decoding"), "rb") as mark:
                _, _, length = struct.unpack("<QQI", mark.read(20))
                return mark.read(length) == self.bad.encode()
        except (OSError, struct.error):
            return False

    def die(self):
        daemon = harness.Trainwatch(self.directory, state=self.state)
        harness.wait_for(lambda: "msg=listening" in daemon.log(), "it has seen what the last one died of")
        harness.wait_for(self.is_decoding, "the file is decoded")
        daemon.signal(signal.SIGKILL)
        daemon.wait()
        daemon.__exit__()

    def status_of_bad(self, daemon):
        return next((file for file in daemon.json("/api/v1/status")["files"] if file["path"] == self.bad), {})

    def test_it_is_set_aside_named_and_tried_again_on_request(self):
        self.die()
        self.die()
        with harness.Trainwatch(self.directory, state=self.state) as daemon:
            rules = {alert["rule"] for alert in daemon.json("/api/v1/alerts")["alerts"]}
            self.assertIn("loss_nan", rules, "of the other job")
            self.assertIn("set aside", self.status_of_bad(daemon).get("error") or "")
            self.assertIn("the file is set aside", daemon.log())
            harness.wait_for(lambda: any("set aside" in alert["summary"] for alert in daemon.json("/api/v1/alerts")["alerts"]
                                         if alert["rule"] == "_self/unreadable"), "an alert says so")
        with harness.Trainwatch(self.directory, state=self.state) as daemon:
            self.assertIn("set aside", self.status_of_bad(daemon).get("error") or "", "still")
            daemon.signal(signal.SIGHUP)
            harness.wait_for(lambda: self.status_of_bad(daemon).get("records", 0) > 0, "it is read")

    def test_one_death_sets_nothing_aside(self):
        self.die()
        with harness.Trainwatch(self.directory, state=self.state) as daemon:
            harness.wait_for(lambda: self.status_of_bad(daemon).get("records", 0) > 0, "it is read")


if __name__ == "__main__":
    harness.main()
