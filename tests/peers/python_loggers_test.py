# SPDX-License-Identifier: Apache-2.0
"""What the real loggers log under `python -m trainwatch run` is in the timeline, with the values that were trained."""

import csv
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), HERE]

import harness  # noqa: E402
import timeline_files  # noqa: E402
from python_integrations_test import JOBS, PACKAGE, peers  # noqa: E402

AUTOLOAD = "import runpy, sys; from trainwatch._autoload import install; install(); sys.argv[:] = sys.argv[1:]; " \
    "runpy.run_path(sys.argv[0], run_name='__main__')"


class LoggersTest(unittest.TestCase):
    def setUp(self):
        self.python = peers("torch")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.out = os.path.join(self.folder, "watched")

    def train(self, job, *arguments):
        """Returns what it printed."""
        packages = os.path.join(os.path.dirname(peers("loggers")), "..", "lib", "python3.11", "site-packages")
        done = subprocess.run([self.python, "-c", AUTOLOAD, os.path.join(JOBS, job), *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, env=dict(
                                  os.environ, PYTHONPATH=os.pathsep.join([PACKAGE, packages]), TRAINWATCH_AUTOLOAD=self.out,
                                  CUDA_VISIBLE_DEVICES="", WANDB_SILENT="true"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def scalars(self):
        """The steps and values of each tag."""
        found = {}
        for path in timeline_files.closed_files(self.out):
            with open(path) as file:
                for record in json.load(file):
                    if record["ph"] == "C":
                        found.setdefault(record["name"], []).append((record["args"]["step"], record["args"]["value"]))
        return found

    def test_summary_writers_and_wandb(self):
        for mode in ("offline", "disabled"):
            with self.subTest(mode):
                self.out += "-" + mode
                self.train("loggers_job.py", self.folder, mode)
                found = self.scalars()
                self.assertEqual(set(found), {"torch/loss", "torch/new_style", "torch/a", "torch/b", "tbx/loss", "wandb/loss", "nested.loss"})
                for tag, points in found.items():
                    self.assertEqual([step for step, _ in points], list(range(5)), tag)
                    for step, value in points:
                        self.assertAlmostEqual(value, 4 / (1 + step), places=6, msg=tag)

    def test_lightning(self):
        self.train("lightning_logger_job.py", self.folder)
        with open(glob.glob(os.path.join(self.folder, "lightning_logs", "*", "metrics.csv"))[0]) as file:
            logged = [(int(row["step"]), float(row["train_loss"])) for row in csv.DictReader(file)]
        self.assertEqual(self.scalars()["train_loss"], logged)
        self.assertEqual(timeline_files.steps(self.out), list(range(32)))

    def test_keras(self):
        history = json.loads(self.train("keras_logs_job.py").splitlines()[-1])
        found = self.scalars()
        self.assertEqual([value for _, value in found["epoch_loss"]], history["loss"])
        self.assertEqual([value for _, value in found["val_loss"]], history["val_loss"])
        self.assertEqual([step for step, _ in found["batch_loss"]], list(range(12)))


if __name__ == "__main__":
    harness.main()
