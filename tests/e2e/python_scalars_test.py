# SPDX-License-Identifier: Apache-2.0
"""What a training logs is in its timeline as counters, and trainwatch makes scalars of them: of the same run, beside its steps.

The loggers are stand-ins (fakes/) that are called as the real ones are; tests/peers has those.
"""

import json
import logging
import math
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
import unittest.mock

import harness
import hook_case
import timeline_files
import trainwatch
from trainwatch import _scalars

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(harness.ROOT, "python")
AUTOLOAD = "from trainwatch._autoload import install\ninstall()\n"
# A tensor on a GPU, which whoever asks for its value waits for.
TENSOR = """
    class Tensor:
        device, asked = type("", (), {"type": "cuda"}), 0
        def __init__(self, value): self.value = value
        def numel(self): return 1
        def __float__(self): return self.item()
        def item(self):
            Tensor.asked += 1
            return self.value
    """


def scalars(out):
    """The logged values, (tag, step, value), in their order."""
    return [(record["name"], record["args"].get("step"), record["args"]["value"]) for record in records(out) if record["ph"] == "C"]


def records(out):
    return [record for path in timeline_files.closed_files(out) for record in json.loads(hook_case.read(path))]


class HookTest(hook_case.HookCase):
    def test_a_value_for_each_tag_and_step_in_the_timeline(self):
        watch = self.watch()
        with watch.step():
            watch.log({"train/loss": 2.3125, "lr": 1e-05}, step=0)
        watch.log({"train/loss": 9}, step=0)
        watch.log({"train/loss": float("nan"), 'say "ü"': -math.inf, "note": "words"}, step=1)
        watch.log({"train/loss": 2})
        watch.close()
        self.assertEqual(scalars(self.out), [
            ("train/loss", 0, 2.3125), ("lr", 0, 1e-05), ("train/loss", 1, "NaN"), ('say "ü"', 1, "-Infinity"), ("train/loss", None, 2)])
        self.assertEqual(timeline_files.steps(self.out), [0])
        self.assertEqual(len(self.closed_files()), 1)

    def test_they_are_bounded_and_it_is_said_once(self):
        watch = self.watch()
        with self.assertLogs("trainwatch", logging.WARNING) as said, \
                unittest.mock.patch.object(watch._timeline, "now", side_effect=[10 ** 15 + 1000 * i for i in range(100000)]):
            for step in range(6):
                watch.log({"tag%d" % tag: 1.0 for tag in range(300)}, step)  # 5 ms later each
        watch.close()
        self.assertEqual(len(scalars(self.out)), 1000)
        self.assertEqual(len({tag for tag, _, _ in scalars(self.out)}), 256)
        self.assertEqual(len(said.output), 1)
        dropped = [record["args"]["count"] for record in self.records() if record["name"] == "scalars_dropped"]
        self.assertEqual(dropped, [6 * 300 - 1000])
        self.assertEqual(self.records()[-1]["name"], "process_end")

    def test_a_rotated_file_goes_on(self):
        watch = self.watch(rotate_bytes=4096)
        for step in range(200):
            watch.log({"loss": float(step)}, step)
        watch.close()
        self.assertGreater(len(self.closed_files()), 3)
        self.assertEqual(scalars(self.out), [("loss", step, step) for step in range(200)])

    def test_what_is_no_number_or_would_be_waited_for_is_none(self):
        scope = {}
        exec(textwrap.dedent(TENSOR), scope)
        tensor = scope["Tensor"](1.0)
        self.assertEqual([_scalars.as_number(value) for value in (True, "1", None, tensor, [1], 2, 2.5)], [None] * 5 + [2, 2.5])
        self.assertEqual(tensor.asked, 0)


class LoggersTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.out = directory.name

    def run_it(self, script):
        path = os.pathsep.join([PACKAGE, os.path.join(HERE, "fakes")])
        done = subprocess.run([sys.executable, "-c", AUTOLOAD + textwrap.dedent(TENSOR) + textwrap.dedent(script)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              env=dict(os.environ, PYTHONPATH=path, TRAINWATCH_AUTOLOAD=self.out))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_summary_writers(self):
        for package in ("torch.utils.tensorboard", "tensorboardX"):
            with self.subTest(package), tempfile.TemporaryDirectory() as self.out:
                asked = self.run_it("""
                    from %s import SummaryWriter
                    writer = SummaryWriter()
                    writer.add_scalar("train/loss", 0.1, 0)
                    writer.add_scalar("train/loss", Tensor(1.5), global_step=1)
                    writer.add_scalars("both", {"a": 1, "b": Tensor(2.5)}, 2)
                    writer.add_scalar("none", 3)
                    print(Tensor.asked)
                    """ % package)
                self.assertEqual(scalars(self.out), [("train/loss", 0, 0.1), ("train/loss", 1, 1.5), ("both/a", 2, 1.0),
                                                     ("both/b", 2, 2.5), ("none", None, 3.0)])
                self.assertEqual(asked, "2\n", "by the writer alone")

    def test_wandb(self):
        asked = self.run_it("""
            import wandb
            run = wandb.init()
            wandb.log({"loss": 2.0, "inner": {"lr": 0.5}, "image": object(), "gpu": Tensor(1)})
            wandb.log({"loss": 1.5}, commit=False)
            wandb.log({"accuracy": 0.5})
            run.log({"loss": 1.0}, step=7)
            wandb.log({"loss": 0.5, "trainer/global_step": 40})
            try:
                wandb.log(5)
            except ValueError:
                assert len(run.logged) == 5
            print(Tensor.asked)
            """)
        self.assertEqual(scalars(self.out), [("loss", 0, 2.0), ("inner.lr", 0, 0.5), ("loss", 1, 1.5), ("accuracy", 1, 0.5),
                                             ("loss", 7, 1.0), ("loss", 40, 0.5)])
        self.assertEqual(asked, "0\n")

    def test_mlflow(self):
        self.run_it("""
            import mlflow
            mlflow.log_metric("loss", 2.0, step=1)
            mlflow.log_metrics({"loss": 1.5, "lr": 0.1}, 2)
            """)
        self.assertEqual(scalars(self.out), [("loss", 1, 2.0), ("loss", 2, 1.5), ("lr", 2, 0.1)])

    def test_trainers(self):
        self.run_it("""
            from transformers import Trainer
            Trainer(accumulated=2, logs=True).train(4)
            """)
        self.assertEqual(scalars(self.out), [("train/loss", 1, 2.0), ("train/learning_rate", 1, 0.5), ("train/loss", 2, 1.0),
                                             ("train/learning_rate", 2, 0.5)])
        with tempfile.TemporaryDirectory() as self.out:
            self.run_it("""
                from lightning.pytorch import Trainer
                from tensorboardX import SummaryWriter
                class Logger:
                    def __init__(self): self.writer = SummaryWriter()
                    def log_metrics(self, metrics, step=None):
                        for tag, value in metrics.items(): self.writer.add_scalar(tag, value, step)
                Trainer(loggers=[Logger(), Logger()]).fit(3)
                """)
            self.assertEqual(scalars(self.out), [("train_loss", step, 2 / (step + 1)) for step in range(3)])
        with tempfile.TemporaryDirectory() as self.out:
            self.run_it("""
                from keras import Model
                Model().fit(3)
                """)
            self.assertEqual(scalars(self.out), [("batch_loss", step, 2 / (step + 1)) for step in range(3)] +
                             [("epoch_loss", 2, 1.5), ("val_loss", 2, 2.5)])

    def test_a_script_with_a_watch_of_its_own_has_them_in_it(self):
        with tempfile.TemporaryDirectory() as own:
            self.run_it("""
                import trainwatch, wandb
                watch = trainwatch.Watch(%r)
                wandb.init().log({"loss": 2.0})
                with watch.step(): pass
                """ % own)
            self.assertEqual((scalars(own), timeline_files.steps(own)), ([("loss", 0, 2.0)], [0]))
        self.assertEqual(timeline_files.closed_files(self.out), [])

    def test_forks_write_nothing(self):
        self.run_it("""
            import os, wandb
            run = wandb.init()
            run.log({"loss": 2.0})
            if os.fork() == 0:
                run.log({"loss": 9.0})
                os._exit(0)
            os.wait()
            """)
        self.assertEqual(scalars(self.out), [("loss", 0, 2.0)])


class DaemonTest(harness.JobTest):
    def test_the_loss_and_the_steps_are_of_one_run(self):
        losses = [4 / (1 + step) for step in range(60)]
        with trainwatch.Watch(self.directory, rank=0, node="a") as watch:
            for step, loss in enumerate(losses):
                with watch.step():
                    pass
                watch.log({"train/loss": loss, "iteration-time": 5.0}, step=1000 + step)
        with harness.Trainwatch(self.directory) as daemon:
            metrics = harness.wait_for(lambda: self.metrics(daemon), "the loss is there")
            self.assertEqual(float(re.search(r'trainwatch_scalar\{[^}]*tag="train/loss"[^}]*\} (\S+)', metrics).group(1)), losses[-1])
            self.assertIn('trainwatch_steps_total{', metrics)
            run, = daemon.json("/api/v1/runs")["runs"]
            self.assertEqual((run["step"], run["ranks"]), (59, "0"))
            self.assertLess(run["elapsed_seconds"], 5)

    def metrics(self, daemon):
        text = daemon.get("/metrics")
        return text if "trainwatch_scalar{" in text and re.search(r"trainwatch_steps_total\{[^}]*\} 60", text) else None


if __name__ == "__main__":
    harness.main()
