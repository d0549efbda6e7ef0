# SPDX-License-Identifier: Apache-2.0
"""What a trace of `trainwatch timeline` has to be: Chrome's format to the letter, sorted, and numbered as SageMaker's
MergedTimeline numbers it."""

import collections
import gzip
import json
from decimal import Decimal

CLASSES = [("Step:", 1), ("Forward", 10000), ("Backward", 20000), ("DataIterator", 30000), ("Dataset", 40000),
           ("/device", 50000), ("/host", 60000), ("gpu_functions", 70000), ("cpu_functions", 80000),
           ("Horovod", 90000), ("", 1000000)]
METADATA = {"process_name": ("name", str), "process_sort_index": ("sort_index", int), "thread_name": ("name", str)}
PHASES = set("XiCMstfbnepPNODRcv(")


def load(path):
    """Strictly: no NaN, no key twice."""
    def constant(text):
        raise AssertionError("not JSON: " + text)

    def members(pairs):
        keys = [key for key, _ in pairs]
        assert len(set(keys)) == len(keys), "a key twice: %s" % keys
        return dict(pairs)

    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return json.loads(file.read(), parse_constant=constant, object_pairs_hook=members)


def is_number(value):
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def first_number(name):
    """Of the class of a process of this name, and that of the next class."""
    for place, (part, first) in enumerate(CLASSES):
        if part in name:
            return first, CLASSES[place + 1][1] if part else float("inf")
    raise AssertionError(name)


class Checker:
    def __init__(self):
        self.processes, self.threads, self.sorted = {}, {}, set()
        self.last, self.counts = None, collections.Counter()

    def check(self, event):
        assert isinstance(event, dict), event
        assert isinstance(event.get("ph"), str) and event["ph"] in PHASES, event
        assert isinstance(event.get("name"), str), event
        assert type(event.get("pid")) is int and event["pid"] > 0, event
        assert "args" not in event or isinstance(event["args"], dict), event
        self.counts[event["ph"]] += 1
        if event["ph"] == "M":
            self.metadata(event)
        else:
            self.other(event)

    def metadata(self, event):
        key, kind = METADATA[event["name"]]
        value = event["args"][key]
        assert type(value) is kind and len(event["args"]) == 1, event
        if event["name"] == "process_name":
            assert event["pid"] not in self.processes, event
            self.processes[event["pid"]] = value
            # Beside a rank the name of its process decides.
            first, beyond = first_number(value.split(": ", 1)[1] if ": " in value else value)
            assert first <= event["pid"] < beyond or event["pid"] >= CLASSES[-1][1], event
        elif event["name"] == "process_sort_index":
            assert value == event["pid"] and value in self.processes and value not in self.sorted, event
            self.sorted.add(value)
        else:
            assert type(event["tid"]) is int and event["pid"] in self.sorted, event
            assert event["tid"] not in self.threads, event
            self.threads[event["tid"]] = (event["pid"], value)

    def other(self, event):
        assert is_number(event.get("ts")) and event["ts"] >= 0, event
        assert self.last is None or event["ts"] >= self.last, event
        self.last = event["ts"]
        assert event["pid"] in self.sorted, event
        assert ("dur" in event) == (event["ph"] == "X"), event
        if event["ph"] == "X":
            assert is_number(event["dur"]) and event["dur"] >= 0, event
        if event["ph"] == "i":
            assert event.get("s", "t") in ("g", "p", "t"), event
        if event["ph"] in "stf":
            assert "id" in event, event
        if "tid" in event:
            assert self.threads[event["tid"]][0] == event["pid"], event
        else:
            assert event["ph"] == "C", event
        if event["ph"] == "C":
            assert event["args"] and all(is_number(value) for value in event["args"].values()), event


def check(events):
    """The checked trace: names of processes and threads, counts of events."""
    assert isinstance(events, list)
    checker = Checker()
    for event in events:
        checker.check(event)
    return checker


def resolved(events):
    """Every event but metadata, with the names of its process and thread instead of numbers."""
    checker = check(events)
    for event in events:
        if event["ph"] == "M":
            continue
        process = checker.processes[event["pid"]]
        thread = checker.threads[event["tid"]][1] if "tid" in event else None
        yield process, thread, event
