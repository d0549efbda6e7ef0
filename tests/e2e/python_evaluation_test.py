# SPDX-License-Identifier: Apache-2.0
"""What python/trainwatch marks as an evaluation or a checkpoint is neither a stall nor a slow step."""

import os
import sys

import harness

sys.path.insert(0, os.path.join(harness.ROOT, "python"))
import trainwatch  # noqa: E402

SECOND = 1_000_000


class EvaluationTest(harness.JobTest):
    def record(self, pause):
        """200 steps of 50 ms; `pause(watch, began)` fills the 20 s after step 120."""
        watch = trainwatch.Watch(self.directory, rank=0, node="a")
        at = 1_795_000_000 * SECOND
        for step in range(200):
            watch.record("Step:ModeKeys.TRAIN", at, at + SECOND // 20, step)
            at += SECOND // 20
            if step == 120:
                pause(watch, at)
                at += 20 * SECOND
        watch.close()

    def reported(self):
        last = harness.final(harness.replay(self.directory)).values()
        return {(alert["rule"], alert["cause"]["name"]) for alert in last}

    def test_nothing_that_says_what_it_is(self):
        self.record(lambda watch, at: None)
        self.assertIn("stall", {rule for rule, _ in self.reported()})

    def test_an_evaluation_as_one_span(self):
        self.record(lambda watch, at: watch.record("Evaluation", at, at + 20 * SECOND))
        self.assertEqual(self.reported(), set())

    def test_a_checkpoint_is_what_it_is_called(self):
        self.record(lambda watch, at: watch.record("Checkpoint", at, at + 20 * SECOND))
        self.assertEqual(self.reported(), {("step_spike", "checkpoint")})

    def test_an_evaluation_with_steps_whose_metrics_take_long(self):
        def evaluate(watch, at):
            for step in range(40):
                begin = at + step * SECOND // 20
                watch.record("Step:ModeKeys.EVAL", begin, begin + SECOND // 20, step)
            watch.record("Evaluation", at, at + 20 * SECOND)
        self.record(evaluate)
        self.assertEqual(self.reported(), set())


if __name__ == "__main__":
    harness.main()
