# SPDX-License-Identifier: Apache-2.0
"""The simulated job: all ranks together."""

from kineto_sim.constants import (
    COMM_STREAM, COMPUTE, CYCLE_PERIOD_NS, JOB_START_NS, ORPHAN_KERNELS, US)
from kineto_sim.intervals import micros, total
from kineto_sim.kernels import ADAM, BACKWARD_OPS, FORWARD_OPS, NLL_FWD, SOFTMAX_BWD, SOFTMAX_FWD
from kineto_sim.rank import Rank
from kineto_sim.scenarios import SCENARIOS


class Job:
    """All ranks together: the per-step plan and the collectives."""

    def __init__(self, opt):
        self.opt, self.load = opt, SCENARIOS[opt.scenario]
        self.ranks = [Rank(r, opt, self.load) for r in range(opt.ranks)]
        self.anomalies = []
        self._plan_kernels()
        self.rest_ns = None             # step time without data wait, from the previous step

    def _plan_kernels(self):
        """Split the kernel budget into forward, backward, optimizer."""
        total = max(20, int(self.opt.kernels_per_step * self.load.kernel_factor))
        fixed = 3 + len(self.load.bucket_weights)       # loss (2), softmax bwd, collectives
        fixed += 2 + self.load.input_copies + self.load.output_copies   # memset, item
        self.optimizer_count = max(1, round(0.06 * total))
        budget = max(12, total - fixed - self.optimizer_count)
        if self.load.syncs:                             # every forward kernel adds a copy
            self.forward_count = max(4, round(budget * 0.5 / 2))
            left = budget - 2 * self.forward_count
        else:
            self.forward_count = max(4, round(budget * 0.38))
            left = budget - self.forward_count
        buckets = len(self.load.bucket_weights)
        self.nodes, i = [], 0
        while left > 0 or i < buckets:          # at least one node per gradient bucket
            node, inner = BACKWARD_OPS[i % len(BACKWARD_OPS)]
            inner = inner[:max(1, left)]
            self.nodes.append((node, inner))
            left -= len(inner)
            i += 1
        self.bucket_ends = [max(0, len(self.nodes) * (b + 1) // buckets - 1)
                            for b in range(buckets)]
        weight = sum(FORWARD_OPS[i % len(FORWARD_OPS)][1].weight
                     for i in range(self.forward_count))
        weight += sum(k.weight for _, inner in self.nodes for _, k in inner)
        weight += self.optimizer_count * ADAM.weight
        weight += SOFTMAX_FWD.weight + NLL_FWD.weight + SOFTMAX_BWD.weight
        self.unit_ns = self.load.compute_us * US / weight

    def run(self):
        start = JOB_START_NS + self.opt.cycle * CYCLE_PERIOD_NS
        for rank in self.ranks:
            rank.reseed(-1)
            rank.now = start + rank.ns(40.0, 0.3)
            rank.tails = {s: rank.now for s in rank.tails}
        self._step(self.opt.first_recorded - 1, warm_up=True)
        for rank in self.ranks:
            self._forget_warm_up(rank)
        for number in range(self.opt.first_recorded, self.opt.first_recorded + self.opt.steps):
            self._step(number)

    @staticmethod
    def _forget_warm_up(rank):
        """Keep only the last device events of the warm-up step, without their launches."""
        kernels = [e for e in rank.gpu_events if e.kind == COMPUTE]
        rank.orphans = kernels[-ORPHAN_KERNELS:]
        rank.host_events, rank.calls, rank.gpu_events, rank.steps = [], [], [], []
        rank.record_start = rank.now

    # -- one step ----------------------------------------------------------

    def _data_wait(self, number, warm_up):
        """Data wait of this step in us, before the per-rank jitter."""
        load = self.load
        if load.data_wait_share is not None:
            rest = self.rest_ns / US if self.rest_ns else load.compute_us * 1.1
            return rest * load.data_wait_share / (1.0 - load.data_wait_share)
        if load.spike_every and number % load.spike_every == 0 and not warm_up:
            rest = self.rest_ns / US
            return load.spike_factor * (rest + load.data_wait_us) - rest
        return load.data_wait_us

    def _step(self, number, warm_up=False):
        opt, load = self.opt, self.load
        wait_us = self._data_wait(number, warm_up)
        regular = load.data_wait_share is None and wait_us == load.data_wait_us
        for rank in self.ranks:
            rank.reseed(number)
            jitter = 0.10 if regular else 0.01
            rank.begin_step(number, rank.ns(wait_us, jitter))
            pause = 0
            if (load.pause_us and not warm_up and rank.rank == opt.fault_rank
                    and number == opt.fault_step):
                pause = rank.ns(load.pause_us)
            rank.forward(self.forward_count, self.unit_ns, pause)
            rank.backward(self.nodes, self.bucket_ends, self.unit_ns)
        self._collectives()
        for rank in self.ranks:
            rank.optimizer(self.optimizer_count, self.unit_ns)
        self.rest_ns = min(r.current.end - r.current.start - total(r.current.data_wait)
                           for r in self.ranks)
        if not warm_up:
            self._note_anomalies(number, regular)

    def _collectives(self):
        """Resolve the all-reduces: all ranks leave together, early ranks wait."""
        load, count = self.load, len(self.load.bucket_weights)
        durations = [load.comm_ratio * load.compute_us * w / sum(load.bucket_weights)
                     for w in load.bucket_weights]
        if load.exposed_share is not None:
            durations = [self._exposed_transfer_us() / count] * count
        for b, micros in enumerate(durations):
            records = [rank.current.collectives[b] for rank in self.ranks]
            for rank, record in zip(self.ranks, records):
                record.event.start = max(record.ready,
                                         rank.tails[COMM_STREAM] + rank.ns(1.3, 0.1))
            last = max(record.event.start for record in records)
            finish = last + self.ranks[0].ns(micros, 0.01)
            for rank, record in zip(self.ranks, records):
                record.event.end = finish + rank.ns(0.8, 0.3)
                record.wait = last - record.event.start
                rank.tails[COMM_STREAM] = record.event.end

    def _exposed_transfer_us(self):
        """Total transfer time so that the part after backward is the wanted step share."""
        share, load = self.load.exposed_share, self.load
        first = max(r.current.collectives[0].ready for r in self.ranks)
        backward_end = max(r.current.backward_end for r in self.ranks)
        start = min(r.current.start for r in self.ranks)
        weight = self.optimizer_count * ADAM.weight
        tail = weight * self.unit_ns + 60 * US + load.output_copies * load.copy_us * US
        exposed = share / (1.0 - share) * (backward_end - start + tail)
        return (backward_end + exposed - first) / US

    def _note_anomalies(self, number, regular):
        load, opt = self.load, self.opt
        if load.spike_every and not regular:
            self.anomalies.append({
                "kind": "data_stall", "ranks": [r.rank for r in self.ranks], "step": number,
                "data_wait_us": [micros(total(r.current.data_wait)) for r in self.ranks],
                "normal_data_wait_us": load.data_wait_us})
        if load.pause_us and number == opt.fault_step:
            self.anomalies.append({
                "kind": "host_pause", "ranks": [opt.fault_rank], "step": number,
                "pause_us": load.pause_us, "victim_ranks": [
                    r.rank for r in self.ranks if r.rank != opt.fault_rank]})
