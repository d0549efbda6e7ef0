# SPDX-License-Identifier: Apache-2.0
"""How long a restart takes until it is ready, beside 1,000 files that were read and 100,000 stored alerts."""

import os
import sys
import tempfile
import time

import processes
from table import Figure

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e"))
import spiky_job  # noqa: E402

ROUNDS = 5


def seconds_to_ready(trainwatch, folder, job):
    began = time.perf_counter()
    with processes.Daemon(trainwatch, folder, job, *spiky_job.RULES) as daemon:
        daemon.wait_until_ready()
        return time.perf_counter() - began


def measure(_, trainwatch, bench, scratch):
    with tempfile.TemporaryDirectory(dir=scratch) as folder, tempfile.TemporaryDirectory(dir=scratch) as job:
        spiky_job.SpikyJob(job, 64_000, seed=3, steps_per_file=390).write_all()
        seconds_to_ready(trainwatch, folder, job)
        yield Figure("ready after a restart beside 1000 files and 100000 stored alerts",
                     [seconds_to_ready(trainwatch, folder, job) for _ in range(ROUNDS)], 1, " s", at_least=False)
