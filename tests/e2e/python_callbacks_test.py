# SPDX-License-Identifier: Apache-2.0
"""The callbacks of python/trainwatch/integrations against stand-ins for the frameworks (fakes/), which announce what
the real ones do in the same order; tests/peers has the real ones.

Each script is run with the callback, and without it as `python -m trainwatch run` loads it.
"""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import timeline_files

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
AUTOLOAD = "from trainwatch._autoload import install\ninstall()\n"

HUGGINGFACE = """
    from transformers import Trainer
    {import huggingface}
    trainer = Trainer({callbacks}accumulated=2, evaluate_every=4, save_every=5)
    trainer.train(20)
    trainer.evaluate(3)
    """
LIGHTNING = """
    from lightning.pytorch import Trainer
    {import lightning}
    Trainer({callbacks}accumulated=2).fit(20)
    """
KERAS = """
    from keras import Model
    {import keras}
    model = Model(accumulated=2)
    model.fit(20, {callbacks})
    model.evaluate({callbacks})
    """


class CallbacksTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.out = directory.name

    def run_it(self, script, code=0, **environment):
        path = os.pathsep.join([os.path.join(ROOT, "python"), os.path.join(HERE, "fakes")])
        done = subprocess.run([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True,
                              env=dict(os.environ, PYTHONPATH=path, **environment), check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def with_callback(self, script, **options):
        lines = "from trainwatch.integrations.%s import TrainwatchCallback"
        for name in ("huggingface", "lightning", "keras"):
            script = script.replace("{import %s}" % name, lines % name)
        script = script.replace("{callbacks}", "callbacks=[TrainwatchCallback(%r)], " % self.out)
        return self.run_it(textwrap.dedent(script), **options)

    def without(self, script, **options):
        for name in ("huggingface", "lightning", "keras"):
            script = script.replace("{import %s}" % name, "")
        script = AUTOLOAD + textwrap.dedent(script.replace("{callbacks}", ""))
        return self.run_it(script, TRAINWATCH_AUTOLOAD=self.out, **options)

    def check(self, script, expected, evaluated):
        for way in (self.with_callback, self.without):
            with self.subTest(way.__name__), tempfile.TemporaryDirectory() as self.out:
                self.assertEqual(way(script), "")
                self.assertEqual(timeline_files.counts(self.out), expected)
                self.assertEqual(timeline_files.steps(self.out), list(range(10)))
                self.assertEqual(timeline_files.steps(self.out, "EVAL"), list(range(evaluated)))
                self.assertEqual(timeline_files.open_files(self.out), [])

    def test_huggingface(self):
        self.check(HUGGINGFACE, {
            "DataLoaderIterInitialize": 3, "DataLoaderIter": 20, "Forward": 20, "Backward": 20, "Optimizer": 10,
            "Step:ModeKeys.TRAIN": 10, "Step:ModeKeys.EVAL": 9, "Evaluation": 3, "Checkpoint": 2}, 9)

    def test_a_checkpoint_of_huggingface_ends_with_what_is_announced(self):
        self.with_callback(HUGGINGFACE)
        steps = timeline_files.spans(self.out, "Step:ModeKeys.TRAIN")
        checkpoint = timeline_files.spans(self.out, "Checkpoint")[0]
        self.assertEqual(checkpoint["ts"], steps[4]["ts"] + steps[4]["dur"])
        evaluation = timeline_files.spans(self.out, "Evaluation")[0]
        self.assertEqual(evaluation["ts"], steps[3]["ts"] + steps[3]["dur"])

    def test_lightning(self):
        self.check(LIGHTNING, {
            "DataLoaderIterInitialize": 2, "DataLoaderIter": 20, "Forward": 20, "Backward": 20, "Optimizer": 10,
            "Step:ModeKeys.TRAIN": 10, "Step:ModeKeys.EVAL": 3, "Evaluation": 1, "Checkpoint": 1}, 3)

    def test_an_exception_closes_the_file(self):
        self.with_callback("""
            import os
            from lightning.pytorch import Trainer
            {import lightning}
            try:
                Trainer({callbacks}fails_at=5).fit(20)
            except ValueError:
                os._exit(0)
            """)
        self.assertEqual(timeline_files.open_files(self.out), [])
        self.assertEqual(timeline_files.steps(self.out), list(range(5)))

    def test_keras(self):
        self.check(KERAS, {"Step:ModeKeys.TRAIN": 10, "Step:ModeKeys.EVAL": 6, "Evaluation": 2, "Checkpoint": 1}, 6)

    def test_accelerate(self):
        self.run_it(textwrap.dedent("""
            from accelerate import Accelerator
            from accelerate.data_loader import DataLoaderShard
            from trainwatch.integrations.accelerate import TrainwatchTracker
            import torch
            accelerator = Accelerator(log_with=TrainwatchTracker(%r))
            loss, optimizer = torch.Tensor(), torch.optim.SGD()
            for batch in DataLoaderShard(range(10)):
                loss.backward()
                optimizer.step()
            for batch in DataLoaderShard(range(3)):
                pass
            accelerator.save_state("/dev/null")
            accelerator.end_training()
            import os
            os._exit(0)
            """) % self.out)
        counts = timeline_files.counts(self.out)
        self.assertEqual(counts.pop("DataLoaderIterInitialize", 1), 1)
        self.assertEqual(counts, {"DataLoaderIter": 10, "Backward": 10, "Optimizer": 10, "Step:ModeKeys.TRAIN": 10,
                                  "Step:ModeKeys.EVAL": 3, "Checkpoint": 1})

    def test_a_callback_of_the_script_is_the_only_one(self):
        other = os.path.join(self.out, "autoload")
        script = "    " + AUTOLOAD.replace("\n", "\n    ") + HUGGINGFACE
        self.with_callback(script, TRAINWATCH_AUTOLOAD=other)
        self.assertEqual(timeline_files.steps(self.out), list(range(10)))
        self.assertEqual(timeline_files.counts(other), {})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
