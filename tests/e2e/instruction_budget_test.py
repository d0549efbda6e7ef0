# SPDX-License-Identifier: Apache-2.0
"""How many instructions and allocations an event costs, counted by valgrind: the same on every machine, however busy it is. A change that
makes an event dearer than its budget fails here; who makes one cheaper lowers the budget. What it means in seconds is for
scripts/bench.sh to say."""

import os
import re
import shutil
import subprocess
import sys
import unittest

import harness

SUPPORT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support")
TOLERANCE = 1.05  # another libc counts a little differently

# Replay judges; analyze runs the analyses of such events.
SAMPLE_ANALYSES = ("heatmap,utilization_stats,device_usage_stats,metrics_histogram,overall_system_usage,training_phase_intervals,"
                   "job_statistics,batchtime")
SPAN_ANALYSES = ("step_statistics,step_timeline,step_histogram,overall_framework_metrics,time_annotations,job_statistics,batchtime,"
                 "dataloader_getnext,training_phase_intervals")
# Of one more record. A second of the job may have its own, of thousands of records, and tables grow at the beginning.
MOST_ALLOCATIONS = 0.2

# Instructions of one more record.
BUDGETS = {
    "replay of system metrics": 1400,
    "analyses of system metrics": 2175,
    "replay of a timeline": 2500,
    "analyses of a timeline": 7740,
    "replay of a Kineto trace": 2870,
}


def system_metrics(folder, size):
    return _generate(folder, "sagemaker_job_gen.py", "system", "--lines", str(20_000 * size), "--hourdirs", "0")


def timeline(folder, size):
    return _generate(folder, "sagemaker_job_gen.py", "timeline", "--events", str(10_000 * size), "--max-bytes", "1000000000",
                     "--close-s", "1000000000")


def kineto(folder, size):
    return _generate(folder, "kineto_gen.py", "--ranks", "1", "--steps", str(2 * size), "--kernels-per-step", "2000")


def _generate(folder, script, *arguments):
    subprocess.run([sys.executable, os.path.join(SUPPORT, script), *arguments, "--out", folder], check=True, stdout=subprocess.DEVNULL)
    for where, _, names in os.walk(folder):
        for name in names:
            if name == "truth.json":  # of the generator, for other tests
                os.remove(os.path.join(where, name))
    return folder


class InstructionBudgetTest(harness.JobTest):
    def count(self, tool, figure, *command):
        """What `tool` says of a run of trainwatch."""
        made = subprocess.run(["valgrind", *tool, harness.binary(), *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              check=True)
        return int(re.search(figure, made.stderr).group(1).replace(",", ""))

    def cost(self, count, generate, *command):
        """Of one more record: by the difference between a small file and one that is three times as long."""
        counts, records = [], []
        for size in (1, 3):
            folder = os.path.join(self.directory, "%s-%d" % (generate.__name__, size))
            if not os.path.isdir(folder):
                generate(folder, size)
            counts.append(count(command[0], folder, *command[1:]))
            records.append(self.records(folder))
        return (counts[1] - counts[0]) / (records[1] - records[0])

    def instructions(self, *command):
        return self.count(["--tool=callgrind", "--callgrind-out-file=/dev/null"], r"Collected : (\d+)", *command)

    def allocations(self, *command):
        return self.count(["--undef-value-errors=no", "--leak-check=no"], r"total heap usage: ([\d,]+) allocs", *command)

    def records(self, folder):
        """Objects, roughly: what a plain search for the end of a name finds."""
        total = 0
        for where, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(where, name), "rb") as file:
                    text = file.read()
                total += text.count(b'"Dimension"') + text.count(b'"ph"')
        return total

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_no_event_has_become_dearer(self):
        for name, generate, *command in (
                ("replay of system metrics", system_metrics, "replay"),
                ("analyses of system metrics", system_metrics, "analyze", "--what=" + SAMPLE_ANALYSES),
                ("replay of a timeline", timeline, "replay"),
                ("analyses of a timeline", timeline, "analyze", "--what=" + SPAN_ANALYSES),
                ("replay of a Kineto trace", kineto, "replay")):
            with self.subTest(name):
                cost = self.cost(self.instructions, generate, *command)
                print("%s: %.0f instructions for each record, budget %d" % (name, cost, BUDGETS[name]))
                self.assertLessEqual(cost, BUDGETS[name] * TOLERANCE, name)

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_events_are_not_allocated(self):
        for name, generate in (("system metrics", system_metrics), ("a timeline", timeline), ("a Kineto trace", kineto)):
            with self.subTest(name):
                cost = self.cost(self.allocations, generate, "replay")
                print("%s: %.4f allocations for each record" % (name, cost))
                self.assertLessEqual(cost, MOST_ALLOCATIONS, name)


if __name__ == "__main__":
    harness.main()
