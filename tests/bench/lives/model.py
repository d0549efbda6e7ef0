# SPDX-License-Identifier: Apache-2.0
"""A training job in seconds: ranks that work, wait for the slowest in the backward pass, and go on.

Each iteration is simulated twice with the same random numbers, with what goes wrong in it and without:
the difference is what that has cost the job, exactly, whichever ranks hid it from one another.
"""

import random
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

FORWARD, BACKWARD, OPTIMIZER, USUAL_WAIT = 0.4, 0.55, 0.05, 0.002  # shares of the clean iteration


@dataclass
class Row:
    """What one rank does in one iteration; it leaves the backward pass with all others."""
    begin: float                  # of its step: it begins to wait for its batch
    wait_end: float
    forward_end: float
    marks: Tuple[Tuple[str, float, float], ...] = ()   # phase, begin, end; before the step
    pause: Optional[Tuple[float, float]] = None        # of the garbage collector, in the forward pass


@dataclass
class Iteration:
    number: int
    begin: float                  # the end of the one before
    end: float
    leave: float                  # when all leave the backward pass
    rows: List[Row]
    work: float                   # of its batch, in usual batches
    costs: Dict[str, float]       # part -> seconds that the job lost by it
    mark: str = ""                # what a log prints about it: "checkpoint", "evaluation"
    mark_seconds: float = 0.0     # before the step


@dataclass
class Attempt:
    began: float                  # of the processes
    ranks: int                    # whose files there are
    world: int                    # all of them
    first: float = 0.0            # the first iteration begins
    restore: float = 0.0          # seconds of reading a checkpoint, before that
    restored: bool = False        # from a checkpoint, whether its reading was seen or not
    iterations: List[Iteration] = field(default_factory=list)
    end: Optional[object] = None  # ends.End; None: no word about it
    ended: float = 0.0            # its last evidence
    hangs: Optional[int] = None   # the rank that the others wait for, in the iteration that did not end
    late: Dict[int, float] = field(default_factory=dict)      # rank -> seconds that its process starts later
    silent: Dict[int, int] = field(default_factory=dict)      # rank -> number of the last step that its files have


class Job:
    """`t` is where the simulation stands; times are Unix seconds."""

    def __init__(self, seed, began, ranks=4, base=0.5, noise=0.0, startup=20.0, world=None, number=None, name=""):
        self.rng, self.ranks, self.base, self.noise = random.Random(seed), ranks, base, noise
        self.world, self.number, self.name = world or ranks, number, name
        self.startup, self.total = startup, 100_000
        self.skew = [0.0] * (ranks // 8 + 2)  # of the clock of each node
        self.attempts: List[Attempt] = []
        self.t, self.step = began, 0
        self.role = ""
        self.epochs = False       # numbers of steps begin anew with each
        self.prefix = ""          # before each line about an end, as `srun -l` has it
        self.hidden = set()       # causes that no writer can name: a pause that nothing marks
        self.either = ()          # parts between which the specification leaves the choice

    def node(self, rank):
        return "node%d" % (rank // 8)

    @property
    def last(self):
        return self.attempts[-1]

    def start(self, startup=None, restore=0.0, first_step=None, warm_up=0.0, late=None, restored=False, ranks=None):
        """A new attempt: its processes start now. `warm_up`: seconds more that its first iteration takes."""
        self.ranks, self.world = ranks or self.ranks, ranks or self.world
        attempt = Attempt(self.t, self.ranks, self.world, restore=restore, restored=restored or restore > 0, late=late or {})
        self.attempts.append(attempt)
        self.t += self.startup if startup is None else startup
        attempt.first = self.t
        self.step = self.step if first_step is None else first_step
        if warm_up:
            self.iterate("startup", slow=dict.fromkeys(range(self.ranks), warm_up))
        return attempt

    def run(self, steps, **what):
        for _ in range(steps):
            self.iterate(**what)
        return self

    def iterate(self, cause="", wait=None, slow=None, grow=1.0, held=0.0, pause=None, mark="", marks=None, gap=0.0, work=1.0):
        """One iteration. wait, slow, pause, marks: rank -> seconds; held: in the backward pass, for whoever is not seen;
        gap: of all ranks, before the step; grow: of the work of all, as a fault, work: as the nature of the batch."""
        wait, slow, pause, marks = wait or {}, slow or {}, pause or {}, marks or {}
        rows, clean, arrived = [], 0.0, 0.0
        for rank in range(self.ranks):
            luck = max(0.6, self.rng.gauss(1, self.noise)) if self.noise else 1.0
            forward, usual = self.base * FORWARD * work * luck, self.base * USUAL_WAIT
            marked = marks.get(rank, 0.0)
            begin = self.t + gap + marked
            wait_end = begin + usual + wait.get(rank, 0.0)
            forward_end = wait_end + forward * grow + slow.get(rank, 0.0) + pause.get(rank, 0.0)
            stopped = (wait_end + forward / 2, wait_end + forward / 2 + pause[rank]) if rank in pause else None
            rows.append(Row(begin, wait_end, forward_end, ((mark, self.t + gap, begin),) if marked else (), stopped))
            clean = max(clean, usual + forward)
            arrived = max(arrived, forward_end)
        leave = arrived + held + self.base * BACKWARD * work * grow
        end = leave + self.base * OPTIMIZER * work
        cost = end - self.t - clean - self.base * (BACKWARD + OPTIMIZER) * work
        self._keep(cause, rows, leave, end, work, cost, mark, gap + max(marks.values(), default=0.0))

    def _keep(self, cause, rows, leave, end, work, cost, mark, marked):
        costs = {cause: cost} if cause and cost > 1e-9 else {}
        self.last.iterations.append(Iteration(self.step, self.t, end, leave, rows, work, costs, mark, marked))
        self.step, self.t = self.step + 1, end

    def ends(self, end=None, after=0.1, hangs=None):
        """The last evidence of this attempt comes `after` seconds after its last step."""
        attempt = self.last
        self.t += after
        attempt.end, attempt.ended, attempt.hangs = end, self.t, hangs
        return self

    def down(self, seconds):
        self.t += seconds
        return self

    def move(self, seconds):
        """All of it, so that its end lies where it is wanted."""
        for a in self.attempts:
            a.began, a.first, a.ended = a.began + seconds, a.first + seconds, a.ended + seconds
            for i in a.iterations:
                i.begin, i.end, i.leave = i.begin + seconds, i.end + seconds, i.leave + seconds
                i.rows = [Row(r.begin + seconds, r.wait_end + seconds, r.forward_end + seconds,
                              tuple((m, b + seconds, e + seconds) for m, b, e in r.marks),
                              r.pause and (r.pause[0] + seconds, r.pause[1] + seconds)) for r in i.rows]
        self.t += seconds
        return self
