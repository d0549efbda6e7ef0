# SPDX-License-Identifier: Apache-2.0
"""The stream `steps`: every training step once, live, and an unknown stream is refused."""

import unittest

try:
    import websockets
except ImportError:
    websockets = None

import harness


class StepsStreamTest(harness.JobTest):
    def test_each_step_is_sent(self):
        with harness.Trainwatch(self.directory) as trainwatch, \
                harness.Listener(trainwatch.stream, "?streams=steps") as listener:
            harness.play.play(harness.JOB, self.directory, speed=0)
            total = harness.wait_for(lambda: trainwatch.metric("trainwatch_steps_total"), "steps")
            trainwatch.wait_until_read()
            total = trainwatch.metric("trainwatch_steps_total")
            sent = lambda: sum(len(frame["steps"]) + frame["dropped"]  # noqa: E731
                               for frame in listener.frames if frame["op"] == "step")
            harness.wait_for(lambda: sent() >= total, "%d steps" % total)
            frames = [frame for frame in listener.frames if frame["op"] == "step"]
            self.assertEqual(listener.alerts(), [])  # not asked for
            self.assertEqual(trainwatch.stop(), 0)
        self.assertTrue(all(len(frame["steps"]) <= 256 for frame in frames))
        steps = [step for frame in frames for step in frame["steps"]]
        known = {(step.get("rank"), step["mode"], step["origin"], step["step"]) for step in steps}
        self.assertEqual(len(known), len(steps))  # each once
        for step in steps:
            self.assertGreater(step["duration_seconds"], step["data_wait_seconds"])
            self.assertIn(step["origin"], ("timeline", "profiler"))
            self.assertRegex(step["started_at"], r"^\d{4}-\d\d-\d\dT[\d:.]+Z$")
        print("%d steps in %d messages" % (total, len(frames)))

    def test_an_unknown_stream_is_refused(self):
        with harness.Trainwatch(self.directory) as trainwatch, \
                harness.Listener(trainwatch.stream) as listener:
            listener.send({"op": "subscribe", "streams": ["step"]})
            harness.wait_for(lambda: [frame for frame in listener.frames if frame["op"] == "error"
                                      and "alerts, steps, status and tensors" in frame["message"]], "an error")


if __name__ == "__main__":
    if websockets is None:
        harness.skip("python3-websockets is not installed")
    harness.main()
