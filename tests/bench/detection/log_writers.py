# SPDX-License-Identifier: Apache-2.0
"""Writes a simulated job as its rank 0 logs it: a line for each step, with the work, the loss and the gradient norm that it has.

megatron    Megatron-LM: fractions of seconds, its own timer, which stands still while it evaluates and saves; `global batch size`
torchtitan  `tps` is the throughput of the whole interval, pauses included
json_lines  a script's own: step, loss, tokens where the job logs work, and the time
"""

import json
import os
import time

NAMES = {"megatron": "slurm-77.out", "torchtitan": "train.log", "json_lines": "metrics.jsonl"}


def stamp(at, mark, digits):
    whole = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at))
    return "%s%s%0*d" % (whole, mark, digits, int(at % 1 * 10 ** digits))


class Megatron:
    def __init__(self, job):
        self.job, self.total = job, job.logged_total()

    def begin(self, attempt, first):
        before = first.begin - attempt.initialize
        yield before, "using world size: %d, data-parallel size: %d, context-parallel size: 1, tensor-model-parallel size: 1" % (
            len(attempt.ranks), len(attempt.ranks))
        if attempt is not self.job.attempts[0]:
            yield before, "  successfully loaded checkpoint from /ckpt [ t 1/1, p 1/1 ] at iteration %d" % first.step
        yield before, "[before the start of training step] datetime: %s " % stamp(before, ".", 6)[:19]

    def marked(self, kind, number, begin, end):
        if kind == "Checkpoint":
            yield begin, "saving checkpoint at iteration %7d to /ckpt in torch_dist format" % number
            yield end, "  successfully saved checkpoint from iteration %7d to /ckpt [ t 1/1, p 1/1 ]" % number
        else:
            yield end, "(min, max) time across ranks (ms):"
            yield end, "    evaluate .......................................................: (%.2f, %.2f)" % (2 * ((end - begin) * 1e3,))

    def step(self, it, own, took):
        batch = 64 * it.work if self.job.logs_work else 64
        return (" [%s] iteration %8d/%8d | consumed samples: %12d | elapsed time per iteration (ms): %.1f | learning rate: 1.5E-04 | "
                "global batch size: %5d | lm loss: %.6E | loss scale: 1.0 | grad norm: %s | number of skipped iterations: %3d | "
                "number of nan iterations:   0 |" % (stamp(it.optimizer_end, ".", 6), it.step + 1, self.total, 64 * (it.step + 1), own * 1e3, batch,
                                                     it.loss, "%.3f" % it.norm if it.norm < 1e30 else "inf", it.norm > 1e30))

    def end(self, at):
        return "[after training is done] datetime: %s " % stamp(at, ".", 6)[:19]


class Torchtitan:
    def __init__(self, job):
        self.job, self.total = job, job.logged_total()

    def _line(self, at, text):
        return "[titan] %s - root - INFO - %s" % (stamp(at, ",", 3), text)

    def begin(self, attempt, first):
        at = first.begin - attempt.initialize
        yield at, self._line(at, "Starting job: Llama 3 8B training")
        yield at, self._line(at, "Training starts at step %d, with local batch size 8, global batch size %d, sequence length 8192, total steps "
                             "%d (warmup 200)" % (first.step + 1, 8 * len(attempt.ranks), self.total))

    def marked(self, kind, number, begin, end):
        if kind == "Checkpoint":
            yield begin, self._line(begin, "Saving the checkpoint (or staging if async is enabled).")
            yield end, self._line(end, "Finished saving the checkpoint in %.2f seconds." % (end - begin))
        else:
            yield end, self._line(end, "validate step: %2d  loss:  2.71828  memory: 12.20GiB(15.1%%)  tps: 1,011" % number)

    def step(self, it, own, took):
        return self._line(it.optimizer_end, "step: %2d  loss: %8.5f  grad_norm: %7.4f  memory: 11.20GiB(14.1%%)  tps: %s  tflops: %.2f  mfu: 8.11%%" % (
            it.step + 1, it.loss, it.norm, "{:,}".format(round(8192 * it.work / max(1e-3, took))), 128 * it.work / max(1e-3, took)))

    def end(self, at):
        return self._line(at, "Training completed")


class JsonLines:
    def __init__(self, job):
        self.job = job

    def begin(self, attempt, first):
        return ()

    def marked(self, kind, number, begin, end):
        return ()

    def step(self, it, own, took):
        record = {"step": it.step + 1, "loss": round(it.loss, 5), "grad_norm": it.norm, "time": round(it.optimizer_end, 3)}
        if self.job.logs_work:
            record["tokens"] = int(4096 * it.work)
        return json.dumps(record)

    def end(self, at):
        return None


def write_log(job, root):
    kind = {"megatron": Megatron, "torchtitan": Torchtitan, "json_lines": JsonLines}[job.writer]
    writer, lines, last = kind(job), [], job.end
    for attempt in job.attempts:
        iterations = attempt.ranks[0]
        lines += [text for _, text in writer.begin(attempt, iterations[0])]
        before, marked = iterations[0].begin, 0.0
        for it in iterations:
            took = it.optimizer_end - before
            lines.append(writer.step(it, max(1e-3, took - marked), took))
            before, marked = it.optimizer_end, 0.0
            if it.checkpoint and job.marks_checkpoints:
                lines += [text for _, text in writer.marked(it.mark, it.step + 1, before, before + it.checkpoint)]
                marked = it.checkpoint
        if attempt.closed and writer.end(last):
            lines.append(writer.end(last))
    path = os.path.join(root, NAMES[job.writer])
    with open(path, "w") as file:
        file.write("".join(line + "\n" for line in lines))
    os.utime(path, (last, last))
