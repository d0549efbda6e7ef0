# SPDX-License-Identifier: Apache-2.0
"""Writes trials as SageMaker Debugger does: event files with one record per tensor, their index, collections, the end."""

import json
import os
import struct
import time

# numpy's type: TensorProto's DataType, as in TensorFlow's types.proto.
TYPES = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8, "int64": 9,
         "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18, "float16": 19, "uint32": 22, "uint64": 23}
MODES = {"TRAIN": 1, "EVAL": 2, "PREDICT": 3, "GLOBAL": 4}


def _varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def _field(number, value):
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _masked_crc(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    crc ^= 0xffffffff
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def _plugin(name, number):
    return _field(1, _field(1, name.encode()) + _field(2, str(number).encode()))


def record(tag, dtype, shape, content, step=0, mode="GLOBAL", mode_step=0):
    """A tensor as a record, written now; of strings `content` is a list of bytes."""
    proto = _field(1, TYPES[dtype])
    proto += _field(2, b"".join(_field(2, _field(1, size)) for size in shape))
    proto += b"".join(_field(8, text) for text in content) if isinstance(content, list) else _field(4, content)
    plugins = _plugin("mode_step", mode_step) + _plugin("mode", MODES[mode])
    value = _field(1, tag.encode()) + _field(8, proto) + _field(9, plugins)
    event = b"\x09" + struct.pack("<d", time.time()) + _field(2, step) + _field(5, _field(1, value))
    length = struct.pack("<Q", len(event))
    # The payload has the constant checksum that smdebug writes.
    return length + struct.pack("<I", _masked_crc(length)) + event + struct.pack("<I", 103661747)


class TrialWriter:
    def __init__(self, directory, workers=1, collections=None):
        self.directory = directory
        self._write("collections/000000000/worker_0_collections.json", json.dumps({
            "collections": {name: {"tensor_names": names, "include_regex": patterns}
                            for name, (names, patterns) in (collections or {}).items()},
            "_meta": {"num_workers": workers}}).encode())

    def save(self, step, tensors, mode="TRAIN", mode_step=None, worker="worker_0"):
        """`tensors`: name -> (type, shape, content)."""
        name = "%012d_%s" % (step, worker)
        mode_step = step if mode_step is None else mode_step
        events, payload = b"", []
        for tag, tensor in tensors.items():
            one = record(tag, *tensor, step, mode, mode_step)
            payload.append({"tensorname": tag, "start_idx": len(events), "length": len(one)})
            events += one
        path = "events/%012d/%s.tfevents" % (step, name)
        self._write(path, events)
        meta = {"mode": mode, "mode_step": mode_step, "event_file_name": path}
        self._write("index/%09d/%s.json" % (step // 1000, name),
                    json.dumps({"meta": meta, "tensor_payload": payload}).encode())

    def end(self):
        self._write("training_job_end.ts", b"")

    def _write(self, name, content):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".tmp", "wb") as file:
            file.write(content)
        os.rename(path + ".tmp", path)
