# SPDX-License-Identifier: Apache-2.0
"""A parameter that changes over a restart restarts that rule alone: it starts cold, and what it had
open resolves. The other rules go on as if nothing had been."""

import datetime

import harness

# It stays warming to the end.
CHANGED = ["--set=getnext_outlier.window=10000", "--set=getnext_outlier.warmup=10000"]


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class RuleChangeTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        self.replayed = harness.replay("--parts", harness.JOB)
        self.steps = list(harness.play.order(harness.play.lanes_of(harness.play.read_files(harness.JOB)), None, 0))

    def both_fire(self):
        """A time (us) at which an alert of each of two rules is firing."""
        overlaps = []
        last = harness.final(self.replayed).values()
        for spike in (alert for alert in last if alert["rule"] == "step_spike"):
            for wait in (alert for alert in last if alert["rule"] == "getnext_outlier"):
                begin = max(seconds(spike["started_at"]), seconds(wait["started_at"]))
                end = min(seconds(spike["ended_at"]), seconds(wait["ended_at"]))
                overlaps.append((end - begin, begin, end))
        length, begin, end = max(overlaps)
        self.assertGreater(length, 0)
        return (begin + end) / 2 * 1e6

    def play(self, since, until):
        for due, kind, path, data in self.steps:
            if since <= due < until:
                harness.play.perform(self.directory, kind, path, data)

    def rules(self, trainwatch):
        return {rule["rule"]: rule for rule in trainwatch.json("/api/v1/status")["rules"]}

    def alerts_of(self, trainwatch, rule):
        return [alert for alert in trainwatch.json("/api/v1/alerts?after=0&parts=1")["alerts"]
                if alert["rule"] == rule]

    def test_it_alone_starts_cold(self):
        middle = self.both_fire()
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            self.play(0, middle)
            trainwatch.wait_until_read()
            before = self.alerts_of(trainwatch, "getnext_outlier")
            self.assertEqual(before[-1]["state"], "firing")
            self.assertEqual(self.alerts_of(trainwatch, "step_spike")[-1]["state"], "firing")
            warm = self.rules(trainwatch)["step_spike"]
            self.assertEqual(warm["firing"], 1)
            self.assertEqual(trainwatch.stop(), 0)
        with harness.Trainwatch(self.directory, *CHANGED, state=self.state) as trainwatch:
            after = self.alerts_of(trainwatch, "getnext_outlier")
            self.assertEqual(after[:-1], before)
            self.assertEqual((after[-1]["id"], after[-1]["state"]), (before[-1]["id"], "resolved"))
            self.assertEqual(self.rules(trainwatch)["step_spike"], warm)
            self.assertEqual(self.rules(trainwatch)["getnext_outlier"]["firing"], 0)
            self.play(middle, float("inf"))
            trainwatch.wait_until_read()
            harness.wait_for(lambda: self.rules(trainwatch)["getnext_outlier"]["warming"], "it warms up")
            self.assertEqual(trainwatch.metric("trainwatch_rule_warming"),
                             sum(rule["warming"] for rule in self.rules(trainwatch).values()))
            self.assertEqual(trainwatch.stop(), 0)
        with harness.Trainwatch(self.directory, *CHANGED, state=self.state) as trainwatch:
            self.assertEqual(self.alerts_of(trainwatch, "getnext_outlier"), after)
            self.assertEqual(
                harness.final(self.alerts_of(trainwatch, "step_spike")),
                harness.final(alert for alert in self.replayed if alert["rule"] == "step_spike"))


if __name__ == "__main__":
    harness.main()
