# SPDX-License-Identifier: Apache-2.0
"""Case 75: trainwatch is stopped for ten minutes while the training goes on. What it had no time to read is no
stall, and nothing is wrong with trainwatch; a training that stood still meanwhile is reported. A false clock
stands for the minutes."""

import json
import os
import signal
import time

import false_clock
import harness
import judge

STEP_SECONDS = 0.1
MINUTES = 10


class LiveJob:
    """A timeline whose steps end now, by a clock that may be ahead."""

    def __init__(self, directory):
        os.makedirs(os.path.join(directory, "framework"))
        self._path = os.path.join(directory, "framework", "0-algo-1_pythontimeline.json.tmp")
        self._began, self._steps = time.time() - 10, 0
        self.ahead = 0
        name = {"name": "process_name", "ph": "M", "pid": 0}
        self._append("[\n")
        self._write({**name, "args": {"start_time_since_epoch_in_micros": round(self._began * 1e6)}})
        self._write({**name, "args": {"name": "Step:ModeKeys.TRAIN"}})

    def train(self):
        """Writes the steps that have ended by now."""
        done = (time.time() + self.ahead - self._began) / STEP_SECONDS - 1
        while self._steps < done:
            start = self._steps * STEP_SECONDS
            self._write({"name": "Step:ModeKeys.TRAIN", "ph": "X", "pid": 0, "ts": round(start * 1e6),
                         "dur": round(STEP_SECONDS * 1e6), "args": {"step_num": str(self._steps)}})
            self._steps += 1

    def train_for(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.train()
            time.sleep(0.05)

    def _write(self, record):
        self._append(json.dumps(record) + ",\n")

    def _append(self, text):
        with open(self._path, "a") as file:
            file.write(text)


class SuspendedTest(harness.JobTest):
    def suspend(self, trainwatch, clock, job):
        """Ten minutes pass at once, of which trainwatch sees nothing."""
        trainwatch.signal(signal.SIGSTOP)
        time.sleep(1.5)  # so that all its timers are due when it goes on
        job.ahead += 60 * MINUTES
        clock.set(host=job.ahead, steady=job.ahead)

    def test_only_what_stood_still_is_reported(self):
        job, clock = LiveJob(self.directory), false_clock.FalseClock(self)
        job.train()
        with harness.Trainwatch(self.directory, "--rules=stall", state=self.state, env=clock.env) as trainwatch:
            client = judge.Client(trainwatch.url)
            job.train_for(3)
            for _ in range(2):
                self.suspend(trainwatch, clock, job)
                job.train()
                trainwatch.signal(signal.SIGCONT)
                job.train_for(3)
            trainwatch.wait_until_read()
            self.assertTrue(client.poll())
            self.assertEqual(client.alerts, [])
            self.assertEqual(trainwatch.metric("trainwatch_clock_jump_total"), 0)
            time.sleep(5)  # a tick, once a second, has seen that the last step is new: only then can the job stand still
            self.suspend(trainwatch, clock, job)
            trainwatch.signal(signal.SIGCONT)
            harness.wait_for(lambda: client.poll() and client.alerts, "the stall is seen")
            self.assertEqual([(alert["rule"], alert["state"]) for alert in client.alerts], [("stall", "firing")])
            job.train()
            harness.wait_for(lambda: client.poll() and client.alerts[-1]["state"] == "resolved", "it ends")
            self.assertEqual({alert["rule"] for alert in client.alerts}, {"stall"})


if __name__ == "__main__":
    false_clock.require()
    harness.main()
