# SPDX-License-Identifier: Apache-2.0
"""Lives that hang, crash, come back, and end in every way; of several jobs, and of files of last year."""

import os
from functools import partial

import account
import ends
from scene import TIMED, Part
from writers import WRITERS, hook

ENDING = ("hook", "hook_ends", "torchtitan", "megatron", "json_lines")
MINUTES = 60.0


def hang_goes_on(scene):
    """One rank stands still for minutes, then training goes on: the stall stays."""
    job = scene.job(("hook", "hook_ends", "torchtitan", "megatron", "json_lines", "titan_spans"))
    job.start()
    half = scene.multiple(job, job.steps // 2)
    job.run(half)
    job.iterate("straggler", slow={scene.rng.randrange(job.ranks): scene.rng.uniform(8, 20) * MINUTES})
    job.run(scene.multiple(job, job.steps) - half - 1)
    scene.finish(job)
    job.either = ()


def hang_killed(scene):
    """It hangs until somebody ends it."""
    kind = scene.rng.choice(("collective_timeout", "time_limit", "cancelled"))
    job = scene.job(ENDING, ranks=scene.rng.choice((2, 4, 8, 16)))
    job.start()
    job.run(scene.multiple(job, job.steps))
    end = ends.of(kind, job, scene.rng)
    job.ends(end, scene.rng.uniform(10, 15) * MINUTES, hangs=end.rank if end.rank is not None else 0)


def hang_open(scene):
    """It hangs still: something beside the training writes on, so the files know of it."""
    job = scene.job(("torchtitan", "megatron"))
    job.start()
    job.run(scene.multiple(job, job.steps))
    job.ends(None, scene.rng.uniform(20, 40) * MINUTES)


def retried(scene, job, attempts):
    """Attempts that die and begin again some steps back; the last ends well."""
    rng = scene.rng
    job.start(restore=0.0)
    every = job.part.view.every
    for n in range(attempts):
        steps = max(40, job.steps // attempts) // every * every
        job.run(steps)
        if n + 1 == attempts:
            return scene.finish(job)
        kind = rng.choice(("cuda_out_of_memory", "exception", "signal", "worker_killed", "gpu_error"))
        launcher = "srun" if kind == "signal" and rng.random() < 0.5 else "torchrun"
        scene.finish(job, kind, launcher=launcher)
        job.down(rng.choice((30.0, 2 * MINUTES, 20 * MINUTES)))
        back = rng.randrange(0, steps // 2) // every * every
        restore = rng.uniform(3, 20) if rng.random() < 0.5 else 0.0
        job.start(startup=rng.uniform(15, 40) + restore, restore=restore, first_step=job.step - back, restored=True)
    return job


def attempts(scene):
    job = scene.job(("hook", "hook_ends", "torchtitan", "megatron"))
    retried(scene, job, scene.rng.randrange(2, 6))


def attempts_of_records(scene):
    """JSON lines: only the numbers and the times show the attempts."""
    job = scene.job(("json_lines",), ranks=1)
    job.start()
    for n in range(scene.rng.randrange(2, 4)):
        if n:
            job.down(scene.rng.uniform(5, 30) * MINUTES)
            job.start(first_step=job.step - scene.rng.randrange(10, 60))
        job.run(job.steps // 2)
        job.ends(None, 0.01)


def crash_then_well(scene):
    """The first attempt dies before its first step."""
    job = scene.job(("hook", "hook_ends", "torchtitan", "megatron"))
    job.start(startup=30.0)
    scene.finish(job, "exception")
    job.down(scene.rng.uniform(60, 300))
    job.start()
    job.run(scene.multiple(job, job.steps))
    scene.finish(job)


def crash_at_start(scene):
    """No step at all: one attempt, all of it startup."""
    job = scene.job(("hook", "hook_ends", "torchtitan", "megatron"))
    job.start(startup=scene.rng.uniform(20, 200))
    scene.finish(job, scene.rng.choice(("exception", "cuda_out_of_memory", "disk_full")))


def end_of(kind, scene):
    """A run that ends so, after some hundred steps."""
    logs = ("torchtitan", "megatron", "huggingface")
    job = scene.job(("hook", "hook_ends") + logs if kind == "completed" else ENDING + ("huggingface",),
                    ranks=scene.rng.choice((2, 4, 8, 16)) if kind == "collective_timeout" else None)
    job.start()
    job.run(scene.multiple(job, min(job.steps, 300)))
    if kind == "collective_timeout":
        end = ends.of(kind, job, scene.rng)
        job.ends(end, 10 * MINUTES + 0.3, hangs=end.rank)
        return
    launcher = scene.rng.choice(("torchrun", "srun", "torchrun"))
    scene.finish(job, kind, launcher=launcher)


def no_word(scene):
    """The files just end."""
    job = scene.job(TIMED)
    job.start()
    job.run(scene.multiple(job, job.steps))
    scene.finish(job, None)


def caught(scene):
    """A traceback that somebody caught: steps follow, so it was no end."""
    job = scene.job(("torchtitan", "megatron"), ranks=1, number=4000 + scene.seed)
    job.start()
    job.run(scene.multiple(job, job.steps))
    scene.finish(job)
    middle = job.last.iterations[len(job.last.iterations) // 2].end
    scene.files.append(partial(insert_traceback, job, job.t - middle))


def insert_traceback(job, back, directory):
    """Between two lines in the middle of the log."""
    path = os.path.join(directory, "watch", "slurm-%s.out" % job.number)
    at = os.stat(path).st_mtime
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    middle = next(n for n in range(len(lines) // 2, len(lines)) if "loss:" in lines[n])
    lines[middle:middle] = ["Traceback (most recent call last):\n", '  File "data.py", line 7, in fetch\n',
                            "ValueError: a sample without a label\n"]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(lines)
    os.utime(path, (at, at))


def simple(scene, writers, end="completed", **more):
    job = scene.job(writers, **more)
    job.start()
    job.run(scene.multiple(job, min(job.steps, 350)))
    return scene.finish(job, end)


def two_below_root(scene):
    """Each in a folder of its own."""
    for n, folder in enumerate(("watch/run_a", "watch/run_b")):
        job = simple(scene, ("hook", "hook_ends", "torchtitan", "megatron"), number=None if n else 7000 + scene.seed, ranks=4)
        job.part.folder = folder
        job.part.age = scene.age + scene.rng.uniform(-60, 60)


def two_in_directory(scene):
    """Two Slurm logs side by side, written at the same time, one by a job that dies."""
    for n in range(2):
        job = simple(scene, ("torchtitan", "megatron"), "completed" if n else "cuda_out_of_memory", number=9001 + n, ranks=8)
        job.part.age = scene.age + scene.rng.uniform(-60, 60)


def two_hooks_in_directory(scene):
    """Two jobs of the same ranks on other nodes, whose environment names them."""
    for n in range(2):
        job = simple(scene, ("hook", "hook_ends"), number=9001 + n, ranks=4, name="job-%s" % "ab"[n])
        job.node = lambda rank, n=n: "node%d" % (n + 1)
        job.part.age = scene.age + 20 * n


def two_roots(scene):
    """Two watched paths are two jobs, though nothing names them."""
    scene.watch = ["watch_a", "watch_b"]
    for folder in scene.watch:
        job = simple(scene, ("hook", "hook_ends", "torchtitan", "megatron"), number=None, ranks=scene.rng.choice((1, 4)))
        job.part.folder, job.part.name = folder, "stdout.log"
        job.part.age = scene.age + scene.rng.uniform(-60, 60)


def roles(scene):
    """Trainer and generator of one job, both rank 0, alive together: one run; steps and rate are the trainer's."""
    trainer = simple(scene, ("titan_spans",), ranks=scene.rng.choice((1, 2)), base=2.5, number=None)
    generator = simple(scene, ("titan_spans",), ranks=1, base=1.3, number=None)
    trainer.role, generator.role = "trainer", "generator"
    generator.part.age = scene.age + max(0.0, trainer.t - generator.t - 1e3) + 0.5
    generator.part.but = {"part_of_other": True}


def two_logs(scene):
    """Two logs in one directory, written at the same time, without a number."""
    for n in range(2):
        job = simple(scene, ("torchtitan", "megatron"), number=None, ranks=4)
        job.part.name = "train_%s.out" % "ab"[n]
        job.part.age = scene.age + scene.rng.uniform(-30, 30)


def two_sources(scene):
    """One job's timelines and its console: one run, each step counted once."""
    job = simple(scene, ("hook", "hook_ends"), "exception")
    scene.parts.append(Part(job, WRITERS["torchtitan"], account.View(frozenset()), but={"part_of_other": True}))
    job.part.name = "launcher.err"


def epochs(scene):
    """Numbers that begin anew with each epoch: nothing is done twice."""
    job = scene.job(("hook", "hook_ends"), ranks=scene.rng.choice((1, 4)))
    job.epochs = True
    job.start()
    for _ in range(4):
        job.step = 0
        job.run(100)
        job.iterate("evaluation", mark="evaluation", marks=dict.fromkeys(range(job.ranks), 9.0))
    scene.finish(job)


def elastic(scene):
    """It comes back with half of its ranks, each of which has more to do: slower, and nothing lost."""
    job = scene.job(("hook", "hook_ends", "torchtitan", "megatron"), ranks=scene.rng.choice((4, 8)))
    job.start()
    job.run(scene.multiple(job, job.steps // 2))
    scene.finish(job, "gpu_error")
    job.down(90.0)
    job.base *= 1.8
    job.start(ranks=job.ranks // 2, restored=True)
    job.run(scene.multiple(job, job.steps // 2))
    scene.finish(job)


def wrapped(name, scene):
    """A container's log: each line in kubelet's or docker's words."""
    kind = scene.rng.choice(("completed", "exception", "cuda_out_of_memory"))
    job = simple(scene, ("torchtitan", "megatron"), kind, number=None)
    job.part.name = name
    if name == "0.log":                      # a name that says nothing: watched by its own path
        job.part.folder, scene.watch = "watch", ["watch/0.log"]


def log_names(scene):
    """Logs whose names are what people call them."""
    job = simple(scene, ("torchtitan", "megatron"), "exception", number=None)
    job.part.name = scene.rng.choice(("train.log", "run.log", "training.log", "train_log.txt"))


def labelled(scene):
    """`srun -l` puts the task before each line."""
    job = scene.job(("hook", "hook_ends", "torchtitan"), ranks=scene.rng.choice((1, 4)))
    job.prefix = "0: "
    job.start()
    job.run(scene.multiple(job, min(job.steps, 300)))
    scene.finish(job, "exception")


def end_wandb(scene):
    """The exit record of W&B has the code."""
    code = scene.seed % 2
    job = scene.job(("wandb",), ranks=1, number=None)
    job.start(startup=2.0)
    job.run(min(job.steps, 300))
    job.ends(ends.End("unknown", "completed", exit_code=1, or_else=("exception",)) if code else ends.End("completed", "completed"), 0.3)


def untimed(scene):
    """Records without times end at the last write of their file and reach back."""
    kind = scene.rng.choice(("completed", "time_limit", None))
    simple(scene, ("untimed",), kind)


def old(days, scene):
    """Past tense at once."""
    kind = scene.rng.choice(("completed", None))
    job = simple(scene, ("hook", "hook_ends", "torchtitan", "megatron"), kind)
    scene.age = days * 86400.0 + scene.rng.uniform(0, 3600)
    if kind is None:
        job.part.states = ["gone"]


def copied(scene):
    """All files have been written anew by a copy, now."""
    simple(scene, ("hook", "hook_ends", "torchtitan", "megatron"))
    scene.files.append(touch)


def touch(directory):
    for folder, _, names in os.walk(directory):
        for name in names:
            os.utime(os.path.join(folder, name))


class Apart:
    """Writes jobs of one rank each as the ranks of one job that do not wait for one another."""
    NAME, FIRST = "hook", 0

    def __init__(self, jobs):
        self.jobs = jobs

    def write(self, job, folder, view, name=None):
        for rank, one in enumerate(self.jobs):
            one.move(job.last.began - one.last.began)
            hook.write_rank(one, folder, one.last, 0, {"run": str(job.number), "world_size": len(self.jobs)}, 100 + rank, True, shown=rank)


def out_of_step(scene):
    """Two ranks that do not wait for one another: the mean of two accounts."""
    jobs, length = [], scene.rng.uniform(300, 400)
    for rank, base in enumerate((0.8, 1.0)):
        job = scene.job(("hook", "hook_ends"), ranks=1, base=base, noise=0.01, number=500 + scene.seed)
        job.startup = 10.0
        job.start()
        while job.t < job.last.began + length:
            late = rank == 1 and job.t > job.last.began + length / 2
            job.iterate("input_wait" if late else "", wait={0: 1.2} if late else None)
        jobs.append(scene.finish(job))
    view = WRITERS["hook"].view(scene.rng)
    said = [account.truth(job, view, {}) for job in jobs]
    parts = {p for s in said for p in s["seconds"]}
    mean = {p: sum(s["seconds"].get(p, 0.0) for s in said) / len(said) for p in parts}
    longest = max(jobs, key=lambda job: job.last.ended - job.last.began)
    scene.parts = [Part(longest, Apart(jobs), view, but={
        "seconds": mean, "wall_seconds": sum(mean.values()), "steps": None, "rate": None, "ranks": 2, "gpu_seconds": None})]


KINDS = {f.__name__: f for f in (
    hang_goes_on, hang_killed, hang_open, attempts, attempts_of_records, crash_then_well, crash_at_start, no_word, caught, two_below_root,
    two_in_directory, two_hooks_in_directory, two_roots, two_logs, log_names, two_sources, epochs, elastic, labelled, end_wandb,
    roles, untimed, copied, out_of_step)}
KINDS.update({"end_" + kind: partial(end_of, kind) for kind in ends.CLASSES})
KINDS.update({"wrapped_docker": partial(wrapped, "4f0c-json.log"), "wrapped_kubelet": partial(wrapped, "0.log")})
KINDS.update({"old_2_months": partial(old, 60), "old_1_year": partial(old, 365)})
