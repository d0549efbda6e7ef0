# SPDX-License-Identifier: Apache-2.0
"""While state cannot be stored, because the disk is full, trainwatch reads on, and alerts
come without a number. When there is room again they come with one: none is lost, none twice."""

import os
import subprocess
import time

try:
    import websockets  # noqa: F401
except ImportError:
    websockets = None

import harness
import judge
import spiky_job


class FullDiskTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.state)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", self.state], check=True)
        self.addCleanup(lambda: subprocess.run(["umount", "--lazy", self.state], check=True))
        self.job = spiky_job.SpikyJob(self.directory, 120, seed=1, ranks=2)

    def fill(self):
        with open(os.path.join(self.state, "filler"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def first_provisional(self, listener):
        """The number of alerts up to it, itself included; nothing while there is none."""
        return next((count for count, alert in enumerate(listener.alerts(), 1) if alert.get("provisional")), None)

    def free(self):
        os.remove(os.path.join(self.state, "filler"))

    def test_nothing_is_lost(self):
        self.job.write_some(100)
        with harness.Trainwatch(self.directory, *spiky_job.RULES, state=self.state) as trainwatch, \
                harness.Listener(trainwatch.stream, "?after=0") as listener:
            trainwatch.wait_until_read()
            self.fill()
            self.job.write_some(100)
            began = time.monotonic()
            numbered = harness.wait_for(lambda: self.first_provisional(listener), "provisional alerts") - 1
            took = time.monotonic() - began
            self.assertEqual(trainwatch.metric("trainwatch_state_degraded"), 1)
            self.job.write_some(100)
            trainwatch.wait_until_read()
            trainwatch.get("/-/healthy")
            trainwatch.get("/-/ready")
            provisional = [alert for alert in listener.alerts() if alert.get("provisional")]
            self.assertEqual(listener.alerts()[numbered:], provisional)
            self.assertNotIn("seq", provisional[0])
            self.free()
            harness.wait_for(lambda: trainwatch.metric("trainwatch_state_degraded") == 0,
                             "it stores again")
            self.job.write_all()
            trainwatch.wait_until_read()
            self.assertEqual(trainwatch.stop(), 0)
            listener.wait_closed()
        alerts = [alert for alert in listener.alerts() if not alert.get("provisional")]
        found = judge.judge(alerts, harness.replay(self.directory, *spiky_job.RULES))
        print("provisional after %.1f s, %d of them, then: %s" % (took, len(provisional), found))
        self.assertEqual(set(found.values()), {0}, found)
        self.assertLessEqual({alert["id"] for alert in provisional}, {alert["id"] for alert in alerts})
        self.assertEqual([(alert["rule"], alert["state"]) for alert in alerts
                          if judge.is_about_itself(alert)], [("_self/state_degraded", "firing")])



if __name__ == "__main__":
    if websockets is None:
        harness.skip("python3-websockets is not installed")
    if os.geteuid() != 0:
        harness.skip("only root may mount a small tmpfs")
    harness.main()
