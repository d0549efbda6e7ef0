# SPDX-License-Identifier: Apache-2.0
"""Jobs that are written in real time: timelines of ranks as smdebug writes them, and system metrics of nodes. Times
in the files are exact, however late a busy machine lets the test write them."""

import os
import random
import time

STEP_US = 100_000
GETNEXT_PID, STEP_PID = 1, 2
HEADER_RECORDS = 3


def now_us():
    return int(time.time() * 1e6)


def header(base_us):
    return ('[\n{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": %d}}'
            ',\n{"name": "process_name", "ph": "M", "pid": %d, "args": {"name": "DataLoaderIter"}}'
            ',\n{"name": "process_name", "ph": "M", "pid": %d, "args": {"name": "Step:ModeKeys.TRAIN"}}'
            % (base_us, GETNEXT_PID, STEP_PID)).encode()


def step(at_us, wait_us, took_us, number):
    """Two records: the wait for the batch, and the step that includes it."""
    return (',\n{"name": "DataLoaderIter::GetNext", "pid": %d, "ph": "X", "ts": %d, "dur": %d, '
            '"args": {"pid": %d, "step_num": "%d"}}'
            ',\n{"name": "Step:ModeKeys.TRAIN", "pid": %d, "ph": "X", "ts": %d, "dur": %d, '
            '"args": {"pid": %d, "step_num": "%d"}}'
            % (GETNEXT_PID, at_us, wait_us, os.getpid(), number,
               STEP_PID, at_us, took_us, os.getpid(), number)).encode()


class Rank:
    """The steps of one rank, even ones of `step_us` from `base_us` on."""

    RECORDS_PER_STEP = 2

    def __init__(self, base_us, seed, step_us=STEP_US):
        self.base_us = base_us
        self._step_us = step_us
        self._lost_us = 0
        self.number = 0
        self.end_us = 0  # of the last step, since base_us
        self._random = random.Random(seed)

    def next_step(self, lost_us=0):
        """A step whose wait for the batch lasts longer by `lost_us`."""
        took = self._step_us + lost_us - self._random.randrange(2000)
        text = step(self.end_us, 1000 + lost_us + self._random.randrange(500), took, self.number)
        self.end_us += self._step_us + lost_us
        self.number += 1
        return text

    def lose(self, lost_us):
        """The next step that steps_until() gives waits longer by so much."""
        self._lost_us = lost_us

    def steps_until(self, until_us):
        """All that are over by then."""
        steps = []
        while self.base_us + self.end_us + self._step_us + self._lost_us <= until_us:
            steps.append(self.next_step(self._lost_us))
            self._lost_us = 0
        return b"".join(steps)


class RotatedTimeline:
    """Writes the steps of a rank: into NODE_pythontimeline.json.tmp, closed and moved to pevents/ each `period_us`.
    Of the closed ones the last `keep` stay."""

    def __init__(self, directory, node, rank, keep=10, period_us=60_000_000):
        self._folder, self._node, self._rank = os.path.join(directory, "framework"), node, rank
        self.keep, self._period_us = keep, period_us
        self._open = os.path.join(self._folder, node + "_pythontimeline.json.tmp")
        self._closed, self._first_us = [], rank.base_us
        os.makedirs(self._folder, exist_ok=True)

    def write_until(self, until_us):
        while self._first_us + self._period_us <= until_us:
            self._append(self._first_us + self._period_us)
            self._close()
        self._append(until_us)

    def _append(self, until_us):
        steps = self._rank.steps_until(until_us)
        if not steps:
            return
        with open(self._open, "ab") as file:
            file.write((b"" if os.fstat(file.fileno()).st_size else header(self._rank.base_us)) + steps)

    def _close(self):
        end_us = self._first_us = self._first_us + self._period_us
        with open(self._open, "ab") as file:
            file.write(b"\n]\n")
        folder = os.path.join(self._folder, "pevents", time.strftime("%Y%m%d%H", time.gmtime(end_us / 1e6)))
        os.makedirs(folder, exist_ok=True)
        self._closed.append(os.path.join(folder, "%d_%s_pythontimeline.json" % (end_us, self._node)))
        os.rename(self._open, self._closed[-1])
        while len(self._closed) > self.keep:
            os.remove(self._closed.pop(0))


class Node:
    """The system metrics of a node, one set a second: cores, GPUs, memory."""

    def __init__(self, node, begin, cores=4, gpus=4):
        self._next = begin  # seconds
        series = [("cpu", "cpu%d" % core, "CPUUtilization", 40) for core in range(cores)]
        series += [("gpu", "gpu%d" % gpu, "GPUUtilization", 95) for gpu in range(gpus)]
        series += [("gpu", "gpu%d" % gpu, "GPUMemoryUtilization", 50) for gpu in range(gpus)]
        series += [("memory", "MemoryUsedPercent", "", 30)]
        self._lines = "".join(
            '{"Type":"%s","Name":"%s","Dimension":"%s","Value":%d.%%(v)d,"NodeId":"%s","Timestamp":%%(t)d.0}\n'
            % (kind, name, dimension, value, node) for kind, name, dimension, value in series)

    def until(self, until):
        """The lines of all whole seconds up to `until`."""
        seconds = []
        while self._next <= until:
            seconds.append(self._lines % {"v": self._next % 10, "t": self._next})
            self._next += 1
        return "".join(seconds).encode()


class MinuteFiles:
    """Writes the metrics of a node, a file for each minute, of which the last `keep` stay."""

    def __init__(self, directory, name, node, begin, keep=10):
        self._folder, self._name, self._node = os.path.join(directory, "system", "incremental"), name, node
        self._minute, self.keep, self._files = begin // 60, keep, []

    def write_until(self, until_us):
        until = until_us // 1_000_000
        while self._minute < until // 60:
            self._append(self._minute * 60 + 59)
            self._minute += 1
        self._append(until)

    def _append(self, until):
        text = self._node.until(until)
        if not text:
            return
        start = self._minute * 60
        folder = os.path.join(self._folder, time.strftime("%Y%m%d%H", time.gmtime(start)))
        path = os.path.join(folder, "%d.%s.json" % (start, self._name))
        if path not in self._files:
            os.makedirs(folder, exist_ok=True)
            self._files.append(path)
        with open(path, "ab") as file:
            file.write(text)
        while len(self._files) > self.keep:
            os.remove(self._files.pop(0))
