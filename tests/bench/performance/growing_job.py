# SPDX-License-Identifier: Apache-2.0
"""A job that grows, as SageMaker's agent and smdebug write it: timelines of its ranks and system metrics of its node, up to a time that the
caller chooses. A closed file goes where they put it, and the next one begins."""

import json
import os
import time

NODE = "node"
# Where they begin and how long they last, in per cent of a step.
PHASES = (("DataLoaderIter", 1, 5), ("Forward", 7, 40), ("Backward", 48, 40), ("Optimizer", 89, 8), ("Step:ModeKeys.TRAIN", 0, 98))


def _hour(seconds):
    return time.strftime("%Y%m%d%H", time.gmtime(seconds))


class Timeline:
    """Of one rank: a .tmp file until it is closed."""

    def __init__(self, folder, rank, began):
        self._folder, self._rank, self._began, self._file = os.path.join(folder, "framework"), rank, began, None
        os.makedirs(self._folder, exist_ok=True)

    @property
    def _path(self):
        return os.path.join(self._folder, "%d-%s_pythontimeline.json.tmp" % (self._rank, NODE))

    def write(self, number, begins, lasts):
        """A step, in seconds of the job."""
        if self._file is None:
            head = [{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": int(self._began * 1e6)}}]
            head += [{"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}} for pid, (name, _, _) in enumerate(PHASES, 1)]
            self._file = open(self._path, "ab", buffering=0)
            self._file.write(("[\n" + "".join(json.dumps(line) + ",\n" for line in head)).encode())
        start, percent = begins * 1e6 + self._rank, lasts * 1e4
        self._file.write("".join('{"name": "%s", "ph": "X", "pid": %d, "ts": %d, "dur": %d, "args": {"pid": %d, "step_num": "%d"}},\n' % (
            name, pid, start + begin * percent, size * percent, 100 + self._rank, number)
            for pid, (name, begin, size) in enumerate(PHASES, 1)).encode())

    def close(self, at):
        if self._file is None:
            return
        os.truncate(self._path, os.path.getsize(self._path) - len(",\n"))
        self._file.write(b"\n]")
        self._file.close()
        self._file = None
        target = os.path.join(self._folder, "pevents", _hour(at))
        os.makedirs(target, exist_ok=True)
        os.rename(self._path, os.path.join(target, "%d_%d-%s_pythontimeline.json" % (at * 1e6, self._rank, NODE)))


class SystemMetrics:
    """Of one node, a file for each time that it is opened."""

    def __init__(self, folder, gpus, cores):
        self._folder, self._file = os.path.join(folder, "system", "incremental"), None
        lines = [("cpu", "cpu%d" % core, name) for core in range(cores) for name in ("CPUUtilization", "I/OWaitPercentage")]
        lines += [("gpu", "gpu%d" % gpu, name) for gpu in range(gpus) for name in ("GPUUtilization", "GPUMemoryUtilization")]
        self._lines = ['{"Type":"%s","Name":"%s","Dimension":"%s","Value":%%.2f,"NodeId":"%s","Timestamp":%%.6f}\n' % (*line, NODE)
                       for line in lines]

    def write(self, number, at):
        if self._file is None:
            folder = os.path.join(self._folder, _hour(at))
            os.makedirs(folder, exist_ok=True)
            self._file = open(os.path.join(folder, "%d.%s.json" % (at, NODE)), "ab", buffering=0)
        self._file.write("".join(line % (40 + (number + place) % 20, at) for place, line in enumerate(self._lines)).encode())

    def close(self):
        if self._file is not None:
            self._file.close()
            self._file = None


class GrowingJob:
    """Begins at `began`, in seconds since 1970. longer(step) says how many times as long as usual a step lasts."""

    def __init__(self, folder, began, gpus, cores, step_seconds, tick_seconds, longer=lambda step: 1):
        self._began, self._step_seconds, self._tick_seconds, self._longer = began, step_seconds, tick_seconds, longer
        self._steps = self._ticks = 0
        self._next_step = 0.0
        self._timelines = [Timeline(folder, rank, began) for rank in range(gpus)]
        self._system = SystemMetrics(folder, gpus, cores)

    def write(self, until):
        """What it would have written from the last call until then."""
        passed = until - self._began
        while self._next_step + (lasts := self._step_seconds * self._longer(self._steps)) < passed:
            for timeline in self._timelines:
                timeline.write(self._steps, self._next_step, lasts)
            self._next_step += lasts
            self._steps += 1
        while (self._ticks + 1) * self._tick_seconds < passed:
            self._system.write(self._ticks, self._began + self._ticks * self._tick_seconds)
            self._ticks += 1

    def close_files(self, at):
        for timeline in self._timelines:
            timeline.close(at)
        self._system.close()
