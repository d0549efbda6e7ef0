# SPDX-License-Identifier: Apache-2.0
"""Reads the timelines that python/trainwatch wrote below a directory."""

import collections
import glob
import json
import os


def closed_files(out):
    return sorted(glob.glob(os.path.join(out, "framework", "pevents", "*", "*.json")))


def open_files(out):
    return sorted(glob.glob(os.path.join(out, "framework", "*.tmp")))


def spans(out, phase=None):
    """All recorded spans, `ts` made absolute and `pid` replaced by the phase's name."""
    found, base, phases = [], None, {}
    for path in closed_files(out):
        with open(path) as file:
            records = json.load(file)
        for record in records:
            if record["ph"] == "M" and record["name"] == "process_name":
                base = record["args"].get("start_time_since_epoch_in_micros", base)
                phases[record["pid"]] = record["args"].get("name")
            elif record["ph"] == "X":
                found.append(dict(record, ts=record["ts"] + base, pid=phases[record["pid"]]))
    return [span for span in found if phase in (None, span["pid"])]


def counts(out):
    """How many spans of each phase there are. Collections of garbage are left out: on a busy machine some take so long that
    they are recorded."""
    return dict(collections.Counter(span["pid"] for span in spans(out) if span["pid"] != "GarbageCollection"))


def steps(out, mode="TRAIN"):
    """The numbers of the steps of a mode, in their order."""
    return [int(span["args"]["step_num"]) for span in spans(out, "Step:ModeKeys." + mode)]
