# SPDX-License-Identifier: Apache-2.0
"""What the writers of this folder share: the options of a training, its pace, a tiny task, and the truth about it.

    NAME.py OUTDIR TRUTHFILE [--nan-at=STEP] [--slow-at=STEP] [--steps=N] [--step-seconds=S]

OUTDIR is what trainwatch watches; standard output and error of NAME.py belong into OUTDIR/train.log. TRUTHFILE says what
was trained, and what each file says of it:

    {"writer": NAME, "began_at": s, "ended_at": s, "nan_at": step, "slow_at": step,
     "steps": [{"step", "loss", "at"}, ...]         each iteration, counted from 0; when it ended, in seconds since 1970
     "logs": [{"file": glob below OUTDIR, "tag": what the file calls the loss, "decimals" or "significant": digits of
               a loss, none: as many as a float has, "counts": how its steps are counted, "per": iterations of a step
               as it is counted, "records": [{"step", "loss", "at", ...}, ...]}, ...]}

From --nan-at a batch has a NaN, so that loss and weights become NaN as they do in real trainings. From --slow-at an
iteration takes four times as long. Both count iterations from 0.
"""

import argparse
import json
import os
import random
import statistics
import sys
import time

SEED = 7
SLOWER = 4


class Log:
    """What one file says about the loss."""

    def __init__(self, file, tag, counts, per, digits):
        self.truth = {"file": file, "tag": tag, "counts": counts, "per": per, **digits, "records": []}

    def record(self, step, loss, **more):
        """A record has been written. `step` is as the file counts, None where it has none."""
        self.truth["records"].append({"step": step, "loss": float(loss), "at": time.time(), **more})


class Training:
    """The options of one training, and the truth about it, which is written at the end of the `with` block."""

    def __init__(self, steps, step_seconds=0.03):
        parser = argparse.ArgumentParser()
        parser.add_argument("out")
        parser.add_argument("truth")
        parser.add_argument("--nan-at", type=int)
        parser.add_argument("--slow-at", type=int)
        parser.add_argument("--steps", type=int, default=steps)
        parser.add_argument("--step-seconds", type=float, default=step_seconds)
        self._options, self.more = parser.parse_known_args()
        self.out, self.steps = os.path.abspath(self._options.out), self._options.steps
        self.truth_file = os.path.abspath(self._options.truth)
        self._steps, self._logs = [], []
        self._began_at = time.time()
        os.makedirs(self.out, exist_ok=True)
        sys.stdout.reconfigure(line_buffering=True)
        random.seed(SEED)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Also after an exception: what was trained until then."""
        options = self._options
        with open(self.truth_file, "w") as file:
            json.dump({"writer": os.path.basename(sys.argv[0])[:-len(".py")], "options": self.more, "nan_at": options.nan_at,
                       "slow_at": options.slow_at, "began_at": self._began_at, "ended_at": time.time(), "steps": self._steps,
                       "logs": [log.truth for log in self._logs]}, file, indent=1)

    def log(self, file="train.log", tag="loss", counts="iterations from 0", per=1, **digits):
        """Says what will be recorded in a file."""
        self._logs.append(Log(file, tag, counts, per, digits))
        return self._logs[-1]

    def is_nan(self, step):
        return self._options.nan_at is not None and step >= self._options.nan_at

    def pause(self, step):
        """What a larger model would take for this iteration."""
        is_slow = self._options.slow_at is not None and step >= self._options.slow_at
        time.sleep(self._options.step_seconds * (SLOWER if is_slow else 1))

    def trained(self, step, loss):
        """An iteration has ended. `loss` is None where it has none."""
        self._steps.append({"step": step, "loss": loss, "at": time.time()})

    def mean_loss(self, last):
        """Of so many iterations, the last ones."""
        return statistics.fmean(step["loss"] for step in self._steps[-last:])


class Regression:
    """y = 3x - 1 with noise, by gradient descent in plain Python; for loops without a library."""

    def __init__(self, training):
        self._training = training
        self._slope = self._offset = 0.0

    def step(self, step, learning_rate=0.05):
        """The loss of this iteration, which takes its time."""
        points = [(x, 3 * x - 1 + random.gauss(0, 0.1)) for x in (random.uniform(-1, 1) for _ in range(64))]
        if self._training.is_nan(step):
            points[0] = (float("nan"), 0.0)
        errors = [(self._slope * x + self._offset - y, x) for x, y in points]
        self._slope -= learning_rate * 2 * sum(error * x for error, x in errors) / len(errors)
        self._offset -= learning_rate * 2 * sum(error for error, _ in errors) / len(errors)
        loss = sum(error * error for error, _ in errors) / len(errors)
        self._training.pause(step)
        self._training.trained(step, loss)
        return loss
