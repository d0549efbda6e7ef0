# SPDX-License-Identifier: Apache-2.0
"""A profiler's trace of any size is read in bounded memory, and its cycle given back at its end.

TRAINWATCH_TRACE_MB (200): the size of the large trace, before it is compressed. TRAINWATCH_TRACE:
the trace that is repeated to that size; a generated one without it.
"""

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import harness
import process_figures

# All that a daemon runs of each cycle; its metrics and rules' measures are made in any case.
ANALYSES = ("profiler_steps", "temporal_breakdown", "idle_time_breakdown", "comm_comp_overlap", "gpu_kernel_breakdown",
            "cuda_kernel_launch_stats", "queue_length_summary", "memory_bw_summary", "user_annotation_breakdown",
            "stragglers")
MEGABYTES = int(os.environ.get("TRAINWATCH_TRACE_MB", "200"))
LIMIT_MIB = 128
CYCLES = 10
GENERATOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "kineto_gen.py")
# The numbers that differ from one repetition to the next.
SHIFTED = re.compile(r'("ts": ?|"correlation": ?|"id": ?|ProfilerStep#)(\d+)')


def small_trace(folder):
    given = os.environ.get("TRAINWATCH_TRACE")
    if given:
        with gzip.open(given, "rt", encoding="utf-8") as file:
            return file.read()
    subprocess.run([sys.executable, GENERATOR, "--out", folder, "--ranks", "1", "--steps", "8"],
                   check=True, stdout=subprocess.DEVNULL)
    name = next(name for name in os.listdir(folder) if name.endswith(".pt.trace.json"))
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


class LongTrace:
    """One trace again and again: later, with other correlations and step numbers."""

    def __init__(self, text):
        start = text.index("[", text.index('"traceEvents"')) + 1
        end = json.JSONDecoder().raw_decode(text, start - 1)[1] - 1
        self._head, self._tail = text[:start], text[end:]
        self._pieces, self._numbers, at = [], [], start
        for match in SHIFTED.finditer(text, start, end):
            self._pieces.append(text[at:match.start(2)])
            self._numbers.append((match.group(1)[:3], int(match.group(2))))
            at = match.end()
        self._last = text[at:end]
        times = [number for kind, number in self._numbers if kind == '"ts' and number > 0]
        self._period = max(times) - min(times) + 1000
        self._correlations = max(number for kind, number in self._numbers if kind != '"ts') + 1
        self._steps = len(re.findall("ProfilerStep#", text)) + 1

    def write(self, path, megabytes):
        """How many times the trace was repeated."""
        with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
            written, times = file.write(self._head), 0
            while written < megabytes * 1e6:
                if times > 0:
                    file.write(",")
                written += file.write(self._repetition(times))
                times += 1
            file.write(self._tail)
        return times

    def _repetition(self, times):
        shifts = {'"ts': times * self._period, "Pro": times * self._steps}
        other = times * self._correlations
        parts = []
        for piece, (kind, number) in zip(self._pieces, self._numbers):
            parts += (piece, str(number + shifts.get(kind, other) if number > 0 else number))
        return "".join(parts) + self._last


def analyze(path):
    """The result, and the peak of resident memory in MiB."""
    with tempfile.TemporaryFile("w+") as output:
        succeeded, peak = process_figures.run_and_peak([harness.binary(), "analyze", path, "--what=" + ",".join(ANALYSES)],
                                                       stdout=output)
        if not succeeded:
            raise AssertionError("analyze failed")
        output.seek(0)
        return json.load(output)["profiler_steps"], peak


class CycleMemoryTest(unittest.TestCase):
    def test_bounded(self):
        with tempfile.TemporaryDirectory() as scratch:
            trace = LongTrace(small_trace(scratch))
            folder = os.path.join(scratch, "cycles")
            os.mkdir(folder)
            large = os.path.join(scratch, "host_1.1795235697709000000.pt.trace.json.gz")
            times = trace.write(large, MEGABYTES)
            result, peak = analyze(large)
            print("%d MB, %d times the trace: %d steps, %d left out, peak RSS %.1f MiB" % (
                MEGABYTES, times, len(result["rows"]), result["left_out"], peak))
            self.assertGreaterEqual(len(result["rows"]) + result["left_out"], times)
            self.assertLessEqual(peak, LIMIT_MIB)

            peaks = []
            for cycle in range(CYCLES):
                name = "host_1.%d.pt.trace.json.gz" % (1795235697709000000 + cycle * 10**9)
                trace.write(os.path.join(folder, name), MEGABYTES / CYCLES)
                if cycle in (0, CYCLES - 1):
                    peaks.append(analyze(folder)[1])
            print("peak RSS of 1 and %d cycles: %.1f and %.1f MiB" % (CYCLES, *peaks))
            self.assertLess(peaks[1], peaks[0] * 1.1 + 2)


if __name__ == "__main__":
    harness.main()
