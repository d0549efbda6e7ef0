# SPDX-License-Identifier: Apache-2.0
"""The alerts and the figures of known jobs are what they were: goldens in tests/data/golden/, one file per job.

A line is one published alert without its sentences (summary, next, explanation), or the name of an analysis with the
hash of its result. Jobs: the recorded one, the generated reference jobs, and the shared fixtures and real traces where
they are there. `golden_test.py BINARY --update` writes the goldens again; look at the difference before you commit it.
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness

GOLDENS = os.path.join(harness.ROOT, "tests", "data", "golden")
SUPPORT = os.path.join(harness.ROOT, "tests", "support")
SHARED = os.path.join(harness.ROOT, "..", "shared")
SAGEMAKER_CONFIG = os.path.join(harness.ROOT, "config", "sagemaker.yaml")
SAGEMAKER = ("normal", "cpubottleneck", "iobottleneck", "lowgpu", "gpufluct", "batchsize", "gpumem", "imbalance",
             "stepoutlier", "maxinit", "dataloader", "evalphase")
KINETO = ("normal", "input_bound", "comm_bound", "launch_bound", "straggler", "gc_pause")
ANALYSES = ("job_statistics,step_statistics,utilization_stats,device_usage_stats,training_phase_intervals,"
            "metrics_histogram,step_histogram,step_timeline,heatmap,dataloader_initialization,dataloader_workers,"
            "dataloader_getnext,batchtime,tf_getnext_per_step,temporal_breakdown,idle_time_breakdown,"
            "comm_comp_overlap,gpu_kernel_breakdown,cuda_kernel_launch_stats,queue_length_summary,memory_bw_summary,"
            "user_annotation_breakdown,profiler_steps,stragglers,frequent_kernel_sequences,critical_path").split(",")


def without_sentences(alert):
    for key in ("summary", "next", "runbook"):
        alert.pop(key, None)
    alert.get("cause", {}).pop("explanation", None)
    return json.dumps(alert, sort_keys=True)


def figures(path):
    done = harness.run("analyze", path, "--what=" + ",".join(ANALYSES))
    if done.returncode != 0:
        return ["analyze: exit %d" % done.returncode]
    results = json.loads(done.stdout)
    return ["%s %s" % (name, hashlib.sha256(json.dumps(results[name]).encode()).hexdigest()[:16])
            for name in ANALYSES]


def lines_of(path, *options):
    done = harness.run("replay", path, *options)
    if done.returncode != 0:
        return ["replay: exit %d" % done.returncode]
    return [without_sentences(json.loads(line)) for line in done.stdout.splitlines()] + figures(path)


class GoldenTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.scratch = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.scratch)

    def generate(self, program, *arguments):
        subprocess.run([sys.executable, os.path.join(SUPPORT, program), *arguments], check=True,
                       stdout=subprocess.DEVNULL, cwd=self.scratch)
        return os.path.join(self.scratch, "job")

    def check(self, name, path, *options):
        golden = os.path.join(GOLDENS, name + ".jsonl")
        lines = lines_of(path, *options)
        if "--update" in sys.argv:
            os.makedirs(GOLDENS, exist_ok=True)
            with open(golden, "w", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in lines))
            return
        with open(golden, encoding="utf-8") as file:
            self.assertEqual(lines, file.read().splitlines(), name)

    def test_recorded_job(self):
        self.check("recorded-job", harness.JOB)

    def test_sagemaker_jobs(self):
        for scenario in SAGEMAKER:
            with self.subTest(scenario=scenario):
                job = self.generate("sagemaker_job_gen.py", "job", "--out", "job", "--scenario", scenario,
                                    "--seconds", "600", "--seed", "11")
                self.check("sagemaker-" + scenario, job, "--config.file=" + SAGEMAKER_CONFIG)
                shutil.rmtree(job)

    def test_profiler_jobs(self):
        for scenario in KINETO:
            with self.subTest(scenario=scenario):
                job = self.generate("kineto_gen.py", "--out", "job", "--scenario", scenario, "--ranks", "4",
                                    "--seed", "7")
                self.check("kineto-" + scenario, job)
                shutil.rmtree(job)

    def test_shared_traces(self):
        folders = [os.path.join(SHARED, *parts) for parts in (("fixtures", "kineto"), ("data", "kineto"))]
        if not all(map(os.path.isdir, folders)):
            self.skipTest("without ../shared")
        for folder in folders:
            for name in sorted(os.listdir(folder)):
                with self.subTest(trace=name):
                    self.check("shared-" + name.split(".")[0], os.path.join(folder, name))


if __name__ == "__main__":
    harness.main()
