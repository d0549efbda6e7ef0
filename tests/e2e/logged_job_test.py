# SPDX-License-Identifier: Apache-2.0
"""A job that nobody prepared: nothing but what its launcher printed, watched by a running trainwatch."""

import datetime
import json
import os
import re
import time
import unittest

import harness

MEGATRON = (" [{at:%Y-%m-%d %H:%M:%S}] iteration {step:8d}/    5000 | consumed samples: {samples:12d} | "
            "elapsed time per iteration (ms): {ms:.1f} | learning rate: 4.0E-07 | global batch size:   128 | "
            "lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: 0.493 | number of skipped iterations:   0 | "
            "number of nan iterations:   0 |\n")
DETECTRON = ("[{at:%m/%d %H:%M:%S} d2.utils.events]:  eta: 0:10:00  iter: {step}  total_loss: {loss:.4f}  "
             "time: {seconds:.4f}  data_time: {wait:.4f}  lr: 0.02\n")


class LoggedJobTest(harness.JobTest):
    def write(self, text, name="slurm-12.out"):
        with open(os.path.join(self.directory, name), "a") as log:
            log.write(text)

    def alert(self, trainwatch, rule):
        firing = trainwatch.json("/api/v1/alerts?state=firing")["alerts"]
        return next((alert for alert in firing if alert["rule"] == rule), None)

    def megatron(self, slow_from=None, hours_ago=0):
        """100 records of ten iterations each, the last one now; from `slow_from` on they take 1.5 times as long."""
        seconds = [1.5 if slow_from and step > slow_from else 1.0 for step in range(10, 1010, 10)]
        at = datetime.datetime.now() - datetime.timedelta(hours=hours_ago, seconds=10 * sum(seconds))
        lines = []
        for number, each in enumerate(seconds, 1):
            at += datetime.timedelta(seconds=10 * each)
            lines.append(MEGATRON.format(at=at, step=10 * number, samples=1280 * number, ms=1000 * each,
                                         loss=2 + 1 / number))
        return "".join(lines)

    def test_steps_rate_and_state(self):
        self.write(self.megatron())
        with harness.Trainwatch(self.directory) as trainwatch:
            harness.wait_for(lambda: trainwatch.json("/api/v1/runs")["runs"], "the run is known")
            harness.wait_for(lambda: trainwatch.json("/api/v1/runs")["runs"][0]["state"] == "running", "it runs")
            run = trainwatch.json("/api/v1/runs")["runs"][0]
            self.assertEqual(run["step"], 1000)
            self.assertAlmostEqual(run["seconds_per_step"], 1, delta=0.01)
            page = trainwatch.get("/metrics")
            self.assertRegex(page, r'(?m)^trainwatch_steps_total\{.*mode="train".*\} 991$')  # the first record: one
            self.assertRegex(page, r'(?m)^trainwatch_scalar\{.*tag="lm loss".*\} 2\.01$')
            self.assertEqual(trainwatch.json("/api/v1/alerts?state=firing")["alerts"], [])
            chart = trainwatch.json("/api/v1/steps?job=&columns=1")["columns"]
            for column in (chart["p50"], chart["phases"]["other"]):  # of one iteration, not of the interval
                self.assertAlmostEqual(column[-1], 1, delta=0.01)
            self.assertEqual(trainwatch.json("/api/v1/analyses/temporal_breakdown?job=")["rows"], [])

    def test_a_slowdown(self):
        self.write(self.megatron(slow_from=600))
        with harness.Trainwatch(self.directory) as trainwatch:
            harness.wait_for(lambda: self.alert(trainwatch, "throughput_regression"), "the slowdown is found")
            alert = self.alert(trainwatch, "throughput_regression")
            self.assertAlmostEqual(alert["value"] / alert["baseline"], 1.5, delta=0.02)
            self.assertIn("since step 610", alert["summary"])
            harness.wait_for(lambda: trainwatch.json("/api/v1/runs")["runs"][0]["state"] == "slow", "it is slow")
        # A replay says the same.
        replayed = [alert for alert in harness.final(harness.replay(self.directory)).values()
                    if alert["rule"] == "throughput_regression"]
        self.assertEqual([alert["id"] for alert in replayed], [alert["id"]])

    def test_the_end_of_one_log_beside_another_one(self):
        """A replay cannot know whether a log that just stops is of a job that stands still or was killed: it says neither. What
        other jobs wrote later shows nothing of this one."""
        os.mkdir(os.path.join(self.directory, "ended"))
        os.mkdir(os.path.join(self.directory, "killed"))
        self.write(self.megatron(hours_ago=3) + "[after training is done] datetime: 2026-11-25 10:00:00\n",
                   "ended/slurm-1.out")
        self.write(self.megatron(hours_ago=3), "killed/slurm-2.out")
        long_ago = time.time() - 3 * 3600
        os.utime(os.path.join(self.directory, "killed", "slurm-2.out"), (long_ago, long_ago))
        self.write(self.megatron())
        stalls = [alert["subject"]["job"] for alert in harness.final(harness.replay(self.directory)).values()
                  if alert["rule"] == "stall"]
        self.assertEqual(stalls, [])
        runs = {run["job"]: run for run in map(json.loads, harness.run("runs", self.directory).stdout.splitlines())}
        self.assertEqual({job: run["state"] for job, run in runs.items()}, {"ended": "finished", "killed": "running", "": "running"})

    def test_waits_for_data(self):
        now = datetime.datetime.now()
        lines = [DETECTRON.format(at=now - datetime.timedelta(seconds=10 * (40 - number)), step=20 * number - 1, loss=1.9,
                                  seconds=0.5, wait=0.2) for number in range(1, 41)]
        self.write("".join(lines))
        with harness.Trainwatch(self.directory) as trainwatch:
            harness.wait_for(lambda: self.alert(trainwatch, "input_bound"), "the waits are found")
            alert = self.alert(trainwatch, "input_bound")
            self.assertEqual(alert["cause"]["name"], "input_wait")
            self.assertAlmostEqual(alert["value"], 40, delta=0.5)

            def lost():
                found = re.search(r'(?m)^trainwatch_lost_gpu_seconds_total\{.*cause="input_wait".*\} (\S+)',
                                  trainwatch.get("/metrics"))
                return float(found.group(1)) if found else 0
            # Of 781 iterations; the last record waits for what may follow of it, and those of the last minute, in
            # stretches of ten seconds, for samples that may explain them.
            harness.wait_for(lambda: 0.2 * (781 - 20 - 160) <= lost() <= 0.2 * 781, "what was lost is known")


if __name__ == "__main__":
    harness.main()
