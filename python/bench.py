# SPDX-License-Identifier: Apache-2.0
"""Prints what the Python package costs: CPU time of this thread, which other processes do not lengthen.

    bench.py            an event and an iteration of the hook, an iteration as the integrations record it, and the start
"""

import os
import subprocess
import sys
import tempfile
import time

import trainwatch
from trainwatch._plain import PlainLoop
from trainwatch._recorder import Recorder

ROUNDS = 100000
STARTS = 20


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
        of_an_iteration("callback (wait, Forward, Backward, Optimizer, step)", Recorder, True, os.path.join(out, "callback"))
        of_an_iteration("observe() (wait, Backward, Optimizer, step)", lambda watch: PlainLoop(lambda: watch), False,
                        os.path.join(out, "plain"))
        site = os.path.join(os.path.dirname(os.path.abspath(trainwatch.__file__)), "_site")
        plain = of_a_start([], dict(os.environ))
        loaded = of_a_start([], dict(os.environ, PYTHONPATH=site, TRAINWATCH_AUTOLOAD=out))
        print("start of a Python that the launcher's environment loads the observer into: %.1f ms more" % (loaded - plain))


if __name__ == "__main__":
    main()
