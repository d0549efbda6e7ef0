# SPDX-License-Identifier: Apache-2.0
"""Two independent WebSocket clients, python3-websockets and npm's ws, hear the same alerts; the first
one leaves after its first alert and comes back with after=SEQ."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

try:
    import websockets  # noqa: F401
except ImportError:
    websockets = None

import harness

HERE = os.path.dirname(os.path.abspath(__file__))


class WebSocketClientsTest(unittest.TestCase):
    def test_both_hear_the_same(self):
        with tempfile.TemporaryDirectory() as directory, harness.Trainwatch(directory) as trainwatch:
            node = subprocess.Popen(["node", os.path.join(HERE, "ws_client.js"), trainwatch.stream],
                                    stdout=subprocess.PIPE, text=True)
            self.addCleanup(node.stdout.close)
            self.assertEqual(json.loads(node.stdout.readline())["op"], "hello")
            with harness.Listener(trainwatch.stream) as listener:
                harness.play.play(harness.JOB, directory, speed=0)
                harness.wait_for(listener.alerts, "the first alert")
            first = listener.alerts()[:1]
            trainwatch.wait_until_read()
            with harness.Listener(trainwatch.stream, "?after=%d&epoch=%s" % (
                    first[0]["seq"], listener.frames[0]["epoch"])) as listener:
                trainwatch.stop()
                listener.wait_closed()
            python_heard = first + listener.alerts()
            frames = [json.loads(line) for line in node.stdout]
            self.assertEqual(node.wait(), 0)
        node_heard = [frame for frame in frames if frame["op"] == "alert"]
        self.assertGreaterEqual(len(node_heard), 2)
        self.assertEqual(python_heard, node_heard)
        self.assertEqual(harness.final(node_heard), harness.final(harness.replay(harness.JOB)))


if __name__ == "__main__":
    if websockets is None:
        harness.skip("python3-websockets is not installed")
    if shutil.which("node") is None:
        harness.skip("node is not installed")
    if not os.path.isdir(os.path.join(HERE, "node_modules", "ws")):
        harness.skip("npm's ws is not installed: npm ci --prefix tests/e2e")
    harness.main()
