# SPDX-License-Identifier: Apache-2.0
"""Two trials of one directory are compared: while both are written, over a restart between, and afterwards."""

import os
import struct

import harness
from harness import Trainwatch
from trial_writer import TrialWriter

RULES = ["--rules=similar_across_runs", "--set=similar_across_runs.other_trials=before"]
FIRST_WRONG = 5


def weights(step, wrong):
    return ("float32", [2, 2], struct.pack("<4f", 1, step, -step, 2.5 if wrong else 2))


class TwoRunsTest(harness.JobTest):
    def save(self, runs, steps):
        for step in steps:
            for name, trial in runs.items():
                trial.save(step, {"fc.bias": ("float32", [1], struct.pack("<f", step)),
                                  "fc.weight": weights(step, name == "after" and step >= FIRST_WRONG)})

    def test_the_first_difference_is_found_whichever_is_ahead(self):
        runs = {name: TrialWriter(os.path.join(self.directory, name)) for name in ("before", "after")}
        with Trainwatch(self.directory, *RULES, state=self.state) as trainwatch:
            self.save(runs, range(4))
            # From here on the run that is judged is ahead of the other one.
            self.save({"after": runs["after"]}, range(4, 8))
            tensors = lambda: trainwatch.json("/api/v1/status")["sources"][0]["events"]  # noqa: E731
            harness.wait_for(lambda: tensors() == 2 * (4 + 8), "both are read")
            self.assertEqual(trainwatch.json("/api/v1/alerts")["alerts"], [])
        with Trainwatch(self.directory, *RULES, state=self.state) as trainwatch:
            self.save({"before": runs["before"]}, range(4, 8))
            harness.wait_for(lambda: trainwatch.json("/api/v1/alerts")["alerts"], "they differ")
            for trial in runs.values():
                trial.end()
            alert = trainwatch.json("/api/v1/alerts")["alerts"][0]
        self.assertEqual((alert["rule"], alert["severity"], alert["subject"]["job"], alert["step"]),
                         ("similar_across_runs", "warning", "after", FIRST_WRONG))
        self.assertEqual([(one["tensor"], one["mode"]) for one in alert["evidence"]["tensors"]], [("fc.weight", "train")])
        replayed = harness.final(harness.replay(self.directory, *RULES))
        self.assertEqual([one["step"] for one in replayed.values()], [FIRST_WRONG])
        self.assertIn(alert["id"], replayed)


if __name__ == "__main__":
    harness.main()
