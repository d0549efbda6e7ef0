# SPDX-License-Identifier: Apache-2.0
"""The formats of trace files: generations of Kineto."""

from kineto_sim.constants import BASE_TIME_S, CBID, COMM, COMPUTE, MEMORY, US
from kineto_sim.writer import Writer, text


class ModernWriter(Writer):
    """Current layout: one key per line, base time before the events."""

    gpu_annotations = True

    def time(self, ns):
        ns += self.skew
        return "%d.%03d" % (ns // US, ns % US)

    def duration(self, ns):
        return "%d.%03d" % (ns // US, ns % US)

    def header(self):
        self.out.write(
            '{\n  "schemaVersion": 1,\n  "deviceProperties": [\n%s\n  ],\n'
            '  "cupti_version": 24,\n  "cuda_runtime_version": 12060,\n'
            '  "distributedInfo": %s,\n  "cuda_driver_version": 12060,\n'
            '  "host_name": "trainer-0",\n'
            '  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": %d,\n  "traceEvents": [\n'
            % (self.device_properties(",\n"), self.distributed_info(True),
               BASE_TIME_S * 10**9))

    def trailer(self):
        self.out.write('\n  ],\n  "traceName": "rank%d.pt.trace.json"\n}\n' % self.rank.rank)

    def complete(self, cat, name, pid, tid, start, dur, args):
        self.body('  {\n    "ph": "X",\n    "cat": "%s",\n    "name": %s,\n    "pid": %s,\n'
                  '    "tid": %s,\n    "ts": %s,\n    "dur": %s\n    ,\n    "args": {\n'
                  '      %s\n    }\n  }' % (cat, text(name), pid, tid, self.time(start),
                                            self.duration(dur), ", ".join(args)))

    def flow(self, phase, ident, pid, tid, ts):
        self.body('  {\n    "ph": "%s",\n    "id": %d,\n    "pid": %s,\n    "tid": %s,\n'
                  '    "ts": %s,\n    "cat": "%s",\n    "name": "%s"\n    %s\n  }'
                  % (phase, ident, pid, tid, self.time(ts), self.FLOW[0], self.FLOW[1],
                     ', "bp": "e"' if phase == "f" else ""))

    def metadata(self, name, ts, pid, tid, arg):
        self.body('  {\n    "ph": "M",\n    "name": "%s",\n    "ts": %s,\n    "pid": %s,\n'
                  '    "tid": %s,\n    "args": {\n      %s\n    }\n  }'
                  % (name, self.time(ts), pid, tid, arg))

    def trace_span(self, start, dur):
        self.complete("Trace", "PyTorch Profiler (0)", '"Spans"', '"PyTorch Profiler"',
                      start, dur, ['"Op count": 0'])

    def instant(self, name, pid, tid, ts):
        self.body('  {\n    "ph": "i",\n    \n    "s": "g",\n    "name": "%s",\n    "pid": %s,\n'
                  '    "tid": %s,\n    "ts": %s\n    \n  }' % (name, pid, tid, self.time(ts)))


class CompactWriter(Writer):
    """Older layouts share the three-line event style."""

    def name_separator(self):
        return " "

    def complete(self, cat, name, pid, tid, start, dur, args):
        self.body('  {\n    "ph": "X", "cat": "%s",%s"name": %s, "pid": %s, "tid": %s,\n'
                  '    "ts": %s, "dur": %s,\n    "args": {\n      %s\n    }\n  }'
                  % (cat, self.name_separator(), text(name), pid, tid, self.time(start),
                     self.duration(dur), ", ".join(args)))

    def flow(self, phase, ident, pid, tid, ts):
        self.body('  {\n    "ph": "%s", "id": %d, "pid": %s, "tid": %s, "ts": %s,\n'
                  '    "cat": "%s", "name": "%s"%s\n  }'
                  % (phase, ident, pid, tid, self.time(ts), self.FLOW[0], self.FLOW[1],
                     ', "bp": "e"' if phase == "f" else ""))

    def metadata(self, name, ts, pid, tid, arg):
        self.body('  {\n    "name": "%s", "ph": "M", "ts": %s, "pid": %s, "tid": %s,\n'
                  '    "args": {\n      %s\n    }\n  }' % (name, self.time(ts), pid, tid, arg))

    def trace_span(self, start, dur):
        self.body('  {\n    "ph": "X", "cat": "Trace", "ts": %s, "dur": %s,\n'
                  '    "pid": %s, "tid": "PyTorch Profiler",\n'
                  '    "name": "PyTorch Profiler (0)",\n    "args": {\n      "Op count": 0\n'
                  '    }\n  }' % (self.time(start), self.duration(dur), self.spans_pid))

    def instant(self, name, pid, tid, ts):
        self.body('  {\n    "name": "%s", "ph": "i", "s": "g",\n    "pid": %s, "tid": %s, '
                  '"ts": %s\n  }' % (name, pid, tid, self.time(ts)))


class Modern2024Writer(CompactWriter):
    """Nanosecond time stamps, base time after the events."""

    gpu_annotations = True
    time = ModernWriter.time
    duration = ModernWriter.duration

    def header(self):
        self.out.write('\n{\n  "schemaVersion": 1,\n  "deviceProperties": [\n%s\n  ],\n'
                       '  "distributedInfo": %s,\n  "traceEvents": [\n'
                       % (self.device_properties(",\n"), self.distributed_info(True)))

    def trailer(self):
        self.out.write('\n  ],\n  "traceName": "rank%d.pt.trace.json",\n'
                       '  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": %d\n}\n'
                       % (self.rank.rank, BASE_TIME_S * 10**9))


class IntegerWriter(CompactWriter):
    """Whole microseconds since the epoch (until early 2024)."""

    def time(self, ns):
        return str(BASE_TIME_S * 10**6 + (ns + self.skew) // US)

    def duration(self, ns):
        return str(ns // US)

    def header(self):
        self.out.write('\n{\n  "schemaVersion": 1,\n  "deviceProperties": [\n%s\n  ],\n'
                       '  "distributedInfo": %s,\n  "traceEvents": [\n'
                       % (self.device_properties(",\n"), self.distributed_info(False)))

    def trailer(self):
        self.out.write('\n  ],\n  "traceName": "rank%d.pt.trace.json"\n}\n' % self.rank.rank)


class Legacy2021Writer(IntegerWriter):
    """2021 category names, thread ids as strings, no distributedInfo."""

    CATS = {"cpu_op": "Operator", "user_annotation": "Operator", COMPUTE: "Kernel",
            COMM: "Kernel", "memcpy": "Memcpy", "memset": "Memset", "runtime": "Runtime"}
    FLOW = ("async", "launch")
    flow_on_plain_calls = False
    sort_index = False
    name_streams = False
    spans_pid = '"Traces"'

    def name_separator(self):
        return " \n    "

    def cpu_tid(self, tid):
        return '"%d"' % tid

    def gpu_tid(self, stream):
        return '"stream %d"' % stream

    def header(self):
        self.out.write('\n{\n  "schemaVersion": 1,\n  "deviceProperties": [\n%s\n  ],\n'
                       '  "traceEvents": [\n' % self.device_properties(",\n"))

    def trailer(self):
        self.out.write("\n]}\n")

    def host_args(self, event, index):
        args = ['"Device": %d' % self.rank.pid, '"External id": %d' % event.ext,
                '"Trace name": "PyTorch Profiler"', '"Trace iteration": 0 ']
        if event.extra and not event.extra.startswith("@comm:"):
            args.append(event.extra)
        return args

    def runtime_args(self, call):
        return ['"cbid": %d' % CBID[call.name], '"correlation": %d' % call.corr,
                '"external id": %d' % call.ext,
                '"external ts": %s' % self.time(call.start)]

    def gpu_args(self, event):
        place = ['"device": %d' % self.rank.device, '"context": 1',
                 '"stream": %d' % event.stream, '"correlation": %d' % event.corr,
                 '"external id": %d' % event.ext]
        if event.kind == MEMORY:
            return place + self.memory_args(event)
        return ['"queued": 0'] + place + self.shape_args(event)


class ArrayRootWriter(Legacy2021Writer):
    """As above, but the document is the bare array of events (2020)."""

    def header(self):
        self.out.write("[\n\n")

    def trailer(self):
        self.out.write("\n]\n")


WRITERS = {"modern": ModernWriter, "modern2024": Modern2024Writer, "int_us": IntegerWriter,
           "legacy2021": Legacy2021Writer, "array_root": ArrayRootWriter}
