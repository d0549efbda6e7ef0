# SPDX-License-Identifier: Apache-2.0
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
    """Percent of a core, by thread."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        watched = os.path.join(folder, "job")
        os.mkdir(watched)
        for rank in range(count):
            GrowingTimeline(watched, rank).close()
        with processes.Daemon(trainwatch, folder, watched) as daemon:
            time.sleep(SETTLES_SECONDS)
            return processes.percent_of_core(daemon.pid, lambda: time.sleep(SECONDS))


def measure(_, trainwatch, bench, scratch):
    for count, target in FILES.items():
        rounds = [share(trainwatch, scratch, count) for _ in range(ROUNDS)]
        yield Figure("idle, %d files" % count, [sum(used.values()) for used in rounds], target, " % of a core", at_least=False,
                     note=processes.busiest(rounds[0]))
