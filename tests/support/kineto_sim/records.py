# SPDX-License-Identifier: Apache-2.0
"""What one rank records."""


class HostEvent:
    """A cpu_op or user_annotation."""
    __slots__ = ("cat", "name", "tid", "start", "end", "ext", "extra", "gpu")

    def __init__(self, cat, name, tid, start, ext, extra=""):
        self.cat, self.name, self.tid, self.start = cat, name, tid, start
        self.end, self.ext, self.extra = None, ext, extra
        self.gpu = []           # device work launched directly below an annotation


class RuntimeCall:
    """A cuda_runtime event; ``gpu`` is the device work it launched, if any."""
    __slots__ = ("name", "tid", "start", "end", "corr", "ext", "gpu")

    def __init__(self, name, tid, start, end, corr, ext):
        self.name, self.tid, self.start, self.end = name, tid, start, end
        self.corr, self.ext, self.gpu = corr, ext, None


class GpuEvent:
    """Work on a stream.  Times of collectives are filled in when all ranks have arrived."""
    __slots__ = ("kind", "name", "stream", "start", "end", "corr", "ext", "step", "launch",
                 "kernel", "bytes", "collective")

    def __init__(self, kind, name, stream, step, launch):
        self.kind, self.name, self.stream = kind, name, stream
        self.start = self.end = None
        self.corr, self.ext, self.launch, self.step = launch.corr, launch.ext, launch, step
        self.kernel = self.bytes = self.collective = None

    @property
    def dur(self):
        return self.end - self.start


class Collective:
    """One all-reduce as seen by one rank."""
    __slots__ = ("event", "ready", "seq", "elements", "wait")

    def __init__(self, event, ready, seq, elements):
        self.event, self.ready, self.seq, self.elements = event, ready, seq, elements
        self.wait = 0           # time spent waiting for the slowest rank


class StepRecord:
    """Host-side intervals of one step on one rank (all in ns)."""

    def __init__(self, number, start):
        self.number, self.start, self.end = number, start, None
        self.data_wait, self.pauses, self.syncs = [], [], []
        self.collectives = []
        self.backward_end = None
