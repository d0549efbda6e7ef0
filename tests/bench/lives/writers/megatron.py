# SPDX-License-Identifier: Apache-2.0
"""Megatron-LM's console: a line each log interval with whole seconds (newer: with fractions) and the interval's own timer,
which stands still while checkpoints are written and models evaluated."""

from account import View

from .console import Log, figure, name_of, stamp

NAME, FIRST = "megatron", 1


def view(rng):
    return View(frozenset(("checkpoint", "evaluation")), every=rng.choice((1, 1, 5)))


def write(job, folder, view, name=None):
    log = Log(folder, name or name_of(job, job.rng))
    fraction = "%06d" if job.rng.random() < 0.5 else ""
    for attempt in job.attempts:
        begin(job, attempt, log)
        before = attempt.first
        for n, i in enumerate(attempt.iterations, 1):
            if i.mark:
                marked(i, before == i.begin, log)
            if n % view.every == 0:
                group = attempt.iterations[n - view.every:n]
                own = (i.end - before - sum(x.mark_seconds for x in group)) / view.every
                log.line(i.end, line(job, i, own, sum(x.work for x in group) / view.every, stamp(i.end, fraction), view))
                before = i.end
        if attempt.end and attempt.end.kind == "completed":
            log.line(attempt.ended, "[after training is done] datetime: %s " % stamp(attempt.ended, fraction))
        else:
            log.end(attempt, job)
    log.close()


def begin(job, attempt, log):
    log.line(attempt.began, "using world size: %d, data-parallel size: %d, context-parallel size: 1, tensor-model-parallel size: 1"
             % (attempt.world, attempt.world))
    log.line(attempt.began, "[after megatron is initialized] datetime: %s " % stamp(attempt.began))
    if attempt.restored and attempt.iterations:
        number = attempt.iterations[0].number - 1
        log.line(attempt.first, " loading distributed checkpoint from /ckpt at iteration %d" % number)
        log.line(attempt.first, "  successfully loaded checkpoint from /ckpt [ t 1/1, p 1/1 ] at iteration %d" % number)
    if attempt.iterations:
        log.line(attempt.first, "[before the start of training step] datetime: %s " % stamp(attempt.first))


def marked(i, whole, log):
    if i.mark == "checkpoint":
        log.line(i.begin, "saving checkpoint at iteration %7d to /ckpt in torch_dist format" % (i.number - 1))
        log.line(i.begin + i.mark_seconds, "  successfully saved checkpoint from iteration %7d to /ckpt [ t 1/1, p 1/1 ]" % (i.number - 1))
    else:
        log.line(i.begin + i.mark_seconds, "(min, max) time across ranks (ms):")
        log.line(i.begin + i.mark_seconds, "    evaluate .......................................................: (%.2f, %.2f)"
                 % (i.mark_seconds * 1e3, i.mark_seconds * 1e3))


def line(job, i, own, work, when, view):
    flops = " throughput per GPU (TFLOP/s/GPU): %.1f |" % (200.0 * work / own) if view.every == 1 or work != 1.0 else ""
    return (" [%s] iteration %8d/%8d | consumed samples: %12d | elapsed time per iteration (ms): %.1f |%s learning rate: 1.0E-05 | "
            "global batch size:   256 | lm loss: %.6E | loss scale: 1.0 | grad norm: 1.101 | number of skipped iterations:   0 | "
            "number of nan iterations:   0 |" % (when, i.number, job.total, i.number * 256, own * 1e3, flops, figure(job, i.number)))
