# SPDX-License-Identifier: Apache-2.0
"""Incidents that last: slow levels, hangs, growing memory, machines that do not keep up."""

from stalls import accepted, between_causes, place, some_ranks, typical
from system_metrics import Effect
from timeline_model import Incident


def _range(random, job, least=120):
    """First and last iteration of something that lasts, often to the end of the job."""
    count = len(job.attempts[0].ranks[0])
    first = random.randrange(min(80, count // 4), max(81, count // 2))
    last = count - 1 if random.random() < 0.5 else min(count - 1, first + random.randint(least, max(least + 1, count // 2)))
    return first, last


def _spoil(random, job, ranks, first, last, extra):
    """Applies extra(iteration) -> nothing to each iteration of the ranks."""
    for rank in ranks:
        for it in job.attempts[0].ranks[rank][first:last + 1]:
            extra(it, random.uniform(0.92, 1.08))


def _add(random, job, kind, ranks, first, last, factor, causes, effect=None, **options):
    base = typical(job)
    incident = Incident(kind, ranks, first, last, accepted(job, ranks, *causes), lost_share=1 - 1 / factor,
                        warn=factor >= 1.06, note="x%.2f of %.3f s" % (factor, base), **options)
    job.incidents.append(incident)
    if effect and job.system:
        for series, devices, amount, throttle in effect:
            job.system.effects.append(Effect(incident, series, devices, amount, throttle))
    return incident


def _factor(random):
    return random.choice((random.uniform(1.1, 1.3), random.uniform(1.25, 1.6), random.uniform(1.5, 3), random.uniform(2, 5)))


def _waits(base, factor):
    def extra(it, jitter):
        it.wait += (factor - 1) * base * jitter
    return extra


def _slower_gpu(factor):
    """All that the GPU computes, the optimizer included: no longer sequences do that."""
    def extra(it, _):
        it.forward *= factor
        it.backward *= factor
        it.optimizer *= factor
    return extra


def _pauses(base, factor, between):
    def extra(it, jitter):
        seconds = (factor - 1) * base * jitter
        if between:
            it.between += seconds
        else:
            it.pause += seconds
    return extra


def input_bound(random, job):
    factor = max(1.12, _factor(random))
    first, last = (8, len(job.attempts[0].ranks[0]) - 1) if random.random() < 0.4 else _range(random, job)
    ranks = some_ranks(random, job)
    _spoil(random, job, ranks, first, last, _waits(typical(job), factor))
    _add(random, job, "input_bound", ranks, first, last, factor, ("input_wait",))


def cpu_saturation(random, job):
    """Cores at 100 %: the loader starves, or the training process itself is slow."""
    factor, (first, last) = random.uniform(1.2, 3), _range(random, job)
    ranks = list(range(job.world_size()))
    cores = random.sample(range(job.system.cpus), random.randint(1, job.system.cpus))
    effect = [("cpu", cores, 99.7, 0)]
    if random.random() < 0.6:
        _spoil(random, job, ranks, first, last, _waits(typical(job), factor))
        causes = ("cpu_saturation", "input_wait")
    else:
        _spoil(random, job, ranks, first, last, _pauses(typical(job), factor, False))
        causes = ("cpu_saturation",)
    _add(random, job, "cpu_saturation", ranks, first, last, factor, causes, effect)


def io_wait(random, job):
    """The storage does not keep up: waits for data, with cores that wait for the disk."""
    factor, (first, last) = random.uniform(1.2, 4), _range(random, job)
    ranks = list(range(job.world_size()))
    cores = random.sample(range(job.system.cpus), random.randint(1, job.system.cpus))
    _spoil(random, job, ranks, first, last, _waits(typical(job), factor))
    _add(random, job, "io_wait", ranks, first, last, factor, ("io_wait", "input_wait"),
         [("iowait", cores, random.uniform(45, 90), 0)])


def lasting_slowdown(random, job):
    """The level changes, 1.1x to 5x; by more than 1.2x where the level drifts by itself."""
    factor, (first, last), base = _factor(random), _range(random, job, 250), typical(job)
    if job.shape == "drift":
        factor = max(factor, random.uniform(1.2, 1.4))
    ranks = some_ranks(random, job)
    extra, causes = random.choice((
        (_waits(base, factor), ("input_wait",)),
        (_slower_gpu(factor), ("compute_growth", "gpu_slowdown", "unattributed")),
        (_slower_gpu(factor), ("compute_growth", "gpu_slowdown", "unattributed")),
        (_pauses(base, factor, False), ("host_pause",) if job.writer == "hook" else ("host_pause", "unattributed")),
        (_pauses(base, factor, True), between_causes(job))))
    _spoil(random, job, ranks, first, last, extra)
    _add(random, job, "lasting_slowdown", ranks, first, last, factor, causes)


def gradual_regression(random, job):
    """Creeps up to the double: a list that grows, a loader that leaks, a GPU that fills with dust."""
    count, base, top = len(job.attempts[0].ranks[0]), typical(job), random.uniform(1.8, 2.5)
    first = random.randrange(60, count // 4)
    ranks = some_ranks(random, job)
    kind = random.choice(("wait", "gpu", "between", "pause"))
    for i in range(first, count):
        factor = 1 + (top - 1) * (i - first) / (count - first)
        extra = {"wait": _waits(base, factor), "gpu": _slower_gpu(factor), "between": _pauses(base, factor, True),
                 "pause": _pauses(base, factor, False)}[kind]
        _spoil(random, job, ranks, i, i, extra)
    causes = {"wait": ("input_wait",), "gpu": ("compute_growth", "gpu_slowdown", "unattributed")}.get(
        kind, between_causes(job))
    _add(random, job, "gradual_regression", ranks, first, count - 1, (1 + top) / 2, causes)


def gpu_slowdown(random, job):
    """The clocks of a GPU, or of all, fall: heat (NVML's bits 0x20, 0x40) or the power limit (0x4)."""
    factor, (first, last) = random.uniform(1.15, 2.2), _range(random, job)
    ranks = some_ranks(random, job)
    throttle = random.choice((0x20, 0x40, 0x4, 0x8))
    job.system.clocks = True
    _spoil(random, job, ranks, first, last, _slower_gpu(factor))
    _add(random, job, "gpu_slowdown", ranks, first, last, factor, ("gpu_slowdown",),
         [("clock", ranks, 1410 / factor, throttle)])


def straggler(random, job):
    """One rank computes more slowly than the others, which wait for it in each backward pass."""
    factor, (first, last) = random.uniform(1.15, 2), _range(random, job)
    ranks = [random.randrange(job.world_size())]
    _spoil(random, job, ranks, first, last, _slower_gpu(factor))
    incident = _add(random, job, "straggler", ranks, first, last, factor, ("straggler", "compute_growth"))
    if job.writer == "keras":   # a step there contains the wait for the others, and has no phases
        incident.accepted |= {"unattributed"}


def memory_creep(random, job):
    """Host or GPU memory grows until it is full; nothing is slower yet."""
    count = len(job.attempts[0].ranks[0])
    first = place(random, max(60, count // 4), 40)
    incident = Incident("memory_creep", [0], first, count - 1, frozenset(("memory_creep", "unattributed")),
                        sampled=True, in_seconds=True, steps_are_well=True, lost_share=0.0)
    job.incidents.append(incident)
    if random.random() < 0.5:
        rise, series, devices = 99 - job.system.memory - job.system.settles, "memory", []
    else:
        rise, series, devices = 99 - job.system.gpu_memory, "gpu_memory", list(range(job.world_size()))
    incident.note = "%s, %.0f points" % (series, rise)
    job.system.effects.append(Effect(incident, series, devices, rise))


def low_gpu(random, job):
    """The GPU is never fully used from the beginning on, or is idle for half of each long step."""
    count, ranks = len(job.attempts[0].ranks[0]), list(range(job.world_size()))
    incident = Incident("low_gpu", ranks, 0, count - 1, frozenset(), sampled=True, in_seconds=True, lost_share=0.3)
    if random.random() < 0.5:
        incident.accepted = frozenset(("unattributed", "host_pause", "kernel_launch", "input_wait"))
        scale = random.uniform(0.15, 0.55)
        incident.steps_are_well = True
        incident.note = "at most %.0f %%" % (100 * scale)
        job.system.effects.append(Effect(incident, "gpu_scale", ranks, scale))
    else:
        base, factor = typical(job), random.uniform(1.6, 2.5)
        waits = random.random() < 0.5
        _spoil(random, job, ranks, 0, count - 1, _waits(base, factor) if waits else _pauses(base, factor, True))
        incident.accepted = accepted(job, ranks, *(("input_wait",) if waits else between_causes(job)))
        incident.note, incident.lost_share = "idle for %.0f %% of each step" % (100 - 100 / factor), 1 - 1 / factor
    job.incidents.append(incident)


def hang(random, job):
    """No more lines while the sampler goes on; some jobs come back after minutes."""
    attempt, base = job.attempts[0], typical(job)
    length = random.uniform(90, 600) + 12 * base
    causes = frozenset(("collective_hang", "communication", "unattributed", "host_pause", "straggler"))
    ranks, count = list(range(job.world_size())), len(attempt.ranks[0])
    incident = Incident("hang", ranks, count - 1, count - 1, causes | {"input_wait"}, extra=length, lost_share=1.0,
                        in_seconds=True, must_stand=True, for_good=True, note="%.0f s without an end" % length)
    job.incidents.append(incident)
    if random.random() < 0.4:
        incident.for_good, incident.note = False, "back after %.0f s" % length
        incident.first = incident.last = i = place(random, count)
        waits = random.random() < 0.4
        incident.accepted = frozenset(("input_wait", "unattributed")) if waits else causes
        for iterations in attempt.ranks:
            if waits:
                iterations[i].wait += length
            else:
                iterations[i].backward += length
        return
    attempt.closed, job.writes_end, job.system.after = False, False, length
    if random.random() < 0.5:   # a collective that never ends keeps the GPU at 100 %
        job.system.effects.append(Effect(incident, "gpu_spins", ranks))
