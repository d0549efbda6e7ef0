# SPDX-License-Identifier: Apache-2.0
"""How fast files are read, compared with a plain simdjson on-demand pass over the same bytes in the same round (decode_bench --plain):
of `trainwatch replay` the CPU time of the whole process, of `trainwatch run` with all analyses that of the engine's thread and of the analyses'."""

import os
import re
import tempfile

import inputs
import processes
from table import Figure

ROUNDS = 5

# name -> input, target of replay, target of run (0: none)
FORMATS = {
    "metrics": ("system metrics", inputs.metrics, 1.0, 0.6),
    "nodes": ("system metrics, 200 files at once", inputs.metrics_of_nodes, 0.9, 0),
    "shuffled": ("system metrics, shuffled", inputs.shuffled_metrics, 0.5, 0),
    "kineto": ("Kineto with cycles", inputs.kineto, 0.75, 0.6),
    "real_kineto": ("Kineto with cycles, real trace of 2024", inputs.real_kineto, 0.75, 0),
    "gz": ("Kineto with cycles, gzip, against the slower stage", inputs.kineto_gz, 0.85, 0),
    "timelines": ("timelines", inputs.timelines, 0.6, 0.4),
    "hook": ("timelines with five spans a step", inputs.hook_timeline, 0.6, 0.4),
    "tensorflow": ("TensorFlow, real events", inputs.tensorflow, 0.6, 0),
}


def plain_seconds(bench, paths):
    """CPU time of the slower of inflating (of .gz files) and reading with simdjson."""
    output, _, _ = processes.measured([bench, "--plain", *paths])
    stages = re.search(r"simdjson_cpu_seconds=([0-9.]+) inflate_cpu_seconds=([0-9.]+)", output)
    return max(float(stages.group(1)), float(stages.group(2)))


def folder_of(paths):
    return os.path.commonpath(paths) if len(paths) > 1 else os.path.dirname(paths[0])


def run_seconds(trainwatch, scratch, paths, *arguments):
    """CPU time of the engine's and the analyses' threads of `trainwatch run`, from the start until all is read."""
    size = sum(os.path.getsize(path) for path in paths)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        with processes.Daemon(trainwatch, folder, folder_of(paths), *arguments) as daemon:
            daemon.wait_until_read(size)
            return sum(processes.seconds_of(daemon.pid, thread) for thread in ("engine", "analyses"))


def measure(name, trainwatch, bench, scratch):
    title, make, replay_target, run_target = FORMATS[name]
    paths = make(scratch)
    if not paths:
        return
    size = sum(os.path.getsize(path) for path in paths)
    shares, runs, seconds, peak = [], [], [], 0
    for _ in range(ROUNDS):
        plain = plain_seconds(bench, paths)
        _, replay, resident = processes.measured([trainwatch, "replay", folder_of(paths)])
        seconds.append(replay)
        shares.append(plain / replay)
        peak = max(peak, resident)
        if run_target:
            runs.append(plain / run_seconds(trainwatch, scratch, paths, "--analyses.run=all"))
    yield Figure("`replay`, " + title, shares, replay_target,
                 note="%.0f MB at %.0f MB/s, peak %.0f MiB" % (size / 1e6, size / sorted(seconds)[ROUNDS // 2] / 1e6, peak))
    if run_target:
        yield Figure("`run` with all analyses, " + title, runs, run_target)
