# SPDX-License-Identifier: Apache-2.0
"""Writes the kept inputs of the target flight_recorder: a dump as PyTorch pickles it, as Python does, and as JSON.

    python3 tests/fuzz/flight_recorder_corpus.py
"""

import json
import os
import pickle
import struct

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "flight_recorder")


class Pickler:
    """The opcodes of torch/csrc/jit/serialization/pickler.cpp: protocol 2, strings memoised by value."""

    def __init__(self):
        self.out, self._memo = bytearray(b"\x80\x02"), {}

    def write(self, value):
        if isinstance(value, bool):
            self.out += b"\x88" if value else b"\x89"
        elif value is None:
            self.out += b"N"
        elif isinstance(value, int):
            self._integer(value)
        elif isinstance(value, str):
            self._text(value)
        elif isinstance(value, tuple):
            for each in value:
                self.write(each)
            self.out += b"\x86"
        elif isinstance(value, list):
            self._many(b"](", value, b"e")
        else:
            self._many(b"}(", [each for pair in value.items() for each in pair], b"u")

    def _many(self, begin, values, end):
        self.out += begin
        for value in values:
            self.write(value)
        self.out += end

    def _integer(self, value):
        if 0 <= value < 1 << 8:
            self.out += b"K" + struct.pack("<B", value)
        elif 0 <= value < 1 << 16:
            self.out += b"M" + struct.pack("<H", value)
        elif -1 << 31 <= value < 1 << 31:
            self.out += b"J" + struct.pack("<i", value)
        else:
            self.out += b"\x8a\x08" + struct.pack("<q", value)

    def _text(self, value):
        if value in self._memo:
            self.out += b"h" + struct.pack("<B", self._memo[value])
            return
        self._memo[value] = len(self._memo)
        self.out += b"X" + struct.pack("<I", len(value)) + value.encode() + b"q" + struct.pack("<B", self._memo[value])


def entry(record, name, completed, p2p=False):
    return {"record_id": record, "pg_id": 4, "process_group": ("0", "default_pg"), "collective_seq_id": record - 90,
            "p2p_seq_id": 2, "profiling_name": "nccl:" + name, "time_created_ns": 1_700_000_000_000_000_000,
            "input_sizes": [[4, 300]], "input_dtypes": ["BFloat16"], "output_sizes": [[4, 70000]],
            "output_dtypes": ["BFloat16"], "state": "completed" if completed else "scheduled",
            "time_discovered_completed_ns": None, "retired": False, "timeout_ms": 600000, "is_p2p": p2p,
            "frames": [{"name": "f", "filename": "a.py", "line": 7}]}


def dump():
    return {"version": "2.9", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2]"}},
            "pg_status": {"4": {"last_enqueued_collective": 9, "last_started_collective": -1,
                                "last_completed_collective": 8}},
            "entries": [entry(98, "all_reduce", True), entry(99, "all_reduce", False), entry(100, "send 0->1", False, True)]}


def main():
    os.makedirs(FOLDER, exist_ok=True)
    pickler = Pickler()
    pickler.write(dump())
    inputs = {"torch": bytes(pickler.out) + b".", "python_protocol_4": pickle.dumps(dump(), 4),
              "json": json.dumps(dump()).encode()}
    for name, content in inputs.items():
        with open(os.path.join(FOLDER, name), "wb") as out:
            out.write(content)


if __name__ == "__main__":
    main()
