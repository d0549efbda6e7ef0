# SPDX-License-Identifier: Apache-2.0
"""The integrations of python/trainwatch with the real libraries: each trains a small model in which one batch is late.

With trainwatch's two lines, and once more by a script without them under `python -m trainwatch run`. The libraries
come from PyPI (scripts/peers.sh); without them each test is skipped.
"""

import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
JOBS = os.path.join(HERE, "python")
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), JOBS]

import harness  # noqa: E402
import timeline_files  # noqa: E402

STEPS, SLOW_STEP, EVALUATED = 300, 220, 20
PACKAGE = os.path.join(harness.ROOT, "python")


def peers(name):
    """The Python that has these libraries."""
    done = subprocess.run([os.path.join(harness.ROOT, "scripts", "peers.sh"), name], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise unittest.SkipTest("no %s from PyPI: %s" % (name, done.stderr.strip().splitlines()[-1:]))
    return done.stdout.strip()


class Job(harness.JobTest):
    libraries = "torch"

    @classmethod
    def setUpClass(cls):
        cls.python = peers(cls.libraries)

    def setUp(self):
        super().setUp()
        self.out = os.path.join(self.directory, "watched")

    def train(self, *arguments, launch=()):
        """Runs a job, and returns what it wrote to standard error."""
        script = [os.path.join(JOBS, arguments[0]), self.out, *arguments[1:]] if not launch else list(arguments)
        done = subprocess.run(
            [self.python, *launch, *script], cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            timeout=300, check=False, env=dict(
                os.environ, PYTHONPATH=os.pathsep.join([PACKAGE, JOBS]), HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="",
                TF_CPP_MIN_LOG_LEVEL="3", OMP_NUM_THREADS="1",
                TRAINWATCH_BINARY=os.path.abspath(harness.binary())))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stderr

    def launch(self, name, *arguments):
        return self.train(os.path.join(JOBS, name), self.out, "--plain", *arguments, launch=[
            "-m", "trainwatch", "run", "--watch-dir=" + self.out, "--listen=127.0.0.1:0"])

    def said(self):
        """The alerts above info, by the timelines alone. Parts of incidents are among them: where this machine is
        busy, a slowdown may speak for the late batch."""
        alerts = harness.final(harness.replay(os.path.join(self.out, "framework"))).values()
        self.assertNotIn("stall", {alert["rule"] for alert in alerts})
        return [alert for alert in alerts if alert["severity"] != "info"]

    def check(self, evaluated=2 * EVALUATED, cause="input_wait", waits=2 * STEPS, phases=("Backward", "Optimizer"), ahead=1):
        """`ahead`: so many steps before its own the late batch may be waited for."""
        self.assertEqual(timeline_files.steps(self.out), list(range(STEPS)))
        self.assertEqual(len(timeline_files.steps(self.out, "EVAL")), evaluated)
        counts = timeline_files.counts(self.out)
        self.assertEqual(counts.get("DataLoaderIter", 0), waits)
        self.assertLessEqual({*phases, "Checkpoint"}, set(counts))
        self.assertEqual(timeline_files.open_files(self.out), [])
        late = [alert for alert in self.said() if alert["rule"] == "step_spike" and SLOW_STEP - ahead <= alert.get("step", -1) <= SLOW_STEP]
        self.assertTrue(late, json.dumps(self.said(), indent=1))
        self.assertEqual({alert["cause"]["name"] for alert in late}, {cause}, json.dumps(late, indent=1))
        others = [alert["summary"] for alert in self.said() if alert not in late
                  if alert["cause"]["name"] in ("checkpoint", "evaluation") or "stood still" in alert["summary"]]
        self.assertEqual(others, [])

    def both_ways(self, name, *arguments, **expected):
        for way in (self.train, self.launch):
            with self.subTest(way.__name__):
                self.out = os.path.join(self.directory, way.__name__)
                said = way(name, *arguments)
                self.check(**expected)
                if way == self.launch:
                    self.assertRegex(said, "ended at step 299 after .* was lost")


class TorchTest(Job):
    def test_huggingface(self):
        self.both_ways("huggingface_job.py", phases=("Forward", "Backward", "Optimizer", "Evaluation"),
                       evaluated=3 * EVALUATED)  # once more at the end

    def test_lightning(self):
        self.both_ways("lightning_job.py", phases=("Forward", "Backward", "Optimizer", "Evaluation"))

    def test_pytorch_lightning(self):
        self.both_ways("lightning_job.py", "--pytorch-lightning",
                       phases=("Forward", "Backward", "Optimizer", "Evaluation"))

    def test_accelerate(self):
        self.both_ways("accelerate_job.py")

    def test_pytorch(self):
        self.both_ways("pytorch_job.py")

    def test_keras(self):
        self.both_ways("keras_job.py", "--torch", waits=STEPS, phases=("Forward", "Backward", "Evaluation"))

    def test_torchrun(self):
        torchrun = ["torch.distributed.run", "--standalone", "--nproc-per-node=2"]
        script = os.path.join(JOBS, "distributed_job.py")
        watched = ["--watch-dir=" + self.out, "--listen=127.0.0.1:0"]
        for launch, rest in ((["-m", "trainwatch", "run", *watched, "-m", *torchrun], [script]),
                             (["-m", *torchrun, "-m", "trainwatch"], ["run", *watched, script])):
            with self.subTest(launch[1]):
                self.out = os.path.join(self.directory, launch[1])
                rest = [word.replace("/watched", "/" + launch[1]) for word in rest]
                launch = [word.replace("/watched", "/" + launch[1]) for word in launch]
                said = self.train(*rest, self.out, launch=launch)
                self.assertEqual(sorted(timeline_files.steps(self.out)), sorted(2 * list(range(STEPS // 2))))
                self.assertEqual(said.count("shows this training"), 1)
                self.assertIn("(ranks 0-1)", said)


class TensorflowTest(Job):
    libraries = "tensorflow"

    def test_keras(self):
        self.both_ways("keras_job.py", waits=0, cause="unattributed", phases=("Evaluation",), ahead=40)


if __name__ == "__main__":
    harness.main()
