# SPDX-License-Identifier: Apache-2.0
"""The Hugging Face Trainer: dictionaries without times, between the redraws of tqdm's bar, which knows the step and the seconds
since the training began."""

from account import View

from .console import Log, figure, name_of

NAME, FIRST = "huggingface", 1
CLEARED, LOSS = "\r" + " " * 49 + "\r", "{'loss': %.4f, 'grad_norm': 1.2, 'learning_rate': 1e-05, 'epoch': %.2f}\n"
BAR = "\u2588" * 3 + " " * 7


def view(rng):
    return View(frozenset(), every=rng.choice((1, 5)), begins="training", ranks=False, dark=rng.random() < 0.3)   # --disable_tqdm


def clock(seconds):
    seconds = int(seconds)
    hours, rest = divmod(seconds, 3600)
    return ("%d:" % hours if hours else "") + "%02d:%02d" % divmod(rest, 60)


def bar(i, total, seconds, steps):
    pace = seconds / steps
    return "\r%3d%%|%s| %d/%d [%s<%s, %5.2fs/it]" % (100 * i.number // total, BAR, i.number, total, clock(seconds),
                                                   clock(pace * (total - i.number)), pace)


def write(job, folder, view, name=None):
    log = Log(folder, name or name_of(job, job.rng))
    for attempt in job.attempts:
        total = max(job.total, attempt.iterations[-1].number) if attempt.iterations else job.total
        for n, i in enumerate(attempt.iterations, 1):
            drawn = "" if view.dark else bar(i, total, i.end - attempt.first, n)
            log.raw(i.end, drawn)
            if n % view.every == 0:
                log.raw(i.end, (drawn and CLEARED) + LOSS % (figure(job, i.number), i.number / 1000) + drawn)   # as tqdm.write does
        log.raw(attempt.ended, "\n")
        if attempt.end and attempt.end.kind == "completed":
            seconds = attempt.iterations[-1].end - attempt.first
            log.line(attempt.ended, "{'train_runtime': %.4f, 'train_samples_per_second': 64.1, 'train_steps_per_second': %.3f, "
                     "'train_loss': 2.1, 'epoch': 1.0}" % (seconds, len(attempt.iterations) / seconds))
        else:
            log.end(attempt, job)
    log.close()
