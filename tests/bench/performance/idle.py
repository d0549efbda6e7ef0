"""What trainwatch costs while nothing happens: a daemon beside timelines that have stopped growing."""

import os
import tempfile
import time

import processes
from growing_timeline import GrowingTimeline
from table import Figure

SETTLES_SECONDS = 5
SECONDS = 20
ROUNDS = 3
FILES = {100: 0.1, 1000: 0.3}  # number -> target


def share(trainwatch, scratch, count):
    """Percent of a core, and by thread."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        watched = os.path.join(folder, "job")
        os.mkdir(watched)
        for rank in range(count):
            GrowingTimeline(watched, rank).close()
        with processes.Daemon(trainwatch, folder, watched) as daemon:
            time.sleep(SETTLES_SECONDS)
            before = processes.thread_seconds(daemon.pid)
            time.sleep(SECONDS)
            after = processes.thread_seconds(daemon.pid)
    used = {thread[0]: 100 * (seconds - before.get(thread, 0)) / SECONDS for thread, seconds in after.items()}
    return sum(used.values()), used


def measure(_, trainwatch, bench, scratch):
    for count, target in FILES.items():
        rounds = [share(trainwatch, scratch, count) for _ in range(ROUNDS)]
        threads = sorted(rounds[0][1].items(), key=lambda thread: -thread[1])[:3]
        yield Figure("idle, %d files" % count, [total for total, _ in rounds], target, " % of a core", at_least=False,
                     note=", ".join("%s %.3f" % thread for thread in threads))
