# SPDX-License-Identifier: Apache-2.0
"""Records without times: GPT-NeoX, or Megatron-LM before 2024. The log's own timer and the time of its last write are all there is."""

from account import View

from .console import Log, figure, name_of, stamp

NAME, FIRST = "untimed", 1


def view(rng):
    return View(frozenset(), every=rng.choice((1, 5)), begins="training", ranks=False)


def write(job, folder, view, name=None):
    log = Log(folder, name or name_of(job, job.rng))
    completed = any(a.end and a.end.kind == "completed" for a in job.attempts)
    neox = not completed and job.rng.random() < 0.5   # which prints nothing at its end
    for attempt in job.attempts:
        before = attempt.first
        for n, i in enumerate(attempt.iterations, 1):
            if n % view.every == 0:
                log.line(i.end, (NEOX if neox else MEGATRON) % values(job, i, (i.end - before) / view.every, neox))
                before = i.end
        if attempt.end and attempt.end.kind == "completed":
            log.line(attempt.ended, "[after training is done] datetime: %s " % stamp(attempt.ended))
        else:
            log.end(attempt, job)
    log.close()


NEOX = (" samples/sec: %.2f | iteration %8d/%8d | elapsed time per iteration (ms): %.1f | learning rate: 2.000E-04 | approx flops per "
        "GPU: 120.1TFLOPS | lm_loss: %.6E | loss scale: 16384.0 | number of skipped iterations:   0 | number of nan iterations:   0 |")
MEGATRON = (" iteration %8d/%8d | consumed samples: %12d | elapsed time per iteration (ms): %.1f | learning rate: 1.0E-05 | global batch "
            "size: 4 | lm loss: %.6E | loss scale: 1.0 | grad norm: 1.1 | number of skipped iterations:   0 | number of nan iterations:   0 |")


def values(job, i, own, neox):
    loss = figure(job, i.number)
    return (256 / own, i.number, job.total, own * 1e3, loss) if neox else (i.number, job.total, i.number * 4, own * 1e3, loss)
