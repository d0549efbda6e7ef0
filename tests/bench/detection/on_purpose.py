# SPDX-License-Identifier: Apache-2.0
"""What jobs do on purpose, each on some writers, and what goes wrong in such jobs."""

import math
from dataclasses import dataclass

from clean_shapes import build_attempt
from stalls import accepted
from timeline_model import Incident, Job

TIMELINES, LOGS = ("hook", "pytorch", "keras"), ("megatron", "torchtitan", "json_lines")
START = 1_785_000_000.0
WARM = 60   # iterations before anything goes wrong


@dataclass
class Kind:
    change: object            # (random, job): the healthy job becomes one of this kind
    writers: tuple = TIMELINES + LOGS
    ranks: tuple = (1, 2, 4, 8)
    base: tuple = (0.08, 2.0)   # seconds of an iteration
    count: tuple = (500, 1200)
    clean: bool = True


def skeleton(random, name, kind):
    writer = random.choice(kind.writers)
    low, high = kind.base
    base, count = low * (high / low) ** random.random(), random.randint(*kind.count)
    world = random.choice(kind.ranks) if writer in TIMELINES else 1
    attempt = build_attempt(random, "normal", count, base, world, warm_up=base < SLOW["base"][0])
    job = Job(name, "normal", writer, [attempt], START + random.randrange(3_000_000) + random.random())
    lengths = sorted(it.planned() for it in attempt.ranks[0])
    job.typical = lengths[len(lengths) // 2]
    job.backward_hooks = random.random() < 0.5
    job.records_waits = writer != "pytorch" or random.random() < 0.8
    for iterations in attempt.ranks:
        for it in iterations:
            it.loss *= random.gauss(1, 0.01)
            it.norm = math.exp(random.gauss(0, 0.15))
    return job


def build(kind, seed, random):
    job = skeleton(random, "%s-%d" % (kind, seed), KINDS[kind])
    job.clean = KINDS[kind].clean
    KINDS[kind].change(random, job)
    return job


def every_rank(job, i):
    return [iterations[i] for iterations in job.attempts[0].ranks]


def length(job):
    return len(job.attempts[0].ranks[0])


def scale(it, factor):
    it.forward *= factor
    it.backward *= factor


def add(job, kind, first, last, causes, lost, **options):
    world = job.world_size()
    ranks = options.pop("ranks", list(range(world)))
    job.incidents.append(Incident(kind, ranks, first, last, accepted(job, ranks, *causes), lost_share=lost, **options))


# --- on purpose ---

def rank_0_pauses(random, job, mark, share):
    """At every so many steps rank 0 alone saves or evaluates, marked; the others wait in their backward pass."""
    job.marks_checkpoints = True
    every = random.choice((37, 50, 64, 100, 150, 200))
    seconds = share * every * job.typical
    rank = job.attempts[0].ranks[0]
    for i in range(every - 1 - random.choice((0, 0, 0, 1)), len(rank), every):
        rank[i].checkpoint, rank[i].mark = seconds * random.uniform(0.8, 1.2), mark
    return every


def rank_0_saves(random, job):
    rank_0_pauses(random, job, "Checkpoint", random.uniform(0.01, 0.027))


def rank_0_evaluates(random, job):
    rank_0_pauses(random, job, "Evaluation", random.uniform(0.05, 0.4))


def accumulates(random, job, period=None, factor=None):
    """Gradients are accumulated; the last of so many micro-steps has the optimizer and the reduction."""
    period, factor = period or random.choice((10, 12, 20, 24, 48)), factor or random.uniform(2, 6)
    shift = random.randrange(period)
    for i in range(length(job)):
        if i % period == shift:
            for it in every_rank(job, i):
                it.optimizer += (factor - 1) * job.typical * random.uniform(0.95, 1.05)
    return period, shift


def generates(random, job):
    """RLHF: before every so many updates a rollout, far longer than an update."""
    period, factor = random.choice((2, 4, 5, 8, 16)), random.uniform(3, 15)
    shift, where = random.randrange(period), random.choice(("forward", "between"))
    for i in range(length(job)):
        if i % period == shift:
            for it in every_rank(job, i):
                setattr(it, where, getattr(it, where) + (factor - 1) * job.typical * random.gauss(1, 0.05))


def alternates(random, job):
    """GAN: one long update of the generator for one or two of the discriminator, or the other way round."""
    pattern, factor = random.choice(((0, 1), (0, 0, 1), (0, 1, 1), (0, 0, 0, 0, 0, 1))), random.uniform(3.1, 6)
    for i in range(length(job)):
        if pattern[i % len(pattern)]:
            for it in every_rank(job, i):
                scale(it, factor)
                it.loss *= 1.8


def batches_grow(random, job):
    """Larger batches or longer sequences in stages, with their work logged or in the phases."""
    job.logs_work, job.backward_hooks = True, True
    stages, growth, count = random.randint(2, 4), random.uniform(1.25, 2.0), length(job)
    first = random.randrange(WARM + 20, count // 2)
    for i in range(first, count):
        work = growth ** (1 + (i - first) * stages // (count - first))
        for it in every_rank(job, i):
            scale(it, work)
            it.work = work


def sequences_grow(random, job):
    """A linear curriculum of lengths, with the tokens of each step."""
    job.logs_work, top, count = True, random.uniform(1.5, 3), length(job)
    for i in range(count):
        work = 1 + (top - 1) * i / count
        for it in every_rank(job, i):
            scale(it, work)
            it.work = work


def buckets(random, job):
    """Batches of one length each, of a few lengths in random order."""
    job.logs_work, works = random.random() < 0.5, [random.uniform(0.5, 2.0) for _ in range(random.randint(3, 8))]
    for i in range(length(job)):
        work = random.choice(works)
        for it in every_rank(job, i):
            scale(it, work)
            it.work = work


def epochs_end(random, job):
    """Nothing marks the pause at the end of an epoch: evaluation, a save, the loader's start."""
    every = random.randrange(90, 300)
    seconds, loader = min(random.uniform(4, 45), 0.2 * every * job.typical), job.writer == "hook" and random.random() < 0.5
    for i in range(every, length(job), every):
        length_of_pause = seconds * random.uniform(0.9, 1.1)
        for it, before in zip(every_rank(job, i), every_rank(job, i - 1)):
            pause = length_of_pause * random.uniform(0.98, 1.02)
            if loader:
                it.wait += pause
                it.starts_loader = pause * 0.1
            else:
                before.between += pause


def saves_in_the_background(random, job):
    """After each asynchronous checkpoint some steps are a little slower."""
    every = random.choice((200, 250, 300))
    for i in range(length(job)):
        if i >= every and i % every < 30:
            for it in every_rank(job, i):
                scale(it, 1.1)


def two_tasks(random, job):
    """Batches of two tasks, whose losses differ from the first step on."""
    share, factor = random.uniform(0.05, 0.5), random.uniform(2, 8)
    for i in range(length(job)):
        if random.random() < share:
            for it in every_rank(job, i):
                it.loss *= factor
                it.norm *= 2


def loss_scaling(random, job):
    """fp16: now and then a step is skipped as its gradient norm is infinite."""
    for i in range(random.randrange(20, 60), length(job), random.randrange(100, 300)):
        for it in every_rank(job, i):
            it.norm = float("inf") if job.writer == "megatron" else 1e38
            if job.writer == "json_lines":
                it.norm = float("inf")


def warm_restarts(random, job):
    """The learning rate begins anew every so many steps, and the loss rises for a while."""
    every = random.randrange(100, 250)
    for i in range(length(job)):
        for it in every_rank(job, i):
            it.loss *= 1 + 0.6 * math.exp(-(i % every) / 10) * (i >= every)


def logs_pictures(random, job):
    """Every so many steps a few pictures are rendered and logged; cheap."""
    every = random.choice((25, 40, 100))
    for i in range(every - 1, length(job), every):
        for it in every_rank(job, i):
            it.between += random.uniform(0.5, 0.9) * 0.02 * every * job.typical


def profiles(random, job):
    """A profiler records three steps of every hundred, which are half as long again."""
    every = random.choice((100, 150, 200))
    for i in range(length(job)):
        if i % every in (11, 12, 13):
            for it in every_rank(job, i):
                it.between += 0.5 * job.typical


def evaluates_marked(random, job):
    """All ranks evaluate, marked."""
    job.marks_checkpoints = True
    every, seconds = random.randrange(60, 220), random.uniform(5, 90)
    for i in range(every - 1, length(job), every):
        for it in every_rank(job, i):
            it.checkpoint, it.mark = seconds, "Evaluation"


def saves_at_end(random, job):
    """A single save of the final model, and an evaluation, before the last few steps' line."""
    seconds = random.uniform(10, 60)
    for it in every_rank(job, length(job) - 2):
        it.between += seconds * random.uniform(0.97, 1.03)


def evaluates_before(random, job):
    """A sanity check of the evaluation after the first few steps."""
    seconds = random.uniform(10, 60)
    for it in every_rank(job, random.randrange(2, 12)):
        it.between += seconds * random.uniform(0.97, 1.03)


# --- what goes wrong ---

def log_slow_singly(random, job):
    """One step takes far longer."""
    for _ in range(random.choice((1, 2))):
        i = random.randrange(WARM + 30, length(job) - 40)
        if any(abs(i - other.first) < 150 for other in job.incidents) or i % 50 in (48, 49, 0, 1):
            continue
        extra = max(6.0, random.uniform(5, 30) * job.typical)
        for it in every_rank(job, i):
            it.forward += extra
        add(job, "single", i, i, ("unattributed", "host_pause"), extra / (extra + job.typical), single=True, extra=extra)


def log_slow_often(random, job):
    """Recompilations: from some step on many take several times as long."""
    first, share, factor = random.randrange(WARM + 20, length(job) // 2), random.uniform(0.08, 0.25), random.uniform(3, 6)
    for i in range(first, length(job)):
        if random.random() < share:
            for it in every_rank(job, i):
                it.forward += (factor - 1) * job.typical
    add(job, "often", first, length(job) - 1, ("unattributed", "host_pause", "compute_growth", "recompilation"),
        1 - 1 / (1 + share * (factor - 1)))


def log_slow_in_turn(random, job):
    """From some step on every n-th takes several times as long."""
    first, period, factor = random.randrange(WARM + 40, length(job) // 3), random.choice((7, 10, 13, 20, 25)), random.uniform(3, 7)
    for i in range(first, length(job), period):
        for it in every_rank(job, i):
            it.forward += (factor - 1) * job.typical
    add(job, "in_turn", first, length(job) - 1, ("unattributed", "host_pause"), (factor - 1) / (factor - 1 + period))


def resumed_slower(random, job):
    """Started again on another node, 1.4 to 2 times slower."""
    first, factor = job.attempts[0], random.uniform(1.4, 2.0)
    done = length(job)
    again = build_attempt(random, "normal", random.randint(300, 600), job.typical * 0.9 * factor, len(first.ranks), done)
    again.silence_before = random.uniform(20, 120)
    job.attempts.append(again)
    add(job, "resumed", 5, len(again.ranks[0]) - 1, ("unattributed", "compute_growth", "host_pause", "gpu_slowdown"), 1 - 1 / factor, attempt=1)


def creeps(random, job):
    """A little slower all the time, 15 to 34 % in the end."""
    count, top = length(job), random.uniform(1.2, 1.34)
    first, where = random.randrange(WARM + 20, count // 4), random.choice(("between", "forward"))
    for i in range(first, count):
        extra = (top - 1) * (i - first) / (count - first) * job.typical
        for it in every_rank(job, i):
            setattr(it, where, getattr(it, where) + extra)
    add(job, "creeps", first, count - 1, ("unattributed", "host_pause", "compute_growth", "gpu_slowdown"), (top - 1) / 2)


def restarts_loader(random, job):
    """Step numbers begin anew each epoch, and so do the workers of the loader."""
    every = random.choice((40, 60, 90))
    share = random.uniform(0.14, 0.49)
    seconds = share / (1 - share) * every * job.typical
    for i in range(length(job)):
        for it in every_rank(job, i):
            it.step = i % every
            if i and i % every == 0:
                it.wait += seconds
                it.starts_loader = min(1.0, 0.2 * seconds)
    add(job, "restarts_loader", every, length(job) - 1, ("input_wait", "host_pause", "unattributed"), share)


def stalls_early(random, job):
    """Steps of 20 to 90 s, of which one of the first thirty takes minutes longer."""
    i = random.randrange(6, 28)
    extra = random.uniform(5, 12) * job.typical
    for it in every_rank(job, i):
        it.forward += extra
    add(job, "early", i, i, ("unattributed", "host_pause"), extra / (extra + job.typical), single=True, extra=extra)


def one_kind_doubles(random, job):
    """Of two kinds of steps in turns one becomes slower."""
    factor, slower = random.uniform(2.5, 4), random.uniform(1.6, 2.2)
    first = random.randrange(WARM + 60, length(job) // 2)
    for i in range(length(job)):
        for it in every_rank(job, i):
            if i % 2:
                scale(it, factor * (slower if i >= first else 1))
    now, before = 1 + factor * slower, 1 + factor
    add(job, "doubles", first, length(job) - 1, ("unattributed", "compute_growth", "host_pause"), 1 - before / now)


def accumulates_slower(random, job):
    """A slowdown of a job that accumulates gradients."""
    accumulates(random, job)
    first, factor = random.randrange(WARM + 60, length(job) // 2), random.uniform(1.3, 2)
    for i in range(first, length(job)):
        for it in every_rank(job, i):
            it.wait += (factor - 1) * job.typical
    add(job, "slower", first, length(job) - 1, ("input_wait", "unattributed"), 1 - 1 / factor)


def saves_too_often(random, job):
    """Rank 0 saves, marked, for 10 to 40 % of the time."""
    share = random.uniform(0.1, 0.4)
    every = rank_0_pauses(random, job, "Checkpoint", share / (1 - share))
    add(job, "costly", every - 1, length(job) - 1, ("checkpoint",), share, ranks=[0])


def straggles_always(random, job):
    """One rank is slower from the first step on."""
    rank, factor = random.randrange(job.world_size()), random.uniform(1.25, 2.5)
    for it in job.attempts[0].ranks[rank]:
        it.forward *= factor
        it.backward *= factor
    job.backward_hooks = True
    add(job, "straggler", 0, length(job) - 1, ("straggler", "compute_growth", "communication"), 1 - 1 / factor, ranks=[rank])


SLOW = dict(base=(20.0, 90.0), count=(60, 110))
FAULTY = dict(clean=False)
KINDS = {
    "p_rank_0_saves": Kind(rank_0_saves, ("hook",), (2, 4, 8), (0.1, 3.0)),
    "p_rank_0_evaluates": Kind(rank_0_evaluates, ("hook",), (2, 4, 8), (0.1, 3.0)),
    "p_accumulates": Kind(accumulates),
    "p_generates": Kind(generates),
    "p_alternates": Kind(alternates),
    "p_batches_grow": Kind(batches_grow, ("hook", "pytorch", "megatron", "torchtitan", "json_lines")),
    "p_sequences_grow": Kind(sequences_grow, LOGS),
    "p_buckets": Kind(buckets),
    "p_epochs_end": Kind(epochs_end),
    "p_saves_in_the_background": Kind(saves_in_the_background),
    "p_two_tasks": Kind(two_tasks, LOGS),
    "p_loss_scaling": Kind(loss_scaling, LOGS),
    "p_warm_restarts": Kind(warm_restarts, LOGS),
    "p_logs_pictures": Kind(logs_pictures),
    "p_profiles": Kind(profiles),
    "p_evaluates_marked": Kind(evaluates_marked, ("hook", "megatron", "torchtitan")),
    "p_saves_at_end": Kind(saves_at_end),
    "p_evaluates_before": Kind(evaluates_before),
    "p_log_slow_singly": Kind(log_slow_singly, LOGS, **FAULTY),
    "p_log_slow_often": Kind(log_slow_often, LOGS, **FAULTY),
    "p_log_slow_in_turn": Kind(log_slow_in_turn, LOGS, **FAULTY),
    "p_resumed_slower": Kind(resumed_slower, **FAULTY),
    "p_creeps": Kind(creeps, **FAULTY),
    "p_restarts_loader": Kind(restarts_loader, ("hook", "json_lines"), **FAULTY),
    "p_stalls_early": Kind(stalls_early, **SLOW, **FAULTY),
    "p_one_kind_doubles": Kind(one_kind_doubles, **FAULTY),
    "p_accumulates_slower": Kind(accumulates_slower, **FAULTY),
    "p_saves_too_often": Kind(saves_too_often, ("hook",), (1, 2, 4, 8), **FAULTY),
    "p_straggles_always": Kind(straggles_always, ("hook", "pytorch"), (2, 4, 8), **FAULTY),
}
INCIDENTS = tuple(kind for kind, about in KINDS.items() if not about.clean)
CLEAN = tuple(kind for kind, about in KINDS.items() if about.clean)
