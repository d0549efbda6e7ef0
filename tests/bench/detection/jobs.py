# SPDX-License-Identifier: Apache-2.0
"""Generates the job of a class and seed: a healthy job, what goes wrong in it, and its files."""

import os
import zlib
from random import Random

import clean_shapes
import kineto_classes
import lasting_losses
import on_purpose
import stalls
from clean_shapes import SHAPES, build_attempt
from log_writers import write_log
from system_metrics import build_machine, write_samples
from timeline_model import Incident, Job, Pause, settle_truth, simulate
from timeline_writers import write_timelines

WRITERS = ("hook", "pytorch", "keras")
START = 1_780_000_000.0

# What goes wrong -> how, and what the job needs for it: samples, at least two ranks, at least so many seconds.
INCIDENTS = {
    "data_stall": (stalls.data_stall, {}),
    "io_stall": (stalls.io_stall, {}),
    "gc_pause": (stalls.gc_pause, {}),
    "host_stall": (stalls.host_stall, {}),
    "periodic_slow_step": (stalls.periodic_slow_step, {"steps": 3000}),
    "costly_checkpoint": (stalls.costly_checkpoint, {}),
    "input_bound": (lasting_losses.input_bound, {}),
    "cpu_saturation": (lasting_losses.cpu_saturation, {"samples": True}),
    "io_wait": (lasting_losses.io_wait, {"samples": True}),
    "low_gpu": (lasting_losses.low_gpu, {"samples": True, "seconds": 420, "base": 1.0}),
    "hang": (lasting_losses.hang, {"samples": True}),
    "lasting_slowdown": (lasting_losses.lasting_slowdown, {}),
    "gradual_regression": (lasting_losses.gradual_regression, {"steps": 1500}),
    "memory_creep": (lasting_losses.memory_creep, {"samples": True, "seconds": 420}),
    "gpu_slowdown": (lasting_losses.gpu_slowdown, {"samples": True}),
    "straggler": (lasting_losses.straggler, {"ranks": 2}),
}
QUIET_SHAPES = ("normal", "normal", "normal", "tight", "drift")   # in which incidents of every size show
EVENTS = ("warm_up", "evaluation", "end_of_job", "pause", "restart", "cheap_checkpoint", "two_runs")
CLEAN = SHAPES + EVENTS
ON_REQUEST = ("healthy_hour",)   # 64 ranks, 200 ms, an hour: takes a minute
TIMELINE_CLASSES = tuple(INCIDENTS) + CLEAN
KINETO_CLASSES = tuple(kineto_classes.INCIDENTS) + kineto_classes.CLEAN
CLASSES = tuple(INCIDENTS) + tuple(kineto_classes.INCIDENTS) + CLEAN + kineto_classes.CLEAN + tuple(on_purpose.KINDS)


def seeded(kind, seed):
    return Random(zlib.crc32(kind.encode()) * 1_000_003 + seed)


def _base(random, needs):
    low = max(0.02, needs.get("base", 0.02))
    return low * (5.0 / low) ** random.random()


def _skeleton(random, name, shape, base, count, ranks=None):
    world = ranks or random.choice((1, 1, 2, 2, 4, 8))
    writer = random.choice(WRITERS)
    job = Job(name, shape, writer, [build_attempt(random, shape, count, base, world)],
              START + random.randrange(3_000_000) + random.random())
    lengths = sorted(it.planned() for it in job.attempts[0].ranks[0])
    job.typical = lengths[len(lengths) // 2]
    job.marks_checkpoints = writer == "hook" and random.random() < 0.5
    job.records_waits = writer != "pytorch" or random.random() < 0.8
    job.backward_hooks = random.random() < 0.5
    job.writes_end = writer != "hook" and random.random() < 0.5
    return job


def incident_job(kind, seed):
    """A job of a few hundred to some thousand steps with incidents of that class."""
    random = seeded(kind, seed)
    build, needs = INCIDENTS[kind]
    base = _base(random, needs)
    count = random.randint(400, needs.get("steps", 1200))
    if needs.get("seconds"):
        count = max(count, int(needs["seconds"] / base))
    count = max(300, min(count, int(3000 / base))) if needs.get("samples") else count
    ranks = random.choice((2, 2, 4, 8)) if needs.get("ranks") else None
    if count > 3000:
        ranks = random.choice((1, 2))
    job = _skeleton(random, "%s-%d" % (kind, seed), random.choice(QUIET_SHAPES), base, count, ranks)
    if needs.get("samples") or (count * base < 1500 and random.random() < 0.4):
        job.system = build_machine(random, job.world_size())
    build(random, job)
    if kind == "io_stall" and job.system:
        _stalling_disk(random, job)
    _healthy_habits(random, job, kind, base)
    return _finish(random, job)


def _healthy_habits(random, job, kind, base):
    """Some of the jobs in which something goes wrong also evaluate, or write cheap checkpoints."""
    attempt = job.attempts[0]
    count = len(attempt.ranks[0])
    if kind not in ("costly_checkpoint", "periodic_slow_step", "low_gpu") and random.random() < 0.25:
        clean_shapes.cheap_checkpoint(random, attempt, base)
    if kind not in ("hang", "low_gpu") and random.random() < 0.25:
        places = [(it, attempt.ranks[0][it.first], attempt.ranks[0][it.last]) for it in job.incidents]
        clean_shapes.add_evaluations(random, attempt, max(100, count // random.randint(2, 6)), random.randint(5, 30),
                                     random.uniform(0.2, 0.9))
        where = {id(it): number for number, it in enumerate(attempt.ranks[0])}
        for incident, first, last in places:
            incident.first, incident.last = where[id(first)], where[id(last)]


def _stalling_disk(random, job):
    cores = random.sample(range(job.system.cpus), random.randint(1, job.system.cpus))
    for incident in job.incidents:
        job.system.effects.append(lasting_losses.Effect(incident, "iowait", cores, random.uniform(50, 95)))


def clean_job(kind, seed, steps):
    """A healthy job of about that many steps, over all ranks and processes."""
    random = seeded(kind, seed)
    shape = kind if kind in SHAPES else random.choice(QUIET_SHAPES + ("accumulation",))
    base = 0.02 * 100 ** random.random()   # up to 2 s
    world = random.choice((1, 1, 2, 4, 8))
    count = max(400, steps // world)
    if kind == "healthy_hour":
        shape, base, world, count = "normal", 0.2, 64, 16000
    job = _skeleton(random, "%s-%d" % (kind, seed), shape, base, count, world)
    job.clean = True
    if kind in ("end_of_job", "pause") or random.random() < 0.3:
        job.system = build_machine(random, world, random.uniform(120, 900) if kind == "end_of_job" else None)
    _happens(random, job, kind, count, base)
    return _finish(random, job)


def _happens(random, job, kind, count, base):
    """What happens in a healthy job of that kind; any other one may have some of it, too."""
    attempt = job.attempts[0]
    if kind == "two_runs":   # of different speed, at about the same time, with the same ranks
        job.companion = _skeleton(random, job.name + "b", job.shape, base * random.uniform(0.3, 3), count, job.world_size())
        job.companion.start = job.start + random.uniform(0, 0.3 * count * base)
        simulate(job.companion)
    if kind == "restart":
        job.attempts = clean_shapes.build_restart(random, job.shape, count, base, job.world_size())
        job.incidents = [Incident("standstill", list(range(job.world_size())), 0, 0, frozenset(), attempt=number + 1,
                                  warn=False, standstill=True)
                         for number, killed in enumerate(job.attempts[:-1]) if not killed.closed]
    elif kind == "warm_up":
        clean_shapes.add_warm_up(random, attempt, random.randint(5, 20), random.uniform(3, 10))
    elif kind == "pause":
        for _ in range(random.choice((1, 2))):
            job.pauses.append(Pause(random.randrange(50, count - 10), random.uniform(20, 600), random.random() < 0.5))
    if kind == "cheap_checkpoint" or (kind in EVENTS and random.random() < 0.2):
        for each in job.attempts:
            clean_shapes.cheap_checkpoint(random, each, base)
    if kind == "evaluation" or (kind in EVENTS and kind != "pause" and random.random() < 0.2):
        for each in job.attempts:
            clean_shapes.add_evaluations(random, each, random.choice((50, 100, 250, 500)), random.randint(5, 40),
                                         random.uniform(0.2, 0.9))


def _finish(random, job):
    simulate(job)
    if job.system:
        job.system.silences = [(pause.begin, pause.begin + pause.seconds) for pause in job.pauses]
    settle_truth(job)
    return job


def build(kind, seed, clean_steps=4000):
    if kind in KINETO_CLASSES:
        return kineto_classes.build(kind, seed)
    if kind in on_purpose.KINDS:
        random = seeded(kind, seed)
        return _finish(random, on_purpose.build(kind, seed, random))
    return incident_job(kind, seed) if kind in INCIDENTS else clean_job(kind, seed, clean_steps)


def write(job, root, seed=0):
    """The job's files below `root`."""
    if job.name.startswith("k_"):
        job.write(root)
        return
    if job.companion:
        write_timelines(job.companion, os.path.join(root, "run-b"))
        root = os.path.join(root, "run-a")
    os.makedirs(root, exist_ok=True)
    if job.writer in on_purpose.LOGS:
        return write_log(job, root)
    write_timelines(job, root)
    if job.system:
        write_samples(Random(seed), job, root)
