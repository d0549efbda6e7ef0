# SPDX-License-Identifier: Apache-2.0
"""Files that hold far more than they seem to: replay gives exactly the alerts of the job beside them, in bounded memory.

Catalogue: 22 (long lines), 23 (depth), 24 (keys, strings, numbers), 36 (gzip) and 65 (names).
"""

import functools
import gzip
import json
import os
import resource
import shutil
import tempfile
import time
import unittest
import zlib

import harness
import process_figures
from memory_bombs import pickled

MIB = 1 << 20
ADDRESS_SPACE_MIB = 256
RESIDENT_MIB = 128
SMALL_STACK_KIB = 512  # who recurses ends
DAY = "2026112107"
METRICS = os.path.join("system", "incremental", DAY, "1795247880.bomb-1.json")
TRACE = os.path.join("profiler", "bomb-1.1795247893999.pt.trace.json")
TIMELINE = os.path.join("framework", "pevents", DAY, "1795247893999999_1-bomb-1_pythontimeline.json")


def sample(value="4.5", extra="0"):
    return ('{"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":%s,"NodeId":"bomb-1",'
            '"Timestamp":1795247890.5,"Extra":%s}\n' % (value, extra))


def operator(name, arguments="{}"):
    return ('{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": %s}'
            % (name, arguments))


def trace(events):
    return '{"schemaVersion": 1, "traceEvents": [\n' + ",\n".join(events) + "\n]}"


def write_gzip(path, block, times, head=b"", tail=b""):
    """`head`, `times` times `block` and `tail` as one member, without compressing the blocks one by one.

    A block is compressed once; behind a full flush the same bytes mean the same again."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    first = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    repeated = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    last = packer.compress(tail) + packer.flush(zlib.Z_FINISH)
    checksum, size = zlib.crc32(head), len(head) + len(tail) + times * len(block)
    for _ in range(times):
        checksum = zlib.crc32(block, checksum)
    checksum = zlib.crc32(tail, checksum)
    with open(path, "wb") as file:
        file.write(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + first)
        for _ in range(times):
            file.write(repeated)
        file.write(last + checksum.to_bytes(4, "little") + (size % 2**32).to_bytes(4, "little"))


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_MIB * MIB,) * 2)
    resource.setrlimit(resource.RLIMIT_STACK, (SMALL_STACK_KIB * 1024,) * 2)


def replay(directory):
    """The alerts, and the peak of resident memory in MiB."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as log:
        succeeded, peak = process_figures.run_and_peak([harness.binary(), "replay", directory], stdout=output, stderr=log,
                                                       preexec_fn=limit_memory)
        output.seek(0)
        log.seek(0)
        if not succeeded:
            raise AssertionError("replay: " + log.read()[-2000:])
        return [json.loads(alert) for alert in output], peak


@functools.lru_cache(None)
def alerts_of_the_job():
    return replay(harness.JOB)[0]


class BombsTest(harness.JobTest):
    maxDiff = 2000

    def setUp(self):
        super().setUp()
        shutil.copytree(harness.JOB, self.directory, dirs_exist_ok=True)

    def path(self, name):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def check(self, most=RESIDENT_MIB):
        begin = time.monotonic()
        alerts, peak = replay(self.directory)
        print("%s: %.1f s, peak RSS %.1f MiB" % (self.id().split(".")[-1], time.monotonic() - begin, peak))
        self.assertEqual(alerts, alerts_of_the_job())
        self.assertLessEqual(peak, most)

    def test_the_job_has_alerts(self):
        self.assertGreater(len(alerts_of_the_job()), 0)

    def test_case_36_zeros_in_gzip(self):
        for name in (METRICS, TRACE, TIMELINE):
            write_gzip(self.path(name + ".gz"), bytes(MIB), 301)
        self.check()

    def test_case_36_zeros_behind_a_good_line_in_gzip(self):
        write_gzip(self.path(METRICS + ".gz"), bytes(MIB), 301, head=sample().encode())
        self.check()

    def test_case_36_valid_lines_in_gzip(self):
        block = sample().encode() * (MIB // len(sample()))
        write_gzip(self.path(METRICS + ".gz"), block, 301)
        self.check()

    def test_case_36_valid_events_in_gzip(self):
        block = (operator("aten::add") + ",\n").encode() * 5000
        write_gzip(self.path(TRACE + ".gz"), block, 300 * MIB // len(block) + 1,
                   head=b'{"schemaVersion": 1, "traceEvents": [\n', tail=operator("last").encode() + b"\n]}")
        self.check()

    def test_case_23_nesting(self):
        deep = 4 * MIB
        self.write(METRICS, sample() + sample(extra="[" * deep) + sample(extra='{"":' * deep) + sample())
        self.write(TRACE, trace([operator("a"), operator("b", "[" * deep + "]" * deep), operator("c")]))
        self.write(TIMELINE, "[\n" + operator("a") + ",\n" + "[{\"\":" * deep)
        self.check()

    def test_case_22_a_line_of_a_gibibyte(self):
        for name in (METRICS, TIMELINE):
            self.write(name, sample() if name == METRICS else "[\n" + operator("a") + ",\n")
            os.truncate(self.path(name), 1 << 30 if name == METRICS else 100 * MIB)  # a hole
            with open(self.path(name), "a", encoding="utf-8") as file:
                file.write("\n" + sample())
        self.check()

    def test_case_24_numbers_strings_and_keys(self):
        size = 8 * MIB
        keys = "{" + ",".join('"k%d":%d' % (i, i) for i in range(500000)) + "}"
        texts = ('"' + "\\u0041" * (size // 6) + '"', '"' + "\\" * size + '"', '"' + "a" * size + '"')
        self.write(METRICS, sample() + sample(value="9" * size) + sample(value="0." + "1" * 50000) +
                   sample(value="1e" + "9" * 50000) + "".join(sample(extra=text) for text in texts) +
                   sample(extra=keys) + sample(extra=keys[:900000] + "}") + sample())
        events = [operator("a" * size), operator("b" * 900000), operator("c", keys), operator("d", keys[:900000])]
        self.write(TRACE, trace([*events, operator("e")])[:-2] + "," + keys[1:])
        self.check()

    def test_case_65_names_that_are_as_long_as_a_record(self):
        with gzip.open(self.path(METRICS + ".gz"), "wb", 1) as file:
            for number in range(300):
                file.write(sample().replace("cpu0", "n" * 900000 + str(number)).encode())
        self.check()

    def test_values_of_a_dump(self):
        """Compressed pickles of a few kB whose values take a hundred times the memory of their contents."""
        begin = b"\x80\x02}(" + pickled(b"version") + pickled(b"2.9") + pickled(b"entries") + b"]("
        again = pickled(b"profiling_name") + b"q\0N" + pickled(b"collective_seq_id") + b"q\1K\1"
        for rank, block in enumerate((b"]", b"]\x94", b"}(h\0Nh\1K\1u")):
            with gzip.open(self.path("comm_traces/rank_%d.gz" % rank), "wb") as file:
                file.write(begin + b"}(" + again + b"u" + block * 4000000 + b"eu.")
        self.check(190)  # 64 of them for the dump

    def test_case_65_names_of_operators(self):
        self.write(TRACE, trace(operator("op_%d_%s" % (i, "x" * 200)) for i in range(100000)))
        self.check()


if __name__ == "__main__":
    harness.main()
