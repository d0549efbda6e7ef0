# SPDX-License-Identifier: Apache-2.0
"""Real trainings that nobody prepared, each watched while it runs: what trainwatch says of its loss, its steps and
their pace is what the script itself saw.

The scripts are those of tests/data/recorded-logs/record.py. The libraries come from PyPI (scripts/peers.sh); without them each
test is skipped.
"""

import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), HERE]

import harness  # noqa: E402
from python_integrations_test import peers  # noqa: E402

RECORD = os.path.join(HERE, "..", "data", "recorded-logs", "record.py")
TRAINING_SECONDS = 300


class LoggedTraining(harness.JobTest):
    def start(self, library, logger, *options):
        """A training below `watched`, whose truth is beside that folder."""
        watched = os.path.join(self.directory, "watched")
        os.makedirs(watched)
        with open(os.path.join(self.directory, "training.log"), "w") as log:
            training = subprocess.Popen(
                [peers(library), RECORD, logger, "--out=" + watched, "--truth=" + self.directory, *options], stdout=log,
                stderr=subprocess.STDOUT, env=dict(os.environ, CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1",
                                                   TF_CPP_MIN_LOG_LEVEL="3", PYTHONPATH=self.packages()))
        self.addCleanup(training.wait)
        self.addCleanup(training.kill)
        return watched, training

    def packages(self):
        """TensorBoard's own, which several environments need."""
        return os.path.join(os.path.dirname(peers("loggers")), "..", "lib", "python3.11", "site-packages")

    def said(self):
        with open(os.path.join(self.directory, "training.log")) as log:
            return log.read()[-2000:]

    def truth(self, logger):
        with open(os.path.join(self.directory, logger + ".truth.json")) as file:
            return json.load(file)["steps"]

    @contextlib.contextmanager
    def watched(self, library, logger, tag, options=("--steps=300", "--step-seconds=0.03")):
        """Trainwatch beside a training that is over, of which it has seen the loss `tag` before, and the training's truth."""
        watched, training = self.start(library, logger, *options)
        self.loss = re.compile(r'(?m)^trainwatch_scalar\{train_job="([^"]*)",tag="%s"\} (\S+)$' % re.escape(tag))
        with harness.Trainwatch(watched) as trainwatch:
            seen = harness.wait_for(lambda: self.loss.search(trainwatch.get("/metrics")) or training.poll() is not None,
                                    "a first loss", seconds=TRAINING_SECONDS)
            self.assertIsNone(training.poll(), "seen only when the training was over: %s" % self.said())
            self.assertEqual(training.wait(TRAINING_SECONDS), 0, self.said())
            truth = self.truth(logger)

            def is_of(step, match):
                return abs(float(match[2]) / step["loss"] - 1) < 2e-4  # as printed
            self.assertTrue(any(is_of(step, seen) for step in truth), "while it ran: %s" % seen[0])
            harness.wait_for(lambda: is_of(truth[-1], self.loss.search(trainwatch.get("/metrics"))), "loss %r" % truth[-1]["loss"])
            yield trainwatch, truth
            alerts = trainwatch.json("/api/v1/alerts")["alerts"]
            self.assertEqual([(alert["severity"], alert["summary"]) for alert in alerts], [])

    def check_steps(self, library, logger, tag, between=1, first=0, batches=False):
        """`between`: iterations between two records. `first`: 1 where a record says itself how long iterations take; else
        the first one has no time before it, and is no step. `batches`: an epoch of the truth has several, which are steps."""
        with self.watched(library, logger, tag) as (trainwatch, truth):
            job = self.loss.search(trainwatch.get("/metrics"))[1]
            if batches:
                truth = [{"step": step, "at": at} for step, at in enumerate((at for epoch in truth for at in epoch["batches"]), 1)]
            steps = truth[-1]["step"] - truth[0]["step"] + first
            harness.wait_for(lambda: 'trainwatch_steps_total{train_job="%s",mode="train"} %d\n' % (job, steps) in
                             trainwatch.get("/metrics"), "%d steps" % steps)
            seconds, last_at = self.pace(trainwatch.get("/metrics"), job)
            run, = (run for run in trainwatch.json("/api/v1/runs")["runs"] if run["job"] == job)
        self.assertEqual(run["step"], truth[-1]["step"])
        intervals = [(b["at"] - a["at"]) / between for a, b in zip(truth, truth[1:])]
        self.assertAlmostEqual(run["seconds_per_step"] / statistics.median(intervals), 1, delta=0.1)
        self.assertAlmostEqual(seconds / statistics.mean(intervals), 1, delta=0.1)
        self.assertAlmostEqual(last_at, truth[-1]["at"], delta=1)

    def pace(self, page, job):
        """Mean seconds of a step, and when the last one ended, as /metrics says."""
        values = [float(re.search(r'(?m)^trainwatch_%s\{train_job="%s",mode="train"\} (\S+)$' % (name, re.escape(job)), page)[1])
                  for name in ("step_duration_seconds_sum", "step_duration_seconds_count", "last_step_timestamp_seconds")]
        return values[0] / values[1], values[2]

    def check_table(self, library, logger, tag):
        """Of a table without times: its last loss and step."""
        with self.watched(library, logger, tag) as (trainwatch, truth):
            series, = (series for series in trainwatch.json("/api/v1/scalars?tag=" + tag)["series"] if series["tag"] == tag)
        self.assertEqual(series["points"][-1][0], truth[-1]["step"])


class LoggersTest(LoggedTraining):
    def test_tensorboardx(self):
        self.check_steps("loggers", "tensorboardx", "train/loss")

    def test_wandb(self):
        self.check_steps("loggers", "wandb", "train/loss")

    def test_a_loss_that_becomes_nan(self):
        watched, training = self.start("loggers", "tensorboardx", "--steps=200", "--step-seconds=0.03", "--nan-at=150")
        with harness.Trainwatch(watched) as trainwatch:
            self.assertEqual(training.wait(TRAINING_SECONDS), 0, self.said())

            def alerts():
                return [alert for alert in trainwatch.json("/api/v1/alerts")["alerts"] if alert["rule"] == "loss_nan"]
            harness.wait_for(alerts, "the alert")
            alert = alerts()[0]
        self.assertEqual((alert["severity"], alert["step"]), ("critical", 150))


class TensorflowTest(LoggedTraining):
    def test_summaries(self):
        self.check_steps("tensorflow", "tf_summary", "loss")

    def test_keras_tensorboard(self):
        self.check_steps("tensorflow", "keras_tensorboard", "epoch_loss", batches=True)

    def test_keras_csv(self):
        self.check_table("tensorflow", "keras_csv", "loss")


class JaxTest(LoggedTraining):
    def test_flax(self):
        self.check_steps("jax", "flax_summary", "train_loss")

    def test_clu(self):
        self.check_steps("jax", "clu_summary", "loss")


class TorchTest(LoggedTraining):
    def test_summaries(self):
        self.check_steps("torch", "torch_summary", "train/loss")

    def test_lightning_csv(self):
        self.check_table("torch", "lightning_csv", "train_loss")

    def test_huggingface(self):
        self.check_steps("torch", "hf_trainer", "train/loss", between=4)

    def test_huggingface_console(self):
        self.check_steps("torch", "hf_trainer", "loss", between=4, first=1)


if __name__ == "__main__":
    harness.main()
