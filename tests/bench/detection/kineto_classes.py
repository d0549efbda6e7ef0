# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in jobs that the profiler sees, and healthy ones of many shapes.

Steps last 40 to 300 ms, and a cycle records at least half a second.
"""

import zlib
from random import Random

from kineto_jobs import KinetoJob, Plan, Workload, options_for
from timeline_model import Incident

VICTIMS = ("straggler", "communication")


class Recipe:
    """Ingredients of a job: its cycles, and which of them are ill."""

    def __init__(self, kind, seed, ranks=None, **options):
        self.random = Random(zlib.crc32(kind.encode()) * 1_000_003 + seed)
        self.name = "%s-%d" % (kind, seed)
        self.options = options_for(self.random, seed, ranks, **options)
        self.compute_us = self.random.choice((60000.0, 100000.0, 200000.0))
        self.cycles = self.random.choice((2, 2, 3))
        self.ill = range(self.random.choice((0, 0, 1)), self.cycles)
        self.normal = {"compute_us": self.compute_us, "data_wait_us": 0.008 * self.compute_us}

    def ranks(self):
        return list(range(self.options.ranks))

    def job(self, kind, loads, plans, clean=False):
        return KinetoJob(self.name, kind, self.options, list(zip(loads, plans)), clean)

    def lasting(self, kind, ranks, lost, causes, ill_load=None, plans=None):
        """A job whose ill cycles have another workload, or another plan."""
        loads = [ill_load if ill_load and i in self.ill else Workload(**self.normal) for i in range(self.cycles)]
        job = self.job(kind, loads, plans or [Plan(self.random) for _ in loads])
        job.settle(Incident(kind, ranks, 0, 0, frozenset(causes), lost_share=lost, warn=lost >= 0.055,
                            note="%.0f %%" % (100 * lost)), self.ill[0], self.cycles - 1)
        return job


def data_stall(seed):
    r = Recipe("k_data_stall", seed)
    return _single(r, "k_data_stall", "late", r.ranks() if r.random.random() < 0.5 else [r.random.choice(r.ranks())],
                   ("input_wait",))


def gc_pause(seed):
    r = Recipe("k_gc_pause", seed)
    return _single(r, "k_gc_pause", "pauses", [r.random.choice(r.ranks())], ("host_pause",))


def _single(r, kind, table, ranks, causes):
    step_us = 1.25 * r.compute_us
    seconds = r.random.uniform(max(1.2, 3 * step_us / 1e6), 6)
    plans = [Plan(r.random) for _ in range(r.cycles)]
    cycle = r.random.choice(list(r.ill))
    number = (r.options.first_step + cycle * (r.options.steps + r.options.cycle_gap)
              + r.random.randrange(2, r.options.steps - 1))
    for rank in ranks:
        getattr(plans[cycle], table)[rank, number] = seconds
    job = r.job(kind, [Workload(**r.normal) for _ in plans], plans)
    others = VICTIMS if len(ranks) < r.options.ranks else ()
    job.settle(Incident(kind, ranks, 0, 0, frozenset(causes + others), single=True, lost_share=0.8,
                        note="%.2f s on %.3f s" % (seconds, step_us / 1e6)), cycle, cycle, number)
    return job


def straggler(seed):
    r = Recipe("k_straggler", seed)
    factor = r.random.uniform(1.15, 2)
    r.options.fault_rank = r.random.choice(r.ranks())
    ill = Workload(slow_rank_factor=factor, **r.normal)
    return r.lasting("k_straggler", [r.options.fault_rank], 0.9 * (1 - 1 / factor), VICTIMS + ("compute_growth",), ill)


def late_data_rank(seed):
    r = Recipe("k_late_data_rank", seed)
    share, rank = r.random.uniform(0.15, 1.0), r.random.choice(r.ranks())
    plans = [Plan(r.random) for _ in range(r.cycles)]
    for i in r.ill:
        first = r.options.first_step + i * (r.options.steps + r.options.cycle_gap)
        for number in range(first, first + r.options.steps):
            plans[i].late[rank, number] = share * 1.2 * r.compute_us / 1e6 * r.random.uniform(0.8, 1.2)
    return r.lasting("k_late_data_rank", [rank], share / (1 + share), VICTIMS + ("input_wait",), plans=plans)


def input_bound(seed):
    r = Recipe("k_input_bound", seed)
    share = r.random.uniform(0.08, 0.5)
    return r.lasting("k_input_bound", r.ranks(), share, ("input_wait",), Workload(data_wait_share=share, **r.normal))


def host_slow(seed):
    """Python between the operators takes longer than their kernels."""
    r = Recipe("k_host_slow", seed, kernels=50)
    op_us = r.random.uniform(1500, 4000)
    busy = r.random.uniform(0.4, 0.85)
    r.normal["compute_us"] = 50 * op_us * busy
    r.ill = range(r.cycles)
    r.normal["op_us"] = op_us
    return r.lasting("k_host_slow", r.ranks(), 1 - busy, ("host_pause", "kernel_launch"))


def launch_bound(seed):
    """Many tiny kernels: the launches take longer than the work."""
    r = Recipe("k_launch_bound", seed, ranks=2, kernels=120)
    launch_us = r.random.uniform(150, 300)
    r.options.steps = 22
    r.normal.update(compute_us=120 * launch_us * r.random.uniform(0.1, 0.4), launch_us=launch_us, op_us=20.0,
                    copy_us=20.0, data_wait_us=60.0)
    r.ill = range(r.cycles)
    return r.lasting("k_launch_bound", r.ranks(), 0.6, ("kernel_launch",))


def sync_heavy(seed):
    """A blocking .item() after every forward kernel."""
    r = Recipe("k_sync_heavy", seed, kernels=80)
    r.normal.update(syncs=True, sync_python_us=r.random.uniform(0.01, 0.03) * r.compute_us, copy_us=60.0)
    r.ill = range(r.cycles)
    forward = max(4, round((80 - 14) * 0.25))
    lost = forward * r.normal["sync_python_us"]
    return r.lasting("k_sync_heavy", r.ranks(), lost / (lost + 1.2 * r.compute_us), ("synchronization",))


def comm_bound(seed):
    r = Recipe("k_comm_bound", seed)
    share = r.random.uniform(0.1, 0.45)
    ill = Workload(exposed_share=share, bucket_weights=(1.0, 1.0, 1.0, 1.0), **r.normal)
    return r.lasting("k_comm_bound", r.ranks(), share, ("communication",), ill)


def clean(kind, seed):
    """Steps of equal or of varying length, communication and waits hidden behind computation."""
    r = Recipe(kind, seed)
    shape = kind[len("k_clean_"):]
    if shape == "overlap":
        r.normal.update(comm_ratio=0.45, bucket_weights=(1.0, 1.0, 1.0, 0.05))
    else:
        r.normal.update(comm_ratio=r.random.uniform(0.05, 0.12), bucket_weights=(1.0, 1.0, 1.0, 0.2))
    hidden = shape == "hidden_wait"
    if hidden:   # the host waits for data while the GPU computes what was launched before
        r.normal["data_wait_us"] = r.random.uniform(0.1, 0.6) * r.compute_us
    lengths = shape if shape in ("ranks_vary", "steps_vary") else "normal"
    plans = [Plan(r.random, lengths, runs_ahead=hidden or r.random.random() < 0.3) for _ in range(r.cycles)]
    if shape == "warm_up":   # the host compiles in the first steps of the first cycle
        r.options.first_step = r.random.choice((0, 1, 2))
        for number in range(r.options.first_step, r.options.first_step + r.random.choice((1, 1, 2, 3))):
            seconds = r.random.uniform(2, 20) * r.compute_us / 1e6
            plans[0].pauses.update({(rank, number): seconds * r.random.uniform(0.95, 1.05) for rank in r.ranks()})
    return r.job(kind, [Workload(**r.normal) for _ in plans], plans, clean=True)


INCIDENTS = {"k_data_stall": data_stall, "k_gc_pause": gc_pause, "k_straggler": straggler,
             "k_late_data_rank": late_data_rank, "k_input_bound": input_bound, "k_host_slow": host_slow,
             "k_launch_bound": launch_bound, "k_sync_heavy": sync_heavy, "k_comm_bound": comm_bound}
CLEAN = ("k_clean_normal", "k_clean_overlap", "k_clean_hidden_wait", "k_clean_ranks_vary", "k_clean_steps_vary",
         "k_clean_warm_up")


def build(kind, seed):
    return INCIDENTS[kind](seed) if kind in INCIDENTS else clean(kind, seed)
