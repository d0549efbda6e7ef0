# SPDX-License-Identifier: Apache-2.0
"""A job that stands still is asked for dumps through its pipes, once, and only where the configuration says so; the
dumps that it then writes name who holds it up, in one incident with the stall."""

import os

import collective_hang_test
import harness
import live_job

SECONDS_BEFORE = 61.37  # no round number of steps, after which the rule waits for longer


class DumpRequestTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        self.prefix = os.path.join(self.directory, "pipes", "rank_")
        os.mkdir(os.path.dirname(self.prefix))
        self.pipes = []
        for rank in range(2):
            os.mkfifo(self.prefix + "%d.pipe" % rank)
            self.pipes.append(os.open(self.prefix + "%d.pipe" % rank, os.O_RDONLY | os.O_NONBLOCK))
            self.addCleanup(os.close, self.pipes[-1])
        os.mkfifo(self.prefix + "2.pipe")  # of a process that is gone

    def read(self):
        return [os.read(pipe, 128) for pipe in self.pipes]

    def watch(self, *options):
        return harness.Trainwatch(self.directory, "--set=stall.least_seconds=1", *options)

    def stalls(self, daemon):
        return [alert for alert in daemon.json("/api/v1/alerts?state=firing")["alerts"] if alert["rule"] == "stall"]

    def run_until_it_stands_still(self, daemon):
        """Steps at once, the last one now; then nothing. Returns the timeline, and when its last step ended."""
        end = live_job.now_us()
        timeline = live_job.RotatedTimeline(self.directory, "algo-1", live_job.Rank(end - SECONDS_BEFORE * 1_000_000, 1), period_us=3600_000_000)
        timeline.write_until(end)
        harness.wait_for(lambda: self.stalls(daemon), "the stall")
        return timeline, end

    def go_on(self, daemon, timeline):
        """For ten minutes at once, so that it does not stand still again."""
        timeline.write_until(live_job.now_us() + 600_000_000)
        harness.wait_for(lambda: not self.stalls(daemon), "the job goes on")

    def test_once_a_stall(self):
        with self.watch("--hang.request-dump=true", "--hang.pipe-prefix=" + self.prefix) as daemon:
            timeline, _ = self.run_until_it_stands_still(daemon)
            got = [b"", b""]

            def asked():
                for rank, more in enumerate(self.read()):
                    got[rank] += more
                return all(got)
            harness.wait_for(asked, "both pipes have a byte")
            self.go_on(daemon, timeline)
            asked()
            self.assertEqual([len(each) for each in got], [1, 1])
            harness.wait_for(lambda: "pipes=2" in daemon.log(), "it is in the log")
            self.assertIn("unread=1", daemon.log())

    def test_not_unless_configured(self):
        with self.watch("--hang.pipe-prefix=" + self.prefix) as daemon:
            self.go_on(daemon, self.run_until_it_stands_still(daemon)[0])
            self.assertEqual(self.read(), [b"", b""])

    def test_the_dumps_explain_the_stall(self):
        with self.watch() as daemon:
            _, end = self.run_until_it_stands_still(daemon)
            called = end * 1000 - 100_000_000
            for rank in range(collective_hang_test.RANKS):
                collective_hang_test.write(self.directory, rank, {3}, called=called, written=called + 60 * 10**9)

            def explained():
                alerts = {alert["rule"]: alert for alert in daemon.json("/api/v1/alerts?state=firing&parts=1")["alerts"]}
                return alerts if {"stall", "collective_hang"} <= set(alerts) else None
            alerts = harness.wait_for(explained, "the hang")
            self.assertEqual(alerts["collective_hang"]["evidence"]["suspects"], [3])
            harness.wait_for(lambda: explained()["stall"]["incident"] == alerts["collective_hang"]["id"], "one incident")


if __name__ == "__main__":
    harness.main()
