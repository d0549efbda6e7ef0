# SPDX-License-Identifier: Apache-2.0
"""A slow step in JSON lines fires."""

import os
import tempfile
import unittest

import harness


class StepLinesTest(unittest.TestCase):
    def test_slow_step(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "steps.jsonl"), "w") as file:
                for step in range(100):
                    seconds = 3 if step == 80 else 0.2
                    file.write('{"step":%d,"start":%d,"step_seconds":%g}\n' % (step, 1700000000 + 5 * step, seconds))
            alerts = harness.replay(directory, "--rules=step_spike")
            self.assertEqual([alert["step"] for alert in alerts][:1], [80])


if __name__ == "__main__":
    harness.main()
