#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The analyses that read the events of the host, against numbers worked out from the trace itself (trace_truth):
of the generated traces in ../shared/fixtures (two of them are in tests/data) and of the real ones in
../shared/data. HTA itself fails with most of these, as they have nanoseconds.

    host_analyses_test.py TRAINWATCH
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from hta_reference import HERE, SHARED, have_real, records
from trace_truth import Trace, differences

TRAINWATCH = None
REAL = ["nccl_data", "negative_queue_rank0", "mi250_minitoy_train_ROCm6_2_kineto", "triton_example",
        "sampled_rank-0", "rank-0.Apr_03_18_51_38.1102.pt.trace", "resnet50_workers4_2021.pt.trace"]


def run(*arguments):
    return subprocess.run([TRAINWATCH, "analyze", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


def analyze(*arguments):
    done = run(*arguments)
    if done.returncode:
        raise AssertionError("%s: %s" % (arguments, done.stderr))
    return json.loads(done.stdout)


def generated():
    """The traces of one rank of each fixture, by its name."""
    root = os.path.join(SHARED, "fixtures")
    if not os.path.isdir(root):
        root = os.path.join(HERE, "..", "..", "data", "hta")
    folders = sorted(glob.glob(os.path.join(root, "kineto", "*")))
    return {os.path.basename(folder): sorted(glob.glob(os.path.join(folder, "*.pt.trace.json*")))[0]
            for folder in folders}


def real():
    paths = [os.path.join(SHARED, "data", "kineto", name + ".json.gz") for name in REAL]
    return paths if have_real() else []


class HostAnalyses(unittest.TestCase):
    maxDiff = 4000

    def check_sequences(self, path, text, steps):
        arguments = [path, "--what=frequent_kernel_sequences", "--steps=" + steps]
        said = analyze(*arguments, *(["--operator=" + text] if text else []))
        said = said["frequent_kernel_sequences"]
        ours = [[row["operator"], row["kernels"], row["length"], row["count"],
                 row["gpu_kernel_duration_ns"], row["cpu_op_duration_ns"]] for row in records(said)]
        truth = [[name, names[:64], len(names)] + sums
                 for name, names, *sums in Trace(path, steps).sequences(text)]
        self.assertEqual(ours, truth[:32])
        self.assertEqual(said["left_out"], max(0, len(truth) - 32))
        return ours

    def test_sequences_of_generated_traces(self):
        for name, path in generated().items():
            found = 0
            for text in ("", "aten::linear", "autograd::engine", "Optimizer", "ProfilerStep"):
                with self.subTest(name, text=text):
                    found += len(self.check_sequences(path, text, "incl"))
            self.assertGreater(found, 0, name)

    def test_sequences_of_real_traces(self):
        for path in real():
            for text, steps in (("", "raw"), ("aten::", "incl"), ("", "incl")):
                with self.subTest(path, text=text, steps=steps):
                    self.check_sequences(path, text, steps)

    def check_difference(self, control, test, steps):
        said = analyze(control, test, "--what=trace_diff", "--steps=" + steps)["trace_diff"]
        was, now = Trace(control, steps), Trace(test, steps)
        ours = [row[:9] for row in said["rows"]]
        self.assertEqual(said["columns"][:9],
                         ["name", "on", "control_counts", "test_counts", "diff_counts",
                          "counts_change_category", "control_total_duration_ns",
                          "test_total_duration_ns", "diff_duration_ns"])
        self.assertEqual(ours, differences(was, now)[:4096])
        self.assertEqual([said["control"]["steps"], said["test"]["steps"]],
                         [len(was.steps), len(now.steps)])
        for row in records(said):
            for side, trace in (("control", was), ("test", now)):
                each = row[side + "_duration_per_step_ns"]
                steps_of_side = len(trace.steps)
                self.assertEqual(each, row[side + "_total_duration_ns"] // steps_of_side
                                 if steps_of_side else None)
        return said

    def test_differences_of_generated_traces(self):
        traces = generated()
        control = traces.get("normal", next(iter(traces.values())))
        for name, path in traces.items():
            with self.subTest(name):
                self.check_difference(control, path, "incl")
        same = self.check_difference(control, control, "raw")
        self.assertEqual({row["counts_change_category"] for row in records(same)}, {"="})

    def test_differences_of_real_traces(self):
        paths = real()
        for control, test in zip(paths, paths[1:]):
            with self.subTest(control, test=test):
                self.check_difference(control, test, "raw")

    def test_a_folder_is_compared_by_its_first_rank(self):
        path = next(iter(generated().values()))
        with tempfile.TemporaryDirectory() as folder:
            for file in glob.glob(os.path.join(os.path.dirname(path), "*.pt.trace.json*")):
                shutil.copy(file, folder)
            said = analyze(folder, path, "--what=trace_diff")["trace_diff"]
            self.assertEqual(said["control"]["rank"], said["test"]["rank"])
            self.assertEqual({row["diff_duration_ns"] for row in records(said)}, {0})

    def test_beside_other_analyses(self):
        path = next(iter(generated().values()))
        said = analyze(path, path, "--what=profiler_steps,trace_diff")
        self.assertEqual(list(said), ["profiler_steps", "trace_diff"])

    def test_anything_but_two_traces_is_an_error_of_usage(self):
        path = next(iter(generated().values()))
        for paths in ([path], [path] * 3):
            done = run(*paths, "--what=trace_diff")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, "trace_diff compares two traces, the control first: "
                             "trainwatch analyze CONTROL TEST --what=trace_diff\n")

    def test_what_cannot_be_compared_is_said(self):
        path = next(iter(generated().values()))
        with tempfile.TemporaryDirectory() as folder:
            done = run(path, folder, "--what=trace_diff")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertEqual(done.stderr, folder + ": not a profiler trace\n")
            done = run(path, folder + "/gone", "--what=trace_diff")
            self.assertEqual((done.returncode, done.stdout), (1, ""))


if __name__ == "__main__":
    TRAINWATCH = sys.argv.pop(1)
    if not have_real():
        print("without the real traces: %s is not there" % SHARED)
    unittest.main()
