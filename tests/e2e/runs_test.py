# SPDX-License-Identifier: Apache-2.0
"""What /api/v1/runs, the state of alerts and a missing path say, of a running trainwatch."""

import os
import re
import shutil
import sys
import time
import unittest

import harness
import process_figures

sys.path.insert(0, os.path.join(harness.ROOT, "tests", "bench", "performance"))
from growing_timeline import WARM_UP_STEPS, GrowingTimeline  # noqa: E402


class RunsTest(harness.JobTest):
    def steps(self, trainwatch):
        found = re.search(r'^trainwatch_steps_total\{.*rank="0".*\} (\d+)', trainwatch.get("/metrics"), re.M)
        return int(found.group(1)) if found else 0

    def test_a_finished_job(self):
        shutil.copytree(harness.JOB, self.directory, dirs_exist_ok=True)
        with harness.Trainwatch(self.directory) as trainwatch:
            harness.wait_for(lambda: self.steps(trainwatch) == 600, "all is read")
            run = trainwatch.json("/api/v1/runs")["runs"][0]
            self.assertEqual((run["attempt"], run["step"]), (1, 599))
            self.assertAlmostEqual(run["seconds_per_step"], harness.truth()["step_seconds"]["median"], delta=0.02)
            self.assertLess(sum(run["lost_seconds"].values()), run["elapsed_seconds"])
            self.assertGreater(run["lost_seconds"]["input_wait"], 3.5)
            life = run["life"]
            self.assertAlmostEqual(sum(life["seconds"].values()), life["wall_seconds"], delta=0.001 * life["wall_seconds"])
            self.assertEqual([attempt["number"] for attempt in run["attempts"]], [1])
            harness.wait_for(lambda: trainwatch.json("/api/v1/runs")["runs"][0]["state"] == "finished",
                             "its run is finished")
            self.assertEqual(trainwatch.json("/api/v1/alerts?state=firing")["alerts"], [])
            headline = trainwatch.json("/api/v1/runs")["runs"][0]["headline"]
            self.assertEqual(headline["text"], "Finished at step 599 after 61 s (rank 0, until {since}); 8 % was lost, "
                                               "mostly waiting for data.")
            self.assertTrue(headline["since"].startswith("2026-11-21T07:58:13"))
            why = {alert["ended_because"] for alert in trainwatch.json("/api/v1/alerts?state=resolved")["alerts"]}
            self.assertLessEqual(why, {"recovered", "run_ended"})
            self.assertIn('trainwatch_run_state{state="finished"} 1', trainwatch.get("/metrics"))

    def test_what_the_first_steps_lost_is_known_at_once(self):
        """Even where waits for data, of which there are none, might still be read from another file."""
        timeline = GrowingTimeline(self.directory, rank=0)
        timeline.step(4_000_000)
        for _ in range(WARM_UP_STEPS + 1, 100):
            timeline.step()
        timeline.close()
        with harness.Trainwatch(self.directory) as trainwatch:
            harness.wait_for(lambda: self.steps(trainwatch) == 100, "all is read")
            harness.wait_for(lambda: trainwatch.json("/api/v1/runs")["runs"][0]["elapsed_seconds"] > 13.5, "all steps count")
            run = trainwatch.json("/api/v1/runs")["runs"][0]
            self.assertAlmostEqual(sum(run["lost_seconds"].values()), 3.9, delta=0.1)
            self.assertAlmostEqual(run["lost_share"], 3.9 / 13.9, delta=0.01)
            rows = trainwatch.json("/api/v1/heatmap?what=wall_time")["rows"]
            drawn = {row["part"]: sum(filter(None, row["values"])) for row in rows}
            self.assertAlmostEqual(sum(drawn[part] for part in run["lost_seconds"]), 3.9, delta=0.1)

    def test_who_asks_after_a_while_gets_the_latest(self):
        """While nobody looks, snapshots come every five seconds only."""
        timeline = GrowingTimeline(self.directory, rank=0)
        self.addCleanup(timeline.close)
        now = WARM_UP_STEPS
        with harness.Trainwatch(self.directory) as trainwatch:
            harness.wait_for(lambda: self.steps(trainwatch) == now, "all is read")
            for more in (12, 9):
                now += more
                for _ in range(more):
                    before = process_figures.bytes_read(trainwatch.pid)
                    size = timeline.step()
                    # Nobody may ask it whether it has read the step.
                    harness.wait_for(lambda: process_figures.bytes_read(trainwatch.pid) >= before + size, "the step is read")
                    time.sleep(1)
                self.assertEqual(self.steps(trainwatch), now)
                self.assertEqual(trainwatch.json("/api/v1/runs")["runs"][0]["step"], now - 1)

    def test_a_path_that_does_not_exist_yet(self):
        missing = os.path.join(self.directory, "later")
        with harness.Trainwatch(missing) as trainwatch:
            self.assertEqual(trainwatch.json("/api/v1/status")["missing_roots"], [missing])
            self.assertEqual(trainwatch.metric("trainwatch_watch_roots_missing"), 1)
            self.assertIn("does not exist", trainwatch.log())
            said = trainwatch.json("/api/v1/runs")
            self.assertEqual(said["monitor"],
                             "Monitoring is impaired: nothing is read from %s: it does not exist." % missing)
            self.assertRegex(said["now"], r"^20\d\d-.*Z$")
            shutil.copytree(harness.JOB, missing)
            harness.wait_for(lambda: self.steps(trainwatch) == 600, "all is read")
            harness.wait_for(lambda: trainwatch.json("/api/v1/status")["missing_roots"] == [], "nothing is missing")
            harness.wait_for(lambda: trainwatch.json("/api/v1/runs")["monitor"] == "", "it sees all")


if __name__ == "__main__":
    harness.main()
