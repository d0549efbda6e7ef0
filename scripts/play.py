#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays a recorded job: its files grow in another folder as their writers wrote them.

    play.py SRC DST [--speed=1.0] [--as-recorded] [--seed=N] [--max-chunk=BYTES]

System metrics grow line by line; a timeline grows as framework/<node>_..._timeline.json.tmp and is
closed and moved to its final name; a profiler trace appears at its export. --speed=0 is as fast as
possible. The job is moved in time so that it ends when its playing does; --as-recorded leaves the
times as they are, and DST holds the same files as SRC in the end. With --seed, writes are cut at
random places and files run up to two seconds ahead of each other; what one writer writes stays in order.
"""

import argparse
import calendar
import gzip
import json
import os
import random
import re
import sys
import time
import zlib

AHEAD_US = 2000000   # how far a file may run ahead of the others with --seed
TRACE_BLOCK = 8192   # what the profilers write at a time
TRACE_BLOCK_US = 1000
SINCE_EPOCH_US = 10**14  # a smaller due time is none
TIME = re.compile(rb'(?P<before>"(?P<key>Timestamp|start_time_since_epoch_in_micros|ts|baseTimeNanoseconds)":\s*)(?P<number>\d+)')


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


def read_files(src):
    """(path, content) of all files below `src` that can be played."""
    for folder, _, names in os.walk(src):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), src)
            if reader_of(path):
                with open(os.path.join(src, path), "rb") as file:
                    yield path, file.read()


def reader_of(path):
    """What plays a file: kind of its lane, function, and match of its path; None for another file."""
    for pattern, kind, read in READERS:
        match = re.search(pattern, path)
        if match:
            return kind, read, match
    return None


def lanes_of(files):
    """The lanes of files as read_files() returns them."""
    lanes = {}
    for path, content in files:
        kind, read, match = reader_of(path)
        lanes.setdefault((kind, match.group("lane")), []).append((int(match.group("stamp") or 0), path, content, read))
    result = []
    for _, files_of_lane in sorted(lanes.items()):
        lane = Lane()
        for stamp, path, content, read in sorted(files_of_lane, key=lambda file: file[:2]):
            read(lane, path, stamp, content)
        result.append(lane)
    return result


def later(number, seconds):
    """A time since the epoch, some seconds later; the number of its digits gives the unit."""
    return b"%d" % (int(number) + seconds * 10 ** (len(number) - 10))


def moved(path, content, seconds):
    """A file of the same job that ran some seconds later: path and content."""
    def time_of_record(found):
        before, key, number = found.group("before", "key", "number")
        since_epoch = len(number) in (16, 19) or len(number) == 10 and key == b"Timestamp"
        return before + later(number, seconds) if since_epoch else found.group()  # else since the start of the file

    _, _, match = reader_of(path)
    if match.group("stamp"):
        stamp = later(match.group("stamp").encode(), seconds).decode()
        path = path[:match.start("stamp")] + stamp + path[match.end("stamp"):]
        hour = time.strftime("%Y%m%d%H", time.gmtime(int(stamp[:10])))
        path = re.sub(r"(?<=/)\d{10}(?=/[^/]*$)", hour, path)
    if content[:2] == b"\x1f\x8b":
        inflated = inflate(content)
        content = gzip.compress(TIME.sub(time_of_record, inflated)) if inflated is not None else content
    else:
        content = TIME.sub(time_of_record, content)
    return path, content


def inflate(content):
    """None if it is damaged, as what a killed job leaves: it is played as it is."""
    try:
        return gzip.decompress(content)
    except (EOFError, OSError, zlib.error):
        return None


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


def last_time(content):
    """The latest time since the epoch, in microseconds, of the events of a trace whose name has none; 0: they have none."""
    text = content if content[:2] != b"\x1f\x8b" else inflate(content) or b""
    return max((int(found.group("number")) for found in TIME.finditer(text) if len(found.group("number")) == 16), default=0)


def read_trace(lane, path, stamp, content):
    while stamp > 10**17:
        stamp //= 1000         # newer torch stamps in nanoseconds
    due = (stamp * 1000 if stamp < 10**14 else stamp) or last_time(content)
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


def span(lanes):
    """When the first and the last write are due; 0 and 0 if no file says when it was written."""
    dues = [step[0] for lane in lanes for step in lane.steps if step[0] > SINCE_EPOCH_US]
    return (min(dues), max(dues)) if dues else (0, 0)


def play(src, dst, speed=1.0, seed=None, max_chunk=4096, as_recorded=True):
    files = list(read_files(src))
    lanes = [lane for lane in lanes_of(files) if lane.steps]
    if not lanes:
        sys.exit("play.py: nothing to play in " + src)
    first, last = span(lanes)
    if last and not as_recorded:  # no record is ahead of the clock when it is written, at any speed
        ends = time.time() * 1e6 + ((last - first) / max(speed, 1) if speed > 0 else 0)
        lanes = lanes_of(moved(path, content, int((ends - last) // 1e6)) for path, content in files)
        first, last = span(lanes)
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
    parser.add_argument("--as-recorded", action="store_true")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--max-chunk", type=int, default=4096)
    options = parser.parse_args()
    play(**vars(options))


if __name__ == "__main__":
    main()
