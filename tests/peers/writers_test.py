# SPDX-License-Identifier: Apache-2.0
"""Small real trainings with the libraries that people train with, each with what it prints and logs by default: what
trainwatch says of their losses, steps and pace is what was trained.

The scripts and the truth are those of tests/peers/writers. The libraries come from PyPI (scripts/peers.sh); without them
the test is skipped. Each test runs its writer twice: healthy, beside a trainwatch that watches, and with a loss that becomes NaN.
"""

import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
WRITERS = os.path.join(HERE, "writers")
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), HERE, WRITERS]

import harness  # noqa: E402
import reading  # noqa: E402
from python_integrations_test import peers  # noqa: E402

TRAINING_SECONDS = 300
READ_SECONDS = 20  # what is not there by then is not read


class WriterTest(harness.JobTest):
    @classmethod
    def setUpClass(cls):
        cls.python = peers("writers")

    def start(self, kind, module, *options):
        """A training below `kind`; what it prints is in train.log there, its truth beside."""
        out = os.path.join(self.directory, kind)
        os.makedirs(out)
        with open(os.path.join(out, "train.log"), "w") as console:
            training = subprocess.Popen(
                [self.python, os.path.join(WRITERS, module + ".py"), out, out + ".json", *options], stdout=console,
                stderr=subprocess.STDOUT, cwd=self.directory,
                env=dict(os.environ, CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1",
                         YOLO_CONFIG_DIR=self.directory))
        self.addCleanup(training.wait)
        self.addCleanup(training.kill)
        return training, out

    def trained(self, training, out, fails=False):
        code = training.wait(TRAINING_SECONDS)
        if not fails and code != 0:
            with open(os.path.join(out, "train.log"), errors="replace") as console:
                self.fail(console.read()[-2000:])
        return reading.Training(out, out + ".json")

    def check_losses(self, trained):
        for log in trained.logs:
            with self.subTest(file=log.name, what="losses"):
                if log.tag is None:  # has steps only
                    continue
                points, _ = reading.losses_of(log)
                self.assertEqual(reading.wrong_losses(log, points), [], "of %d read" % len(points))

    def check_run(self, trainwatch, log):
        last = log.records[-1]["step"]

        def runs():
            return [run for run in trainwatch.json("/api/v1/runs")["runs"] if run["step"] == last]
        harness.wait_for(runs, "step %d" % last, READ_SECONDS)
        paces = [reading.pace_of(trainwatch.get("/metrics"), run["job"]) for run in runs()]
        self.assertTrue(any(log.has_pace(pace) for pace in paces), "%g s per step (median), %g (mean), read: %r" % (
            *log.seconds_per_step(), paces))

    def check_healthy(self, module, options):
        training, out = self.start("healthy", module, *options)
        with harness.Trainwatch(out, "--watch=" + os.path.join(out, "train.log")) as trainwatch:
            trained = self.trained(training, out)
            log = trained.finest()
            with self.subTest(what="steps and pace, while it runs"):
                self.check_run(trainwatch, log)
            with self.subTest(what="no alert"):
                self.assertEqual(reading.critical(trainwatch.json("/api/v1/alerts")["alerts"]), [])
        self.check_losses(trained)

    def check_nan(self, module, nan_at, options, fails):
        training, out = self.start("nan", module, "--nan-at=%d" % nan_at, *options)
        trained = self.trained(training, out, fails)
        for log in trained.logs:
            if log.nan_steps() is not None and log.tag is not None:
                with self.subTest(file=log.name, what="NaN"):
                    after, until = log.nan_steps()
                    said = reading.nan_steps(reading.alerts_of(log.path))
                    self.assertTrue(any(after < step <= until for step in said), "between %d and %d: %r" % (after, until, said))

    def check(self, module, *options, nan_at=101, fails=False):
        """`fails`: the library ends itself because of the NaN."""
        self.check_healthy(module, options)
        self.check_nan(module, nan_at, options, fails)


class LoopTest(WriterTest):
    """Loops that print or write themselves."""

    def test_plain_print(self):
        self.check("plain_print")

    def test_python_logging(self):
        self.check("python_logging")

    def test_json_lines(self):
        self.check("json_lines")

    def test_csv_rows(self):
        self.check("csv_rows")

    def test_summary_writer(self):
        self.check("summary_writer")

    def test_opentelemetry_files(self):
        self.check("opentelemetry_files")


class ReferenceTest(WriterTest):
    """Loops that print as widely copied ones do."""

    def test_torchvision(self):
        self.check("torchvision_references")

    def test_imagenet_example(self):
        self.check("imagenet_example")

    def test_nanogpt(self):
        self.check("nanogpt")

    def test_timm(self):
        self.check("timm_train")


class LibraryTest(WriterTest):
    """Trainers of libraries."""

    def test_huggingface(self):
        self.check("hf_trainer")

    def test_huggingface_with_deepspeed(self):
        self.check("hf_trainer", "--deepspeed")

    def test_deepspeed(self):
        self.check("deepspeed_engine")

    def test_accelerate(self):
        self.check("accelerate_tqdm")

    def test_lightning(self):
        self.check("lightning_loggers")

    def test_keras_with_bars(self):
        self.check("keras_fit", "--verbose=1")

    def test_keras_with_lines(self):
        self.check("keras_fit", "--verbose=2")

    def test_ultralytics(self):
        self.check("ultralytics_yolo", nan_at=35, fails=True)

    def test_stable_baselines_ppo(self):
        self.check_healthy("stable_baselines", [])

    def test_stable_baselines_dqn(self):
        self.check("stable_baselines", "--dqn", nan_at=61)

    def test_mmengine(self):
        self.check("mmengine_runner")


if __name__ == "__main__":
    try:
        peers("writers")
    except unittest.SkipTest as reason:
        harness.skip(str(reason))
    harness.main()
