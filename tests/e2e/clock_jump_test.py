# SPDX-License-Identifier: Apache-2.0
"""Case 53: the host's clock jumps by hours and days while a job is read. Alerts come as in a replay, and
none about trainwatch itself."""

import false_clock
import harness
import judge
import spiky_job

HOUR, DAY = 3600, 86400


class ClockJumpTest(harness.JobTest):
    def test_alerts_are_those_of_a_replay(self):
        job, clock = spiky_job.SpikyJob(self.directory, 200, seed=1), false_clock.FalseClock(self)
        with harness.Trainwatch(self.directory, *spiky_job.RULES, state=self.state, env=clock.env) as trainwatch:
            for jumps, offset in enumerate((HOUR, -HOUR, DAY, -DAY, 0), 1):
                job.write_some(1000)
                clock.set(offset)
                harness.wait_for(lambda: trainwatch.metric("trainwatch_clock_jump_total") >= jumps, "the jump")
            job.write_all()
            replayed = harness.replay(self.directory, *spiky_job.RULES)
            client = judge.Client(trainwatch.url)
            client.poll_until_all(replayed)
            self.assertEqual(trainwatch.stop(), 0)
        self.assertFalse([alert for alert in client.alerts if judge.is_about_itself(alert)])
        found = judge.judge(client.alerts, replayed)
        self.assertEqual(set(found.values()), {0}, found)


if __name__ == "__main__":
    false_clock.require()
    harness.main()
