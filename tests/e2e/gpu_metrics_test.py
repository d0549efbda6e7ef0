# SPDX-License-Identifier: Apache-2.0
"""What /metrics says of GPU activity is what the generator of the traces knows to be true, also over two cycles
and a kill between them."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import harness

GENERATOR = os.path.join(harness.ROOT, "tests", "support", "kineto_gen.py")
RANKS = 2


class GpuMetricsTest(harness.JobTest):
    def generate(self, scenario, cycle):
        """The directory of the traces of one cycle, and what is true of each rank."""
        made = "%s.%s.%d" % (self.directory, scenario, cycle)
        command = [sys.executable, GENERATOR, "--out", made, "--scenario", scenario, "--ranks", str(RANKS),
                   "--steps", "4", "--cycle", str(cycle), "--gzip"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        self.addCleanup(shutil.rmtree, made)
        with open(glob.glob(os.path.join(made, "truth*.json"))[0]) as file:
            truth = json.load(file)
        return made, {each["rank"]: dict(each, steps=[step for step in truth["steps"]
                                                      if step["rank"] == each["rank"]])
                      for each in truth["whole_trace"]}

    def deliver(self, made):
        for name in os.listdir(made):
            if not name.startswith("truth"):
                shutil.copy(os.path.join(made, name), self.directory)

    def value(self, page, name, rank, *labels):
        pattern = r'^trainwatch_%s\{[^}]*rank="%d"[^}]*%s[^}]*\} (\S+)' % (name, rank, "[^}]*".join(labels))
        found = re.search(pattern, page, re.M)
        self.assertIsNotNone(found, (name, rank, labels))
        return float(found.group(1))

    def check(self, page, truths):
        """`truths` are those of the cycles so far."""
        for rank in range(RANKS):
            latest = truths[-1][rank]
            sums = {key: sum(truth[rank][key] for truth in truths) / 1e6
                    for key in ("idle_us", "compute_us", "comm_us", "memory_us")}
            steps = latest["steps"]

            def equal(mine, theirs):
                self.assertAlmostEqual(mine, theirs, delta=1e-6 * max(theirs, 1e-3))
            equal(self.value(page, "gpu_busy_ratio", rank), 1 - latest["idle_us"] / latest["window_us"])
            equal(self.value(page, "comm_comp_overlap_ratio", rank),
                  latest["comm_compute_overlap_us"] / latest["comm_us"])
            equal(self.value(page, "data_wait_ratio", rank),
                  sum(step["data_wait_us"] for step in steps) / sum(step["step_us"] for step in steps))
            equal(sum(self.value(page, "gpu_idle_seconds_total", rank, 'cause="%s"' % cause)
                      for cause in ("host_wait", "kernel_wait", "other")), sums["idle_us"])
            for kind, key in (("computation", "compute_us"), ("communication", "comm_us"),
                              ("memory", "memory_us")):
                equal(self.value(page, "gpu_time_seconds_total", rank, 'kind="%s"' % kind), sums[key])
            launches = [truth[rank]["launch"] for truth in truths]
            self.assertEqual(self.value(page, "kernel_launch_delay_seconds_count", rank),
                             sum(launch["count"] for launch in launches))
            equal(self.value(page, "kernel_launch_delay_seconds_sum", rank),
                  sum(launch["delay_us"] for launch in launches) / 1e6)

    def test_every_figure_is_true(self):
        for scenario in ("normal", "comm_bound", "input_bound", "launch_bound", "memcpy_heavy"):
            with self.subTest(scenario):
                for name in os.listdir(self.directory):
                    os.remove(os.path.join(self.directory, name))
                made, truth = self.generate(scenario, 0)
                self.deliver(made)
                with harness.Trainwatch(self.directory) as trainwatch:
                    trainwatch.wait_until_read()
                    self.check(trainwatch.get("/metrics"), [truth])

    def test_cycles_add_up_and_a_kill_changes_nothing(self):
        first, first_truth = self.generate("normal", 0)
        second, second_truth = self.generate("normal", 1)
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            self.deliver(first)
            trainwatch.wait_until_read()
            trainwatch.signal(signal.SIGKILL)
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            self.check(trainwatch.get("/metrics"), [first_truth])
            self.deliver(second)
            trainwatch.wait_until_read()
            harness.wait_for(lambda: self.value(trainwatch.get("/metrics"), "kernel_launch_delay_seconds_count",
                                                0) > first_truth[0]["launch"]["count"], "the second cycle")
            self.check(trainwatch.get("/metrics"), [first_truth, second_truth])


if __name__ == "__main__":
    harness.main()
