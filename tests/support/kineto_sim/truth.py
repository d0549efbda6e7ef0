# SPDX-License-Identifier: Apache-2.0
"""What happened in each step on each rank, for truth.json."""

from kineto_sim.constants import BASE_TIME_S, COMM, COMPUTE, MEMORY, US
from kineto_sim.intervals import intersect, micros, total, union
from kineto_sim.scenarios import in_fault_window


def spans(events, kind=None):
    return [(e.start, e.end) for e in events if kind is None or e.kind == kind]


def idle_causes(step, events):
    """Split the idle device time inside the step window by cause (ns).

    A gap overlapping the data loader or an injected pause is charged to it; a gap
    that begins while the host blocks in a synchronisation is charged to ``sync``;
    if the next piece of work was already launched when the gap began it is a
    ``queued_gap`` (stream scheduling); the rest is ``host_launch``.
    """
    causes = dict.fromkeys(("data_wait", "host_pause", "sync", "host_launch", "queued_gap"), 0)
    ordered = sorted(events, key=lambda e: e.start)
    busy = union(spans(events))
    gaps, edge = [], step.start
    for start, end in busy:
        if start > edge:
            gaps.append((edge, start))
        edge = max(edge, end)
    if edge < step.end:
        gaps.append((edge, step.end))
    index = 0
    for start, end in gaps:
        left = end - start
        for cause, intervals in (("data_wait", step.data_wait), ("host_pause", step.pauses)):
            part = total(intersect([(start, end)], intervals))
            causes[cause] += part
            left -= part
        while index < len(ordered) and ordered[index].start < end:
            index += 1
        following = ordered[index] if index < len(ordered) else None
        if following is not None and following.launch.start < start:
            causes["queued_gap"] += left
        elif any(a <= start < b for a, b in step.syncs):
            causes["sync"] += left
        else:
            causes["host_launch"] += left
    return causes


def step_truth(rank, step, origin):
    events = [e for e in rank.gpu_events if e.step == step.number]
    compute, comm, memory = (spans(events, k) for k in (COMPUTE, COMM, MEMORY))
    overlap = total(intersect(comm, compute))
    causes = idle_causes(step, events)
    exposed = total(comm) - total(intersect(comm, compute + memory))
    waits = [(c.event.start, c.event.start + c.wait) for c in step.collectives]
    exposed_wait = total(waits) - total(intersect(waits, compute + memory))
    shares = {
        "compute": total(compute), "exposed_comm": exposed,
        "memory": total(memory), **causes,
    }
    return {
        "rank": rank.rank, "step": step.number,
        "start_us": micros(step.start - origin), "step_us": micros(step.end - step.start),
        "data_wait_us": micros(total(step.data_wait)),
        "host_pause_us": micros(total(step.pauses)),
        "sync_call_us": micros(total(step.syncs)),
        "gpu_busy_us": micros(total(spans(events))),
        "gpu_idle_us": micros(sum(causes.values())),
        "idle_by_cause_us": {k: micros(v) for k, v in causes.items()},
        "compute_us": micros(total(compute)), "comm_us": micros(total(comm)),
        "memory_us": micros(total(memory)),
        "comm_overlapped_us": micros(overlap), "comm_exposed_us": micros(exposed),
        "comm_peer_wait_us": micros(total(waits)),
        "comm_peer_wait_exposed_us": micros(exposed_wait),
        "kernels": len(events),
        "largest_non_compute": max((k for k in shares if k != "compute"), key=shares.get),
    }


def window_truth(rank, cutoff):
    """Figures over all work launched before `cutoff`, by the definitions a whole-trace
    analysis uses (window = first to last device event of the rank)."""
    events = [e for e in rank.gpu_events if e.launch.start < cutoff]
    busy = union(spans(events))
    first, last = busy[0][0], busy[-1][1]
    compute, comm, memory = (spans(events, k) for k in (COMPUTE, COMM, MEMORY))
    idle = last - first - total(busy)
    by_class = {"host_wait": 0, "kernel_wait": 0, "other": 0}
    for stream in sorted({e.stream for e in events}):
        queue = sorted((e for e in events if e.stream == stream), key=lambda e: e.start)
        for before, after in zip(queue, queue[1:]):
            gap = after.start - before.end
            if after.launch.start > before.end:
                by_class["host_wait"] += gap
            elif gap < 30 * US:
                by_class["kernel_wait"] += gap
            else:
                by_class["other"] += gap
    names = {}
    for e in events:
        entry = names.setdefault(e.name, [0, 0])
        entry[0] += 1
        entry[1] += e.dur
    delays = [max(0, e.start - e.launch.end) for e in events]
    overlap = total(intersect(comm, compute))
    return {
        "rank": rank.rank, "kernels": len(events), "window_us": micros(last - first),
        "idle_us": micros(idle), "compute_us": micros(total(compute)),
        "non_compute_us": micros(last - first - idle - total(compute)),
        "comm_us": micros(total(comm)), "memory_us": micros(total(memory)),
        "comm_compute_overlap_us": micros(overlap),
        "comm_compute_overlap_pct": round(100.0 * overlap / total(comm), 2) if comm else None,
        "stream_idle_by_class_us": {k: micros(v) for k, v in by_class.items()},
        "launch": {"count": len(events),
                   "cpu_us": micros(sum(e.launch.end - e.launch.start for e in events)),
                   "gpu_us": micros(sum(e.dur for e in events)),
                   "delay_us": micros(sum(delays))},
        "kernel_sums": {n: {"count": c, "sum_us": micros(s)}
                        for n, (c, s) in sorted(names.items())},
    }


def last_step_mark(rank, fmt):
    """Latest start among the ProfilerStep events of host *and* device annotations."""
    step = rank.steps[-1]
    if fmt not in ("modern", "modern2024"):
        return step.start
    name = "ProfilerStep#%d" % step.number
    below = next(h for h in rank.host_events if h.name == name).gpu
    return max(step.start, min(e.start for e in below) - 1)


def make_truth(job, files):
    opt, load = job.opt, job.load
    origin = time_origin(opt.format)
    anomalies = list(job.anomalies)
    if load.slow_rank_factor != 1.0:
        steps = [s.number for s in job.ranks[0].steps if in_fault_window(opt, s.number)]
        if steps:
            anomalies.append({
                "kind": "straggler", "ranks": [opt.fault_rank], "first_step": steps[0],
                "last_step": steps[-1], "slowdown": load.slow_rank_factor,
                "victim_ranks": [r.rank for r in job.ranks if r.rank != opt.fault_rank]})
    if load.bottleneck != "compute":
        anomalies.append({
            "kind": load.bottleneck, "ranks": [r.rank for r in job.ranks],
            "first_step": opt.first_recorded,
            "last_step": opt.first_recorded + opt.steps - 1,
            "share": load.data_wait_share or load.exposed_share})
    return {
        "truth_version": 1,
        "generator": {"name": "kineto_gen.py", "scenario": opt.scenario, "seed": opt.seed,
                      "format": opt.format, "ranks": opt.ranks, "steps": opt.steps,
                      "first_step": opt.first_recorded, "cycle": opt.cycle,
                      "kernels_per_step": opt.kernels_per_step,
                      "clock_skew_us": opt.clock_skew_us},
        "files": {str(r): f for r, f in enumerate(files)},
        "time_unit": "us; start_us has the same origin as ts in the trace files, before "
                     "clock skew (clock_skew_us * rank)",
        "expected_bottleneck": load.bottleneck,
        "anomalies": anomalies,
        "steps": [step_truth(r, s, origin) for r in job.ranks for s in r.steps],
        "collectives": [
            {"step": s.number, "seq": c.seq,
             "start_us": [micros(r.steps[i].collectives[b].event.start - origin)
                          for r in job.ranks],
             "dur_us": [micros(r.steps[i].collectives[b].event.dur) for r in job.ranks],
             "peer_wait_us": [micros(r.steps[i].collectives[b].wait) for r in job.ranks],
             "last_rank": max(job.ranks, key=lambda r, i=i, b=b:
                              r.steps[i].collectives[b].event.start).rank}
            for i, s in enumerate(job.ranks[0].steps) for b, c in enumerate(s.collectives)],
        "whole_trace": [window_truth(r, r.steps[-1].end + 1) for r in job.ranks],
        "without_last_step": [window_truth(r, last_step_mark(r, opt.format))
                              for r in job.ranks] if opt.steps > 1 else [],
    }


def time_origin(fmt):
    """ns to subtract from simulation time so that micros(...) equals ts in the file."""
    return 0 if fmt in ("modern", "modern2024") else -BASE_TIME_S * 10**9
