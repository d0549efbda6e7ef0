#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Critical paths against what the generator of the traces knows.

HTA's own numbers need NetworkX, which is not at hand: equality with them is not measured. The paths of all
steps in ../shared/fixtures/kineto, or of the two in tests/data/hta/kineto, hold what every path does; those whose
cause was injected name it, as long as the truth says it took.

    critical_path_test.py TRAINWATCH
"""
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest

from hta_reference import HERE, SHARED, records

TRAINWATCH = None
BOUNDS = ["cpu_bound", "data_loading", "gpu_compute_bound", "gpu_communication_bound", "gpu_memory_bound",
          "gpu_kernel_kernel_overhead", "gpu_kernel_launch_overhead"]


def event(cat, name, ts, dur, tid, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}


SYNCHRONISED = [
    event("user_annotation", "ProfilerStep#1", 1000, 200, 1),
    event("cpu_op", "aten::item", 1000, 95, 1),
    event("kernel", "gemm", 1010, 40, 7, device=0, stream=7, correlation=1),
    event("cuda_runtime", "cudaLaunchKernel", 1002, 5, 1, correlation=1),
    event("cuda_runtime", "cudaEventRecord", 1012, 1, 1, correlation=2),
    event("cuda_runtime", "cudaStreamWaitEvent", 1014, 1, 1, correlation=3),
    event("cuda_sync", "Stream Wait Event", 1014, 1, 20, device=0, stream=20, correlation=3,
          wait_on_stream=7, wait_on_cuda_event_record_corr_id=2, wait_on_cuda_event_id=1),
    event("kernel", "ncclDevKernel_AllReduce", 1051, 29, 20, device=0, stream=20, correlation=4),
    event("cuda_runtime", "cudaLaunchKernelExC", 1016, 5, 1, correlation=4),
    event("cuda_runtime", "cudaDeviceSynchronize", 1030, 60, 1, correlation=5),
    event("cuda_sync", "Context Sync", 1030, 59, -1, device=0, stream=-1, correlation=5),
]


def fixtures():
    root = os.path.join(SHARED, "fixtures", "kineto")
    if not os.path.isdir(root):
        root = os.path.join(HERE, "..", "..", "data", "hta", "kineto")
    return {os.path.basename(path): path for path in sorted(glob.glob(os.path.join(root, "*")))}


def traces(folder):
    return sorted(path for path in glob.glob(os.path.join(folder, "*")) if ".pt.trace.json" in path)


def analyze(files, *options):
    command = [TRAINWATCH, "analyze", *files, "--what=critical_path", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise AssertionError("%s: %s" % (" ".join(command), done.stderr))
    return json.loads(done.stdout)["critical_path"]


def longest_kernel_ns(path):
    """Of the work that some call in the file launched."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        document = json.load(file)
    events = document if isinstance(document, list) else document["traceEvents"]
    launched = {event["args"]["correlation"] for event in events
                if event.get("cat") in ("cuda_runtime", "Runtime")
                and "correlation" in event.get("args", {})}
    return max(round(event["dur"] * 1000) for event in events
               if event.get("cat") in ("kernel", "Kernel")
               and event["args"].get("correlation") in launched)


def largest(row, without=()):
    return max((bound for bound in BOUNDS if bound not in without), key=lambda bound: row[bound + "_ns"])


class CriticalPath(unittest.TestCase):
    maxDiff = None

    def rows(self, name):
        if name not in fixtures():
            self.skipTest("without %s" % name)
        said = analyze(traces(fixtures()[name]))
        self.assertFalse(said["sync_events"])
        rows = records(said)
        self.assertTrue(rows)
        return rows

    def truth(self, name):
        if name not in fixtures():
            self.skipTest("without %s" % name)
        found = {}
        for path in glob.glob(os.path.join(fixtures()[name], "truth*.json")):
            with open(path, encoding="utf-8") as file:
                found.update({(row["step"], row["rank"]): row for row in json.load(file)["steps"]})
        return found

    def test_every_path(self):
        """The device is idle at the end of each generated step, so that no path reaches beyond it."""
        for name, folder in fixtures().items():
            for path in traces(folder):
                with self.subTest("%s/%s" % (name, os.path.basename(path))):
                    said = analyze([path])
                    rows = records(said)
                    self.assertTrue(rows)
                    self.check_rows(rows, self.truth(name))
                    self.check_contributors(rows, records(said["contributors"]))
                    self.assertGreaterEqual(max(row["critical_path_ns"] for row in rows),
                                            longest_kernel_ns(path))

    def check_rows(self, rows, truth):
        """A pause between operators, in which no event runs, is on no path, as in HTA."""
        for row in rows:
            pause = truth[row["iteration"], row["rank"]]["host_pause_us"] * 1000
            self.assertEqual(row["critical_path_ns"], sum(row[bound + "_ns"] for bound in BOUNDS))
            self.assertAlmostEqual(sum(row[bound + "_pctg"] for bound in BOUNDS), 100, delta=0.04)
            self.assertLessEqual(row["critical_path_ns"], row["step_ns"])
            self.assertGreater(row["critical_path_ns"], 0.2 * (row["step_ns"] - pause))
            self.assertEqual(row["edges_left_out"], 0)

    def check_contributors(self, rows, contributors):
        for row in rows:
            own = [of for of in contributors
                   if (of["iteration"], of["rank"], of["cycle"]) ==
                   (row["iteration"], row["rank"], row["cycle"])]
            self.assertLessEqual(len(own), 10)
            times = [of["time_ns"] for of in own]
            self.assertEqual(times, sorted(times, reverse=True))
            for bound in BOUNDS:
                self.assertLessEqual(sum(of["time_ns"] for of in own if of["bound_by"] == bound),
                                     row[bound + "_ns"])

    def test_normal_is_bound_by_computation(self):
        truth = self.truth("normal")
        for row in self.rows("normal"):
            self.assertEqual(largest(row), "gpu_compute_bound")
            computed = truth[row["iteration"], row["rank"]]["compute_us"] * 1000
            self.assertAlmostEqual(row["gpu_compute_bound_ns"], computed, delta=0.05 * computed)

    def test_launch_bound_is_bound_by_the_host(self):
        for row in self.rows("launch_bound"):
            self.assertIn(largest(row), ("cpu_bound", "gpu_kernel_launch_overhead"))

    def test_comm_bound_is_bound_by_communication(self):
        for row in self.rows("comm_bound"):
            self.assertEqual(largest(row), "gpu_communication_bound")

    def test_input_bound_waits_for_data(self):
        """All of it, 40 % of each step, and nothing but the computation is more."""
        truth = self.truth("input_bound")
        for row in self.rows("input_bound"):
            self.assertEqual(largest(row, without=["gpu_compute_bound"]), "data_loading")
            waited = truth[row["iteration"], row["rank"]]["data_wait_us"] * 1000
            self.assertAlmostEqual(row["data_loading_ns"], waited, delta=0.01 * waited)

    def test_a_stall_of_the_loader_is_the_path(self):
        truth = self.truth("input_spike")
        stalled = [row for row in self.rows("input_spike") if row["iteration"] % 10 == 0]
        self.assertTrue(stalled)
        for row in stalled:
            self.assertEqual(largest(row), "data_loading")
            waited = truth[row["iteration"], row["rank"]]["data_wait_us"] * 1000
            self.assertAlmostEqual(row["data_loading_ns"], waited, delta=0.01 * waited)

    def test_synchronisations_join_streams_and_host(self):
        """An all-reduce that waited for an event of the stream of computation, and the host for both."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "vm_1.1795235697709.pt.trace.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"distributedInfo": {"rank": 0}, "traceEvents": SYNCHRONISED}, file)
            said = analyze([path])
        self.assertTrue(said["sync_events"])
        row, = records(said)
        # Operator until the launch, launch, computation, all-reduce, and the operator's end after the wait.
        self.assertEqual([row[bound + "_ns"] for bound in BOUNDS],
                         [2000 + 5000, 0, 40000, 29000, 0, 0, 8000])
        self.assertEqual(row["edges_left_out"], 0)

    def test_steps(self):
        """--steps=default leaves the last one out."""
        for name, folder in fixtures().items():
            path = traces(folder)[0]
            with self.subTest(name):
                steps = [[row["iteration"] for row in records(analyze([path], "--steps=" + mode))]
                         for mode in ("incl", "default", "raw")]
                self.assertEqual(steps[0], steps[2])
                self.assertEqual(steps[0][:-1], steps[1])


if __name__ == "__main__":
    TRAINWATCH = sys.argv.pop(1)
    unittest.main()
