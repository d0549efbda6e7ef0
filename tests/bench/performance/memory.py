# SPDX-License-Identifier: Apache-2.0
"""The memory that long files and many ranks take."""

import os
import tempfile
import time

import inputs
import processes
from growing_timeline import GrowingTimeline
from table import Figure

RANKS = 10_000
CYCLE_MEGABYTES = (100, 1000)


def measure(_, trainwatch, bench, scratch):
    for megabytes in CYCLE_MEGABYTES:
        path = inputs.kineto(scratch, megabytes)[0]
        _, _, peak = processes.measured([trainwatch, "replay", path])
        yield Figure("peak memory, a Kineto cycle of %.1f GB" % (os.path.getsize(path) / 1e9), [peak], 64, " MiB", at_least=False)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        watched = os.path.join(folder, "job")
        os.mkdir(watched)
        for rank in range(RANKS):
            GrowingTimeline(watched, rank).close()
        size = sum(os.path.getsize(path) for path in inputs.files_below(watched))
        with processes.Daemon(trainwatch, folder, watched) as daemon:
            daemon.wait_until_read(size)
            time.sleep(12)  # a commit, and several snapshots
            peak = processes.memory(daemon.pid, "VmHWM")
    yield Figure("peak memory, %d ranks" % RANKS, [peak], 256, " MiB", at_least=False)
