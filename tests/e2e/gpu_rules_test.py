# SPDX-License-Identifier: Apache-2.0
"""On traces whose truth is known exactly the rules fire that should, for the ranks that they should: on generated
jobs, and on the shared fixtures where they are there. A trace of the CPU alone makes the rules abstain."""
import glob
import json
import os
import subprocess
import sys

import harness

GENERATOR = os.path.join(harness.ROOT, "tests", "support", "kineto_gen.py")
FIXTURES = os.path.join(harness.ROOT, "..", "shared", "fixtures", "kineto")
CPU_TRACES = os.path.join(harness.ROOT, "..", "shared", "data", "torch_debian_cpu")
RULES = ("input_bound", "gpu_idle", "host_bound", "kernel_launch_bound", "copy_bound", "communication_bound",
         "low_overlap", "straggler")
NEED_GPU_WORK = tuple(rule for rule in RULES if rule != "input_bound")
RANKS = 4
JOB = None  # the subject of an alert about the whole job

# What fires in a scenario: rule -> ranks, or the job, and the causes that rules with several must name.
EVERYONE = tuple(range(RANKS))
EXPECTED = {
    "normal": {},
    "overlap": {},
    "memcpy_heavy": {"copy_bound": EVERYONE},
    "comm_bound": {"communication_bound": (JOB,), "low_overlap": (JOB,)},
    "input_bound": {"input_bound": EVERYONE, "gpu_idle": EVERYONE},
    "launch_bound": {"gpu_idle": EVERYONE, "host_bound": EVERYONE, "kernel_launch_bound": EVERYONE},
    "sync_heavy": {"gpu_idle": EVERYONE, "host_bound": EVERYONE},
}
CAUSES = {
    ("input_bound", "gpu_idle"): "input_wait",
    ("launch_bound", "gpu_idle"): "kernel_launch",
    ("launch_bound", "host_bound"): "kernel_launch",
    ("memcpy_heavy", "copy_bound"): "memory_copy",
    ("sync_heavy", "gpu_idle"): "synchronization",
    ("sync_heavy", "host_bound"): "synchronization",
}


def last_of(alerts):
    """The final version of each alert of these rules, by id."""
    return sorted(harness.final(alert for alert in alerts if alert["rule"] in RULES).values(),
                  key=lambda alert: alert["id"])


def alerts_of(path):
    return last_of(harness.replay(path, "--parts", "--rules=" + ",".join(RULES)))


def fired(alerts):
    """rule -> whom its alerts are about, in order."""
    found = {}
    for alert in alerts:
        found.setdefault(alert["rule"], []).append(alert["subject"].get("rank", JOB))
    return {rule: tuple(sorted(ranks, key=str)) for rule, ranks in found.items()}


class GpuRulesTest(harness.JobTest):
    def generate(self, scenario, *options, ranks=RANKS):
        name = "-".join([scenario, *(option.strip("-").replace("=", "") for option in options)])
        made = os.path.join(self.directory, name)
        subprocess.run([sys.executable, GENERATOR, "--out=" + made, "--scenario=" + scenario, "--ranks=%d" % ranks,
                        "--steps=8", "--gzip", *options], check=True, stdout=subprocess.DEVNULL)
        return made

    def test_each_scenario_fires_its_rules_and_no_other(self):
        for scenario, expected in EXPECTED.items():
            with self.subTest(scenario):
                alerts = alerts_of(self.generate(scenario))
                self.assertEqual(fired(alerts), expected)
                for alert in alerts:
                    cause = CAUSES.get((scenario, alert["rule"]))
                    if cause is not None:
                        self.assertEqual(alert["cause"]["name"], cause, alert)

    def test_a_slow_step_is_explained_by_its_cycle(self):
        made = self.generate("gc_pause", "--steps=30", "--fault-step=120", "--fault-rank=1")
        alerts = harness.final(harness.replay(made, "--parts", "--rules=step_spike")).values()
        causes = {alert["subject"]["rank"]: (alert["step"], alert["cause"]["name"]) for alert in alerts}
        self.assertEqual(causes, {rank: (120, "host_pause" if rank == 1 else "communication") for rank in EVERYONE})

    def test_a_pause_of_the_host_concerns_its_rank_alone(self):
        for rank in (0, 3):
            with self.subTest(rank=rank):
                alerts = alerts_of(self.generate("gc_pause", "--fault-rank=%d" % rank))
                self.assertEqual(fired(alerts), {"gpu_idle": (rank,)})
                self.assertEqual(alerts[0]["cause"]["name"], "host_pause")

    def test_the_straggler_is_named_in_every_format(self):
        for form in ("modern", "modern2024", "int_us", "legacy2021", "array_root"):
            with self.subTest(form):
                alerts = alerts_of(self.generate("straggler", "--format=" + form, "--fault-rank=1"))
                self.assertEqual(fired(alerts), {"straggler": (1,)})

    def test_the_straggler_is_named_whenever_it_is_slow_and_whatever_the_clocks_say(self):
        for options in (("--fault-first-step=104",), ("--fault-last-step=103",), ("--clock-skew-us=2500",),
                        ("--clock-skew-us=-40000",)):
            for rank in (0, 3):
                with self.subTest(options=options, rank=rank):
                    alerts = alerts_of(self.generate("straggler", *options, "--fault-rank=%d" % rank))
                    self.assertEqual(fired(alerts), {"straggler": (rank,)})

    def test_of_two_ranks_the_late_one_is_named_once_it_is_no_chance(self):
        few = self.generate("straggler", ranks=2)
        self.assertEqual(fired(alerts_of(few)).get("straggler"), None)
        for rank in (0, 1):
            enough = self.generate("straggler", "--steps=12", "--fault-rank=%d" % rank, ranks=2)
            self.assertEqual(fired(alerts_of(enough)), {"straggler": (rank,)})

    def test_the_alerts_of_a_daemon_are_those_of_a_replay(self):
        made = self.generate("straggler", "--fault-rank=3")
        wanted = alerts_of(made)
        with harness.Trainwatch(made) as trainwatch:
            trainwatch.wait_until_read()
            harness.wait_for(lambda: last_of(trainwatch.json("/api/v1/alerts?after=0&parts=1")["alerts"]) == wanted,
                             "the same alerts")

    def test_the_fixtures(self):
        if not os.path.isdir(FIXTURES):
            self.skipTest("no shared fixtures here")
        for directory in sorted(glob.glob(os.path.join(FIXTURES, "*"))):
            with self.subTest(os.path.basename(directory)):
                anomalies = []
                for path in glob.glob(os.path.join(directory, "truth*.json")):
                    with open(path) as file:
                        anomalies += json.load(file)["anomalies"]
                found = fired(alerts_of(directory))
                if not anomalies:
                    self.assertEqual(found, {})
                named = tuple(rank for anomaly in anomalies if anomaly["kind"] == "straggler"
                              for rank in anomaly["ranks"])
                self.assertEqual(found.get("straggler", ()), named)

    def test_a_trace_of_the_cpu_alone_makes_the_rules_abstain(self):
        with open(os.path.join(self.directory, "host_1.1700000000000000000.pt.trace.json"), "w") as trace:
            json.dump(cpu_trace(), trace)
        for path in [self.directory, *glob.glob(os.path.join(CPU_TRACES, "*.pt.trace.json*"))]:
            with self.subTest(os.path.basename(path)):
                self.check_abstention(path)

    def check_abstention(self, path):
        found = [alert for alert in alerts_of(path) if alert["rule"] in NEED_GPU_WORK]
        self.assertEqual(found, [])
        said = harness.run("replay", path, "--rules=gpu_idle").stderr
        self.assertIn("gpu_idle: INCOMPLETE_DATA for 1 of 1, without gpu activity\n", said)
        with harness.Trainwatch(path) as trainwatch:
            trainwatch.wait_until_read()

            def missing():
                return {rule["rule"]: (rule["abstaining"], rule["missing"])
                        for rule in trainwatch.json("/api/v1/status")["rules"]}
            harness.wait_for(lambda: missing()["gpu_idle"] == (1, ["gpu activity"]), "gpu_idle abstains")
            for rule in NEED_GPU_WORK:
                self.assertEqual(missing()[rule], (1, ["gpu activity"]), rule)
            self.assertEqual(missing()["step_spike"], (0, []))
            page = trainwatch.get("/metrics")
            self.assertIn('trainwatch_rule_abstaining{rule="gpu_idle"} 1', page)


def cpu_trace():
    """Four steps in which operators run on the host, and nothing on a device."""
    def event(category, name, start, duration):
        return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration,
                "args": {}}
    events = []
    for step in range(4):
        start = 1000000.0 + 20000 * step
        events.append(event("user_annotation", "ProfilerStep#%d" % step, start, 20000))
        events.append(event("cpu_op", "aten::addmm", start + 5000, 10000))
    return {"schemaVersion": 1, "traceEvents": events,
            "distributedInfo": {"backend": "gloo", "rank": 0, "world_size": 1}}


if __name__ == "__main__":
    harness.main()
