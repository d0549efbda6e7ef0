# SPDX-License-Identifier: Apache-2.0
"""Jobs of a few profiler cycles with several ranks, simulated by tests/support/kineto_gen.py."""

import argparse
import gzip
import io
import os
import sys
from random import Random

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from kineto_gen import trace_name  # noqa: E402
from kineto_sim.constants import BASE_TIME_S, CBID, COMPUTE_STREAM, MEMORY, US  # noqa: E402
from kineto_sim.formats import WRITERS  # noqa: E402
from kineto_sim.intervals import total  # noqa: E402
from kineto_sim.job import Job  # noqa: E402
from kineto_sim.rank import Rank  # noqa: E402
from kineto_sim.records import RuntimeCall  # noqa: E402
from kineto_sim.scenarios import SCENARIOS, Workload  # noqa: E402
from timeline_model import Incident  # noqa: E402

CBID.setdefault("cudaEventSynchronize", 137)


class ShapedRank(Rank):
    """A rank whose steps may have lengths of their own, and whose host may run ahead of its GPU."""

    scale, runs_ahead, earlier_tail, tail_before = 1.0, False, 0, 0

    def _kernel_ns(self, kernel, unit_ns):
        return super()._kernel_ns(kernel, unit_ns * self.scale)

    def copy(self, direction, micros, size):
        if not self.runs_ahead:
            return super().copy(direction, micros, size)
        name = {"HtoD": "Memcpy HtoD (Pinned -> Device)", "DtoH": "Memcpy DtoH (Device -> Pinned)"}[direction]
        call = self.runtime("cudaMemcpyAsync", self.load.launch_us + 3.0)
        event = self._enqueue(call, MEMORY, name, COMPUTE_STREAM)
        event.bytes = size
        self._schedule(event, self.ns(micros, 0.03))
        return None

    def synchronize(self):
        if not self.runs_ahead:
            super().synchronize()

    def begin_step(self, number, data_wait_ns):
        """The host that runs ahead waits for the end of the step before the last one."""
        super().begin_step(number, data_wait_ns)
        if self.runs_ahead:
            start = self.now
            self.now = max(self.now + self.ns(1.5, 0.1), self.earlier_tail) + self.ns(5.0, 0.2)
            call = RuntimeCall("cudaEventSynchronize", self.tid, start, self.now, self.next_corr,
                               self.stack[-1].ext)
            self.next_corr += 1
            self.calls.append(call)
            self.earlier_tail, self.tail_before = self.tail_before, 0

    def optimizer(self, count, unit_ns):
        super().optimizer(count, unit_ns)
        self.tail_before = self.tails[COMPUTE_STREAM]


class Cycle(Job):
    """One profiler cycle of all ranks; `plan` says what happens in which step on which rank."""

    def __init__(self, opt, plan):
        super().__init__(opt)
        self.plan = plan
        self.ranks = [ShapedRank(r, opt, self.load) for r in range(opt.ranks)]
        for rank in self.ranks:
            rank.runs_ahead = plan.runs_ahead

    def _step(self, number, warm_up=False):
        """As in the generator, but for the waits and lengths of the plan."""
        shared = self.plan.length(number)
        base = self._data_wait(number, warm_up)
        for rank in self.ranks:
            rank.reseed(number)
            rank.scale = shared if shared else self.plan.own_length(rank.rank, number)
            wait = base + (0 if warm_up else self.plan.late.get((rank.rank, number), 0.0) * 1e6)
            rank.begin_step(number, rank.ns(wait, 0.02 if wait > 3 * self.load.data_wait_us else 0.10))
            pause = 0 if warm_up else self.plan.pauses.get((rank.rank, number), 0.0)
            rank.forward(self.forward_count, self.unit_ns, int(pause * 1e6) * US)
            rank.backward(self.nodes, self.bucket_ends, self.unit_ns)
        self._collectives()
        for rank in self.ranks:
            rank.optimizer(self.optimizer_count, self.unit_ns)
        self.rest_ns = min(r.current.end - r.current.start - total(r.current.data_wait) for r in self.ranks)


class Plan:
    """What happens in the steps of a cycle."""

    def __init__(self, random, lengths="normal", runs_ahead=False):
        self.seed, self.lengths, self.runs_ahead = random.random(), lengths, runs_ahead
        self.late, self.pauses = {}, {}   # (rank, step) -> seconds

    def length(self, number):
        """The length of a step that is the same on all ranks; None: each has its own."""
        if self.lengths == "ranks_vary":
            return None
        sigma = 0.25 if self.lengths == "steps_vary" else 0.02
        return max(0.5, Random("%r/%d" % (self.seed, number)).lognormvariate(0, sigma))

    def own_length(self, rank, number):
        return Random("%r/%d/%d" % (self.seed, rank, number)).lognormvariate(0, 0.12)


class KinetoJob:
    """The cycles of one job, with what the scorer asks of a job."""

    def __init__(self, name, shape, options, plans, clean):
        self.name, self.shape, self.clean, self.writer, self.system = name, shape, clean, options.format, None
        self.options, self.incidents, self.cycles = options, [], []
        for number, (load, plan) in enumerate(plans):
            opt = argparse.Namespace(**vars(options))
            opt.cycle, opt.scenario = number, name
            opt.first_recorded = opt.first_step + number * (opt.steps + opt.cycle_gap)
            SCENARIOS[name] = load
            cycle = Cycle(opt, plan)
            cycle.run()
            self.cycles.append(cycle)

    def world_size(self):
        return self.options.ranks

    def begins(self):
        return [BASE_TIME_S + step.start / 1e9 for cycle in self.cycles for step in cycle.ranks[0].steps]

    def steps(self):
        return sum(len(rank.steps) for cycle in self.cycles for rank in cycle.ranks)

    def write(self, root):
        """One trace per rank and cycle."""
        os.makedirs(root, exist_ok=True)
        for cycle in self.cycles:
            for rank in cycle.ranks:
                text = io.StringIO()
                WRITERS[cycle.opt.format](cycle, rank, text).write()
                with gzip.open(os.path.join(root, trace_name(cycle.opt, rank)), "wt", compresslevel=1) as file:
                    file.write(text.getvalue())

    def settle(self, incident, first_cycle, last_cycle, step=None):
        """Gives an incident its times: whole cycles, or one step."""
        def moment(cycle, end, number=None):
            steps = [s for rank in self.cycles[cycle].ranks for s in rank.steps if number in (None, s.number)]
            return BASE_TIME_S + (max(s.end for s in steps) if end else min(s.start for s in steps)) / 1e9
        incident.begin, incident.end = moment(first_cycle, False, step), moment(last_cycle, True, step)
        incident.step = step if step is not None else self.cycles[first_cycle].opt.first_recorded
        self.incidents.append(incident)


def options_for(random, seed, ranks=None, steps=None, kernels=60):
    return argparse.Namespace(
        format=random.choice(("modern", "modern2024", "int_us")), ranks=ranks or random.choice((2, 4, 4, 8)),
        steps=steps or random.randint(8, 14), first_step=random.randrange(20, 2000), cycle=0, cycle_gap=2,
        kernels_per_step=kernels, gzip=True, seed=seed, fault_rank=0, fault_step=-1, fault_first_step=None,
        fault_last_step=None, clock_skew_us=0.0, buffer_records=400, first_recorded=0)
