# SPDX-License-Identifier: Apache-2.0
"""Where the time of every step went is what the generator of the traces knows to be true, within 1 %: exposed
communication, and idle by what the host did meanwhile. Also over /metrics, as lost seconds."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import harness

GENERATOR = os.path.join(harness.ROOT, "tests", "support", "kineto_gen.py")
SHARED = os.path.join(harness.ROOT, "..", "shared", "fixtures", "kineto")
SCENARIOS = ("normal", "comm_bound", "gc_pause", "input_bound", "input_spike", "launch_bound", "memcpy_heavy", "overlap",
             "straggler", "sync_heavy")
FORMATS = ("modern2024", "int_us", "legacy2021")
CAUSES = {"data_wait": "input_wait", "host_pause": "host_pause", "sync": "synchronization",
          "host_launch": "kernel_launch", "queued_gap": "unattributed"}


def truth_of(folder):
    steps = []
    for name in glob.glob(os.path.join(folder, "truth*.json")):
        with open(name) as file:
            steps += json.load(file)["steps"]
    return steps


def parts_of(step):
    """Of one step of the truth: {column: microseconds}."""
    idle = step["idle_by_cause_us"]
    return {"dur_ns": step["step_us"], "data_wait_ns": step["data_wait_us"], "compute_time_ns": step["compute_us"],
            "communication_time_ns": step["comm_us"], "exposed_communication_time_ns": step["comm_exposed_us"],
            "idle_data_wait_time_ns": idle["data_wait"], "idle_host_pause_time_ns": idle["host_pause"],
            "idle_synchronization_time_ns": idle["sync"], "idle_launch_time_ns": idle["host_launch"],
            "idle_queued_time_ns": idle["queued_gap"]}


class StepTruthTest(harness.JobTest):
    def generate(self, scenario, *options):
        made = os.path.join(self.directory, "-".join((scenario,) + options))
        command = [sys.executable, GENERATOR, "--out", made, "--scenario", scenario, "--ranks", "3", "--steps", "4",
                   "--kernels-per-step", "60", *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return made

    def check(self, folder):
        output = subprocess.run([harness.binary(), "analyze", folder, "--what=profiler_steps"], check=True,
                                stdout=subprocess.PIPE).stdout
        result = json.loads(output)["profiler_steps"]
        found = {}
        for row in result["rows"]:
            named = dict(zip(result["columns"], row))
            found[named["rank"], named["step"]] = named
        steps = truth_of(folder)
        self.assertTrue(steps)
        for step in steps:
            for column, micros in parts_of(step).items():
                self.assertAlmostEqual(found[step["rank"], step["step"]][column], micros * 1000,
                                       delta=0.01 * micros * 1000 + 5, msg=(step["rank"], step["step"], column))

    def test_every_scenario(self):
        for scenario in SCENARIOS:
            with self.subTest(scenario):
                self.check(self.generate(scenario))

    def test_every_format(self):
        for form in FORMATS:
            with self.subTest(form):
                self.check(self.generate("sync_heavy", "--format", form))

    @unittest.skipUnless(os.path.isdir(SHARED), "../shared is not there")
    def test_the_shared_fixtures(self):
        for folder in sorted(glob.glob(os.path.join(SHARED, "*"))):
            with self.subTest(os.path.basename(folder)):
                self.check(folder)

    def test_lost_seconds(self):
        made = self.generate("gc_pause")
        truth = truth_of(made)
        for name in glob.glob(os.path.join(made, "truth*.json")):
            os.remove(name)
        def lost(step):
            found = {CAUSES[cause]: step["idle_by_cause_us"][cause] for cause in CAUSES}
            return dict(found, communication=step["comm_exposed_us"])

        # All ranks lost what the one did that waited least for the others.
        by_rank = [[lost(step) for step in truth if step["rank"] == rank] for rank in range(3)]
        first = min(by_rank, key=lambda steps: sum(step["communication"] for step in steps))
        with harness.Trainwatch(self.directory) as trainwatch:
            harness.wait_for(lambda: trainwatch.json("/api/v1/runs")["runs"][0]["life"]["open_seconds"] == 0, "all is booked")
            page = trainwatch.get("/metrics")
            for cause in first[0]:
                seconds = 3 * sum(step[cause] for step in first) / 1e6
                value = float(re.search(r'^trainwatch_run_gpu_seconds_total\{[^}]*part="%s"\} (\S+)' % cause, page, re.M).group(1))
                self.assertAlmostEqual(value, seconds, delta=0.02 * seconds + 1e-4, msg=cause)


if __name__ == "__main__":
    harness.main()
