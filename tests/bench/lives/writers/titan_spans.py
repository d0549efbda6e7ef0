# SPDX-License-Identifier: Apache-2.0
"""torchtitan's structured logs: a JSON line at the end of each span, one file for each rank and role (`source`)."""

import json
import time

from account import View

from .console import Log

NAME, FIRST = "titan_spans", 1


def view(rng):
    return View(frozenset(("input_wait", "checkpoint", "evaluation", "host_pause")), begins="training",
                vague=frozenset(("straggler", "compute_growth", "communication", "elsewhere", "unattributed")))


def write(job, folder, view, name=None):
    role = job.role or "trainer"
    for rank in range(job.ranks):
        log = Log(folder, "%s.global_rank_%d.jsonl" % (role, rank))
        for n, attempt in enumerate(job.attempts):
            for i in attempt.iterations:
                spans(log, i, i.rows[rank], rank, job, role, 1000 * (n + 1) + rank)
            log.last = attempt.ended
        log.close()
    log = Log(folder, name or ("slurm-%s.out" % job.number if job.number else "job.out"))
    for attempt in job.attempts:
        log.end(attempt, job)
    if log.text:
        log.close()


def spans(log, i, row, rank, job, role, pid):
    def say(kind, begin, end):
        log.line(end, json.dumps({
            "rank": rank, "global_rank": rank, "local_rank": rank % 8, "source": role, "host_name": job.node(rank), "pid": pid, "tid": pid,
            "step": i.number, "relative_step": i.number, "time": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(end)),
            "time_ms": round(end * 1e3), "time_us": round(end * 1e6), "log_type": "event", "log_type_name": kind + "_end",
            "event_name": kind, "value": round((end - begin) * 1e3, 4)}))

    for phase, begin, end in row.marks:
        say({"checkpoint": "checkpoint_save", "evaluation": "eval"}[phase], begin, end)
    if role == "generator":
        say("generate", row.begin, i.end)
        return
    say("fetching_batch", row.begin, row.wait_end)
    if row.pause:
        say("gc_collect", *row.pause)
    say("fwd_bwd", row.wait_end, i.leave)
    say("optim", i.leave, i.end)
    say("step", row.begin, i.end)
