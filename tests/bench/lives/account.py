# SPDX-License-Identifier: Apache-2.0
"""The account of a simulated job, as far as what its writer shows goes.

A view says what a writer shows. What it does not show by name is `unattributed`; what has no name and is longer
than patience is `stalled`; iterations whose step an earlier attempt ended are `redone` whole.
"""

import statistics
from dataclasses import dataclass
from typing import FrozenSet

NAMELESS = ("straggler", "compute_growth", "communication", "elsewhere", "unattributed")
FAILED = {"completed": "finished", "cancelled": "cancelled", "time_limit": "cancelled", "preempted": "cancelled"}
PHASES = frozenset(("input_wait", "straggler", "host_pause", "compute_growth", "communication", "elsewhere",
                    "checkpoint", "evaluation"))


@dataclass(frozen=True)
class View:
    """What a writer shows of a job."""
    named: FrozenSet[str]          # parts that it shows by name
    every: int = 1                 # steps to a record
    begins: str = "process"        # of a run: "process"; "training": its first iteration; "record": the end of that
    restores: bool = False         # whether it shows the reading of a checkpoint
    ranks: bool = True             # it shows how many there are
    dark: bool = False             # it shows neither times nor steps: of its life, only the end can be known
    vague: FrozenSet[str] = frozenset()   # parts that look the same in it


class Book:
    """Adds up one job's seconds."""

    def __init__(self, job, view):
        self.job, self.view = job, view
        self.parts, self.longest, self.done = {}, 0.0, -1
        self.steps = self.redone = 0
        self.clean = statistics.median(
            [(i.end - i.begin - sum(i.costs.values())) / i.work for a in job.attempts for i in a.iterations] or [0.0])

    def add(self, part, seconds):
        if seconds > 0:
            self.parts[part] = self.parts.get(part, 0.0) + seconds

    def due(self):
        return self.clean * self.view.every

    def patience(self):
        return max(30.0, 20 * self.due(), 2 * self.longest)

    def attempt(self, attempt):
        """Books it, and returns when it begins for this view."""
        records = self.records(attempt)
        began = {"process": attempt.began, "training": attempt.first,
                 "record": records[0][-1].end if records else attempt.ended}[self.view.begins]
        cut = began
        if not records:
            self.add("startup", attempt.ended - began)
            return began
        restore = attempt.restore if self.view.restores else 0.0
        self.add("restore", restore)
        self.add("startup", max(0.0, attempt.first - began - restore))
        cut = max(began, attempt.first)
        for record in records:
            cut = self.record(record, cut)
        self.tail(attempt.ended - cut)
        self.done = max(self.done, records[-1][-1].number)
        return began

    def records(self, attempt):
        n = self.view.every
        whole = len(attempt.iterations) // n * n
        return [attempt.iterations[k:k + n] for k in range(0, whole, n)]

    def record(self, record, cut):
        old = sum(1 for i in record if i.number <= self.done) / len(record)
        self.redone += round(old * len(record))
        self.steps += len(record) - round(old * len(record))
        length = record[-1].end - cut
        if length <= 0:                              # a record whose beginning nobody saw
            return record[-1].end
        costs = {}
        for part, seconds in ((p, s) for i in record for p, s in i.costs.items()):
            part = self.name(part, seconds / length)
            costs[part] = costs.get(part, 0.0) + seconds
        for part in [p for p in costs if p in NAMELESS and costs[p] > self.patience()]:
            costs["stalled"] = costs.get("stalled", 0.0) + costs.pop(part)
        self.longest = self.longest if "stalled" in costs else max(self.longest, length)
        self.add("startup", costs.pop("startup", 0.0))
        costs["training"] = costs.get("training", 0.0) + length - sum(i.costs.get("startup", 0.0) for i in record) \
            - sum(costs.values())
        for part, seconds in costs.items():
            self.add("redone", seconds * old)
            self.add(part, seconds * (1 - old))
        return record[-1].end

    def name(self, part, share):
        if part == "input_wait" and share <= 0.01:
            return "training"
        if part == "startup" or part in self.view.named and part not in self.job.hidden:
            return part
        return "unattributed"

    def tail(self, seconds):
        """After the last step that was ended."""
        if seconds > self.patience():
            self.add("training", min(seconds, self.due()))
            self.add("stalled", seconds - self.due())
        else:
            self.add("unattributed", seconds)


def rate(job, book):
    """Of the last minute, or ten steps, before the last step: steps by a minute, or by the time from the first of them; 0 where
    the job died hanging."""
    last, every = job.attempts[-1], book.view.every
    ends = [r[-1].end for r in book.records(last)]
    if not ends or last.ended - ends[-1] > book.patience():
        return [0.0, 0.0]
    n = sum(1 for e in ends if e > ends[-1] - 60)
    if n * every > 10:
        return sorted((n * every / 60, (n - 1) * every / (ends[-1] - ends[-n])))
    n = -(-10 // every)
    return [n * every / (ends[-1] - ends[-1 - n])] * 2 if len(ends) > n else None


def truth(job, view, ids):
    """What should be said of this job: the members that the checker compares."""
    book, attempts, before, gpu = Book(job, view), [], None, 0.0
    for number, attempt in enumerate(job.attempts, 1):
        began = book.attempt(attempt)
        if before is not None:
            book.add("down", began - before)
            gpu += (began - before) * job.attempts[number - 2].world
        gpu += (attempt.ended - began) * attempt.world
        before = attempt.ended
        shown = [i for r in book.records(attempt) for i in r]
        attempts.append({"number": number, "began": began, "ended": attempt.ended,
                         "end": attempt.end.said() if attempt.end else None})
        if not job.epochs and not view.dark:
            attempts[-1].update(first_step=shown[0].number if shown else None, last_step=shown[-1].number if shown else None)
    wall = before - attempts[0]["began"]
    said = dict(ids, attempts=attempts, state=state_of(job, book), end=attempts[-1]["end"], wall_seconds=wall,
                seconds=book.parts, steps=book.steps, redone_steps=book.redone, rate=rate(job, book),
                gpu_seconds=gpu if view.ranks else None, dark=view.dark, either=sorted(set(job.either) | view.vague))
    return said


def state_of(job, book):
    """The states that are right; several where nothing in the files decides."""
    last = job.attempts[-1]
    if last.end is not None:
        return [FAILED.get(last.end.kind, "failed")]
    if last.iterations and last.ended - last.iterations[-1].end > book.patience():
        return ["stalled", "gone"]
    return ["running", "slow", "gone"] if last.iterations else ["starting", "gone"]
