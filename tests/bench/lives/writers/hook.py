# SPDX-License-Identifier: Apache-2.0
"""The project's hook (python/trainwatch.py): one timeline for each rank, rotated, with its launcher's log beside it."""

import json
import os
import time

from account import PHASES, View

from .console import Log

NAME, FIRST = "hook", 0
ROTATE = 60.0


def view(rng):
    return View(PHASES)


def micros(t):
    return round(t * 1e6)


def metadata(number, arguments):
    return ['{"name": "%s", "ph": "M", "pid": %d, "args": %s}' % (name, number, json.dumps(args)) for name, args in
            (("process_name", arguments), ("process_sort_index", {"sort_index": number}))]


class Timeline:
    """The growing file of one process, and its closed predecessors."""

    def __init__(self, folder, name, base, labels, pid, speaks):
        self.speaks = speaks       # of the beginning of steps and of the end of the process, as newer hooks do
        if speaks:
            labels = dict(labels, process_id=pid, process_start_in_micros=micros(base))
            base += 2.0            # it began to import torch
        self.folder, self.name, self.base, self.labels, self.pid = os.path.join(folder, "framework"), name, micros(base), labels, pid
        self.numbers, self.closed = {}, base
        self.open()

    def open(self):
        self.lines, self.known, self.last = metadata(0, {"start_time_since_epoch_in_micros": self.base}), set(), None
        if self.labels:
            text = ", ".join("%s %s" % (k.replace("_", " "), v) for k, v in self.labels.items())
            self.lines.append(json.dumps({"name": "process_labels", "ph": "M", "pid": 0, "args": dict(self.labels, labels=text)}))

    def phase(self, phase, end):
        """Its number, known to the file that is written at `end`."""
        if self.last is not None and end - self.closed > ROTATE:
            self.close()
            self.open()
        number = self.numbers.setdefault(phase, len(self.numbers) + 1)
        if phase not in self.known:
            self.known.add(phase)
            self.lines += metadata(number, {"name": phase})
        self.last = max(end, self.last or end)
        return number

    def begins(self, step, t):
        number = self.phase("Step:ModeKeys.TRAIN", t)
        self.lines.append('{"name": "begin", "pid": %d, "ph": "i", "s": "t", "ts": %d, "args": {"step_num": "%d"}}' % (
            number, micros(t) - self.base, step))

    def ends(self, t, how):
        self.phase("Step:ModeKeys.TRAIN", t)
        self.lines.append('{"name": "process_end", "ph": "i", "pid": 0, "s": "p", "ts": %d, "args": %s}' % (
            micros(t) - self.base, json.dumps(dict(how, pid=self.pid))))

    def span(self, phase, begin, end, step=None, name=None):
        number = self.phase(phase, end)
        self.lines.append('{"name": "%s", "pid": %d, "ph": "X", "ts": %d, "dur": %d, "args": {"pid": %d%s}}' % (
            name or phase, number, micros(begin) - self.base, micros(end) - micros(begin), self.pid,
            "" if step is None else ', "step_num": "%d"' % step))

    def close(self):
        """As rotation, the end of the process, and the next process of the same name do it."""
        end = micros(self.last or self.base / 1e6)
        folder = os.path.join(self.folder, "pevents", time.strftime("%Y%m%d%H", time.gmtime(end / 1e6)))
        os.makedirs(folder, exist_ok=True)
        self.write(os.path.join(folder, "%d_%s_pythontimeline.json" % (end, self.name)), "\n]")
        self.closed = end / 1e6

    def leave(self):
        """The process was killed, or hangs."""
        os.makedirs(self.folder, exist_ok=True)
        self.write(os.path.join(self.folder, self.name + "_pythontimeline.json.tmp"), ",\n")

    def write(self, path, end):
        with open(path, "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(self.lines) + end)
        at = self.last or self.base / 1e6
        os.utime(path, (at, at))


def write(job, folder, view, name=None, labels=None, speaks=False):
    if labels is None:
        labels = {k: str(v) for k, v in (("job", job.name), ("run", job.number)) if v}
    for n, attempt in enumerate(job.attempts):
        for rank in range(attempt.ranks):
            write_rank(job, folder, attempt, rank, dict(labels, world_size=attempt.world), 1000 * (n + 1) + rank,
                       n + 1 == len(job.attempts), speaks=speaks)
    log = Log(folder, name or ("slurm-%s.out" % job.number if job.number else "job.out"))
    for attempt in job.attempts:
        log.end(attempt, job)
    if log.text:
        log.close()


def write_rank(job, folder, attempt, rank, labels, pid, is_last, shown=None, speaks=False):
    """`shown`: the number that the files give the rank."""
    skew = job.skew[rank // 8]
    file = Timeline(folder, "%d-%s" % (rank if shown is None else shown, job.node(rank)),
                    attempt.began + attempt.late.get(rank, 0.0) + skew, labels, pid, speaks)
    if attempt.iterations:
        first = attempt.iterations[0].rows[rank].begin + skew
        file.span("DataLoaderIterInitialize", first - 0.01, first - 0.001, name="_MultiProcessingDataLoaderIter.__init__")
    for i in attempt.iterations:
        if i.number <= attempt.silent.get(rank, i.number):
            iteration(file, i, i.rows[rank], skew)
    if attempt.hangs is not None and attempt.iterations:
        unfinished(file, job, attempt, rank, skew)
    killed = attempt.end is None or attempt.end.form in ("killed", "slurm_cancelled", "slurm_oom", "watchdog")
    if speaks and not killed:
        file.ends(attempt.ended - (0.3 if rank == attempt.end.rank else 0.1) + skew, how_it_ended(attempt.end, rank))
    if is_last and killed:
        file.leave()
    else:
        file.close()


def how_it_ended(end, rank):
    """What the process of this rank says last."""
    if end.kind == "completed":
        return {"how": "completed"}
    if end.form == "interrupted":
        return {"how": "interrupted", "signal": 2}
    if end.rank not in (None, rank):
        return {"how": "exception", "exception": "torch.distributed.DistBackendError", "message": "NCCL error: remote process exited"}
    if end.form == "exit_code":
        return {"how": "exit", "exit_code": end.exit_code}
    kind, _, message = end.text.partition(": ")
    return {"how": "exception", "exception": kind, "message": message[:300]}


def iteration(file, i, row, skew):
    at = i.begin + skew
    for phase, begin, end in row.marks:
        file.span({"checkpoint": "Checkpoint", "evaluation": "Evaluation"}[phase], begin + skew, end + skew)
    at = row.begin + skew
    file.span("DataLoaderIter", at, row.wait_end + skew, i.number, "_MultiProcessingDataLoaderIter::GetNext")
    if file.speaks:
        file.begins(i.number, row.wait_end + skew)
    if row.pause:
        file.span("GarbageCollection", row.pause[0] + skew, row.pause[1] + skew, name="gc")
    file.span("Forward", row.wait_end + skew, row.forward_end + skew, i.number)
    file.span("Backward", row.forward_end + skew, i.leave + skew, i.number)
    file.span("Optimizer", i.leave + skew, i.end + skew, i.number)
    file.span("Step:ModeKeys.TRAIN", at, i.end + skew, i.number)


def unfinished(file, job, attempt, rank, skew):
    """The iteration that did not end: one rank stands in its forward pass, the others in the backward pass."""
    last = attempt.iterations[-1]
    at, usual = last.end + skew, job.base * 0.002
    file.span("DataLoaderIter", at, at + usual, last.number + 1, "_MultiProcessingDataLoaderIter::GetNext")
    if file.speaks:
        file.begins(last.number + 1, at + usual)
    if rank != attempt.hangs:
        file.span("Forward", at + usual, at + usual + job.base * 0.4, last.number + 1)
