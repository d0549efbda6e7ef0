# SPDX-License-Identifier: Apache-2.0
"""This version starts with the state that each earlier one left when it was killed while alerts were firing
(scripts/keep_state.py; tests/data/states has one of each release), and the job's files are gone."""

import glob
import gzip
import os
import shutil

import harness

STATES = os.path.join(harness.ROOT, "tests", "data", "states", "*.db.gz")


class UpgradeTest(harness.JobTest):
    def unpack(self, kept):
        shutil.rmtree(self.state, ignore_errors=True)
        os.mkdir(self.state, 0o700)
        with gzip.open(kept) as file, open(os.path.join(self.state, "state.db"), "wb") as out:
            shutil.copyfileobj(file, out)

    def alerts(self, trainwatch):
        return trainwatch.json("/api/v1/alerts?after=0&limit=1000")["alerts"]

    def test_each_release(self):
        states = sorted(glob.glob(STATES))
        self.assertTrue(states)
        for kept in states:
            with self.subTest(os.path.basename(kept)):
                self.unpack(kept)
                with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
                    # Nobody will say that they are over but trainwatch itself.
                    harness.wait_for(lambda: {alert["state"] for alert in harness.final(self.alerts(trainwatch)).values()} ==
                                     {"resolved"}, "all alerts are resolved")
                    first = self.alerts(trainwatch)
                    self.assertIn("loss_nan", {alert["rule"] for alert in first})
                    self.assertFalse([alert for alert in first if alert["rule"].startswith("_self/")])
                    sequence = [alert["seq"] for alert in first]
                    self.assertEqual(sequence, sorted(set(sequence)))
                with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
                    self.assertEqual(self.alerts(trainwatch), first)


if __name__ == "__main__":
    harness.main()
