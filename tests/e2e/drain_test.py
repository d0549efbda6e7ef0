# SPDX-License-Identifier: Apache-2.0
"""A stop reads the files to their end first: what a job wrote last is judged, stored and delivered before the exit."""

import functools
import os
import shutil
import signal
import time

try:
    import websockets  # noqa: F401
except ImportError:
    websockets = None

import harness
import judge
import live_job
import spiky_job

START_US = 1_795_247_833_000_000
RANKS = 4
MEGABYTES = 50
SLOW_EVERY = 3000  # steps
LOST_US = 2_000_000
ENDS_WITH_JOB = "--process.ends-with-job=true"
TO_THE_END = "--process.drain-timeout=10m"


class Timeline:
    """Of one rank: a step is slow now and then, and the last ones are."""

    def __init__(self, number):
        self.number, self.rank = number, live_job.Rank(START_US, number)

    @functools.cached_property
    def everything(self):
        parts, written, size = [live_job.header(self.rank.base_us)], 0, MEGABYTES * 1_000_000 // RANKS
        while written < size:
            slow = self.rank.number % SLOW_EVERY == SLOW_EVERY - 1 or written > size - 5000
            parts.append(self.rank.next_step(LOST_US if slow else 0))
            written += len(parts[-1])
        return b"".join(parts)

    def write(self, directory, close):
        folder, name = os.path.join(directory, "framework"), "%d-algo-1_pythontimeline.json" % self.number
        closed = os.path.join(folder, "pevents", "2026112107")
        os.makedirs(closed, exist_ok=True)
        path = os.path.join(folder, name + ".tmp")
        with open(path, "ab") as file:
            file.write(self.everything + (b"\n]" if close else b""))
        if close:
            os.rename(path, os.path.join(closed, "%d_%s" % (self.rank.base_us + self.rank.end_us, name)))


class DrainTest(harness.JobTest):
    @classmethod
    def setUpClass(cls):
        cls.timelines = [Timeline(number) for number in range(RANKS)]
        for timeline in cls.timelines:
            assert timeline.everything

    def write(self, close, ranks=RANKS):
        """A job that writes all it has, and ends."""
        for timeline in self.timelines[:ranks]:
            timeline.write(self.directory, close)

    def check_final_content(self, arguments, close):
        with harness.Trainwatch(self.directory, TO_THE_END, *arguments) as trainwatch, \
                harness.Listener(trainwatch.stream, "?after=0&parts=1") as listener:
            self.write(close)
            began = time.monotonic()
            self.assertEqual(trainwatch.stop(), 0)
            took = time.monotonic() - began
            listener.wait_closed()
            self.assertEqual(listener.close_code, 1001)
        replayed = harness.replay(self.directory, "--parts")  # which ones speak first depends on who is read first
        self.assertGreater(len(replayed), RANKS)
        final, expected = harness.final(listener.alerts()), harness.final(replayed)
        print("%d MB read, judged and delivered (%d alerts) in %.2f s" % (MEGABYTES, len(final), took))
        return final, expected

    def test_a_job_that_ends_when_it_does(self):
        final, expected = self.check_final_content([ENDS_WITH_JOB], close=True)
        self.assertIn("run_ended", [alert["ended_because"] for alert in final.values()])
        self.assertEqual(final, expected)

    def test_a_job_that_may_go_on(self):
        final, expected = self.check_final_content([], close=False)
        self.assertIn("firing", [alert["state"] for alert in final.values()])
        self.assertEqual(final, expected)

    def test_it_goes_on_after_all(self):
        """As after a requeue: with the same state it continues where it stopped."""
        self.write(close=True, ranks=1)
        with harness.Trainwatch(self.directory, ENDS_WITH_JOB, TO_THE_END, state=self.state) as trainwatch:
            self.assertEqual(trainwatch.stop(), 0)
        first = harness.replay(self.directory)
        later = os.path.join(self.directory, "framework", "0-algo-1_pythontimeline.json.tmp")
        rank = live_job.Rank(START_US + 24 * 3600 * 1_000_000, 9)
        with harness.Trainwatch(self.directory, ENDS_WITH_JOB, TO_THE_END, state=self.state) as trainwatch:
            with open(later, "ab") as file:
                file.write(live_job.header(rank.base_us))
                file.write(b"".join(rank.next_step(LOST_US if n == 300 else 0) for n in range(400)))
            trainwatch.wait_until_read()
            self.assertEqual(trainwatch.stop(), 0)
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            client = judge.Client(trainwatch.url)
            client.catch_up()
            self.assertNotIn("level=error", trainwatch.log())
        seqs = [alert["seq"] for alert in client.alerts]
        self.assertEqual(seqs, sorted(set(seqs)))
        ids = {alert["id"] for alert in first}
        self.assertLessEqual(ids, {alert["id"] for alert in client.alerts})
        began = {alert["started_at"] for alert in client.alerts if alert["id"] not in ids}
        self.assertEqual(len(began), 1)  # the slow step that came later

    def test_a_burst_beyond_what_is_kept_for_clients(self):
        """More alerts than the window has: the store stays open until a client has taken them."""
        job = spiky_job.SpikyJob(self.directory, 3000, seed=1)
        with harness.Trainwatch(self.directory, *spiky_job.RULES, TO_THE_END, state=self.state) as trainwatch, \
                harness.Listener(trainwatch.stream, "?after=0") as listener:
            job.write_all()
            self.assertEqual(trainwatch.stop(), 0)
            listener.wait_closed()
        found = judge.judge(listener.alerts(), judge.before_the_end(harness.replay(self.directory, *spiky_job.RULES)))
        self.assertEqual(set(found.values()), {0}, found)

    def test_no_longer_than_allowed(self):
        with harness.Trainwatch(self.directory, "--process.drain-timeout=1ms", state=self.state) as trainwatch:
            self.stop_before_it_reads(trainwatch, signal.SIGTERM)
            log = trainwatch.log()
        self.assertIn("stopping before the end of the files", log)
        with harness.Trainwatch(self.directory, ENDS_WITH_JOB, state=self.state) as trainwatch:
            trainwatch.wait_until_read()
            client = judge.Client(trainwatch.url)
            client.catch_up()
        replayed = harness.replay(self.directory, "--parts")
        self.assertLessEqual({alert["id"] for alert in client.alerts}, {alert["id"] for alert in replayed})

    def stop_before_it_reads(self, trainwatch, *signals):
        trainwatch.signal(signal.SIGSTOP)
        self.write(close=False)
        for number in signals:
            trainwatch.signal(number)
        trainwatch.signal(signal.SIGCONT)
        self.assertEqual(trainwatch.wait(), 0)

    def test_a_second_signal_ends_it_at_once(self):
        """Without reading the files to their end."""
        for signals in ((signal.SIGTERM, signal.SIGINT), (signal.SIGINT, signal.SIGTERM)):
            with self.subTest(signals):
                shutil.rmtree(self.directory)
                os.mkdir(self.directory)
                state = "%s-%d" % (self.state, signals[0])
                with harness.Trainwatch(self.directory, TO_THE_END, state=state) as trainwatch:
                    self.stop_before_it_reads(trainwatch, *signals)
                replayed = harness.replay(self.directory, "--parts")
                shutil.rmtree(self.directory)
                os.mkdir(self.directory)
                with harness.Trainwatch(self.directory, state=state) as trainwatch:
                    self.assertLess(trainwatch.json("/api/v1/alerts")["last_seq"], len(replayed))


if __name__ == "__main__":
    if websockets is None:
        harness.skip("python3-websockets is not installed")
    harness.main()
