# SPDX-License-Identifier: Apache-2.0
"""Prints what the Python package costs: CPU time of this thread, which other processes do not lengthen.

    bench.py            an event and an iteration of the hook, what is logged, an iteration as the integrations record it, the
                        start, and with torch an iteration of a real loop
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import trainwatch
from trainwatch import _torch
from trainwatch._plain import PlainLoop
from trainwatch._recorder import Recorder

ROUNDS = 100000
STARTS = 20
PAIRS, BLOCK = 200, 20  # of blocks of a torch loop, observed and not; iterations


class _SingleProcessDataLoaderIter:
    """What a Recorder looks at in torch's iterator of the same name."""


def timed(work):
    """Microseconds for each of ROUNDS calls."""
    began = time.thread_time()
    for _ in range(ROUNDS):
        work()
    return (time.thread_time() - began) / ROUNDS * 1e6


def of_the_hook(out):
    with trainwatch.Watch(out) as watch:
        def event():
            with watch.phase("Forward"):
                pass
        single = timed(event)
        began = time.thread_time()
        for _ in watch.batches(range(ROUNDS)):
            with watch.step():
                pass
        iteration = (time.thread_time() - began) / ROUNDS * 1e6
    size = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(out) for name in names)
    print("hook: one event %.2f us; one iteration of batches() and step() %.2f us; %.0f bytes per event"
          % (single, iteration, size / (3 * ROUNDS)))


def of_logging(out):
    with trainwatch.Watch(out) as watch:
        watch._timeline._scalars = trainwatch._Scalars()
        for count in (1, 5):
            values = {"train/value%d" % number: 2.3125 for number in range(count)}
            step = 0
            began = time.thread_time()
            for step in range(ROUNDS // 10):
                watch._timeline._scalars._in_second = 0  # what is dropped costs less
                watch.log(values, step + count * ROUNDS)
            print("log() of %d values: %.2f us" % (count, (time.thread_time() - began) / (step + 1) * 1e6))


def of_torch(out):
    """Models whose steps take about one ms and some, in one thread; in turns, as other processes disturb it."""
    try:
        import torch
    except ImportError:
        print("torch: it is not here")
        return
    torch.set_num_threads(1)
    for width in (64, 256):
        model = torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(4)))
        optimizer = torch.optim.AdamW(model.parameters())
        data = torch.utils.data.TensorDataset(torch.randn(BLOCK * 64, width))
        loader = torch.utils.data.DataLoader(data, batch_size=64)

        def block():
            began = time.thread_time()
            for batch, in loader:
                optimizer.zero_grad()
                loss = model(batch).square().mean()
                loss.backward()
                optimizer.step()
            return (time.thread_time() - began) / BLOCK * 1e6
        with trainwatch.Watch(os.path.join(out, str(width))) as watch:
            loop = PlainLoop(lambda: watch)
            plain, longer = [], []
            for _ in range(PAIRS):
                _torch.silence()
                before = block()
                _torch.attach(loop)
                observed = block()
                _torch.silence()
                plain.append((before + block()) / 2)
                longer.append(observed - plain[-1])
        quarters = statistics.quantiles(longer, n=4)
        print("torch %s: an iteration of %.0f us takes %.0f us longer (half of %d pairs: %.0f to %.0f)"
              % (torch.__version__, statistics.median(plain), quarters[1], PAIRS, quarters[0], quarters[2]))


def of_an_iteration(name, make, announces_steps, out):
    """A wait, a backward pass and a step of the optimizer, without what torch itself does."""
    with trainwatch.Watch(out) as watch:
        recorder, iterator = make(watch), _SingleProcessDataLoaderIter()

        def iteration():
            recorder.fetching(iterator, recorder.now())
            recorder.fetched(iterator, recorder.now())
            if announces_steps:
                recorder.computes()
            recorder.backward(recorder.now())
            recorder.stepped(iterator, recorder.now(), recorder.now())
            if announces_steps:
                recorder.step_ended()
        print("%s: one iteration %.2f us" % (name, timed(iteration)))


def of_a_start(arguments, environment):
    """Milliseconds of CPU time of a Python that does nothing."""
    before = os.times()
    for _ in range(STARTS):
        subprocess.run([sys.executable, *arguments, "-c", "pass"], env=environment, check=True)
    after = os.times()
    return (after.children_user + after.children_system - before.children_user - before.children_system) / STARTS * 1e3


def main():
    with tempfile.TemporaryDirectory() as out:
        of_the_hook(os.path.join(out, "hook"))
        of_logging(os.path.join(out, "log"))
        of_an_iteration("callback (wait, Forward, Backward, Optimizer, step)", Recorder, True, os.path.join(out, "callback"))
        of_an_iteration("observe() (wait, Backward, Optimizer, step)", lambda watch: PlainLoop(lambda: watch), False,
                        os.path.join(out, "plain"))
        site = os.path.join(os.path.dirname(os.path.abspath(trainwatch.__file__)), "_site")
        plain = of_a_start([], dict(os.environ))
        loaded = of_a_start([], dict(os.environ, PYTHONPATH=site, TRAINWATCH_AUTOLOAD=out))
        print("start of a Python that the launcher's environment loads the observer into: %.1f ms more" % (loaded - plain))
        of_torch(os.path.join(out, "torch"))


if __name__ == "__main__":
    main()
