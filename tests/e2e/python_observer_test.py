# SPDX-License-Identifier: Apache-2.0
"""A loop of PyTorch that nobody edited, as trainwatch observes it; against a stand-in for torch (fakes/)."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import timeline_files

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PATH = os.pathsep.join([os.path.join(ROOT, "python"), os.path.join(HERE, "fakes")])

PREAMBLE = """
import threading, time
import torch
from torch.optim import SGD
from torch.utils.data import DataLoader
loss, loader = torch.Tensor(), DataLoader(range(6))
"""
TRAIN = """
optimizer = SGD()
for batch in loader:
    loss.backward()
    optimizer.step()
"""


class ObserverTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.out = directory.name

    def observe(self, script, first="", **environment):
        """Runs a script after the two lines; returns what it wrote to standard error."""
        lines = "from trainwatch.integrations.pytorch import observe, stop\nwatched = observe(%r)\n" % self.out
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(first) + lines + PREAMBLE + textwrap.dedent(script)],
            env=dict(os.environ, PYTHONPATH=PATH, **environment), stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def counts(self):
        return timeline_files.counts(self.out)

    def steps(self, mode="TRAIN"):
        return timeline_files.steps(self.out, mode)

    def test_a_loop(self):
        for version in ("2.15.0", "1.13.1"):
            with self.subTest(version), tempfile.TemporaryDirectory() as self.out:
                self.observe(TRAIN, FAKE_TORCH=version)
                self.assertEqual(self.counts(), {
                    "DataLoaderIter": 6, "Backward": 6, "Optimizer": 6, "Step:ModeKeys.TRAIN": 6})
                self.assertEqual(self.steps(), list(range(6)))
                waits = timeline_files.spans(self.out, "DataLoaderIter")
                self.assertEqual({wait["name"] for wait in waits}, {"_SingleProcessDataLoaderIter::GetNext"})
                steps = timeline_files.spans(self.out, "Step:ModeKeys.TRAIN")
                self.assertEqual([step["ts"] for step in steps], [wait["ts"] for wait in waits])

    def test_torch_may_be_imported_before(self):
        self.observe(TRAIN, first="import torch\n")
        self.assertEqual(self.steps(), list(range(6)))

    def test_accumulated_gradients_are_one_step(self):
        self.observe("""
            optimizer = SGD()
            for number, batch in enumerate(loader):
                loss.backward()
                if number % 3 == 2:
                    optimizer.step()
            """)
        self.assertEqual(self.steps(), [0, 1])
        self.assertEqual(self.counts()["DataLoaderIter"], 6)
        numbers = [wait["args"]["step_num"] for wait in timeline_files.spans(self.out, "DataLoaderIter")]
        self.assertEqual(numbers, ["0"] * 3 + ["1"] * 3)

    def test_evaluation_is_no_training(self):
        self.observe(TRAIN + textwrap.dedent("""
            for epoch in range(2):
                for batch in DataLoader(range(4)):
                    pass
                for batch in loader:
                    loss.backward()
                    optimizer.step()
            """))
        self.assertEqual(self.steps("EVAL"), list(range(8)))
        self.assertEqual(self.steps(), list(range(18)))
        self.assertEqual(self.counts()["DataLoaderIter"], 18, "a wait of an evaluation is not the training's")

    def test_a_batch_that_is_skipped_is_no_evaluation(self):
        self.observe("""
            optimizer = SGD()
            for number, batch in enumerate(loader):
                if number == 3:
                    continue
                loss.backward()
                optimizer.step()
            """)
        self.assertEqual((self.steps(), self.steps("EVAL")), (list(range(5)), []))

    def test_two_optimizers_of_an_iteration_are_one_step(self):
        self.observe("""
            generator, critic = SGD(), SGD()
            for batch in loader:
                loss.backward()
                critic.step()
                loss.backward()
                generator.step()
            """)
        self.assertLessEqual(len(self.steps()), 7)  # the first iteration shows that there are two
        steps = timeline_files.spans(self.out, "Step:ModeKeys.TRAIN")[2:]
        optimizers = timeline_files.spans(self.out, "Optimizer")
        self.assertEqual([step["ts"] + step["dur"] for step in steps],
                         [phase["ts"] + phase["dur"] for phase in optimizers[3::2]])

    def test_a_loop_without_a_loader(self):
        self.observe("optimizer = SGD()\nfor _ in range(5):\n    loss.backward()\n    optimizer.step()\n")
        self.assertEqual(self.steps(), list(range(5)))

    def test_a_closure_computes_within_the_step(self):
        self.observe("optimizer = SGD()\nfor _ in loader:\n    optimizer.step(loss.backward)\n")
        backward = timeline_files.spans(self.out, "Backward")[0]
        optimizer = timeline_files.spans(self.out, "Optimizer")[0]
        self.assertGreaterEqual(optimizer["ts"], backward["ts"] + backward["dur"])

    def test_a_checkpoint(self):
        self.observe(TRAIN + "torch.save({}, %r)\n" % os.path.join(self.out, "model.pt"))
        self.assertEqual(self.counts()["Checkpoint"], 1)

    def test_another_thread_is_not_waited_for(self):
        self.observe("thread = threading.Thread(target=list, args=(loader,))\n"
                     "thread.start()\nthread.join()\n" + TRAIN)
        self.assertEqual(self.counts()["DataLoaderIter"], 6)

    def test_a_process_that_does_not_train_leaves_nothing(self):
        self.observe("import torch\n")
        self.assertEqual(os.listdir(self.out), [])

    def test_a_fork_writes_its_own_file_if_it_trains_and_nothing_else(self):
        self.observe("""
            import os
            for child in range(2):
                if os.fork() == 0:
                    for batch in loader:
                        if child == 1:
                            loss.backward()
                    os._exit(0)
                os.wait()
            """ + textwrap.indent(TRAIN, " " * 12))
        self.assertEqual(self.steps(), list(range(6)))

    def test_exceptions_of_the_training_pass(self):
        self.observe("""
            def broken():
                yield 1
                raise ValueError("bad sample")
            optimizer = SGD()
            try:
                for batch in DataLoader(broken()):
                    loss.backward()
                    optimizer.step()
                raise SystemExit("not raised")
            except ValueError:
                pass
            """ + textwrap.indent(TRAIN, " " * 12))
        self.assertEqual(len(self.steps()), 7)

    def test_a_failure_of_ours_is_one_warning(self):
        said = self.observe("def broken(*_): raise KeyError('ours')\nwatched.backward = broken\n" + TRAIN)
        self.assertEqual(said.count("no longer recording"), 1)

    def test_after_stop_nobody_listens(self):
        self.observe(TRAIN + "stop(watched)\n" + TRAIN)
        self.assertEqual(len(self.steps()), 6)
        self.assertEqual(timeline_files.open_files(self.out), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
