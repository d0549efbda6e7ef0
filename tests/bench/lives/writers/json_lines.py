# SPDX-License-Identifier: Apache-2.0
"""A script's own JSON lines: step, loss and the time of writing."""

import json

from account import View

from .console import Log, figure

NAME, FIRST = "json_lines", 1


def view(rng):
    return View(frozenset(), every=1, begins="record", ranks=False)


def write(job, folder, view, name=None):
    log = Log(folder, "metrics.jsonl")
    key = job.rng.choice(("time", "timestamp"))
    for attempt in job.attempts:
        for i in attempt.iterations:
            log.line(i.end, json.dumps({"step": i.number, "loss": round(figure(job, i.number), 4), "lr": 1e-4, key: round(i.end, 3)}))
    log.last = job.attempts[-1].ended
    log.close()
    if job.number or any(a.end and a.end.lines(a.ended, job) for a in job.attempts):
        beside(job, folder, name)


def beside(job, folder, name=None):
    """The launcher's log of such a job."""
    log = Log(folder, name or ("slurm-%s.out" % job.number if job.number else "train.err"))
    for attempt in job.attempts:
        log.end(attempt, job)
    if log.text:
        log.close()
