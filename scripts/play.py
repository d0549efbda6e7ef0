#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays a recorded job: its files grow in another folder as their writers wrote them.

    play.py SRC DST [--speed=1.0] [--seed=N] [--max-chunk=BYTES]

System metrics grow line by line; a timeline grows as framework/<node>_..._timeline.json.tmp and is
closed and moved to its final name; a profiler trace appears at its export. --speed=0 is as fast as
possible. With --seed, writes are cut at random places and files run up to two seconds ahead of each
other; what one writer writes stays in order. In the end DST holds the same files as SRC.
"""

import argparse
import json
import os
import random
import re
import sys
import time

AHEAD_US = 2000000   # how far a file may run ahead of the others with --seed
TRACE_BLOCK = 8192   # what the profilers write at a time
TRACE_BLOCK_US = 1000


class Lane:
    """What one writer does to its files, in order: (due, kind, path, data).

    Kinds: append `data`, cut off the last `data` bytes, move to the path `data`."""

    def __init__(self):
        self.steps = []

    def append(self, due, path, data):
        self.steps.append((due, "append", path, data))

    def cut(self, due, path, count):
        self.steps.append((due, "cut", path, count))

    def move(self, due, path, new_path):
        self.steps.append((due, "move", path, new_path))


def read_job(src):
    """The lanes of all files below `src` that a trainwatch reads."""
    lanes = {}
    for folder, _, names in os.walk(src):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), src)
            for pattern, kind, read in READERS:
                match = re.search(pattern, path)
                if match:
                    lanes.setdefault((kind, match.group("lane")), []).append(
                        (int(match.group("stamp") or 0), path, read))
    result = []
    for _, files in sorted(lanes.items()):
        lane = Lane()
        for stamp, path, read in sorted(files, key=lambda file: file[:2]):
            with open(os.path.join(src, path), "rb") as file:
                read(lane, path, stamp, file.read())
        result.append(lane)
    return result


def read_system(lane, path, _, content):
    for line in content.splitlines(keepends=True):
        lane.append(int(json.loads(line)["Timestamp"] * 1e6), path, line)


def read_timeline(lane, path, stamp, content):
    name = os.path.basename(path).split("_", 1)[1]
    open_path = os.path.join("framework", name + ".tmp")
    base, due, pending = 0, None, b"[\n"
    for line in content[2:-2].split(b",\n"):
        record = json.loads(line)
        pending += line + b",\n"
        if record["ph"] == "M":
            base = record["args"].get("start_time_since_epoch_in_micros", base)
            continue
        due = base + record["ts"] + record.get("dur", 0)
        lane.append(due, open_path, pending)
        pending = b""
    lane.cut(due or stamp, open_path, len(b",\n"))
    lane.append(due or stamp, open_path, b"\n]")
    lane.move(due or stamp, open_path, path)


def read_trace(lane, path, stamp, content):
    while stamp > 10**17:
        stamp //= 1000         # newer torch stamps in nanoseconds
    due = stamp * 1000 if stamp < 10**14 else stamp
    open_path = path + ".tmp" if content[:1] == b"{" else path  # kineto renames, Debian's does not
    array = content[:1] == b"["
    written = content[:-1] + b", " if array else content
    for at in range(0, len(written), TRACE_BLOCK):
        lane.append(due, open_path, written[at:at + TRACE_BLOCK])
        due += TRACE_BLOCK_US
    if array:
        lane.cut(due, open_path, len(b", "))
        lane.append(due, open_path, content[-1:])
    if open_path != path:
        lane.move(due, open_path, path)


READERS = [
    (r"system/incremental/.*?(?P<stamp>\d{10})\.(?P<lane>[^/]*)\.json$", "system", read_system),
    (r"framework/pevents/\d{10}/(?P<stamp>\d+)_(?P<lane>[^/]*timeline\.json)$", "timeline",
     read_timeline),
    (r"(?P<lane>[^/]*?)(\.(?P<stamp>\d{13,19}))?\.pt\.trace\.json(\.gz)?$", "trace", read_trace),
]


def order(lanes, seed, max_chunk):
    """All steps of all lanes in the order in which to do them."""
    rng = random.Random(seed)
    queues = [list(reversed(lane.steps)) for lane in lanes if lane.steps]
    while queues:
        queue = min(queues, key=lambda queue: queue[-1][0])
        if seed is not None:
            limit = queue[-1][0] + AHEAD_US
            queue = rng.choice([queue for queue in queues if queue[-1][0] <= limit])
        due, kind, path, data = queue.pop()
        if seed is not None and kind == "append":
            size = rng.randint(1, max_chunk)
            if len(data) > size:
                queue.append((due, kind, path, data[size:]))
                data = data[:size]
        yield due, kind, path, data
        if not queue:
            queues.remove(queue)


def perform(dst, kind, path, data):
    target = os.path.join(dst, path)
    if kind == "append":
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "ab", buffering=0) as file:
            file.write(data)
    elif kind == "cut":
        os.truncate(target, os.path.getsize(target) - data)
    else:
        final = os.path.join(dst, data)
        os.makedirs(os.path.dirname(final), exist_ok=True)
        os.rename(target, final)


def play(src, dst, speed=1.0, seed=None, max_chunk=4096):
    lanes = read_job(src)
    if not lanes:
        sys.exit("play.py: nothing to play in " + src)
    first = min(lane.steps[0][0] for lane in lanes if lane.steps)
    began = time.monotonic()
    for due, kind, path, data in order(lanes, seed, max_chunk):
        if speed > 0:
            wait = (due - first) / 1e6 / speed - (time.monotonic() - began)
            if wait > 0:
                time.sleep(wait)
        perform(dst, kind, path, data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("src")
    parser.add_argument("dst")
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--max-chunk", type=int, default=4096)
    options = parser.parse_args()
    play(options.src, options.dst, options.speed, options.seed, options.max_chunk)


if __name__ == "__main__":
    main()
