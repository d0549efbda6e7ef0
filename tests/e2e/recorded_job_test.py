# SPDX-License-Identifier: Apache-2.0
"""On the recorded job the provoked stall is reported, with its step, seconds and baseline, and
nothing else that costs training time is."""

import unittest

import harness


class RecordedJobTest(unittest.TestCase):
    def serious(self):
        alerts = harness.final(harness.replay("--parts", harness.JOB)).values()
        return [alert for alert in alerts if alert["severity"] != "info"]

    def test_only_the_stall_and_by_both_rules(self):
        stall = harness.truth()["stall"]["step"]
        said = {(alert["rule"], alert["step"]) for alert in self.serious()}
        self.assertEqual(said, {("getnext_outlier", stall), ("step_spike", stall)})

    def test_both_are_one_incident_under_one_id(self):
        self.assertEqual(len({alert["incident"] for alert in self.serious()}), 1)
        self.assertEqual([alert["rule"] for alert in harness.final(harness.replay(harness.JOB)).values()], ["step_spike"])

    def test_the_numbers(self):
        truth = harness.truth()
        took = truth["stall"]["step_seconds"]
        for alert in self.serious():
            with self.subTest(rule=alert["rule"]):
                self.assertEqual(alert["unit"], "seconds")
                self.assertEqual(alert["subject"]["rank"], truth["rank"])
                self.assertEqual(alert["subject"]["node"], truth["node"])
                self.assertIn(str(truth["stall"]["step"]), alert["summary"])
                self.assertLess(alert["value"], took * 1.01)
                self.assertGreater(alert["value"], took * 0.9)
                self.assertLess(alert["baseline"], 2 * truth["step_seconds"]["median"])
                self.assertGreater(alert["threshold"], alert["baseline"])
        spike = next(alert for alert in self.serious() if alert["rule"] == "step_spike")
        self.assertAlmostEqual(spike["value"], took, delta=0.02)
        self.assertAlmostEqual(spike["baseline"], truth["step_seconds"]["median"], delta=0.02)
        self.assertEqual(spike["cause"]["name"], "input_wait")

    def test_fail_on(self):
        self.assertEqual(harness.run("replay", harness.JOB, "--fail-on=warning").returncode, 3)
        self.assertEqual(harness.run("replay", harness.JOB, "--fail-on=critical").returncode, 0)
        self.assertEqual(harness.run("replay", harness.JOB, "--rules=cpu_bottleneck",
                                     "--fail-on=info").returncode, 0)


if __name__ == "__main__":
    harness.main()
