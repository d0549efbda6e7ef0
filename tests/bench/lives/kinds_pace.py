# SPDX-License-Identifier: Apache-2.0
"""Lives of one attempt that lose time, or seem to."""

import os
from functools import partial

from scene import TIMED

PHASED = ("hook", "hook_ends")                          # phases say what is work and what is waiting
WAITS = ("hook", "hook_ends", "titan_spans")             # name the wait for a batch
LOGS = ("torchtitan", "megatron", "json_lines")
CLEAN = 110                                 # steps before trouble that alternates, where only lengths are known


def life(scene, writers, iterate, **more):
    """`iterate(job, k)` does the k-th iteration."""
    job = scene.job(writers, **more)
    job.start(warm_up=scene.rng.choice((0.0, 2 * job.base, 5 * job.base)))
    steps = scene.multiple(job, job.steps) - len(job.last.iterations)
    for k in range(steps):
        iterate(job, k)
    return scene.finish(job)


def steady(scene):
    life(scene, TIMED + ("huggingface", "untimed"), lambda job, k: job.iterate())


def noisy(scene):
    life(scene, TIMED, lambda job, k: job.iterate(), noise=0.06)


def first(job):
    """From which iteration on trouble may come so that it is not taken for nature."""
    return 12 if job.writer in WAITS else CLEAN


def wait(scene, who, writers=TIMED, every=None):
    """`who(job, n)`: rank -> seconds, in each n-th wait."""
    every = every or scene.rng.choice((3, 4, 7, 20))

    def iterate(job, k):
        if k >= first(job) and k % every == 0:
            job.iterate("input_wait", wait=who(job, k // every))
        else:
            job.iterate()
    life(scene, writers, iterate)


def long(job):
    return job.base * (2 + job.part.view.every)


def wait_one(scene):
    wait(scene, lambda job, n: {min(1, job.ranks - 1): long(job)})


def wait_turns(scene):
    wait(scene, lambda job, n: {n % job.ranks: long(job)})


def wait_all(scene):
    wait(scene, lambda job, n: {r: long(job) * (1 - 0.1 * (r == 0)) for r in range(job.ranks)})


def blip(scene, cause):
    """One step of a healthy job."""
    seconds, who = scene.rng.choice((4, 14, 25)), scene.rng.random()

    def iterate(job, k):
        trouble = {int(who * job.ranks): seconds}
        if k != job.steps // 2:
            job.iterate()
        elif cause == "input_wait":
            job.iterate(cause, wait=trouble)
        else:
            job.iterate(cause, pause=trouble)
    life(scene, PHASED[:1], iterate, ranks=scene.rng.choice((1, 2, 4, 8)))


def blip_wait(scene):
    blip(scene, "input_wait")


def blip_pause(scene):
    blip(scene, "host_pause")


def wait_hidden(scene):
    """The shorter waits end before the longest does and cost nothing."""
    wait(scene, lambda job, n: {r: long(job) / (1 + (r + n) % job.ranks) for r in range(job.ranks)})


def wait_small(scene):
    """Up to 1 % of the clean iteration: training."""
    life(scene, WAITS, lambda job, k: job.iterate("input_wait", wait={k % job.ranks: 0.006 * job.base}), noise=0.0)


def wait_always(scene):
    """From the first step on: all waiting, though no undisturbed step exists."""
    share = scene.rng.choice((0.1, 0.5, 2.0))
    life(scene, WAITS, lambda job, k: job.iterate("input_wait", wait={
        r: share * job.base * scene.rng.uniform(0.95, 1.05) for r in range(job.ranks)}))


def slow_half(scene):
    """Waits of 3 % of the step, from half time on of 60 %."""
    def iterate(job, k):
        share = 0.6 if k > job.steps // 2 else 0.03
        job.iterate("input_wait", wait={r: share * job.base * scene.rng.uniform(0.95, 1.05) for r in range(job.ranks)})
    life(scene, WAITS, iterate)


def straggler(scene, since, writers):
    share, who = scene.rng.choice((0.2, 0.4, 1.0)), scene.rng.random()

    def iterate(job, k):
        if k >= since(job):
            job.iterate("straggler", slow={int(who * job.ranks): share * job.base})
        else:
            job.iterate()
    life(scene, writers, iterate, ranks=scene.rng.choice((2, 4, 8, 16, 64)))


def straggler_start(scene):
    straggler(scene, lambda job: 0, PHASED)


def straggler_later(scene):
    straggler(scene, lambda job: job.steps // 2, PHASED + LOGS)


def slow_node(scene):
    """All ranks of one node."""
    share = scene.rng.choice((0.2, 0.5))
    life(scene, PHASED, lambda job, k: job.iterate("straggler", slow={r: share * job.base for r in range(8, 16)}),
         ranks=scene.rng.choice((32, 64)))


def growth(scene):
    factor = scene.rng.choice((1.2, 1.5, 2.0))

    def iterate(job, k):
        late = k >= job.steps // 2
        job.iterate("compute_growth" if late else "", grow=factor if late else 1.0)
    life(scene, PHASED + LOGS, iterate)


def communication(scene):
    """Longer backward passes of all ranks that can be seen."""
    def iterate(job, k):
        late = k >= job.steps // 2
        job.iterate("communication" if late else "", held=0.5 * job.base if late else 0.0)
    life(scene, PHASED + LOGS, iterate, ranks=scene.rng.choice((2, 8, 64)))
    scene.parts[0].job.either = ("communication", "compute_growth") if scene.parts[0].job.writer in PHASED else ()


def curriculum(scene):
    """Longer sequences at the same throughput lose nothing."""
    def iterate(job, k):
        job.iterate(work=1.0 + 0.5 * (k >= job.steps // 3) + 0.5 * (k >= 2 * job.steps // 3))
    life(scene, ("torchtitan", "megatron"), iterate)


def alternating(scene):
    """Each so many steps the optimizer does more: nature, from the start on."""
    every = scene.rng.choice((2, 4, 8))
    life(scene, ("hook", "hook_ends") + LOGS, lambda job, k: job.iterate(work=1.5 if k % every == every - 1 else 1.0), noise=0.0)
    for part in scene.parts:
        if part.view.every > 1:
            part.job.either = ("training", "unattributed")


def marked(scene, phase, writers, ranks_of):
    every, seconds = scene.rng.choice((50, 100)), scene.rng.uniform(4, 14)

    def iterate(job, k):
        if k % every == every - 1:
            job.iterate(phase, mark=phase, marks={r: seconds for r in ranks_of(job)})
        else:
            job.iterate()
    life(scene, writers, iterate)


def checkpoint_marked(scene):
    marked(scene, "checkpoint", ("hook", "hook_ends", "torchtitan", "megatron", "titan_spans"), lambda job: range(job.ranks))


def checkpoint_one_rank(scene):
    """Rank 0 writes it and all others wait."""
    marked(scene, "checkpoint", ("hook", "hook_ends", "titan_spans"), lambda job: (0,))


def evaluation_marked(scene):
    marked(scene, "evaluation", ("hook", "hook_ends", "torchtitan", "megatron", "titan_spans"), lambda job: range(job.ranks))


def checkpoint_file(scene):
    """Nothing marks it but the file that was written in the pause."""
    every, seconds = scene.rng.choice((70, 110)), scene.rng.uniform(5, 14)

    def iterate(job, k):
        pause = k % every == every - 1
        job.iterate("checkpoint" if pause else "", gap=seconds if pause else 0.0)
    job = life(scene, ("hook", "hook_ends", "torchtitan", "megatron", "json_lines"), iterate)
    job.part.view = job.part.view.__class__(**dict(vars(job.part.view), named=job.part.view.named | {"checkpoint"}))
    scene.files.append(partial(checkpoint_files, job))


def checkpoint_files(job, directory):
    for i in job.last.iterations:
        if "checkpoint" in i.costs:
            path = os.path.join(directory, "watch", "checkpoint-%d.pt" % i.number)
            with open(path, "wb") as file:
                file.write(b"\0" * 64)
            at = i.begin + 0.8 * i.costs["checkpoint"]
            os.utime(path, (at, at))


def pause_round(scene):
    """No line and no file says so, but that it comes at round steps."""
    def iterate(job, k):
        pause = (k + len(job.last.iterations) - k) % 100 == 0 and k > 0
        job.iterate("unattributed" if pause else "", gap=8.0 if pause else 0.0)
    life(scene, ("hook", "hook_ends") + LOGS, iterate).either = ("checkpoint", "evaluation", "unattributed")


def pause_nameless(scene):
    """Now and then nothing happens for some seconds."""
    at = set(scene.rng.sample(range(120, 240), 4))
    life(scene, ("hook", "hook_ends") + LOGS, lambda job, k: job.iterate(
        "unattributed" if k in at else "", gap=scene.rng.uniform(6, 14) if k in at else 0.0), ranks=scene.rng.choice((1, 4, 16)))


def gc_pauses(scene):
    """Of one rank in turn; the others wait for it."""
    def iterate(job, k):
        if k >= 12 and k % 10 == 0:
            job.iterate("host_pause", pause={k // 10 % job.ranks: 1.5 * job.base})
        else:
            job.iterate()
    life(scene, ("hook", "hook_ends"), iterate)


def warm_up(scene):
    """Compiling and filling queues add to the first steps."""
    job = scene.job(TIMED)
    job.start()
    for k in range(scene.rng.randrange(2, 6)):
        job.iterate("startup", slow=dict.fromkeys(range(job.ranks), job.base * (8 - k)))
    job.run(scene.multiple(job, job.steps) - len(job.last.iterations))
    scene.finish(job)


def elsewhere(scene):
    """A daemon that sees 8 of 1,024 ranks."""
    def iterate(job, k):
        late = k > 30 and k % 4 == 0
        job.iterate("elsewhere" if late else "", held=1.2 * job.base if late else 0.0)
    life(scene, PHASED, iterate, ranks=8, world=1024)


def skewed(scene):
    """Nodes whose clocks are up to a second off, and waits of ranks of both."""
    def iterate(job, k):
        late = k > 20 and k % 5 == 0
        job.iterate("input_wait" if late else "", wait={(k // 5) % job.ranks: 2 * job.base} if late else None)
    job = life(scene, PHASED, iterate, ranks=scene.rng.choice((16, 32)))
    job.skew = [scene.rng.uniform(-1, 1) for _ in job.skew]


def late_rank(scene):
    """One rank's process starts 25 s after the others, which wait for it."""
    job = scene.job(PHASED, ranks=8)
    job.start(startup=40.0, late={scene.rng.randrange(8): 25.0})
    job.run(job.steps)
    scene.finish(job)


def silent_rank(scene):
    """One rank's hook gave up: its files end, its training does not."""
    job = scene.job(PHASED, ranks=8)
    job.start()
    job.last.silent = {scene.rng.randrange(1, 8): job.step + job.steps // 2}
    job.run(job.steps)
    scene.finish(job)


KINDS = {f.__name__: f for f in (
    steady, noisy, wait_one, wait_turns, wait_all, blip_wait, blip_pause, wait_hidden, wait_small, wait_always, slow_half, straggler_start, straggler_later,
    slow_node, growth, communication, curriculum, alternating, checkpoint_marked, checkpoint_one_rank, evaluation_marked,
    checkpoint_file, pause_round, pause_nameless, gc_pauses, warm_up, elsewhere, skewed, late_rank, silent_rank)}
