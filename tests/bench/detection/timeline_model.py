# SPDX-License-Identifier: Apache-2.0
"""A training job as ranks x iterations, in seconds.

An iteration is what lies between the ends of two steps: the wait for data, forward, backward, optimizer, and
the time until the next one begins. Shapes and incidents change the planned parts; `simulate` then gives every
part its time of day, with the ranks meeting at the end of each backward pass as data-parallel training does.
"""

from dataclasses import dataclass, field

TRAIN, EVAL = "TRAIN", "EVAL"


class Iteration:
    """One iteration of one rank: planned lengths, and after simulate() the times of day."""

    __slots__ = ("step", "mode", "wait", "forward", "pause", "backward", "optimizer", "checkpoint", "mark", "between",
                 "work", "loss", "norm", "starts_loader",
                 "begin", "step_begin", "paused_at", "backward_begin", "backward_end", "optimizer_end", "end")

    def __init__(self, step, mode, wait, forward, backward, optimizer, between):
        self.step, self.mode = step, mode
        self.wait, self.forward, self.backward, self.optimizer = wait, forward, backward, optimizer
        self.pause = 0.0        # of the host, after forward and inside no phase
        self.checkpoint = 0.0   # between steps, before `between`
        self.mark = "Checkpoint"
        self.between = between
        self.work = 1.0         # tokens or samples, in usual batches
        self.loss = 2.0 + 4.0 / (1 + step / 50.0)
        self.norm = 1.1
        self.starts_loader = 0.0   # seconds of the wait in which a loader is constructed

    def planned(self):
        return (self.wait + self.forward + self.pause + self.backward + self.optimizer + self.checkpoint
                + self.between)


@dataclass
class Attempt:
    """One life of the processes of a job. All ranks have the same number of iterations."""

    ranks: list                   # of lists of Iteration
    pid: int = 1000
    silence_before: float = 2.0   # seconds from the end of the earlier attempt, or of the job's start
    closed: bool = True           # the writers closed their files; False: killed, or hanging
    prefetches: bool = True       # Keras: the loader's calls in the background are in the file, too
    initialize: float = 0.02      # construction of the loader's iterator


@dataclass
class Pause:
    """Every process of the job, the sampler included, stood still: between two steps, or inside one."""

    iteration: int
    seconds: float
    inside: bool
    begin: float = 0.0   # filled in by simulate()


@dataclass
class Incident:
    """What went wrong, as a training engineer would state it."""

    kind: str
    ranks: list
    first: int                    # iterations of the attempt, inclusive
    last: int
    accepted: frozenset           # cause names
    attempt: int = 0
    single: bool = False          # one stall: the delay counts from its end
    sampled: bool = False         # seen in sampled metrics
    warn: bool = True             # a warning is expected; False: an alert may be there and need not
    extra: float = 0.0            # seconds lost per rank concerned
    begin: float = 0.0            # time of day, filled in after the simulation
    end: float = 0.0
    lost_share: float = 0.0
    step: int = 0                 # step number at the beginning
    steps_are_well: bool = False  # alerts about steps do not belong to it
    in_seconds: bool = False      # its delay is stated in seconds
    must_stand: bool = False      # it counts as found only by a critical alert that opens while it lasts
    standstill: bool = False      # the time between two attempts: only that it stands still may be said
    for_good: bool = False        # begins when the last iteration ended, lasts until the last sample
    note: str = ""


@dataclass
class Job:
    """A generated job with its truth."""

    name: str
    shape: str
    writer: str
    attempts: list
    start: float
    incidents: list = field(default_factory=list)
    system: object = None         # a system_metrics.Machine, or None
    marks_checkpoints: bool = False
    records_waits: bool = True    # torch as such has no events of its loader; that of AWS has
    pauses: list = field(default_factory=list)   # of the whole job
    writes_end: bool = False      # training_job_end.ts
    backward_hooks: bool = True   # of SageMaker's PyTorch hook; its last versions have none
    logs_work: bool = False       # tokens or samples of each step
    clean: bool = False
    typical: float = 0.0          # median length of an iteration before anything went wrong
    companion: object = None      # another job below the same root, in a directory of its own
    end: float = 0.0

    def world_size(self):
        return len(self.attempts[0].ranks)

    def logged_total(self):
        return max(iterations[-1].step for attempt in self.attempts for iterations in attempt.ranks) + 1

    def begins(self):
        """When the iterations of rank 0 began."""
        return [it.begin for attempt in self.attempts for it in attempt.ranks[0]]

    def steps(self):
        """Iterations of all ranks."""
        return sum(len(iterations) for attempt in self.attempts for iterations in attempt.ranks)


def simulate(job):
    """Gives every iteration its times, and job.end the end of the last one."""
    now, paused = job.start, {pause.iteration: pause for pause in job.pauses}   # these jobs have one attempt
    for attempt in job.attempts:
        clocks = [now + attempt.silence_before + attempt.initialize] * len(attempt.ranks)
        for number in range(len(attempt.ranks[0])):
            pause = paused.get(number)
            if pause:
                _stand_still(pause, attempt.ranks, clocks)
            _iterate(attempt.ranks, number, clocks)
        now = max(clocks)
    job.end = now


def _stand_still(pause, ranks, clocks):
    pause.begin = max(clocks)
    for rank, iterations in enumerate(ranks):
        if pause.inside:
            iterations[pause.iteration].backward += pause.seconds
        else:
            clocks[rank] += pause.seconds


def _iterate(ranks, number, clocks):
    meets = 0.0
    for rank, iterations in enumerate(ranks):
        it = iterations[number]
        it.begin = clocks[rank]
        it.step_begin = it.begin + it.wait
        it.paused_at = it.step_begin + it.forward
        it.backward_begin = it.paused_at + it.pause
        it.backward_end = it.backward_begin + it.backward
        if it.backward_end > meets:
            meets = it.backward_end
    for rank, iterations in enumerate(ranks):
        it = iterations[number]
        if it.mode == TRAIN:
            it.backward_end = meets
        it.optimizer_end = it.backward_end + it.optimizer
        it.end = it.optimizer_end + it.checkpoint + it.between
        clocks[rank] = it.end


def settle_truth(job):
    """Fills in the times and the lost share of each incident from the simulated iterations."""
    for incident in job.incidents:
        if incident.standstill:
            incident.begin = job.attempts[incident.attempt - 1].ranks[0][-1].end
            incident.end = job.attempts[incident.attempt].ranks[0][0].begin
            continue
        iterations = job.attempts[incident.attempt].ranks[incident.ranks[0]]
        first, last = iterations[incident.first], iterations[min(incident.last, len(iterations) - 1)]
        incident.begin, incident.end, incident.step = first.begin, last.end, first.step
        if incident.for_good:
            incident.begin, incident.end = job.end, job.end + job.system.after
        if not incident.lost_share:
            incident.lost_share = min(1.0, incident.extra / max(1e-9, incident.end - incident.begin))
