"""Prints what trainwatch.py costs: one event, and one loop iteration with its two events."""

import os
import tempfile
import time

import trainwatch

ROUNDS = 100000


def main():
    with tempfile.TemporaryDirectory() as out:
        with trainwatch.Watch(out) as watch:
            began = time.perf_counter()
            for _ in range(ROUNDS):
                with watch.phase("Forward"):
                    pass
            event = (time.perf_counter() - began) / ROUNDS
            began = time.perf_counter()
            for _ in watch.batches(range(ROUNDS)):
                with watch.step():
                    pass
            iteration = (time.perf_counter() - began) / ROUNDS
        size = sum(os.path.getsize(os.path.join(folder, name))
                   for folder, _, names in os.walk(out) for name in names)
    print("one event %.2f us; one iteration of batches() and step() %.2f us; %.0f bytes per event"
          % (event * 1e6, iteration * 1e6, size / (3 * ROUNDS)))


if __name__ == "__main__":
    main()
