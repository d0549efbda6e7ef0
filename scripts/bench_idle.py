"""What trainwatch costs while nothing happens: a real daemon beside timelines that have stopped growing. What bench.py runs as "idle"."""

import glob
import os
import tempfile
import time

SETTLES_SECONDS = 5
SECONDS = 20
ROUNDS = 3


def run_seconds(pid):
    """CPU time so far: thread -> seconds."""
    seconds = {}
    for thread in glob.glob("/proc/%d/task/*" % pid):
        with open(os.path.join(thread, "schedstat")) as file:
            seconds[thread] = int(file.read().split()[0]) / 1e9
    return seconds


def measure(trainwatch, daemon, timeline, scratch, count):
    """The share of a core, and that of the two busiest threads."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        watched = os.path.join(folder, "job")
        os.mkdir(watched)
        timelines = [timeline(watched, rank) for rank in range(count)]
        with daemon(trainwatch, folder, watched) as (_, pid):
            time.sleep(SETTLES_SECONDS)
            before = run_seconds(pid)
            time.sleep(SECONDS)
            after = run_seconds(pid)
        del timelines
    shares = sorted(((seconds - before.get(thread, 0)) / SECONDS for thread, seconds in after.items()), reverse=True)
    return sum(shares), shares[:2]


def run(trainwatch, daemon, timeline, scratch):
    for count in (100, 1000):
        rounds = sorted(measure(trainwatch, daemon, timeline, scratch, count) for _ in range(ROUNDS))
        total, busiest = rounds[ROUNDS // 2]
        print("idle: %d files: %.3f %% of a core (%.3f to %.3f), its busiest threads %s" % (
            count, 100 * total, 100 * rounds[0][0], 100 * rounds[-1][0],
            " and ".join("%.3f %%" % (100 * share) for share in busiest)), flush=True)
