#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SageMaker's profiler rules against SageMaker's, on every scenario of the job generator and three seeds.

For seed 11 tests/data/sagemaker_rules.json has what SageMaker itself said. tests/support/sagemaker_rules.py says
the same (which is tested here), and what it would say of the other seeds. Each rule has to fire where
SageMaker's fires and nowhere else, to begin no later than at the end of the first window in which that
fires, and to show the same figures for the same samples.

    sagemaker_rules_test.py TRAINWATCH [SCENARIO...]
"""
import calendar
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SUPPORT = os.path.join(HERE, "..", "..", "support")
sys.path.insert(0, SUPPORT)
import sagemaker_rules as reference  # noqa: E402

with open(os.path.join(HERE, "..", "..", "data", "sagemaker_rules.json")) as file:
    REFERENCE = json.load(file)

RULES = {
    "batch_size": "BatchSize",
    "cpu_bottleneck": "CPUBottleneck",
    "dataloader": "Dataloader",
    "gpu_memory_increase": "GPUMemoryIncrease",
    "io_bottleneck": "IOBottleneck",
    "load_balancing": "LoadBalancing",
    "low_gpu_utilization": "LowGPUUtilization",
    "max_initialization_time": "MaxInitializationTime",
    "step_outlier": "StepOutlier",
}
SEEDS = [11, 12, 13]
TRAINWATCH = None


def generate(scenario, seed, out):
    words = REFERENCE[scenario]["command"].replace("--seed 11", "--seed %d" % seed).split()
    subprocess.run([sys.executable, os.path.join(SUPPORT, "sagemaker_job_gen.py"), *words, "--out", out],
                   check=True, stdout=subprocess.DEVNULL)


def replay(directory, *flags):
    """The emitted alerts, by rule, in order."""
    command = [TRAINWATCH, "replay", directory, "--parts", "--rules=" + ",".join(RULES),
               "--rules.preset=sagemaker-code", *flags]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    by_rule = {rule: [] for rule in RULES}
    for line in output.splitlines():
        alert = json.loads(line)
        by_rule[alert["rule"]].append(alert)
    return by_rule


def microseconds(rfc3339):
    whole, fraction = rfc3339.rstrip("Z").split(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) * 1_000_000 + int(fraction)


class Figures:
    """Each method compares the figures of one alert with the reference's for the same data."""

    def __init__(self, test, job):
        self.test, self.job = test, job

    def near(self, mine, theirs):
        self.test.assertLessEqual(abs(mine - theirs), 1e-9 * max(1, abs(theirs)))

    def bottleneck(self, evidence, resource, limit, high):
        seen = reference.snapshots(self.job, resource, limit)[:evidence["datapoints"]]
        self.test.assertEqual(len(seen), evidence["datapoints"])
        both = sum(1 for s in seen if s[1] and s[2])
        self.test.assertEqual(evidence["bottlenecks"], both)
        self.test.assertEqual(evidence["low_gpu_snapshots"], sum(s[1] for s in seen))
        self.test.assertEqual(evidence[high], sum(s[2] for s in seen))
        self.near(evidence["ratio_percent"], 100 * both / len(seen))

    def cpu_bottleneck(self, alert):
        self.bottleneck(alert["evidence"], "CPUUtilization", 90, "high_cpu_snapshots")

    def io_bottleneck(self, alert):
        self.bottleneck(alert["evidence"], "I/OWaitPercentage", 50, "high_io_wait_snapshots")

    def values(self, dimension, name, seen):
        return [value for _, value in self.job.series(dimension)[name][:seen]]

    def low_gpu_utilization(self, alert):
        evidence = alert["evidence"]
        last = self.values("GPUUtilization", "gpu" + alert["subject"]["gpu"],
                           evidence["samples_seen"])[-500:]
        for name, q in (("p95", 0.95), ("p50", 0.5), ("p5", 0.05)):
            self.near(evidence[name], reference.quantile(last, q))

    def batch_size(self, alert):
        evidence = alert["evidence"]
        seen, gpu = evidence["samples_seen"], evidence["gpu"]
        used = self.values("GPUUtilization", gpu, seen)[-500:]
        memory = self.values("GPUMemoryUtilization", gpu, seen)[-500:]
        cpu = [value for _, value in reference.cpu_means(self.job)[:seen]][-500:]
        for name, values in (("gpu", used), ("gpu_memory", memory), ("cpu", cpu)):
            self.near(evidence[name + "_p95"], reference.quantile(values, 0.95))
            self.near(evidence[name + "_p50"], reference.quantile(values, 0.5))

    def gpu_memory_increase(self, alert):
        # Two windows side by side, where SageMaker's overlap but for one sample.
        evidence = alert["evidence"]
        seen = self.values("GPUMemoryUtilization", "gpu" + alert["subject"]["gpu"],
                           evidence["samples_seen"])
        self.near(evidence["mean_now"], reference.mean(seen[-10:]))
        self.near(evidence["mean_before"], reference.mean(seen[-20:-10]))
        self.near(evidence["increase"], evidence["mean_now"] - evidence["mean_before"])

    def load_balancing(self, alert):
        # The shares of all samples, where SageMaker leaves out those above 98 % and takes the mean of counts.
        evidence = alert["evidence"]
        shares, values = [], []
        for gpu in (evidence["first"], evidence["second"]):
            seen = self.values("GPUUtilization", gpu, evidence["samples_seen"])
            bins = [0] * 50
            for value in seen:
                bins[min(int(value // 2), 49)] += 1
            shares.append([n / len(seen) for n in bins])
            values.append(seen)
        self.near(evidence["distance"], reference.distance(*shares))
        self.test.assertAlmostEqual(evidence["distance"], reference.load_distance(*values), delta=1e-3)

    def step_outlier(self, alert):
        evidence = alert["evidence"]
        phase = "Step:ModeKeys." + evidence["mode"].upper()
        seen = reference.step_durations(self.job, phase)[:evidence["steps"]]
        self.test.assertEqual(evidence["number_of_outliers"], reference.outliers(seen))
        self.near(evidence["mean_seconds"], reference.mean(seen))
        self.near(evidence["stddev_seconds"], reference.stddev(seen))
        for name, q in (("min", 0), ("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1)):
            self.near(evidence[name + "_seconds"], reference.quantile(seen, q))

    def max_initialization_time(self, alert):
        first = min(s[0] for s in self.job.spans if s[3].startswith("Step:ModeKeys"))
        first_core = self.job.series("CPUUtilization")["cpu0"][0][0]
        self.near(alert["evidence"]["minutes"], (first - first_core) / 60e6)

    def dataloader(self, alert):
        counts = reference.loader_processes(self.job)
        evidence = alert["evidence"]
        seen = counts[:evidence["seconds_seen"]]
        self.test.assertEqual(evidence["dataloaders"], int(reference.quantile(seen, 0.5)))
        self.test.assertEqual(evidence["cores"], len(self.job.series("CPUUtilization")))


class SageMakerRules(unittest.TestCase):
    def check(self, scenario, seed):
        with tempfile.TemporaryDirectory() as directory:
            generate(scenario, seed, directory)
            job = reference.Job(directory)
            alerts = replay(directory)
        fired = reference.fired(job)
        figures = Figures(self, job)
        for rule, name in RULES.items():
            with self.subTest(scenario=scenario, seed=seed, rule=rule):
                if seed == 11:
                    known = REFERENCE[scenario]["rules"][name]["fired_windows"]
                    self.assertEqual(fired[name], known, "the reference is not SageMaker's")
                self.assertEqual(bool(alerts[rule]), bool(fired[name]), "fires, or stays quiet")
                if not alerts[rule]:
                    continue
                begin = min(microseconds(alert["started_at"]) for alert in alerts[rule])
                self.assertLessEqual(begin, job.window(fired[name][0])[1], "begins late")
                for alert in alerts[rule]:
                    getattr(figures, rule)(alert)


class SageMakersOwnFigures(unittest.TestCase):
    """At the same sample as SageMaker's last report: its numbers, or the right one where it says why."""

    def alerts_at_the_end(self, scenario, *flags):
        with tempfile.TemporaryDirectory() as directory:
            generate(scenario, 11, directory)
            self.job = reference.Job(directory)
            return replay(directory, *flags)

    def test_low_gpu_utilization(self):
        for scenario in ("lowgpu", "gpufluct", "cpubottleneck", "imbalance"):
            known = REFERENCE[scenario]["rules"]["LowGPUUtilization"]["gpus"]
            alerts = self.alerts_at_the_end(scenario, "--set=low_gpu_utilization.patience=1799")
            mine = {"gpu" + alert["subject"]["gpu"]: alert["evidence"]
                    for alert in alerts["low_gpu_utilization"]}
            self.assertEqual(set(mine), set(known))
            for gpu, figures in known.items():
                self.assertAlmostEqual(mine[gpu]["p95"], figures["gpu_95"], delta=1e-9)
                self.assertAlmostEqual(mine[gpu]["p5"], figures["gpu_5"], delta=1e-9)

    def test_bottlenecks(self):
        # The last snapshot is never closed: 1799 of 1800, and it is none of the bottlenecks.
        for scenario, rule in (("cpubottleneck", "cpu_bottleneck"), ("iobottleneck", "io_bottleneck")):
            known = REFERENCE[scenario]["rules"][RULES[rule]]
            alerts = self.alerts_at_the_end(scenario, "--set=%s.patience=1798" % rule)[rule]
            firing = [alert for alert in alerts if alert["state"] == "firing"]  # and then the run ends
            self.assertEqual([a["evidence"]["datapoints"] for a in firing], [known["datapoints"] - 1])
            self.assertEqual(alerts[0]["evidence"]["bottlenecks"], known["bottlenecks"])
            self.assertEqual(alerts[0]["evidence"]["low_gpu_snapshots"], known["low_gpu"])

    def test_batch_size(self):
        for scenario in ("batchsize", "lowgpu", "imbalance"):
            known = REFERENCE[scenario]["rules"]["BatchSize"]["gpus"]
            alerts = self.alerts_at_the_end(scenario)["batch_size"]
            self.assertEqual(sorted({alert["evidence"]["gpu"] for alert in alerts}), known)

    def test_gpu_memory_increase(self):
        known = REFERENCE["gpumem"]["rules"]["GPUMemoryIncrease"]["gpus"]
        alerts = self.alerts_at_the_end("gpumem")["gpu_memory_increase"]
        self.assertEqual(sorted({"gpu" + alert["subject"]["gpu"] for alert in alerts}), known)

    def test_load_balancing(self):
        # SageMaker's 0.83262 is more than the distance can be, see docs/rules/load_balancing.md.
        known = REFERENCE["imbalance"]["rules"]["LoadBalancing"]["distance"]
        alerts = self.alerts_at_the_end("imbalance", "--set=load_balancing.patience=1799")
        gpus = [self.values(gpu) for gpu in ("gpu0", "gpu1")]
        self.assertAlmostEqual(reference.load_distance(*gpus), known, delta=1e-9)
        self.assertAlmostEqual(alerts["load_balancing"][0]["value"], known, delta=1e-3)

    def values(self, gpu):
        return [value for _, value in self.job.series("GPUUtilization")[gpu]]

    def test_step_outlier(self):
        # SageMaker counts the steps that cross an edge of its windows twice: 185 of 3663 are 182 of 3640.
        known = REFERENCE["stepoutlier"]["rules"]["StepOutlier"]
        alerts = self.alerts_at_the_end("stepoutlier")["step_outlier"]
        phase = "Step:ModeKeys.TRAIN"
        twice = reference.windowed_durations(self.job, phase, self.job.windows - 1)
        self.assertEqual(reference.outliers(twice), known["number_of_outliers"])
        self.assertAlmostEqual(reference.mean(twice), known["step_stats"]["mean"], delta=1e-12)
        once = reference.step_durations(self.job, phase)
        self.assertEqual(alerts[-1]["evidence"]["number_of_outliers"], reference.outliers(once))
        self.assertEqual(reference.outliers(once), 182)

    def test_dataloader(self):
        known = REFERENCE["dataloader"]["rules"]["Dataloader"]
        alerts = self.alerts_at_the_end("dataloader")["dataloader"]
        self.assertEqual(alerts[-1]["evidence"]["dataloaders"], known["dataloaders"])
        self.assertEqual(alerts[-1]["evidence"]["cores"], known["cores"])

    def test_the_documented_preset(self):
        with tempfile.TemporaryDirectory() as directory:
            generate("imbalance", 11, directory)
            alerts = replay(directory, "--rules.preset=sagemaker-docs")
        first = alerts["load_balancing"][0]["evidence"]
        self.assertEqual(first["samples_seen"], 11, "patience 10 in place of 1000")


def add_scenarios(names):
    for scenario in names:
        for seed in SEEDS:
            test = lambda self, scenario=scenario, seed=seed: self.check(scenario, seed)  # noqa: E731
            setattr(SageMakerRules, "test_%s_seed%d" % (scenario, seed), test)


if __name__ == "__main__":
    TRAINWATCH = sys.argv[1]
    add_scenarios(sys.argv[2:] or REFERENCE)
    unittest.main(argv=sys.argv[:1])
