# SPDX-License-Identifier: Apache-2.0
"""scripts/play.py leaves the files it played, at any cut and interleaving."""

import filecmp
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import play  # noqa: E402

JOB = os.path.join(ROOT, "tests", "data", "recorded-job")


def files_below(folder):
    return {os.path.relpath(os.path.join(where, name), folder)
            for where, _, names in os.walk(folder) for name in names}


class PlayTest(unittest.TestCase):
    def check(self, **options):
        with tempfile.TemporaryDirectory() as out:
            play.play(JOB, out, speed=0, **options)
            played = files_below(out)
            recorded = {path for path in files_below(JOB)
                        if path.split(os.sep)[0] in ("system", "framework", "profiler")}
            self.assertEqual(played, recorded)
            for path in played:
                self.assertTrue(filecmp.cmp(os.path.join(JOB, path), os.path.join(out, path),
                                            shallow=False), path)

    def test_in_order(self):
        self.check()

    def test_random_cuts(self):
        for seed in range(3):
            self.check(seed=seed, max_chunk=700)

    def test_writes_come_in_the_order_of_time(self):
        steps = list(play.order(play.read_job(JOB), None, 0))
        dues = [step[0] for step in steps]
        self.assertEqual(dues, sorted(dues))
        self.assertGreater(dues[-1] - dues[0], 60e6)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
