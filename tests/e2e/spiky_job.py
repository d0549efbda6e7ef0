# SPDX-License-Identifier: Apache-2.0
"""Jobs that raise many alerts: of one rank each, whose loader stalls now and then, each timeline written
as smdebug writes it (.tmp, closed by taking two bytes back, moved to pevents/), in random pieces."""

import os
import random
import subprocess

import harness

# One alert per slow call, each an incident of its own as every rank is a job; see docs/rules/getnext_outlier.md.
RULES = ["--rules=getnext_outlier", "--set=getnext_outlier.window=20", "--set=getnext_outlier.recovery=1",
         "--set=getnext_outlier.merge_after=0", "--set=getnext_outlier.min_lost_seconds=0.1"]
START_US = 1795247833000000


class Rank:
    """One writer. `spikes` calls of its own are slow, each a few ordinary ones after the last."""

    def __init__(self, directory, rank, spikes, random_numbers, steps_per_file=400):
        self._directory = os.path.join(directory, "job-%d" % rank, "framework")
        self._node = "%d-algo-1" % rank
        self._random = random_numbers
        self._steps_per_file = steps_per_file
        self._pieces = self._plan(spikes)
        self._carry = b""
        self.done = False

    def _plan(self, spikes):
        """Yields what is appended next, and actions on the file as functions."""
        step, now_us, left = 0, 0, 30
        while spikes > 0:
            yield self._header()
            for call in range(1, self._steps_per_file + 1):
                left -= 1
                # The job's times are of another day: once its file is closed, two seconds of silence end the run and its alerts.
                slow = left <= 0 and call < self._steps_per_file
                duration = self._random.randint(99000, 101000) * (5 if slow else 1)
                if slow:
                    spikes -= 1
                    left = self._random.randint(4, 9)
                yield ('{"name": "DataLoaderIter::GetNext", "pid": 1, "ph": "X", "ts": %d, "dur": %d, '
                       '"args": {"step_num": "%d"}},\n' % (now_us, duration, step)).encode()
                step, now_us = step + 1, now_us + duration
            yield lambda end=now_us: self._close(end)

    def _header(self):
        return ('[\n{"name": "process_name", "ph": "M", "pid": 0, "args": '
                '{"start_time_since_epoch_in_micros": %d}},\n'
                '{"name": "process_name", "ph": "M", "pid": 1, "args": '
                '{"name": "DataLoaderIter"}},\n' % START_US).encode()

    def _open_path(self):
        return os.path.join(self._directory, self._node + "_pythontimeline.json.tmp")

    def _close(self, end_us):
        path = self._open_path()
        with open(path, "r+b") as file:
            file.seek(-2, os.SEEK_END)
            file.truncate()
            file.write(b"\n]")
        folder = os.path.join(self._directory, "pevents", "2026112107")
        os.makedirs(folder, exist_ok=True)
        name = "%d_%s_pythontimeline.json" % (START_US + end_us, self._node)
        os.rename(path, os.path.join(folder, name))

    def write(self, records):
        """Writes up to so many records; the last one in two pieces, as a buffered writer does."""
        os.makedirs(self._directory, exist_ok=True)
        data, self._carry = self._carry, b""
        for _ in range(records):
            piece = next(self._pieces, None)
            if piece is None:
                self.done = True
                break
            if callable(piece):
                self._append(data)
                data = b""
                piece()
            else:
                data += piece
        keep = 0 if self.done or not data else self._random.randint(0, min(len(data), 100))
        self._append(data[:len(data) - keep])
        self._carry = data[len(data) - keep:]

    def _append(self, data):
        if data:
            with open(self._open_path(), "ab") as file:
                file.write(data)


class SpikyJob:
    def __init__(self, directory, alerts, seed, ranks=4, steps_per_file=400):
        numbers = random.Random(seed)
        self._random = numbers
        share = -(-alerts // ranks)
        self.ranks = [Rank(directory, rank, share, numbers, steps_per_file) for rank in range(ranks)]

    def write_some(self, records):
        """About so many records by ranks at random. False: all is written."""
        left = [rank for rank in self.ranks if not rank.done]
        if left:
            self._random.choice(left).write(records)
        return bool(left)

    def write_all(self):
        while self.write_some(5000):
            pass


def start(directory, state, port, log, *arguments, prefix=()):
    """trainwatch on such a job, run by the command `prefix`; whoever starts it ends it."""
    return subprocess.Popen(
        [*prefix, harness.binary(), "run", "--watch=" + directory, "--storage.path=" + state,
         "--web.listen-address=127.0.0.1:%d" % port, *RULES, *arguments],
        stdout=subprocess.DEVNULL, stderr=log)
