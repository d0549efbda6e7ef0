"""What trainwatch costs beside a usual job: 8 GPUs whose ranks make 10 steps a second each, with their phases, and samples of 64 cores and
8 GPUs twice a second."""

import json
import os
import tempfile
import time

import processes
from table import Figure

GPUS, CORES = 8, 64
STEP_SECONDS = 0.1
SECONDS = 20
SETTLES_SECONDS = 5
ROUNDS = 3
PHASES = (("DataLoaderIter", 1, 5), ("Forward", 7, 40), ("Backward", 48, 40), ("Optimizer", 89, 8), ("Step:ModeKeys.TRAIN", 0, 98))


class Job:
    """Writes what the job would have written since the last call."""

    def __init__(self, folder):
        os.makedirs(os.path.join(folder, "framework"))
        os.makedirs(os.path.join(folder, "system"))
        self._began = time.time()
        self._steps = self._ticks = 0
        self._ranks = [open(os.path.join(folder, "framework", "%d-node_pythontimeline.json.tmp" % rank), "ab", buffering=0)
                       for rank in range(GPUS)]
        self._system = open(os.path.join(folder, "system", "%d.node.json" % self._began), "ab", buffering=0)
        head = [{"name": "process_name", "ph": "M", "pid": 0,
                 "args": {"start_time_since_epoch_in_micros": int(self._began * 1e6)}}]
        head += [{"name": "process_name", "ph": "M", "pid": pid, "args": {"name": phase}} for pid, (phase, _, _) in enumerate(PHASES, 1)]
        for file in self._ranks:
            file.write(("[\n" + "".join(json.dumps(line) + ",\n" for line in head)).encode())

    def write(self):
        passed = time.time() - self._began
        while (self._steps + 1) * STEP_SECONDS < passed:
            at = int(self._steps * STEP_SECONDS * 1e6)
            for rank, file in enumerate(self._ranks):
                file.write("".join(json.dumps({"name": phase, "ph": "X", "pid": pid, "ts": at + begin * 1000 + rank, "dur": lasts * 1000,
                                               "args": {"pid": 100 + rank, "step_num": str(self._steps)}}) + ",\n"
                                   for pid, (phase, begin, lasts) in enumerate(PHASES, 1)).encode())
            self._steps += 1
        while (self._ticks + 1) * 0.5 < passed:
            at = self._began + self._ticks * 0.5
            lines = [("cpu", "cpu%d" % core, name) for core in range(CORES) for name in ("CPUUtilization", "IOWaitPercentage")]
            lines += [("gpu", "gpu%d" % gpu, name) for gpu in range(GPUS) for name in ("GPUUtilization", "GPUMemoryUtilization")]
            self._system.write("".join('{"Type":"%s","Name":"%s","Dimension":"%s","Value":%.2f,"NodeId":"node","Timestamp":%.6f}\n' % (
                *line, 40 + (self._ticks + number) % 20, at) for number, line in enumerate(lines)).encode())
            self._ticks += 1

    def run(self, seconds):
        ends = time.time() + seconds
        while time.time() < ends:
            self.write()
            time.sleep(0.05)


def share(trainwatch, scratch):
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        watched = os.path.join(folder, "job")
        job = Job(watched)
        with processes.Daemon(trainwatch, folder, watched) as daemon:
            job.run(SETTLES_SECONDS)
            return processes.percent_of_core(daemon.pid, lambda: job.run(SECONDS))


def measure(_, trainwatch, bench, scratch):
    rounds = [share(trainwatch, scratch) for _ in range(ROUNDS)]
    yield Figure("typical load: %d GPUs, %d cores, 10 steps/s" % (GPUS, CORES), [sum(used.values()) for used in rounds], 0.4, " % of a core",
                 at_least=False, note=processes.busiest(rounds[0]))
