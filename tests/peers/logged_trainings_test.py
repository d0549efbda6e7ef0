"""Real trainings that nobody prepared, each watched while it runs: what trainwatch says of its loss, its steps and
their pace is what the script itself saw.

The scripts are those of tests/data/recorded-logs/record.py. The libraries come from PyPI (scripts/peers.sh); without them each
test is skipped.
"""

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
        """What several environments need."""
        return ""

    def truth(self, logger):
        with open(os.path.join(self.directory, logger + ".truth.json")) as file:
            return json.load(file)["steps"]

    def end(self, training):
        self.assertEqual(training.wait(TRAINING_SECONDS), 0, open(os.path.join(self.directory, "training.log")).read()[-2000:])

    def watch(self, library, logger, tag, between=1, first=0, options=("--steps=300", "--step-seconds=0.03")):
        """`between`: iterations between two records. `first`: 1 where a record says itself how long iterations take; else
        the first one has no time before it, and is no step."""
        watched, training = self.start(library, logger, *options)
        loss = re.compile(r'(?m)^trainwatch_scalar\{[^}]*tag="%s"[^}]*\} (\S+)$' % re.escape(tag))
        count = re.compile(r'(?m)^trainwatch_steps_total\{[^}]*mode="train"[^}]*\} (\d+)$')

        def metric(pattern):
            found = pattern.search(trainwatch.get("/metrics"))
            return float(found[1]) if found else None

        with harness.Trainwatch(watched) as trainwatch:
            harness.wait_for(lambda: metric(loss) is not None or training.poll() is not None, "a first loss",
                             seconds=TRAINING_SECONDS)
            self.assertIsNone(training.poll(), "seen only when the training was over")
            self.end(training)
            truth = self.truth(logger)
            steps = between * (len(truth) - 1) + first
            harness.wait_for(lambda: (metric(count), round(metric(loss) / truth[-1]["loss"], 4)) == (steps, 1),
                             "%d steps and loss %r" % (steps, truth[-1]["loss"]))
            run, = trainwatch.json("/api/v1/runs")["runs"]
            alerts = trainwatch.json("/api/v1/alerts")["alerts"]
        self.assertEqual(run["step"], truth[-1]["step"])
        intervals = [(b["at"] - a["at"]) / between for a, b in zip(truth, truth[1:])]
        self.assertAlmostEqual(run["seconds_per_step"] / statistics.median(intervals), 1, delta=0.1)
        self.assertEqual([alert["summary"] for alert in alerts if alert["severity"] != "info"], [])


class LoggersTest(LoggedTraining):
    def test_tensorboardx(self):
        self.watch("loggers", "tensorboardx", "train/loss")

    def test_wandb(self):
        self.watch("loggers", "wandb", "train/loss")

    def test_a_loss_that_becomes_nan(self):
        watched, training = self.start("loggers", "tensorboardx", "--steps=200", "--step-seconds=0.03", "--nan-at=150")
        with harness.Trainwatch(watched) as trainwatch:
            self.end(training)

            def alerts():
                return [alert for alert in trainwatch.json("/api/v1/alerts")["alerts"] if alert["rule"] == "loss_nan"]
            harness.wait_for(alerts, "the alert")
            alert = alerts()[0]
        self.assertEqual((alert["severity"], alert["step"]), ("critical", 150))


class TensorflowTest(LoggedTraining):
    def test_summaries(self):
        self.watch("tensorflow", "tf_summary", "loss")

    def test_keras_tensorboard(self):
        self.watch("tensorflow", "keras_tensorboard", "epoch_loss")

    def test_keras_csv(self):
        self.watch("tensorflow", "keras_csv", "loss")


class TorchTest(LoggedTraining):
    def packages(self):
        return os.path.join(os.path.dirname(peers("loggers")), "..", "lib", "python3.11", "site-packages")

    def test_summaries(self):
        self.watch("torch", "torch_summary", "train/loss")

    def test_lightning_csv(self):
        self.watch("torch", "lightning_csv", "train_loss", between=5)

    def test_huggingface(self):
        self.watch("torch", "hf_trainer", "train/loss", between=4)


if __name__ == "__main__":
    harness.main()
