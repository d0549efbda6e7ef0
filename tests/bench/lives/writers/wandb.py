# SPDX-License-Identifier: Apache-2.0
"""W&B's file of a run: a history record for each step, and the exit code of the process."""

import json
import os
import time
import zlib

from account import View

from .console import figure

NAME, FIRST = "wandb", 1
BLOCK = 32768


def view(rng):
    return View(frozenset(), every=1, begins="process", ranks=False)


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes((value,))


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def chunk(kind, data):
    covered = bytes((kind,)) + data
    return zlib.crc32(covered).to_bytes(4, "little") + len(data).to_bytes(2, "little") + covered


class File:
    """LevelDB's log: blocks of 32 KiB, records cut where a block ends."""

    def __init__(self):
        self.bytes = bytearray(b":W&B\xe1\xbe\0")

    def record(self, data):
        begun = False
        while True:
            left = BLOCK - len(self.bytes) % BLOCK
            if left < 7:
                self.bytes += b"\0" * left
                continue
            part, data = data[:left - 7], data[left - 7:]
            self.bytes += chunk((3 if data else 4) if begun else (2 if data else 1), part)
            begun = True
            if not data:
                return


def write(job, folder, view, name=None):
    attempt = job.last
    run = "%08x" % (job.number or 7)
    folder = os.path.join(folder, "wandb", "run-%s-%s" % (time.strftime("%Y%m%d_%H%M%S", time.gmtime(attempt.began)), run))
    os.makedirs(folder)
    file = File()
    start = number(1, int(attempt.began)) + number(2, int(attempt.began % 1 * 1e9))
    file.record(text(17, text(1, run) + text(3, "project") + text(13, job.node(0)) + text(17, start)))
    for i in attempt.iterations:
        row = {"_step": i.number, "_timestamp": round(i.end, 6), "_runtime": round(i.end - attempt.began, 6),
               "train/loss": round(figure(job, i.number), 4)}
        file.record(text(2, b"".join(text(1, text(2, k) + text(16, json.dumps(v))) for k, v in row.items())))
    if attempt.end:
        file.record(text(18, number(1, attempt.end.exit_code or 0) + number(2, int(attempt.ended - attempt.began))))
    path = os.path.join(folder, "run-%s.wandb" % run)
    with open(path, "wb") as out:
        out.write(file.bytes)
    os.utime(path, (attempt.ended, attempt.ended))
