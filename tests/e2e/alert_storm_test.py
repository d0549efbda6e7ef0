"""A storm of alerts (catalogue case 67): each slow call of four ranks is one, as fast as files are read. Every
subscriber gets all of them, and memory does not depend on how many there are.

TRAINWATCH_ALERTS sets how many, 5,000 without it.
"""

import os
import time

import harness
import process_figures
import spiky_job
import stream_clients

ALERTS = int(os.environ.get("TRAINWATCH_ALERTS", "5000"))
SUBSCRIBERS = 20
MOST_GROWTH_MIB = 40


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
            harness.wait_for(lambda: crowd.read(0.1) or crowd.has_all(messages), "all have come", 30 + ALERTS / 200)
            seconds = time.monotonic() - begun
            peak = process_figures.peak_resident_mib(trainwatch.pid)
        print("%d messages to %d subscribers in %.1f s, %d times disconnected; RSS %.1f MiB before, %.1f MiB at most" % (
            messages, SUBSCRIBERS, seconds, crowd.disconnected, before, peak))
        for subscriber in crowd.subscribers:
            self.assertEqual(subscriber.seqs, list(range(1, messages + 1)))
        self.assertLess(peak - before, MOST_GROWTH_MIB)


if __name__ == "__main__":
    harness.main()
