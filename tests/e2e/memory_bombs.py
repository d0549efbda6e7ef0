# SPDX-License-Identifier: Apache-2.0
"""Inputs that aim at what a decoder, or what lies behind it, keeps: TABLE has for each name a function that writes files
below a directory. None of them is large; what they say is."""

import gzip
import json
import os
import random
import struct
import zlib

import trial_writer

START = 1795247890
UNFINISHED = "a" * 1000000  # of a record of which the end does not come
DAY = "2026112107"
RECORDS = "".join('{"step": %d, "time": %d, "loss": 2.5}\n' % (step, START + step) for step in range(5))
LOG = "".join("2026-11-21 07:59:%02d step %d/500 loss 2.5\n" % (step, step) for step in range(5))
TIMELINE = '[\n{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": 1795247893000000}}'
WATCHDOG = ("[rank%d]:[E1121 07:19:02.123456789 ProcessGroupNCCL.cpp:616] [Rank %d] Watchdog caught collective operation "
            "timeout: WorkNCCL(SeqNum=%d, OpType=A, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600100 milliseconds "
            "before timing out.\n")


def path_of(directory, name):
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def write(directory, name, text):
    opened = gzip.open(path_of(directory, name), "wt", 1) if name.endswith(".gz") else open(path_of(directory, name), "w")
    with opened as file:
        file.writelines([text] if isinstance(text, str) else text)


def many(files, name, text):
    """As many files as that, with the same text; the names have a %d each."""
    def bomb(directory):
        for number in range(files):
            write(directory, name.replace("%d", str(number)), text)
    return bomb


def inside_a_member(files, name, text):
    """Compressed files of which the end is not there yet."""
    def bomb(directory):
        packer = zlib.compressobj(6, zlib.DEFLATED, 31)
        begun = packer.compress(text.encode()) + packer.flush(zlib.Z_SYNC_FLUSH)
        for number in range(files):
            with open(path_of(directory, name.replace("%d", str(number))), "wb") as file:
                file.write(begun)
    return bomb


def zeros(path, gigabytes):
    """The beginning of a gzip member; behind a full flush the same bytes mean the same again."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    packer.compress(b"\n")
    packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(1 << 24)) + packer.flush(zlib.Z_FULL_FLUSH)
    with open(path, "wb") as file:
        file.write(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03")
        for _ in range(gigabytes * 64):
            file.write(block)


def pickled(text):
    return b"X" + struct.pack("<I", len(text)) + text


DUMP = b"\x80\x02}(" + pickled(b"version") + pickled(b"2.9") + pickled(b"entries")


def flight_dumps(files, contents):
    def bomb(directory):
        for rank in range(files):
            with gzip.open(path_of(directory, "comm_traces/rank_%d.gz" % rank), "wb", 1) as file:
                file.write(contents)
    return bomb


def operations_of_a_long_group():
    """One string, which each operation names as its group."""
    number = b"J" + struct.pack("<i", 1)
    begin = (b"}(" + pickled(b"profiling_name") + pickled(b"nccl:all_reduce") + pickled(b"collective_seq_id") + number +
             pickled(b"pg_id") + number + pickled(b"process_group") + b"(")
    return DUMP + b"](" + begin + pickled(b"g" * 100000) + b"q\0h\0tu" + (begin + b"h\0h\0tu") * 3000 + b"eu."


def groups():
    own = b"".join(pickled(b"group-%d" % group) + b"}(" + pickled(b"desc") + pickled(b"d" * 8) + pickled(b"ranks") +
                   pickled(b"[0,1]") + b"u" for group in range(30000))
    return DUMP + b"]" + pickled(b"pg_config") + b"}(" + own + b"uu."


def kineto(files, event, count):
    def bomb(directory):
        for rank in range(files):
            begin = ('{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": %d, "world_size": 8}, "traceEvents": [\n'
                     % rank)
            write(directory, "profiler/n%d.1795247893%03d.pt.trace.json.gz" % (rank, rank),
                  [begin, *(event(number) for number in range(count))])
    return bomb


def kernel_and_launch(number):
    far = (1 << 33) + number  # too large for the usual table
    return ('{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": %d, "dur": 1, "args": {"device": 0, "stream": 7, '
            '"correlation": %d}},\n{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": %d, '
            '"dur": 1, "args": {"correlation": %d}},\n' % (1000 + number, far, 1000 + number, far + (1 << 21)))


def profiler_step(number):
    return ('{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 1, "tid": 1, "ts": %d, "dur": 5},\n'
            '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": %d, "dur": 1, "args": {"device": 0, "stream": 7}},\n'
            % (number, 1000 + 10 * number, 1001 + 10 * number))


def timelines(files, event, count, repeated=1):
    def bomb(directory):
        for number in range(files):
            write(directory, "framework/pevents/%s/1795247893999999_%d-b-1_pythontimeline.json.gz" % (DAY, number),
                  [TIMELINE, *(event % pid * repeated for pid in range(count))])
    return bomb


def samples(files, kind, name, nodes):
    def bomb(directory):
        for number in range(files):
            write(directory, "f%d/system/incremental/%s/1795247880.node-%d.json.gz" % (number, DAY, number),
                  ('{"Type": "%s", "Name": "%s", "Dimension": "%sUtilization", "Value": 4.5, "NodeId": "b%d-%d%s", "Timestamp": %d.5}\n'
                   % (kind, name % each if "%" in name else name, kind.upper(), number, each % nodes, "n" * 200, START + each // 1000)
                   for each in range(20000)))
    return bomb


def collections(files, settings):
    """Trials with one tensor each, which make their reader read that."""
    def bomb(directory):
        for number in range(files):
            with open(path_of(directory, "t%d/events/000000000001/000000000001_worker_0.tfevents" % number), "wb") as file:
                file.write(trial_writer.record("loss", "float32", [], struct.pack("<f", 2.5)))
            write(directory, "t%d/collections/000000000/worker_0_collections.json" % number,
                  json.dumps({"num_workers": 1, "collections": {"losses": settings}}))
    return bomb


def large_tensors(directory):
    """Each file ends inside a tensor."""
    record = trial_writer.record("w", "float32", [1 << 20], bytes(4 << 20))
    for number in range(40):
        with open(path_of(directory, "t/events/000000000001/000000000001_worker_%d.tfevents" % number), "wb") as file:
            file.write(record[:-8])


def irregular_ranks():
    ranks = sorted(random.Random(3).sample(range(1 << 23), 6000))
    return [WATCHDOG % (rank, rank, 5) for rank in ranks]


TABLE = {
    "json lines": many(260, "r%d/metrics.jsonl", RECORDS + '{"step": 6, "x": "' + UNFINISHED),
    "json lines, compressed": inside_a_member(260, "r%d/metrics.jsonl.gz", RECORDS + '{"step": 6, "x": "' + UNFINISHED),
    "system metrics": many(260, "system/incremental/" + DAY + "/1795247880.node-%d.json", '{"Type": "' + UNFINISHED),
    "timelines": many(260, "framework/pevents/" + DAY + "/1795247893999999_%d-b-1_pythontimeline.json",
                      TIMELINE + ',\n{"name": "' + UNFINISHED),
    "members of Kineto": many(260, "profiler/n%d.1795247893999.pt.trace.json", '{"schemaVersion": 1, "deviceProperties": ["' + UNFINISHED),
    "docker": many(260, "r%d/train.log", '{"log": "step 1/500 loss 2.5\\n", "stream": "stdout", "time": "2026-11-21T07:59:01.5Z"}\n'
                   '{"log": "' + UNFINISHED),
    "tables": many(260, "r%d/metrics.csv", "epoch,step,train_loss\n1,1,2.5\n" + "1" * len(UNFINISHED)),
    "wide tables": many(2000, "r%d/metrics.csv", "epoch,step," + ",".join("train_loss_%d%s" % (each, "x" * 48) for each in range(250)) +
                        "\n" + ("1,1," + ",".join(["2.5"] * 250) + "\n") * 3),
    "unknown beginnings": many(4000, "r%d/annotations.json", '{"annotations": "' + "b" * 60000),
    "members that have begun": inside_a_member(4000, "r%d/metrics.jsonl.gz", RECORDS),
    "logs": many(4000, "r%d/train.log", LOG + "x" * 8000),
    "dumps that do not end": flight_dumps(3, DUMP + b"](" + b"]" * (31 << 20)),
    "a group with a long name": flight_dumps(1, operations_of_a_long_group()),
    "groups without operations": flight_dumps(40, groups()),
    "cycles": kineto(3, kernel_and_launch, 400000),
    "steps of a cycle": kineto(3, profiler_step, 100000),
    "phases": timelines(80, ',\n{"name": "a", "ph": "X", "pid": %d, "ts": 5, "dur": 1}', 65536),
    "open spans": timelines(1, ',\n{"name": "a", "ph": "B", "pid": %d, "ts": 5}', 8000, 1024),
    "nodes": samples(8, "cpu", "cpu0", 20000),
    "GPUs": samples(8, "gpu", "gpu%d", 10000),
    "lines of ever new series": samples(40, "cpu", "cpu%d" + "y" * 100, 1),
    "patterns": collections(1, {"tensor_names": [], "include_regex": ["(a{1,100}b%d){1,9}" % each for each in range(5000)]}),
    "names of tensors": collections(16, {"tensor_names": ["t%d" % each for each in range(250000)], "include_regex": []}),
    "tensors that do not end": large_tensors,
    "irregular ranks": lambda directory: write(directory, "train.log", irregular_ranks()),
    "watchdogs": lambda directory: write(directory, "train.log.gz", (
        WATCHDOG % (rank, rank, line) for line in range(10) for rank in range(16384))),
    "a long job": many(60, "r%d/metrics.jsonl", "".join('{"step": %d, "time": %d, "loss": 0.5}\n' % (step, START + step)
                                                       for step in range(40000))),
}
