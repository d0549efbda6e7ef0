# SPDX-License-Identifier: Apache-2.0
"""Incidents of single and of recurring iterations: stalls, pauses, checkpoints."""

from timeline_model import Incident

WAITS_FOR_OTHERS = frozenset(("straggler", "communication"))   # what the other ranks rightly say


def accepted(job, ranks, *causes):
    """The causes that an engineer accepts, on the ranks concerned or on those that wait for them."""
    if not job.records_waits and "input_wait" in causes:   # the wait is time before the step that no line explains
        causes += ("unattributed", "host_pause")
    return frozenset(causes) | (WAITS_FOR_OTHERS if len(ranks) < job.world_size() else frozenset())


def some_ranks(random, job, one=False):
    """One rank, or all."""
    world = job.world_size()
    return [random.randrange(world)] if one or random.random() < 0.4 else list(range(world))


def typical(job):
    """The median length of a healthy iteration of the job."""
    return job.typical


def place(random, count, edge=60):
    """An iteration in the middle of the job, after the warm-up."""
    return random.randrange(min(edge, count // 3), count - min(20, count // 10))


def worth_warning(extra, base):
    return extra >= 1.5 and extra + base >= 3 * base


def stall_sizes(random, base):
    """Seconds that a stall loses: clearly worth a warning, or clearly not."""
    factor = random.choice((random.uniform(1.1, 1.8), random.uniform(3.5, 8), random.uniform(5, 20),
                            random.uniform(5, 20)))
    extra = (factor - 1) * base
    if factor >= 3 and extra < 1.1:
        extra = random.uniform(1.2, 6)
    return extra


def spread(random, count, how_many, distance=130):
    """Places of incidents that are further apart than the margin in which an alert belongs to one."""
    places = []
    for _ in range(40 * how_many):
        i = place(random, count)
        if len(places) < how_many and all(abs(i - other) > distance for other in places):
            places.append(i)
    return sorted(places)


def single_stalls(random, job, kind, delay, causes, one_rank=False):
    """Adds up to three single stalls; delay(iteration, seconds) puts one into an iteration."""
    count, base = len(job.attempts[0].ranks[0]), typical(job)
    for i in spread(random, count, random.choice((1, 1, 2, 3))):
        ranks, extra = some_ranks(random, job, one_rank), stall_sizes(random, base)
        for rank in ranks:
            delay(job.attempts[0].ranks[rank][i], extra * random.uniform(0.97, 1.03))
        job.incidents.append(Incident(kind, ranks, i, i, accepted(job, ranks, *causes), single=True,
                                      extra=extra, lost_share=extra / (extra + base),
                                      warn=worth_warning(extra, base), note="%.2f s on %.3f s" % (extra, base)))


def _wait(it, seconds):
    it.wait += seconds


def _pause(it, seconds):
    it.pause += seconds


def _forward(it, seconds):
    it.forward += seconds


def _between(it, seconds):
    it.between += seconds


def between_causes(job):
    """What an engineer says of time between the steps that no line explains."""
    return ("host_pause", "unattributed") if job.marks_checkpoints else ("host_pause", "unattributed", "checkpoint")


def data_stall(random, job):
    single_stalls(random, job, "data_stall", _wait, ("input_wait",))


def io_stall(random, job):
    """A wait for data while cores wait for the disk; the samples show it where there are any."""
    single_stalls(random, job, "io_stall", _wait, ("input_wait", "io_wait"))
    for incident in job.incidents:
        incident.note += ", i/o"


def gc_pause(random, job):
    """A pause of the interpreter: outside the phases of the hook, or inside Forward, where no file says why."""
    if job.writer == "hook" and random.random() < 0.6:
        single_stalls(random, job, "gc_pause", _pause, ("host_pause",), one_rank=True)
    else:
        single_stalls(random, job, "gc_pause", _forward, ("host_pause", "unattributed"), one_rank=True)


def host_stall(random, job):
    """The host does something else: between the steps, or inside one."""
    if random.random() < 0.6:
        single_stalls(random, job, "host_stall", _between, between_causes(job))
    elif job.writer == "hook":
        single_stalls(random, job, "host_stall", _pause, ("host_pause",))
    else:
        single_stalls(random, job, "host_stall", _pause, ("host_pause", "unattributed"))


def periodic_slow_step(random, job):
    """Every so many steps one is slow, from some step on to the end."""
    iterations = job.attempts[0].ranks[0]
    count, base = len(iterations), typical(job)
    longest = max(2, count // 6)
    period = min(longest, random.choice((2, 3, 5, 8, 10, 20, 25, 50, 100, 128, 200, 500, 1000, 2000, 3000)))
    share = random.choice((random.uniform(0.015, 0.03), random.uniform(0.08, 0.2), random.uniform(0.1, 0.5)))
    factor = max(2.0, 1 + share / (1 - share) * period)
    share = (factor - 1) / (factor - 1 + period)   # of all the time
    first = place(random, max(60, count // 4), 40)
    ranks = some_ranks(random, job)
    delay, causes = random.choice(((_wait, ("input_wait",)), (_forward, ("host_pause", "unattributed")),
                                   (_between, between_causes(job))))
    last = first
    for i in range(first, count, period):
        for rank in ranks:
            delay(job.attempts[0].ranks[rank][i], (factor - 1) * base * random.uniform(0.95, 1.05))
        last = i
    stalls = worth_warning((factor - 1) * base, base)
    job.incidents.append(Incident("periodic_slow_step", ranks, first, last, accepted(job, ranks, *causes),
                                  lost_share=share, warn=share >= 0.055 or stalls,
                                  note="period %d, x%.1f of %.3f s" % (period, factor, base)))


def costly_checkpoint(random, job):
    """Checkpoints between the steps that take 7 to 40 % of the time; some writers mark them."""
    attempt = job.attempts[0]
    count, base, share = len(attempt.ranks[0]), typical(job), random.uniform(0.07, 0.4)
    every = random.choice([n for n in (10, 20, 25, 50, 100, 200, 500) if n <= count // 5])
    cost = share / (1 - share) * every * base
    places = range(every - 1, count, every)
    for i in places:
        seconds = cost * random.uniform(0.95, 1.05)
        for iterations in attempt.ranks:
            if job.marks_checkpoints:
                iterations[i].checkpoint += seconds
            else:
                iterations[i].between += seconds
    causes = ("checkpoint",) if job.marks_checkpoints else ("checkpoint", "host_pause", "unattributed")
    ranks = list(range(job.world_size()))
    job.incidents.append(Incident("costly_checkpoint", ranks, places[0], places[-1], frozenset(causes),
                                  lost_share=share, note="every %d, %.1f s%s" % (
                                      every, cost, " marked" if job.marks_checkpoints else "")))
