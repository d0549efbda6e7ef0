# SPDX-License-Identifier: Apache-2.0
"""What all formats of a trace file have in common."""

import json

from kineto_sim.constants import (
    CBID, COMM, COMM_STREAM, COMPUTE, COMPUTE_STREAM, GPUS_PER_HOST, MEMORY, US)


def text(value):
    return json.dumps(value)


class Writer:
    """Common part: the order of events in the file, and their arguments.

    Subclasses define how one event, the header and the trailer look.
    """

    CATS = {"cpu_op": "cpu_op", "user_annotation": "user_annotation", COMPUTE: "kernel",
            COMM: "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset",
            "runtime": "cuda_runtime"}
    FLOW = ("ac2g", "ac2g")             # category, name
    gpu_annotations = False
    flow_on_plain_calls = True          # calls that launch nothing get an "f" on the host
    sort_index = True
    name_streams = True
    spans_pid = '"Spans"'

    def __init__(self, job, rank, out):
        self.job, self.rank, self.opt = job, rank, job.opt
        self.out, self.first = out, True
        self.skew = int(job.opt.clock_skew_us * US) * rank.rank

    # -- primitive pieces ---------------------------------------------------

    def time(self, ns):
        """ts text in this format."""
        raise NotImplementedError

    def duration(self, ns):
        raise NotImplementedError

    def body(self, text_of_event):
        self.out.write(("" if self.first else ",\n") + text_of_event)
        self.first = False

    def cpu_tid(self, tid):
        return str(tid)

    def gpu_tid(self, stream):
        return str(stream)

    # -- whole file ---------------------------------------------------------

    def write(self):
        rank = self.rank
        self.header()
        self.cpu_segment()
        for event in rank.orphans:
            self.gpu_event(event)
            self.flow("f", event.corr, str(rank.device), self.gpu_tid(event.stream), event.start)
        for call in self.buffer_order():
            self.call_group(call)
        if self.gpu_annotations:
            self.device_annotations()
        self.metadata_events()
        self.closing_events()
        self.trailer()

    def cpu_segment(self):
        """All host events, thread by thread (autograd first), start-ordered in a thread."""
        rank = self.rank
        for index, event in enumerate(sorted(
                rank.host_events,
                key=lambda e: (e.tid != rank.autograd_tid, e.start, -e.end))):
            self.complete(self.CATS[event.cat], event.name, str(rank.pid),
                          self.cpu_tid(event.tid), event.start, event.end - event.start,
                          self.host_args(event, index))

    def buffer_order(self):
        """Device activity arrives in per-thread buffers, flushed when full.

        So records of one stream are not in time order across buffers.
        """
        pending, capacity = {}, self.opt.buffer_records
        for call in self.rank.calls:
            bucket = pending.setdefault(call.tid, [])
            bucket.append(call)
            if len(bucket) >= capacity:
                yield from bucket
                pending[call.tid] = []
        for tid in sorted(pending, reverse=True):
            yield from pending[tid]

    def call_group(self, call):
        """Device event, its flow end, the runtime call, the flow start."""
        rank, pid = self.rank, str(self.rank.pid)
        if call.gpu is not None:
            self.gpu_event(call.gpu)
            self.flow("f", call.corr, str(rank.device), self.gpu_tid(call.gpu.stream),
                      call.gpu.start)
        self.complete(self.CATS["runtime"], call.name, pid, self.cpu_tid(call.tid), call.start,
                      call.end - call.start, self.runtime_args(call))
        if call.gpu is not None:
            self.flow("s", call.corr, pid, str(call.tid), call.start)
        elif self.flow_on_plain_calls:
            self.flow("f", call.corr, pid, str(call.tid), call.start)

    def gpu_event(self, event):
        kind = event.kind
        if kind == MEMORY:
            kind = "memset" if event.name.startswith("Memset") else "memcpy"
        self.complete(self.CATS[kind], event.name, str(self.rank.device),
                      self.gpu_tid(event.stream), event.start, event.dur, self.gpu_args(event))

    def device_annotations(self):
        """User annotations projected on the device: from the first to the last kernel."""
        for host in self.rank.host_events:
            for stream in sorted({e.stream for e in host.gpu}):
                below = [e for e in host.gpu if e.stream == stream]
                start = min(e.start for e in below) - 1
                end = max(e.end for e in below) + 1
                self.complete("gpu_user_annotation", host.name, str(self.rank.device),
                              str(stream), start, end - start,
                              ['"External id": %d' % host.ext])

    # -- arguments ------------------------------------------------------------

    def host_args(self, event, index):
        args = ['"External id": %d' % event.ext, '"Record function id": %d' % (event.ext + 40)]
        if event.extra.startswith("@comm:"):
            _, elements, seq = event.extra.split(":")
            args.extend(self.comm_args(int(elements), int(seq)))
        elif event.extra:
            args.append(event.extra)
        args.append('"Ev Idx": %d' % index)
        return args

    def comm_args(self, elements, seq):
        ranks = list(range(self.opt.ranks))
        return ['"Collective name": "allreduce"', '"In msg nelems": %d' % elements,
                '"Out msg nelems": %d' % elements, '"Group size": %d' % len(ranks),
                '"dtype": "Float"', '"In split size": "[]"', '"Out split size": "[]"',
                '"Process Group Name": "0"', '"Process Group Description": "default_pg"',
                '"Process Group Ranks": "%s"' % ranks, '"Seq": %d' % seq]

    def runtime_args(self, call):
        args = ['"External id": %d' % call.ext] if call.ext else []
        return args + ['"cbid": %d' % CBID[call.name], '"correlation": %d' % call.corr]

    def gpu_args(self, event):
        rank = self.rank
        args = ['"External id": %d' % event.ext]
        place = ['"device": %d' % rank.device, '"context": 1', '"stream": %d' % event.stream,
                 '"correlation": %d' % event.corr]
        if event.kind == MEMORY:
            return args + place + self.memory_args(event)
        return args + ['"queued": 0'] + place + self.shape_args(event)

    def memory_args(self, event):
        return ['"bytes": %d' % event.bytes,
                '"memory bandwidth (GB/s)": %s' % repr(event.bytes / event.dur)]

    def shape_args(self, event):
        if event.kind == COMM:
            regs, smem, grid, block, occ = 96, 82240, (24, 1, 1), (544, 1, 1), 0
        else:
            k = event.kernel
            regs, smem, grid, block, occ = k.regs, k.smem, k.grid, k.block, k.occupancy
        blocks = grid[0] * grid[1] * grid[2] / 108
        warps = blocks * block[0] * block[1] * block[2] / 32
        args = ['"registers per thread": %d' % regs, '"shared memory": %d' % smem,
                '"blocks per SM": %s' % round(blocks, 6), '"warps per SM": %s' % round(warps, 6),
                '"grid": %s' % list(grid), '"block": %s' % list(block),
                '"est. achieved occupancy %%": %d' % occ]
        if event.kind == COMM and self.opt.format in ("modern", "modern2024"):
            args += self.comm_args(event.collective.elements, event.collective.seq)
        return args

    # -- trailing events --------------------------------------------------------

    def record_window(self):
        rank = self.rank
        return rank.record_start - 150 * US, rank.now + 900 * US

    def metadata_events(self):
        rank, (start, _) = self.rank, self.record_window()
        self.meta_process(start, str(rank.pid), "CPU", rank.pid)
        for device in range(min(GPUS_PER_HOST, max(2, self.opt.ranks))):
            self.meta_process(start, str(device), "GPU %d" % device, 16777216 + device)
        for stream in (COMPUTE_STREAM, COMM_STREAM) if self.name_streams else ():
            self.meta_thread(start, str(rank.device), self.gpu_tid(stream),
                             "stream %d " % stream, stream)
        for tid, name in ((rank.autograd_tid, "pt_autograd_%d" % rank.device),
                          (rank.main_tid, "python")):
            self.meta_thread(start, str(rank.pid), self.cpu_tid(tid),
                             "thread %d (%s)" % (tid, name), tid)

    def meta_process(self, ts, pid, label, order):
        self.metadata("process_name", ts, pid, "0", '"name": "python"')
        self.metadata("process_labels", ts, pid, "0", '"labels": %s' % text(label))
        if self.sort_index:
            self.metadata("process_sort_index", ts, pid, "0", '"sort_index": %d' % order)

    def meta_thread(self, ts, pid, tid, name, order):
        self.metadata("thread_name", ts, pid, tid, '"name": %s' % text(name))
        if self.sort_index:
            self.metadata("thread_sort_index", ts, pid, tid, '"sort_index": %d' % order)

    def closing_events(self):
        start, end = self.record_window()
        self.trace_span(start, end - start)
        if self.sort_index:
            self.metadata("process_sort_index", start, self.spans_pid, "0",
                          '"sort_index": 536870912')
        self.instant("Iteration Start: PyTorch Profiler", '"Traces"',
                     '"Trace PyTorch Profiler"', start)
        self.instant("Record Window End", '""', '""', end)

    def device_properties(self, separator):
        items = []
        for device in range(min(GPUS_PER_HOST, max(2, self.opt.ranks))):
            items.append(
                '    {\n      "id": %d, "name": "NVIDIA A100-SXM4-80GB", '
                '"totalGlobalMem": 85097971712,\n      "computeMajor": 8, "computeMinor": 0,\n'
                '      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,\n'
                '      "regsPerBlock": 65536, "warpSize": 32,\n'
                '      "sharedMemPerBlock": 49152, "numSms": 108\n'
                '    , "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 166912, '
                '"sharedMemPerMultiprocessor": 167936\n    }' % device)
        return separator.join(items)

    def distributed_info(self, groups):
        world = self.opt.ranks
        info = '{"backend": "nccl", "rank": %d, "world_size": %d' % (self.rank.rank, world)
        if groups:
            info += (', "pg_count": 1, "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", '
                     '"backend_config": "cuda:nccl", "pg_size": %d, "ranks": %s}], '
                     '"nccl_version": "2.21.5"' % (world, list(range(world))))
        return info + "}"
