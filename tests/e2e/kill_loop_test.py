# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at any moment loses nothing, repeats nothing and changes nothing.

A job writes while trainwatch is killed and started again, TRAINWATCH_KILLS times (1,000). A client
asks for what is new all the while. In the end what the client has is what a replay of the finished
files gives: each alert, its last content, the order within a rank, and no number missing."""

import os
import random
import signal
import sys
import tempfile
import time
import unittest

import harness
import judge
import spiky_job

KILLS = int(os.environ.get("TRAINWATCH_KILLS", "1000"))
SEED = int(os.environ.get("TRAINWATCH_SEED", "1"))
ALERTS_PER_KILL = 20
# The client is slower than the job in a long run, and must not get a gap.
KEEP_ALL = ["--storage.retention-alerts=10000000"]
SPIKES_PER_KILL = 26  # a few do not become alerts of their own


class KillLoopTest(unittest.TestCase):
    def test_random_kills(self):
        numbers = random.Random(SEED)
        with tempfile.TemporaryDirectory() as scratch:
            directory, state = os.path.join(scratch, "job"), os.path.join(scratch, "state")
            os.mkdir(directory)
            job = spiky_job.SpikyJob(directory, KILLS * SPIKES_PER_KILL, SEED)
            per_kill = SPIKES_PER_KILL * 7
            port = harness.free_port()
            client = judge.Client("http://127.0.0.1:%d" % port)
            with open(os.path.join(scratch, "log"), "w+") as log:
                for _ in range(KILLS):
                    process = spiky_job.start(directory, state, port, log, *KEEP_ALL)
                    until = time.monotonic() + numbers.uniform(0, 0.12)
                    budget = per_kill
                    while time.monotonic() < until:
                        records = min(budget, numbers.randint(1, 60))
                        if records > 0:
                            job.write_some(records)
                            budget -= records
                        if numbers.random() < 0.3:
                            client.poll()
                    if process.poll() is not None:
                        self.fail("ended by itself: " + open(log.name).read()[-2000:])
                    process.kill()
                    process.wait()
                job.write_all()
                process = spiky_job.start(directory, state, port, log, *KEEP_ALL)
                self.addCleanup(lambda: process.poll() is None and process.kill())
                replayed = harness.replay(directory, *spiky_job.RULES)
                self.finish(client, process, replayed)
            found = judge.judge(client.alerts, replayed)
            print("%d kills, %d alerts in %d messages: %s" %
                  (KILLS, len(harness.final(replayed)), len(client.alerts), found))
            self.assertEqual(set(found.values()), {0}, found)
            self.assertGreaterEqual(len(harness.final(replayed)), KILLS * ALERTS_PER_KILL)

    def finish(self, client, process, replayed):
        harness.wait_for(client.poll, "trainwatch answers")
        client.poll_until_all(replayed)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(harness.PATIENCE_SECONDS), 0)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    harness.main()
