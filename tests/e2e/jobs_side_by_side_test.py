# SPDX-License-Identifier: Apache-2.0
"""Jobs that run at the same time and lie beside each other are never one: each has its own steps, pace and end."""

import datetime
import os
import subprocess
import sys

import harness

MEGATRON = (" [{at:%Y-%m-%d %H:%M:%S}] iteration {step:8d}/{total:8d} | consumed samples: {samples:12d} | "
            "elapsed time per iteration (ms): {ms:.1f} | learning rate: 1.0E-05 | global batch size:     4 | "
            "lm loss: 2.5E+00 | loss scale: 1.0 | grad norm: 1.1 | number of skipped iterations:   0 | "
            "number of nan iterations:   0 |\n")
DONE = "[after training is done] datetime: {at:%Y-%m-%d %H:%M:%S}\n"
BEGAN = datetime.datetime(2026, 9, 21, 14, 13, 20)


def console(steps, seconds, first=1, began=BEGAN):
    """The lines of a Megatron log, which says at its end that all is done."""
    lines = []
    for step in range(first, first + steps):
        began += datetime.timedelta(seconds=seconds)
        lines.append(MEGATRON.format(at=began, step=step, total=first + steps - 1, samples=4 * step, ms=1000 * seconds))
    return lines + [DONE.format(at=began)]

# A rank that trains until the job shall stop, and at least so many steps.
TRAINING = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
import trainwatch
watch = trainwatch.Watch(sys.argv[2], rank=int(sys.argv[3]), node="host")
step = 0
while step < 20 or not os.path.exists(sys.argv[4]):
    with watch.step("TRAIN", number=step):
        time.sleep(float(sys.argv[5]))
    step += 1
watch.close()
"""


class JobsSideBySideTest(harness.JobTest):
    def write(self, name, lines):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a") as file:
            file.writelines(lines)

    def train(self, rank, seconds, stop, env=None):
        arguments = [sys.executable, "-c", TRAINING, os.path.join(harness.ROOT, "python"), self.directory, str(rank), stop,
                     str(seconds)]
        process = subprocess.Popen(arguments, env=dict(os.environ, **(env or {})))
        self.addCleanup(process.kill)
        return process

    def runs(self, trainwatch):
        """job -> state, step, attempt, pace"""
        return {run["job"]: (run["state"], run["step"], run["attempt"], run["seconds_per_step"])
                for run in trainwatch.json("/api/v1/runs")["runs"]}

    def expect(self, runs, *roots, state=None):
        with harness.Trainwatch(*(os.path.join(self.directory, root) for root in roots[:1]),
                                *("--watch=" + os.path.join(self.directory, root) for root in roots[1:]),
                                state=state or self.state) as trainwatch:
            harness.wait_for(lambda: set(self.runs(trainwatch)) == set(runs), "the runs " + ", ".join(runs))
            harness.wait_for(lambda: all(state == "finished" for state, *_ in self.runs(trainwatch).values()), "they end")
            found = self.runs(trainwatch)
        for job, (step, pace) in runs.items():
            with self.subTest(job=job):
                self.assertEqual(found[job][1:3], (step, 1))
                self.assertAlmostEqual(found[job][3], pace, delta=0.01 * pace)

    def test_two_roots(self):
        self.write("bert/train.log", console(600, 2))
        self.write("gpt/train.log", console(240, 5))
        self.expect({"bert": (600, 2), "gpt": (240, 5)}, "bert/train.log", "gpt/train.log")

    def test_two_roots_of_one_name(self):
        self.write("a/run/slurm-1.out", console(600, 2))
        self.write("b/run/slurm-1.out", console(240, 5))
        self.expect({"a/run": (600, 2), "b/run": (240, 5)}, "a/run", "b/run")

    def test_two_slurm_jobs_in_one_directory(self):
        logs = {"slurm-9001.out": console(600, 2), "slurm-9002.out": console(240, 5)}
        for name, lines in logs.items():
            self.write(name, lines)
        jobs = {"": (600, 2), "9002": (240, 5)}
        self.expect(jobs, "")
        # The same while they write.
        for name, lines in logs.items():
            os.remove(os.path.join(self.directory, name))
        live = self.state + "-live"
        with harness.Trainwatch(self.directory, state=live) as trainwatch:
            for tenth in range(10):
                for name, lines in logs.items():
                    share = len(lines) // 10 + 1
                    self.write(name, lines[tenth * share:(tenth + 1) * share])
                trainwatch.wait_until_read()
        self.expect(jobs, "", state=live)

    def test_a_job_and_the_one_that_goes_on_after_it(self):
        """Another number is another job, whenever it runs."""
        self.write("bert-9001.out", console(100, 2))
        self.write("bert-9002.out", console(100, 2, first=101, began=BEGAN + datetime.timedelta(hours=1)))
        self.expect({"": (100, 2), "9002": (200, 2)}, "")

    def ranks(self, trainwatch):
        """job -> the ranks, how often they were started, and the pace"""
        return {run["job"]: (run["ranks"], run["attempt"], run["seconds_per_step"])
                for run in trainwatch.json("/api/v1/runs")["runs"]}

    def two_jobs_of_the_hook(self, names, first_env=None, second_env=None):
        """The second one begins while the first one writes, and goes on after its end."""
        stop, stop_second = self.state + ".stop", self.state + ".stop-second"
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            first = [self.train(rank, 0.02, stop, first_env) for rank in (0, 1)]
            opened = lambda: os.listdir(os.path.join(self.directory, "framework"))  # noqa: E731
            harness.wait_for(lambda: os.path.exists(os.path.join(self.directory, "framework")) and len(opened()) == 2,
                             "the first job writes")
            second = [self.train(rank, 0.05, stop_second, second_env) for rank in (0, 1)]
            harness.wait_for(lambda: set(self.ranks(trainwatch)) == set(names), "there are two runs")
            open(stop, "w").close()
            self.assertEqual([process.wait() for process in first], [0, 0])
            open(stop_second, "w").close()
            self.assertEqual([process.wait() for process in second], [0, 0])
            harness.wait_for(lambda: all(run["state"] == "finished" for run in trainwatch.json("/api/v1/runs")["runs"]),
                             "both end", 120)
            live = self.ranks(trainwatch)
        with harness.Trainwatch(self.directory) as trainwatch:
            harness.wait_for(lambda: self.ranks(trainwatch) == live, "read when all is over, it is the same")
        self.assertEqual({job: run[:2] for job, run in live.items()}, {job: ("0-1", 1) for job in names})
        for name, pace in zip(names, (0.02, 0.05)):
            self.assertAlmostEqual(live[name][2], pace, delta=0.5 * pace)

    def test_two_jobs_of_the_hook_in_one_directory(self):
        self.two_jobs_of_the_hook(["", "(2)"])

    def test_two_jobs_of_the_hook_that_say_who_they_are(self):
        self.two_jobs_of_the_hook(["", "9002"], {"SLURM_JOB_ID": "9001"}, {"SLURM_JOB_ID": "9002"})


if __name__ == "__main__":
    harness.main()
