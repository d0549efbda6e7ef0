# SPDX-License-Identifier: Apache-2.0
"""What frequent_kernel_sequences and trace_diff are to say of a trace, worked out from the trace itself and with
none of trainwatch's code: whole documents, dictionaries, decimals."""
import bisect
import collections
import decimal
import gzip
import json

DEVICE = {"kernel", "Kernel", "Memcpy", "Memset", "gpu_memcpy", "gpu_memset", "cuda_sync", "xpu_sync",
          "cuda_event", "hpu_op", "mtia_ccp_events", "collective_comm"}
SYNC = {"cuda_sync", "xpu_sync", "cuda_event"}
CALLS = {"Runtime", "cuda_runtime", "cuda_driver", "xpu_runtime", "xpu_driver", "mtia_runtime", "glow_runtime",
         "privateuse1_runtime", "privateuse1_driver"}
OPERATORS = {"cpu_op", "Operator"}

Event = collections.namedtuple("Event", "start end name category thread correlation stream order")


def nanoseconds(microseconds):
    return int((decimal.Decimal(microseconds) * 1000).to_integral_value(decimal.ROUND_HALF_UP))


def stream_of(arguments):
    try:
        return int(arguments.get("stream", arguments.get("stream_id", -1)))
    except ValueError:
        return -1


class Trace:
    """The rows of one file that count with `steps` (incl or raw)."""

    def __init__(self, path, steps):
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
            document = json.load(file, parse_float=str, parse_int=str)
        events = document["traceEvents"] if isinstance(document, dict) else document
        self.host, self.device, self.launches, self.steps = [], [], {}, []
        for order, event in enumerate(events):
            if event.get("ph") == "X" and "dur" in event and event.get("cat") not in (None, "Trace"):
                self.add(event, order)
        self.limit = None
        if steps == "incl" and len({event.name for event in self.steps}) > 1:
            self.limit = max(event.end for event in self.steps)
        self.every_host = self.host
        self.steps = [event for event in self.steps if self.counts(event)]
        self.host = [event for event in self.host if self.counts(event)]
        self.device = [event for event in self.device if self.limit is None or
                       (event.correlation in self.launches and
                        self.counts(self.launches[event.correlation]))]

    def add(self, event, order):
        start, arguments, category = nanoseconds(event["ts"]), event.get("args", {}), event["cat"]
        row = Event(start, start + max(0, nanoseconds(event["dur"])), event["name"], category,
                    (event.get("pid"), event.get("tid")), int(arguments.get("correlation", 0)),
                    stream_of(arguments), order)
        if category in DEVICE:
            if stream_of(arguments) != -1:
                self.device.append(row)
        elif category != "gpu_user_annotation":
            self.host.append(row)
            if category in CALLS and row.correlation > 0:
                self.launches.setdefault(row.correlation, row)
            if row.name.startswith("ProfilerStep"):
                self.steps.append(row)

    def counts(self, event):
        return self.limit is None or event.start <= self.limit

    def operators(self, text):
        """The outermost ones of each thread, by start."""
        found = collections.defaultdict(list)
        for event in sorted(self.every_host, key=lambda event: (event.start, -event.end, event.order)):
            asked = text in event.name if text else (event.category in OPERATORS and
                                                     not event.name.startswith("ProfilerStep"))
            outer = found[event.thread]
            if asked and not (outer and lies_in(event, outer[-1])):
                outer.append(event)
        return found

    def sequences(self, text):
        """[operator, kernels, count, time on the device, time on the host], the most frequent first."""
        operators = self.operators(text)
        starts = {thread: [event.start for event in events] for thread, events in operators.items()}
        kernels = collections.defaultdict(list)
        for event in self.device:
            launch = self.launches.get(event.correlation)
            if event.category in SYNC or launch is None or event.correlation <= 0:
                continue
            place = bisect.bisect_right(starts.get(launch.thread, []), launch.start) - 1
            if place >= 0 and lies_in(launch, operators[launch.thread][place]):
                kernels[operators[launch.thread][place]].append(event)
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for operator, events in kernels.items():
            if len(events) < 3:
                continue
            events.sort(key=lambda event: (event.start, event.stream))
            total = sums[operator.name, tuple(event.name for event in events)]
            total[0] += 1
            total[1] += sum(event.end - event.start for event in events)
            total[2] += operator.end - operator.start
        rows = [[name, list(names)] + total for (name, names), total in sums.items()]
        return sorted(rows, key=lambda row: (-row[2], -row[3], row[0], row[1]))

    def totals(self):
        """{(name, host|device): (count, duration)}."""
        sums = collections.defaultdict(lambda: [0, 0])
        for where, events in (("host", self.host), ("device", self.device)):
            for event in events:
                name = "ProfilerStep" if event.name.startswith("ProfilerStep") else event.name
                total = sums[name, where]
                total[0] += 1
                total[1] += event.end - event.start
        return {key: tuple(total) for key, total in sums.items()}


def lies_in(event, outer):
    return outer.start <= event.start < outer.end or event.start == outer.start


def differences(control, test):
    """[name, on, counts of both and their difference, category, durations of both and their difference]."""
    rows = []
    before, after = control.totals(), test.totals()
    for name, where in set(before) | set(after):
        was, now = before.get((name, where), (0, 0)), after.get((name, where), (0, 0))
        category = "=" if was[0] == now[0] else "+" if now[0] > was[0] else "-"
        rows.append([name, where, was[0], now[0], now[0] - was[0], category, was[1], now[1],
                     now[1] - was[1]])
    return sorted(rows, key=lambda row: (-abs(row[8]), row[0], row[1] == "device"))
