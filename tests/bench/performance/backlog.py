"""How long a daemon with all analyses takes to read a gigabyte that is there when it starts."""

import os
import tempfile
import time

import inputs
import processes
from table import Figure
from throughput import folder_of

MEGABYTES = 1000
FORMATS = {"system metrics": inputs.metrics, "a Kineto cycle": inputs.kineto, "a timeline": inputs.timelines}


def measure(_, trainwatch, bench, scratch):
    for name, make in FORMATS.items():
        paths = make(scratch, MEGABYTES)
        size = sum(os.path.getsize(path) for path in paths)
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            began = time.perf_counter()
            with processes.Daemon(trainwatch, folder, folder_of(paths), "--analyses.run=all") as daemon:
                daemon.wait_until_read(size)
                seconds = time.perf_counter() - began
        yield Figure("1 GB at the start, " + name, [seconds / size * 1e9], 2.5, " s", at_least=False)
