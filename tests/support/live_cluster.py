# SPDX-License-Identifier: Apache-2.0
"""Two jobs that are written in real time, with every kind of input: `pretrain` has timelines of ranks with their phases,
a console log, and system metrics of its nodes; `finetune` has profiler traces.

    cluster = live_cluster.Cluster(directory, ranks=4, nodes=2)
    trainwatch run --config.file=FILE with cluster.configuration()
    while ...: cluster.write_until(time.time())

The ranks of a step wait for each other. Rank 1 waits for its data more than the others, so that something fires.
"""

import json
import math
import os
import random
import shutil
import subprocess
import sys
import time

import rich_job

STEP_SECONDS = {"DataLoaderIter": 0.005, "Forward": 0.040, "Backward": 0.080, "NcclManager": 0.015, "Optimizer": 0.010}
SAMPLE_SECONDS = 0.5
GPUS_PER_NODE = 2
CORES_PER_NODE = 4
TRACED_STEPS = 3  # of each rank in a profiler cycle


class Cluster:
    """Of `cycles` profiler cycles one is exported each two seconds. `fault(rank, seconds since the beginning)` gives what
    the phases of a step take longer than usual."""

    def __init__(self, directory, ranks, nodes, cycles=8, fault=None):
        self._system, self._traces = (os.path.join(directory, job) for job in ("pretrain", "finetune"))
        self._staged = os.path.join(directory, "staged")
        os.mkdir(self._traces)
        for cycle in range(cycles):
            record_traces(os.path.join(self._staged, str(cycle)), cycle, ranks=2)
        self._begin = time.time()
        self._fault = fault or waiting_rank
        self._ranks = [Rank(self._system, rank, "trainer-%d" % (rank * nodes // ranks), self._begin)
                       for rank in range(ranks)]
        self._nodes = ["trainer-%d" % node for node in range(nodes)]
        self._samples = self._cycles = 0

    def configuration(self):
        """What trainwatch is to watch."""
        return "watch:\n" + "".join(" - {path: %s, job: %s, source: %s}\n" % (path, name, name) for name, path in
                                    (("pretrain", self._system), ("finetune", self._traces)))

    def steps(self):
        """Of all ranks, so far."""
        return sum(rank.steps for rank in self._ranks)

    def write_until(self, now):
        """Appends all that has happened by then."""
        for rank in self._ranks:
            rank.write_until(now, self._fault)
        while self._begin + self._samples * SAMPLE_SECONDS <= now:
            self._sample(self._begin + self._samples * SAMPLE_SECONDS)
            self._samples += 1
        if now >= self._begin + self._cycles * 2:
            self._export()

    def _sample(self, at):
        with open(os.path.join(self._system, "console.log"), "a") as file:
            file.write("{'loss': %.4f, 'grad_norm': 1.5, 'learning_rate': 4.9e-05, 'epoch': %.2f}\n"
                       % (2 + 3 / (1 + self._samples), self._samples / 100))
        for node in self._nodes:
            with open(os.path.join(self._system, "%d.%s.json" % (at // 60 * 60, node)), "a") as file:
                for kind, name, dimension, value in _samples(at):
                    file.write(json.dumps({"Type": kind, "Name": name, "Dimension": dimension, "Value": round(value, 2),
                                           "NodeId": node, "Timestamp": at}) + "\n")

    def _export(self):
        folder = os.path.join(self._staged, str(self._cycles))
        if os.path.isdir(folder):
            shutil.move(folder, self._traces)
        self._cycles += 1


def record_traces(directory, cycle, ranks):
    """The profiler traces of one cycle."""
    subprocess.run([sys.executable, os.path.join(rich_job.SUPPORT, "kineto_gen.py"), "--scenario", "comm_bound",
                    "--out", directory, "--ranks", str(ranks), "--steps", str(TRACED_STEPS), "--kernels-per-step", "30",
                    "--cycle", str(cycle)], check=True, stdout=subprocess.DEVNULL)


def waiting_rank(rank, _):
    """Phase -> seconds more than without a fault: rank 1 waits for its data, and the others wait for rank 1."""
    return {"DataLoaderIter" if rank == 1 else "NcclManager": 0.06}


class Rank:
    """The timeline of one rank below `directory`, whose steps follow each other from `begin` on."""

    def __init__(self, directory, rank, node, begin):
        self._rank, self.steps, self._at, self._begin = rank, 0, begin, begin
        self._random = random.Random(rank)
        self._pids = {phase: number for number, phase in enumerate((*STEP_SECONDS, "Step:ModeKeys.TRAIN"), 1)}
        self._path = os.path.join(directory, "framework", "%d-%s_pythontimeline.json.tmp" % (rank, node))
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        with open(self._path, "w") as file:
            file.write("[\n" + ",\n".join(
                [json.dumps({"name": "process_name", "ph": "M", "pid": 0,
                             "args": {"start_time_since_epoch_in_micros": int(begin * 1e6)}})]
                + [json.dumps({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": phase}})
                   for phase, pid in self._pids.items()]))

    def write_until(self, now, fault):
        lines = []
        while True:
            extra = fault(self._rank, self._at - self._begin)
            took = {phase: seconds * self._random.uniform(0.95, 1.05) + extra.get(phase, 0)
                    for phase, seconds in STEP_SECONDS.items()}
            if self._at + sum(took.values()) > now:
                break
            begin = self._at
            for phase, seconds in took.items():
                lines.append(self._span(phase, {"DataLoaderIter": "DataLoaderIter::GetNext"}.get(phase, phase), seconds))
                self._at += seconds
            lines.append(self._span("Step:ModeKeys.TRAIN", "Step:ModeKeys.TRAIN", self._at - begin, begin))
            self.steps += 1
        with open(self._path, "a") as file:
            file.write("".join(",\n" + line for line in lines))

    def _span(self, phase, name, seconds, begin=None):
        begin = self._at if begin is None else begin
        return json.dumps({"name": name, "pid": self._pids[phase], "ph": "X", "ts": int((begin - self._begin) * 1e6),
                           "dur": int(seconds * 1e6),
                           "args": {"pid": 1, "step_num": str(self.steps), "worker_id": self.steps % 4}})


def _samples(at):
    """(type, name, dimension, value) as `trainwatch sample` and SageMaker write them."""
    wave = 5 + 5 * math.sin(at / 20)
    yield from (("i/o", "IOPS", "", 100 * wave), ("memory", "MemoryUsedPercent", "", 40 + wave))
    for direction in ("Read", "Write"):
        yield "i/o", direction + "ThroughputInBytesPerSecond", "", 1e8 + 1e7 * wave
        yield "cgroup", direction + "ThroughputInBytesPerSecond", "", 5e7 + 1e6 * wave
    yield from (("cgroup", "CPUThrottledPercent", "", wave), ("cgroup", "MemoryUsedPercent", "", 50 + wave))
    for direction in ("Receive", "Transmit"):
        yield "network", direction + "BytesPerSecond", "Algorithm", 1e9 + 1e7 * wave
    for resource in ("CPU", "IO", "Memory"):
        for kind in ("Some", "Full"):
            yield "pressure", resource + "Pressure" + kind, "", wave / (1 if kind == "Some" else 4)
    for core in range(CORES_PER_NODE):
        yield "cpu", "cpu%d" % core, "CPUUtilization", 45 + 12 * core + wave / 4
        yield "cpu", "cpu%d" % core, "I/OWaitPercentage", wave
    for gpu in range(GPUS_PER_NODE):
        for name, value in (("GPUUtilization", 85 + wave), ("GPUMemoryUtilization", 70 + gpu), ("GPUSmClock", 1400 - 60 * gpu),
                            ("GPUMemoryClock", 1593), ("GPUThrottleReasons", 4), ("GPUTemperature", 60 + wave + gpu),
                            ("GPUPower", 300 + 10 * wave), ("GPUEccErrors", 0), ("GPUXid", 0)):
            yield "gpu", "gpu%d" % gpu, name, value
