# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes a running trainwatch, and promtool has nothing to say against the page."""

import shutil
import subprocess
import tempfile
import unittest

import harness
from prometheus_server import Prometheus


class PrometheusTest(unittest.TestCase):
    def test_scrape(self):
        steps = harness.truth()["steps"]
        with tempfile.TemporaryDirectory() as directory:
            with harness.Trainwatch(directory) as trainwatch, \
                    Prometheus(trainwatch.url[len("http://"):]) as prometheus:
                harness.play.play(harness.JOB, directory, speed=0)
                trainwatch.wait_until_read()
                harness.wait_for(
                    lambda: prometheus.value('sum(trainwatch_steps_total{mode="train"})')
                    is not None, "Prometheus knows the steps")
                harness.wait_for(lambda: prometheus.value("sum(trainwatch_steps_total)") >= steps,
                                 "Prometheus has all steps")
                # A scrape that took too long on a busy machine takes all series away, until the next one.
                for query in ("up == 1", "count(trainwatch_build_info) == 1",
                              'sum(trainwatch_alerts_total{rule="getnext_outlier"}) >= 1'):
                    harness.wait_for(lambda query=query: prometheus.values(query), query)
                median = harness.wait_for(
                    lambda: prometheus.value("histogram_quantile(0.5, sum by (le) (trainwatch_step_duration_seconds_bucket))"),
                    "a median")
                self.assertLess(abs(median - harness.truth()["step_seconds"]["median"]), 0.1)
                self.assertEqual(
                    prometheus.value("sum(trainwatch_records_rejected_total) or vector(0)"), 0)
                self.assert_clean(trainwatch.get("/metrics"))

    def assert_clean(self, page):
        checked = subprocess.run(["promtool", "check", "metrics"], input=page, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual((checked.returncode, checked.stdout), (0, ""))


if __name__ == "__main__":
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        harness.skip("the Debian package prometheus is not installed")
    harness.main()
