# SPDX-License-Identifier: Apache-2.0
"""What trainwatch costs beside a usual job: 8 GPUs whose ranks make 10 steps a second each, with their phases, and samples of 64 cores and
8 GPUs twice a second."""

import os
import tempfile
import time

import processes
from growing_job import GrowingJob
from table import Figure

GPUS, CORES = 8, 64
STEP_SECONDS, TICK_SECONDS = 0.1, 0.5
SECONDS = 20
SETTLES_SECONDS = 5
ROUNDS = 3


def run(job, seconds):
    ends = time.time() + seconds
    while time.time() < ends:
        job.write(time.time())
        time.sleep(0.05)


def share(trainwatch, scratch):
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        watched = os.path.join(folder, "job")
        job = GrowingJob(watched, time.time(), GPUS, CORES, STEP_SECONDS, TICK_SECONDS)
        with processes.Daemon(trainwatch, folder, watched) as daemon:
            run(job, SETTLES_SECONDS)
            return processes.percent_of_core(daemon.pid, lambda: run(job, SECONDS))


def measure(_, trainwatch, bench, scratch):
    rounds = [share(trainwatch, scratch) for _ in range(ROUNDS)]
    yield Figure("typical load: %d GPUs, %d cores, 10 steps/s" % (GPUS, CORES), [sum(used.values()) for used in rounds], 0.4,
                 " % of a core", at_least=False, note=processes.busiest(rounds[0]))
