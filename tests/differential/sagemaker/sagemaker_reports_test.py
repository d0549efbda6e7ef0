#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SageMaker's two rules that are reports and never fire, against the last report of each.

tests/data/sagemaker_rules.json has what SageMaker said. Where that is a defect, the right number is worked out
here from the job's files, and a comment says why it differs.

    sagemaker_reports_test.py TRAINWATCH
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SUPPORT = os.path.join(HERE, "..", "..", "support")
sys.path.insert(0, SUPPORT)
import sagemaker_rules as reference  # noqa: E402

TRAINWATCH = None

with open(os.path.join(HERE, "..", "..", "data", "sagemaker_rules.json")) as file:
    REFERENCE = json.load(file)


def generate(words, directory):
    subprocess.run([sys.executable, os.path.join(SUPPORT, "sagemaker_job_gen.py"), *words, "--out", directory],
                   check=True, stdout=subprocess.DEVNULL)


def table(result):
    """Rows as dictionaries."""
    return [dict(zip(result["columns"], row)) for row in result["rows"]]


class OverallReports(unittest.TestCase):
    """SageMaker's two rules that never fire: the last report of each."""

    def test_equal(self):
        for scenario in ("normal", "evalphase", "stepoutlier"):
            known = REFERENCE[scenario]
            with tempfile.TemporaryDirectory() as directory, self.subTest(scenario=scenario):
                generate(known["command"].split(), directory)
                command = [TRAINWATCH, "analyze", directory,
                           "--what=overall_system_usage,overall_framework_metrics"]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
                mine, rules = json.loads(done.stdout), known["rules"]
                self.system_usage(mine["overall_system_usage"], rules["OverallSystemUsage"],
                                  reference.Job(directory))
                self.framework_metrics(mine["overall_framework_metrics"],
                                       rules["OverallFrameworkMetrics"]["details"],
                                       reference.Job(directory), known["windows"])

    @staticmethod
    def of_devices(job, dimension):
        """What SageMaker makes of the samples of a dimension at each time."""
        times, names = {}, set()
        for at, _, name, of, value in job.samples:
            if of == dimension or (name, of) == (dimension, ""):
                times.setdefault(at, []).append(value)
                names.add(name)
        return [sum(values) / (1 if dimension == "Algorithm" else len(names)) for values in times.values()]

    def system_usage(self, mine, known, job):
        self.assertEqual(known["fired_windows"], [])
        rows = {(row["Resource"], row["nodeID"]): row for row in table(mine)}
        self.assertEqual({resource for resource, _ in rows}, set(known["details"]))
        for resource, nodes in known["details"].items():
            for node, figures in nodes.items():
                for name, value in figures.items():
                    # SageMaker rounds to two digits, where the last bit decides in the middle between two.
                    difference = abs(rows[resource, node][name] - value)
                    self.assertLessEqual(difference, 0.005 + 1e-9, (resource, node, name))
        dimensions = {"Network": "Algorithm", "GPU": "GPUUtilization", "CPU": "CPUUtilization",
                      "CPU memory": "MemoryUsedPercent", "GPU memory": "GPUMemoryUtilization",
                      "I/O": "I/OWaitPercentage"}
        for (resource, _), row in rows.items():
            values = self.of_devices(job, dimensions[resource])
            self.assertEqual(row["count"], len(values))
            for name, q in (("max", 1), ("p99", 0.99), ("p95", 0.95), ("p50", 0.5), ("min", 0)):
                known = reference.quantile(values, q)
                self.assertLessEqual(abs(row[name] - known), 1e-9 * abs(known), (resource, name))

    @staticmethod
    def shares(bucket, spans):
        """Of the durations of these spans, by what the bucket counts them as."""
        names = {"Forward-SubModuleInternal": "Forward pass", "Backward-SubModuleInternal": "Backward pass"}
        times = {}
        for start, end, phase, *_ in spans:
            is_step, is_pass = phase.startswith("Step:"), phase in names
            if (is_step, is_pass) == (bucket == "phase", bucket == "forward_backward"):
                name = names.get(phase, phase)
                times[name] = times.get(name, 0) + end - start
        if bucket == "phase":
            steps = [span for span in spans if span[2].startswith("Step:")]
            loop = max(span[1] for span in steps) - min(span[0] for span in steps)
            times["others"] = loop - sum(times.values())
        total = sum(times.values())
        return {name: 100 * time / total for name, time in times.items()}

    def near(self, mine, theirs):
        self.assertEqual(set(mine), set(theirs))
        for name, share in theirs.items():
            self.assertLessEqual(abs(mine[name] - share), 1e-9 * share, name)

    def framework_metrics(self, mine, known, job, windows):
        spans = job.spans
        # SageMaker counts an event that lies in two of its windows twice: so its numbers come about.
        counted = [span for window in range(windows) for span in spans
                   if span[1] >= job.window(window)[0] and span[0] <= job.window(window)[1]]
        for bucket in ("general", "forward_backward"):
            self.near(self.shares(bucket, counted), known[bucket])
        # Its phases too, but for "others": that takes away from the loop what it said of them before, so
        # that about half of it is left.
        phases = {name: share for name, share in known["phase"].items() if name != "others"}
        known = self.shares("phase", counted)
        del known["others"]
        self.near({name: share / sum(known.values()) for name, share in known.items()},
                  {name: share / sum(phases.values()) for name, share in phases.items()})
        # Right is each event once, and all of what is not a step.
        for bucket in ("phase", "general", "forward_backward"):
            shown = {row[bucket]: row["percent"] for row in table(mine[bucket])}
            self.near(shown, self.shares(bucket, spans))
        self.assertEqual(mine["left_out"], 0)


if __name__ == "__main__":
    TRAINWATCH = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
