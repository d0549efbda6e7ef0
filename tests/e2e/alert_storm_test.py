# SPDX-License-Identifier: Apache-2.0
"""A storm of alerts (catalogue case 67): each slow call of four ranks is one, as fast as files are read. Every
subscriber gets all of them, and memory does not depend on how many there are. Nor does it if a step is slow on every
rank of a large job: more than an incident remembers, they are said to be one all the same.

TRAINWATCH_ALERTS sets how many, 5,000 without it.
"""

import os
import time

import harness
import live_job
import process_figures
import spiky_job
import stream_clients

ALERTS = int(os.environ.get("TRAINWATCH_ALERTS", "5000"))
SUBSCRIBERS = 20
MOST_GROWTH_MIB = 40

RANKS = 700
STEPS_BEFORE = 60


class AlertStormTest(harness.JobTest):
    def test_memory_is_bounded_and_everybody_gets_everything(self):
        unseen = self.directory + ".all"
        os.mkdir(unseen)
        spiky_job.SpikyJob(unseen, ALERTS, seed=1).write_all()
        messages = len(harness.replay(unseen, *spiky_job.RULES))
        with harness.Trainwatch(self.directory, *spiky_job.RULES, state=self.state) as trainwatch:
            before, begun = process_figures.resident_mib(trainwatch.pid), time.monotonic()
            crowd = stream_clients.Crowd(trainwatch.url, SUBSCRIBERS)
            self.addCleanup(crowd.close)
            os.rename(unseen, os.path.join(self.directory, "job"))
            harness.wait_for(lambda: crowd.read(0.1) or crowd.has_all(messages), "all have come",
                             harness.PATIENCE_SECONDS + ALERTS / 200)
            seconds = time.monotonic() - begun
            peak = process_figures.peak_resident_mib(trainwatch.pid)
        print("%d messages to %d subscribers in %.1f s, %d times disconnected; RSS %.1f MiB before, %.1f MiB at most" % (
            messages, SUBSCRIBERS, seconds, crowd.disconnected, before, peak))
        for subscriber in crowd.subscribers:
            self.assertEqual(subscriber.seqs, list(range(1, messages + 1)))
        self.assertLess(peak - before, MOST_GROWTH_MIB)

    def test_a_step_that_is_slow_on_every_rank_is_one_incident(self):
        folder = os.path.join(self.directory, "framework")
        os.mkdir(folder)
        base_us = live_job.now_us() - STEPS_BEFORE * live_job.STEP_US
        ranks = [live_job.Rank(base_us, seed) for seed in range(RANKS)]
        files = [open(os.path.join(folder, "%d-node_pythontimeline.json.tmp" % number), "wb", buffering=0) for number in range(RANKS)]
        for rank, file in zip(ranks, files):
            self.addCleanup(file.close)
            file.write(live_job.header(base_us) + b"".join(rank.next_step() for _ in range(STEPS_BEFORE)))
        with harness.Trainwatch(self.directory, "--rules=step_spike,getnext_outlier", state=self.state) as trainwatch:
            trainwatch.wait_until_read()
            before = process_figures.resident_mib(trainwatch.pid)
            for rank, file in zip(ranks, files):
                file.write(rank.next_step(30 * live_job.STEP_US))
                time.sleep(0.001)  # not all at once, as a rule
            alerts = 2 * RANKS  # the slow step, and the wait for its batch
            harness.wait_for(lambda: trainwatch.metric("trainwatch_alerts_total") == alerts, "all have their alerts")
            latest, messages = self.latest(trainwatch)
            peak = process_figures.peak_resident_mib(trainwatch.pid)
        print("%d messages of %d alerts; RSS %.1f MiB before, %.1f MiB at most" % (messages, len(latest), before, peak))
        speaker, = {alert["incident"] for alert in latest.values()}
        self.assertEqual(latest[speaker]["subject"]["ranks"], "0-%d" % (RANKS - 1))
        self.assertLess(messages, 3 * alerts)
        self.assertLess(peak - before, MOST_GROWTH_MIB)

    def latest(self, trainwatch):
        """What was said last of each alert, by id; how many messages there were."""
        found, after = {}, 0
        while True:
            page = trainwatch.json("/api/v1/alerts?parts=1&after=%d" % after)
            if not page["alerts"]:
                return found, after
            found.update((alert["id"], alert) for alert in page["alerts"])
            after = page["next"]


if __name__ == "__main__":
    harness.main()
