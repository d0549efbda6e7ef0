# SPDX-License-Identifier: Apache-2.0
"""Writes a simulated job as the profilers write it, line by line in their order.

hook     python/trainwatch.py: wait, phases, then the step at its end; the step contains the wait
pytorch  SageMaker's PyTorch hook: the step runs from forward_pre to the last backward hook, and its line comes
         at the start of the next step; the wait lies before it and is written at once. The last versions set no
         backward hooks: their step is the forward pass
keras    SageMaker's Keras hook: a step contains its wait, which is in another file (model_timeline), among calls
         that run in the background
"""

import json
import os
import time

ROTATE_SECONDS = 60.0


def hour_directory(root, seconds):
    return os.path.join(root, "framework", "pevents", time.strftime("%Y%m%d%H", time.gmtime(seconds)))


class TimelineFile:
    """The file of one process that grows, is closed each minute and moved to where finished files are."""

    def __init__(self, root, node, kind, base):
        self.root, self.node, self.kind, self.base = root, node, kind, int(base * 1e6)
        self.lines, self.phases, self.introduced = [], {}, set()
        self.last_close = self.last_end = base

    def append_process(self, base):
        """A process that was started again appends to the file its predecessor left open, as SageMaker's does."""
        self.base, self.phases, self.introduced = int(base * 1e6), {}, set()
        if self.lines:
            self._metadata(0, {"start_time_since_epoch_in_micros": self.base}, "[\n")

    def _metadata(self, number, arguments, before=""):
        for name, args in (("process_name", arguments), ("process_sort_index", {"sort_index": number})):
            self.lines.append(before + json.dumps({"name": name, "ph": "M", "pid": number, "args": args}))
            before = ""

    def span(self, phase, name, begin, end, arguments):
        if self.lines and end - self.last_close > ROTATE_SECONDS:
            self.close()
        if not self.lines:
            self._metadata(0, {"start_time_since_epoch_in_micros": self.base})
        number = self.phases.setdefault(phase, len(self.phases) + 1)
        if number not in self.introduced:
            self.introduced.add(number)
            self._metadata(number, {"name": phase})
        start = int(begin * 1e6)
        self.lines.append('{"name": "%s", "pid": %d, "ph": "X", "ts": %d, "dur": %d%s}' % (
            name, number, start - self.base, max(0, int(end * 1e6) - start),
            ', "args": {%s}' % arguments if arguments else ""))
        if end > self.last_end:
            self.last_end = end

    def close(self):
        if not self.lines:
            return
        folder = hour_directory(self.root, self.last_end)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "%d_%s_%s.json" % (int(self.last_end * 1e6), self.node, self.kind))
        with open(path, "w") as file:
            file.write("[\n" + ",\n".join(self.lines) + "\n]")
        self.lines, self.introduced, self.last_close = [], set(), self.last_end

    def abandon(self):
        """The process was killed, or hangs: the file stays open."""
        if not self.lines:
            return
        with open(os.path.join(self.root, "framework", "%s_%s.json.tmp" % (self.node, self.kind)), "w") as file:
            file.write("[\n" + ",\n".join(self.lines) + ",\n")
        self.lines = []


def write_hook(file, attempt, iterations, pid, marked):
    began = iterations[0].begin
    file.span("DataLoaderIterInitialize", "_MultiProcessingDataLoaderIter.__init__", began - attempt.initialize, began,
              '"pid": %d, "num_workers": 4, "pin_memory": true' % pid)
    for it in iterations:
        number = '"pid": %d, "step_num": "%d"' % (pid, it.step)
        if it.mode == "EVAL" and it.step == 0:
            file.span("DataLoaderIterInitialize", "_MultiProcessingDataLoaderIter.__init__", it.begin, it.begin,
                      '"pid": %d, "num_workers": 4, "pin_memory": true' % pid)
        if it.starts_loader:
            file.span("DataLoaderIterInitialize", "_MultiProcessingDataLoaderIter.__init__", it.begin, it.begin + it.starts_loader,
                      '"pid": %d, "num_workers": 4, "pin_memory": true' % pid)
        file.span("DataLoaderIter", "_MultiProcessingDataLoaderIter::GetNext", it.begin + it.starts_loader, it.step_begin,
                  '"pid": %d, "worker_id": %d, "step_num": "%d"' % (pid, it.step % 4, it.step))
        file.span("Forward", "Forward", it.step_begin, it.paused_at, number)
        if it.mode == "TRAIN":
            file.span("Backward", "Backward", it.backward_begin, it.backward_end, number)
            file.span("Optimizer", "Optimizer", it.backward_end, it.optimizer_end, number)
        phase = "Step:ModeKeys." + it.mode
        file.span(phase, phase, it.begin, it.optimizer_end, number)
        if it.checkpoint and marked:
            file.span(it.mark, it.mark, it.optimizer_end, it.optimizer_end + it.checkpoint, '"pid": %d' % pid)


def write_pytorch(file, attempt, iterations, pid, records_waits, backward_hooks):
    began = iterations[0].begin
    if records_waits:
        file.span("DataLoaderIterInitialize", "_MultiProcessingDataLoaderIter.__init__", began - attempt.initialize, began,
                  '"pid": %d, "num_workers": 4, "pin_memory": true' % pid)
    before = None
    for it in iterations:
        if records_waits:
            file.span("DataLoaderIter", "_MultiProcessingDataLoaderIter::GetNext", it.begin, it.step_begin,
                      '"pid": %d, "worker_id": %d' % (pid, it.step % 4))
        if before is not None:
            _flush_step(file, before, pid, backward_hooks)
        if backward_hooks and it.mode == "TRAIN" and (attempt.closed or it is not iterations[-1]):
            _flush_forward(file, it, pid)   # at the first hook of the backward pass
        before = it
    if attempt.closed and before is not None:
        _flush_step(file, before, pid, backward_hooks)


def _flush_forward(file, it, pid):
    number = '"pid": %d, "step_num": "%d"' % (pid, it.step)
    middle = (it.step_begin + it.paused_at) / 2
    file.span("Forward-SubModuleInternal", "ResNet_layer1", it.step_begin, middle, number)
    file.span("Forward-SubModuleInternal", "ResNet_layer2", middle, it.paused_at, number)
    file.span("Forward", "ResNet", it.step_begin, it.paused_at, number)


def _flush_step(file, it, pid, backward_hooks):
    """At the beginning of the next forward pass. The backward pass is taken to begin where the forward one ended."""
    number = '"pid": %d, "step_num": "%d"' % (pid, it.step)
    phase, trains = "Step:ModeKeys." + it.mode, backward_hooks and it.mode == "TRAIN"
    if not trains:
        _flush_forward(file, it, pid)
    file.span(phase, phase, it.step_begin, it.backward_end if trains else it.paused_at, number)
    if trains:
        file.span("Backward(post-forward)", "ResNet", it.paused_at, it.backward_end, number)


def write_keras(file, attempt, iterations, pid, model_file):
    for it in iterations:
        phase = "Step:ModeKeys." + it.mode
        begin = it.begin
        model_file.span("DataIterator", "dataset::GetNext", begin + 2e-5, it.step_begin, "")
        model_file.span("DataIterator", "IteratorGetNextOp::DoCompute", begin + 1e-5, it.step_begin, "")
        if attempt.prefetches:
            background = it.step_begin + 0.1 * (it.optimizer_end - it.step_begin)
            model_file.span("DataIterator", "dataset::GetNext", background,
                            background + 0.6 * (it.paused_at - it.step_begin), "")
        file.span(phase, phase, begin, it.optimizer_end, '"pid": %d, "step_num": "%d"' % (pid, it.step))


def write_timelines(job, root):
    """The files of each process below root/framework."""
    os.makedirs(os.path.join(root, "framework"), exist_ok=True)
    left = {}   # node and kind -> the open file of a killed process, which the next one takes over
    for attempt in job.attempts:
        for rank, iterations in enumerate(attempt.ranks):
            _write_process(job, root, attempt, rank, iterations, left)
    for file in left.values():
        file.abandon()
    if job.writes_end:
        with open(os.path.join(root, "framework", "training_job_end.ts"), "w"):
            pass


def _write_process(job, root, attempt, rank, iterations, left):
    node, pid = "%d-algo-%d" % (rank, rank // 8 + 1), attempt.pid + rank
    base = iterations[0].begin - attempt.initialize - 0.1

    def opened(kind):
        file = left.pop((node, kind), None)
        if file is not None and job.writer != "hook":
            file.append_process(base)
            return file
        if file is not None:
            file.close()
        return TimelineFile(root, node, kind, base)

    files = [opened("pythontimeline")]
    if job.writer == "hook":
        write_hook(files[0], attempt, iterations, pid, job.marks_checkpoints)
    elif job.writer == "pytorch":
        write_pytorch(files[0], attempt, iterations, pid, job.records_waits, job.backward_hooks)
    else:
        files.append(opened("model_timeline"))
        write_keras(files[0], attempt, iterations, pid, files[1])
    for file in files:
        if attempt.closed:
            file.close()
        else:
            left[node, file.kind] = file
