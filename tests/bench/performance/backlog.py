# SPDX-License-Identifier: Apache-2.0
"""How long a daemon with all analyses takes to read a gigabyte that is there when it starts."""

import os
import tempfile
import time

import inputs
import processes
from table import Figure
from throughput import folder_of

ROUNDS = 5
MEGABYTES = 1000
FORMATS = {"system metrics": inputs.metrics, "a Kineto cycle": inputs.kineto, "a timeline": inputs.timelines}


def seconds_to_read(trainwatch, scratch, paths):
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        began = time.perf_counter()
        with processes.Daemon(trainwatch, folder, folder_of(paths), "--analyses.run=all") as daemon:
            daemon.wait_until_ready()
            return time.perf_counter() - began


def measure(_, trainwatch, bench, scratch):
    for name, make in FORMATS.items():
        paths = make(scratch, MEGABYTES)
        gigabytes = sum(os.path.getsize(path) for path in paths) / 1e9
        seconds = [seconds_to_read(trainwatch, scratch, paths) / gigabytes for _ in range(ROUNDS)]
        yield Figure("1 GB at the start, " + name, seconds, 2.5, " s", at_least=False)
