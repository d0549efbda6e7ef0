# SPDX-License-Identifier: Apache-2.0
"""What is laid below one directory: one life, or two jobs; and the truth about it in truth.json."""

import json
import os
import random
from dataclasses import dataclass, field
from typing import List, Optional

import account
import ends
from model import Job
from writers import WRITERS

TIMED = ("hook", "torchtitan", "megatron", "json_lines", "titan_spans", "hook_ends")
SILENT = ("json_lines", "titan_spans")  # say nothing when all is done


@dataclass
class Part:
    """A job, who writes it, and where."""
    job: Job
    writer: object
    view: account.View
    folder: str = ""
    name: Optional[str] = None       # of its log
    age: Optional[float] = None      # seconds since its end
    states: Optional[List[str]] = None   # that are right, where the files alone do not decide
    but: dict = field(default_factory=dict)   # members of the truth that are known better


class Scene:
    """The numbers of a kind come from one seed; the files from them and the time at which they are made."""

    def __init__(self, kind, seed, now):
        self.kind, self.seed, self.now = kind, seed, now
        self.rng = random.Random("%s/%d" % (kind, seed))
        self.parts, self.watch, self.files = [], ["watch"], []
        self.age = self.rng.uniform(2, 20) * 3600

    def job(self, writers=TIMED, ranks=None, steps=None, base=None, noise=None, **more):
        """A job that has not begun. The seed chooses its writer, its ranks and its figures."""
        rng = self.rng
        writer = WRITERS[writers[(self.seed + len(self.parts)) % len(writers)]]
        ranks = ranks or rng.choice((1, 2, 4, 8, 16, 64))
        base = base or rng.choice((0.3, 0.5, 0.8, 1.5, 2.5))
        noise = rng.choice((0.0, 0.01, 0.03)) if noise is None else noise
        number = more.pop("number", rng.randrange(1000, 99999) if rng.random() < 0.75 else None)
        job = Job(rng.random(), 1.7e9, ranks, base, noise, rng.uniform(5, 40), number=number, **more)
        job.step = writer.FIRST
        job.steps = steps or min(rng.randrange(320, 600), 16000 // ranks)
        part = Part(job, writer, writer.view(rng))
        job.writer, job.part = writer.NAME, part
        self.parts.append(part)
        return job

    def multiple(self, job, steps):
        """So many steps that the last record of the log has them all."""
        return steps // job.part.view.every * job.part.view.every

    def finish(self, job, kind="completed", **more):
        """The job ends well, or in some other way, where its writer can say it."""
        if kind == "completed" and job.writer in SILENT:
            job.ends(None, 0.01)
        elif kind is None:
            job.ends(None, 0.01)
        else:
            job.ends(ends.of(kind, job, self.rng, **more), 0.3 if kind == "completed" else 0.7 + job.base * 0.3)
        return job

    def make(self, directory):
        truths = []
        for part in self.parts:
            job = part.job
            age = self.age if part.age is None else part.age
            job.move(self.now - age - job.last.ended)
            folder = os.path.join(directory, part.folder or self.watch[0])
            part.writer.write(job, folder, part.view, part.name)
            said = account.truth(job, part.view, {"job": job.name or None, "run": str(job.number) if job.number else None,
                                                  "writer": job.writer, "ranks": job.ranks})
            said["state"] = part.states or said["state"]
            said.update(part.but)
            truths.append(said)
        for write in self.files:
            write(directory)
        truth = {"kind": self.kind, "seed": self.seed, "now": self.now, "watch": self.watch, "runs": self.runs(truths)}
        with open(os.path.join(directory, "truth.json"), "w", encoding="utf-8") as file:
            json.dump(truth, file, indent=1)
        return truth

    def runs(self, truths):
        """The truth about each run; kinds in which one run has several writers say which of them it is."""
        return [t for t in truths if not t.get("part_of_other")]
