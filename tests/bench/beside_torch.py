#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether trainwatch slows a real training: a PyTorch loop (on the GPU, if there is one) that writes its timeline with trainwatch's hook,
in pairs of windows with and without `trainwatch run` beside it, in random order.

    beside_torch.py TRAINWATCH [--pairs=80] [--seconds=1] [--work=MATRIX]

Prints the mean of the pairs' differences, the interval in which it lies with 95 %, and trainwatch's own share of a core: first for the mean
step of a window, which counts all the time that passed, then for the median one, which the pauses of a shared machine do not move. Many short
windows say more than a few long ones, as the machine itself drifts. Both are pinned, the training to the first two processors and trainwatch,
at the lowest priority, to the last one."""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "python"), os.path.join(HERE, "performance")]
import processes  # noqa: E402
import trainwatch  # noqa: E402

SETTLES_SECONDS = 0.3
STARTS_SECONDS = 1.0  # the sidecar, and reads what it missed
T95 = {15: 2.145, 16: 2.131, 20: 2.093, 30: 2.045}  # Student's t for pairs - 1, two-sided; 2 for more


class Training:
    def __init__(self, folder, width):
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.manual_seed(1)
        self._model = torch.nn.Sequential(*[layer for _ in range(4) for layer in (torch.nn.Linear(width, width), torch.nn.ReLU())])
        self._model.to(self._device)
        self._optimizer = torch.optim.SGD(self._model.parameters(), lr=1e-4)
        self._loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(512, width)), batch_size=64, shuffle=True)
        self._watch = trainwatch.Watch(folder, rank=0)

    def run(self, seconds):
        """Seconds of each step."""
        took, ends = [], time.perf_counter() + seconds
        while time.perf_counter() < ends:
            for (batch,) in self._watch.batches(self._loader):
                began = time.perf_counter()
                with self._watch.step():
                    self._optimizer.zero_grad()
                    with self._watch.phase("Forward"):
                        loss = self._model(batch.to(self._device)).square().mean()
                    with self._watch.phase("Backward"):
                        loss.backward()
                    with self._watch.phase("Optimizer"):
                        self._optimizer.step()
                        if self._device == "cuda":
                            torch.cuda.synchronize()
                took.append(time.perf_counter() - began)
        return took

    def close(self):
        self._watch.close()


class Sidecar:
    def __init__(self, program, watched, state, processor):
        self._process = subprocess.Popen(
            ["nice", "-n", "19", "taskset", "-c", str(processor), program, "run", "--watch=" + watched, "--storage.path=" + state,
             "--web.listen-address=127.0.0.1:0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def cpu_seconds(self):
        # Not what /proc/PID/stat says: it counts ticks, and the sidecar wakes up in their rhythm.
        return sum(processes.thread_seconds(self._process.pid).values())

    def stop(self):
        self._process.terminate()
        self._process.wait()


def window(training, seconds):
    """The mean and the median step."""
    training.run(SETTLES_SECONDS)
    took = training.run(seconds)
    return statistics.mean(took), statistics.median(took)


class Pairs:
    def __init__(self, training, start_sidecar, seconds):
        self._training, self._start_sidecar, self._seconds = training, start_sidecar, seconds
        self.alone, self.beside, self.shares = [], [], []

    def measure(self, order):
        for with_sidecar in order:
            if with_sidecar:
                self._measure_beside()
            else:
                self.alone.append(window(self._training, self._seconds))

    def _measure_beside(self):
        sidecar = self._start_sidecar()
        self._training.run(STARTS_SECONDS)
        used, began = sidecar.cpu_seconds(), time.perf_counter()
        self.beside.append(window(self._training, self._seconds))
        self.shares.append((sidecar.cpu_seconds() - used) / (time.perf_counter() - began))
        sidecar.stop()

    def difference(self, of):
        """In percent, with its interval."""
        differences = [100 * (beside[of] / alone[of] - 1) for beside, alone in zip(self.beside, self.alone)]
        mean = statistics.mean(differences)
        error = statistics.stdev(differences) / len(differences) ** 0.5 * T95.get(len(differences), 2.0)
        return "%+.3f %% (%+.3f to %+.3f %% with 95 %%)" % (mean, mean - error, mean + error)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trainwatch")
    parser.add_argument("--pairs", type=int, default=80)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--work", type=int, default=1024)
    wanted = parser.parse_args()
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, processors[:2])
    torch.set_num_threads(1)
    order = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        watched = os.path.join(folder, "job")
        os.mkdir(watched)
        training = Training(watched, wanted.work)
        training.run(5)  # warm

        def start_sidecar():
            # With its state: what was written while it was away is read, not the whole job.
            return Sidecar(wanted.trainwatch, watched, os.path.join(folder, "state"), processors[-1])

        pairs = Pairs(training, start_sidecar, wanted.seconds)
        for _ in range(wanted.pairs):
            pairs.measure(order.sample((False, True), 2))
        training.close()
    print("%d pairs of %.1f s, %s, %.3f ms a step: trainwatch beside it %s; its median step %s; its own CPU time %.2f %% of a core at %.0f steps/s" % (
        wanted.pairs, wanted.seconds, "GPU" if torch.cuda.is_available() else "CPU", statistics.median(mean for mean, _ in pairs.alone) * 1e3,
        pairs.difference(0), pairs.difference(1), 100 * statistics.median(pairs.shares), 1 / statistics.median(mean for mean, _ in pairs.beside)))


if __name__ == "__main__":
    main()
