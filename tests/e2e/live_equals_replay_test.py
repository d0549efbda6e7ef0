# SPDX-License-Identifier: Apache-2.0
"""The recorded job, written beside a running trainwatch with random cuts and interleavings, gives
the same alerts as replaying the finished files."""

import tempfile
import unittest

try:
    import websockets  # noqa: F401
except ImportError:
    websockets = None

import harness


class LiveEqualsReplayTest(unittest.TestCase):
    def play(self, seed, max_chunk):
        """All alerts of a live run, to its very end."""
        with tempfile.TemporaryDirectory() as directory:
            with harness.Trainwatch(directory) as trainwatch, \
                    harness.Listener(trainwatch.stream, "?after=0&parts=1") as listener:
                harness.play.play(harness.JOB, directory, speed=0, seed=seed, max_chunk=max_chunk)
                trainwatch.wait_until_read()
                self.assertEqual(trainwatch.stop(), 0)
                listener.wait_closed()
                self.assertEqual(listener.close_code, 1001)
                return listener.alerts()

    def test_same_ids_and_same_final_content(self):
        replayed = harness.final(harness.replay("--parts", harness.JOB))
        self.assertTrue(replayed)
        for seed, max_chunk in ((None, 0), (1, 300), (2, 5000), (3, 100000), (4, 1000)):
            with self.subTest(seed=seed, max_chunk=max_chunk):
                alerts = self.play(seed, max_chunk)
                self.assertEqual(harness.final(alerts), replayed)
                seqs = [alert["seq"] for alert in alerts]
                self.assertEqual(seqs, list(range(1, len(seqs) + 1)))


if __name__ == "__main__":
    if websockets is None:
        harness.skip("python3-websockets is not installed")
    harness.main()
