# SPDX-License-Identifier: Apache-2.0
"""One rank of the simulated job."""

import random

from kineto_sim.constants import (
    COMM, COMM_STREAM, COMPUTE, COMPUTE_STREAM, GPUS_PER_HOST, INTEGER_FORMATS, MEMORY, US)
from kineto_sim.intervals import micros
from kineto_sim.kernels import ADAM, FORWARD_OPS, NLL_FWD, SOFTMAX_BWD, SOFTMAX_FWD
from kineto_sim.records import Collective, GpuEvent, HostEvent, RuntimeCall, StepRecord
from kineto_sim.scenarios import in_fault_window


class Rank:
    """Host clock, streams and recorded events of one rank."""

    def __init__(self, rank, options, load):
        self.rank, self.opt, self.load = rank, options, load
        self.quantum = US if options.format in INTEGER_FORMATS else 1
        self.pid = 41000 + 113 * rank
        self.main_tid = self.pid
        self.autograd_tid = self.pid + 77
        self.device = rank % GPUS_PER_HOST
        self.rng = None
        self.now = 0
        self.tid = self.main_tid
        self.tails = {COMPUTE_STREAM: 0, COMM_STREAM: 0}
        self.stack = []                     # open HostEvents
        self.host_events, self.calls, self.gpu_events, self.steps = [], [], [], []
        self.next_ext, self.next_corr, self.next_seq = 1, 1000 * (rank + 1), 0
        self.current = None
        self.orphans, self.record_start = [], 0

    # -- helpers ----------------------------------------------------------

    def reseed(self, step):
        """A random stream per (seed, rank, step): steps stay reproducible on their own."""
        self.rng = random.Random("%d/%d/%d" % (self.opt.seed, self.rank, step))

    def ns(self, micros, jitter=0.0):
        """Microseconds -> ns on the time grid, with relative Gaussian jitter."""
        if jitter:
            micros *= max(0.25, self.rng.gauss(1.0, jitter))
        return max(self.quantum, int(micros * US) // self.quantum * self.quantum)

    def spend(self, micros, jitter=0.15):
        self.now += self.ns(micros, jitter)

    # -- host events ------------------------------------------------------

    def open(self, name, cat="cpu_op", extra=""):
        event = HostEvent(cat, name, self.tid, self.now, self.next_ext, extra)
        self.next_ext += 1
        self.stack.append(event)
        self.host_events.append(event)
        self.spend(0.6)
        return event

    def close(self):
        self.spend(0.5)
        event = self.stack.pop()
        event.end = self.now
        return event

    def runtime(self, name, micros, jitter=0.15):
        start = self.now
        self.spend(micros, jitter)
        call = RuntimeCall(name, self.tid, start, self.now, self.next_corr, self.stack[-1].ext)
        self.next_corr += self.rng.choice((1, 1, 2, 5))
        self.calls.append(call)
        return call

    def _annotation(self):
        for event in reversed(self.stack):
            if event.cat == "user_annotation" and event.tid == self.tid:
                return event
        return None

    # -- device work ------------------------------------------------------

    def _enqueue(self, call, kind, name, stream):
        event = GpuEvent(kind, name, stream, self.current.number, call)
        call.gpu = event
        self.gpu_events.append(event)
        annotation = self._annotation()
        if annotation is not None:
            annotation.gpu.append(event)
        return event

    def _schedule(self, event, duration, not_before=0):
        """Earliest start: launch latency, gap after the predecessor, dependency."""
        ready = event.launch.end + self.ns(1.8, 0.2)
        tail = self.tails[event.stream] + self.ns(1.1, 0.1)
        event.start = max(ready, tail, not_before)
        event.end = event.start + duration
        self.tails[event.stream] = event.end

    def launch_kernel(self, kernel, duration, not_before=0):
        call = self.runtime("cudaLaunchKernel", self.load.launch_us)
        event = self._enqueue(call, COMPUTE, kernel.name, COMPUTE_STREAM)
        event.kernel = kernel
        self._schedule(event, duration, not_before)

    def copy(self, direction, micros, size):
        name = {"HtoD": "Memcpy HtoD (Pageable -> Device)",
                "DtoH": "Memcpy DtoH (Device -> Pageable)"}[direction]
        call = self.runtime("cudaMemcpyAsync", self.load.launch_us + 3.0)
        event = self._enqueue(call, MEMORY, name, COMPUTE_STREAM)
        event.bytes = size
        self._schedule(event, self.ns(micros, 0.03))

    def memset(self, size):
        call = self.runtime("cudaMemsetAsync", self.load.launch_us)
        event = self._enqueue(call, MEMORY, "Memset (Device)", COMPUTE_STREAM)
        event.bytes = size
        self._schedule(event, self.ns(1.6, 0.1))

    def synchronize(self):
        """cudaStreamSynchronize on the compute stream."""
        start = self.now
        entered = self.now + self.ns(1.5, 0.1)
        drained = self.tails[COMPUTE_STREAM]
        self.now = max(entered, drained) + self.ns(5.0, 0.2)
        call = RuntimeCall("cudaStreamSynchronize", self.tid, start, self.now,
                           self.next_corr, self.stack[-1].ext)
        self.next_corr += 1
        self.calls.append(call)
        self.current.syncs.append((start, self.now))

    def item(self):
        """tensor.item(): small copy to the host and a blocking wait."""
        self.open("aten::item")
        self.open("aten::_local_scalar_dense")
        self.spend(self.load.op_us)
        self.copy("DtoH", 1.5, 4)
        self.synchronize()
        self.close()
        self.close()

    # -- phases of a step -------------------------------------------------

    def begin_step(self, number, data_wait_ns):
        """Step start, input pipeline, zero_grad."""
        self.tid = self.main_tid
        self.current = StepRecord(number, self.now)
        self.steps.append(self.current)
        self.open("ProfilerStep#%d" % number, "user_annotation")
        self.spend(12.0)
        self.open("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                  "user_annotation")
        started = self.stack[-1].start
        self.now = max(self.now, started + data_wait_ns)
        self.close()
        self.current.data_wait.append((started, self.now))
        self.spend(20.0)
        for _ in range(self.load.input_copies):
            self.open("aten::to")
            self.open("aten::_to_copy")
            self.open("aten::copy_")
            self.spend(self.load.op_us)
            self.copy("HtoD", self.load.copy_us, int(self.load.copy_us * 11000))
            self.synchronize()
            for _ in range(3):
                self.close()
            self.spend(4.0)
        self.open("Optimizer.zero_grad#AdamW.zero_grad", "user_annotation")
        self.open("aten::zero_")
        self.spend(self.load.op_us)
        self.memset(4194304)
        self.close()
        self.close()
        self.spend(8.0)

    def forward(self, count, unit_ns, pause_ns):
        """`count` forward kernels; an optional host pause half way through."""
        self.open("DistributedDataParallel.forward", "user_annotation")
        self.spend(15.0)
        for i in range(count):
            if pause_ns and i == count // 2:
                begin = self.now
                self.now += pause_ns            # no event covers this time, as with a real GC
                self.current.pauses.append((begin, self.now))
            chain, kernel = FORWARD_OPS[i % len(FORWARD_OPS)]
            for name in chain:
                self.open(name)
            self.spend(self.load.op_us)
            self.launch_kernel(kernel, self._kernel_ns(kernel, unit_ns))
            for _ in chain:
                self.close()
            self.spend(2.0)
            if self.load.syncs:
                self.item()
                self.spend(self.load.sync_python_us)
        self.close()
        self.spend(6.0)
        self.open("aten::cross_entropy_loss")
        for name, kernel in (("aten::_log_softmax", SOFTMAX_FWD),
                             ("aten::nll_loss_forward", NLL_FWD)):
            self.open(name)
            self.spend(self.load.op_us)
            self.launch_kernel(kernel, self._kernel_ns(kernel, unit_ns))
            self.close()
        self.close()
        self.spend(10.0)

    def backward(self, nodes, bucket_ends, unit_ns):
        """Autograd thread: backward operators, one all-reduce at each bucket end."""
        self.spend(25.0)
        self.tid = self.autograd_tid
        self._backward_node("LogSoftmaxBackward0",
                            (("aten::_log_softmax_backward_data", SOFTMAX_BWD),), unit_ns)
        for i, (node, inner) in enumerate(nodes):
            self._backward_node(node, inner, unit_ns)
            if i in bucket_ends:
                self._all_reduce(bucket_ends.index(i))
        self.runtime_outside("cudaStreamWaitEvent")
        self.current.backward_end = self.tails[COMPUTE_STREAM]
        self.tid = self.main_tid
        self.spend(18.0)

    def runtime_outside(self, name):
        """A runtime call outside any operator of the autograd thread."""
        call = self.runtime(name, 1.6)
        call.ext = 0

    def _backward_node(self, node, inner, unit_ns):
        extra = '"Fwd thread id": 1, "Sequence number": %d' % self.rng.randrange(500, 900)
        self.open("autograd::engine::evaluate_function: " + node, extra=extra)
        self.open(node, extra=extra)
        for name, kernel in inner:
            self.open(name)
            self.spend(self.load.op_us)
            self.launch_kernel(kernel, self._kernel_ns(kernel, unit_ns))
            self.close()
        self.close()
        self.close()
        self.spend(2.0)

    def _all_reduce(self, bucket):
        elements = 6553600 + 65536 * bucket
        self.open("c10d::allreduce_")
        self.open("record_param_comms", extra="@comm:%d:%d" % (elements, self.next_seq))
        self.open("nccl:all_reduce", "user_annotation")
        self.runtime("cudaEventRecord", 1.4)
        self.runtime("cudaStreamWaitEvent", 1.2)
        self.spend(3.0)
        call = self.runtime("cudaLaunchKernelExC", self.load.launch_us + 3.0)
        event = self._enqueue(call, COMM, nccl_name(self.opt.format), COMM_STREAM)
        self.runtime("cudaEventRecord", 1.2)
        for _ in range(3):
            self.close()
        # Ready once the launch has arrived and the gradients (compute stream) are done.
        ready = max(call.end + self.ns(2.5, 0.2), self.tails[COMPUTE_STREAM] + self.ns(1.5, 0.1))
        record = Collective(event, ready, self.next_seq, elements)
        event.collective = record
        self.next_seq += 1
        self.current.collectives.append(record)

    def _kernel_ns(self, kernel, unit_ns):
        micros = kernel.weight * unit_ns / US
        if self.slow_now():
            micros *= self.load.slow_rank_factor
        return self.ns(max(1.2, micros), 0.02)

    def slow_now(self):
        """Is this rank the slow one in the current step?"""
        return (self.load.slow_rank_factor != 1.0 and self.rank == self.opt.fault_rank
                and in_fault_window(self.opt, self.current.number))

    def optimizer(self, count, unit_ns):
        """Optimizer kernels wait for the last all-reduce, then .item() drains the GPU."""
        comm_done = self.tails[COMM_STREAM] + self.ns(1.5, 0.1)
        self.open("Optimizer.step#AdamW.step", "user_annotation")
        self.spend(20.0)
        for _ in range(count):
            self.open("aten::_fused_adamw_")
            self.spend(self.load.op_us)
            self.launch_kernel(ADAM, self._kernel_ns(ADAM, unit_ns), comm_done)
            self.close()
            self.spend(2.0)
        self.close()
        self.spend(5.0)
        for _ in range(self.load.output_copies):
            self.open("aten::copy_")
            self.spend(self.load.op_us)
            self.copy("DtoH", self.load.copy_us, int(self.load.copy_us * 10000))
            self.synchronize()
            self.close()
        self.item()
        self.spend(15.0)
        self.current.end = self.close().end     # ProfilerStep
        self.spend(3.0)


def nccl_name(fmt):
    """NCCL renamed its kernels; use the name of that version."""
    if fmt in ("modern", "modern2024"):
        return "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    return "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"
