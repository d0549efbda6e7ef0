# SPDX-License-Identifier: Apache-2.0
"""What the daemon says of a job is what `analyze` says of its files, also after it was killed half-way."""
import cProfile
import http.client
import json
import marshal
import os
import shutil
import signal
import subprocess
import sys
import threading
import unittest
import urllib.error

import harness

SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")
NAMES = ["job_statistics", "step_statistics", "utilization_stats", "device_usage_stats",
         "training_phase_intervals", "metrics_histogram", "step_histogram", "step_timeline", "heatmap",
         "dataloader_getnext", "dataloader_workers", "dataloader_initialization", "batchtime",
         "tf_getnext_per_step", "overall_system_usage", "overall_framework_metrics"]


class AnalysesTest(harness.JobTest):
    def generate(self, seconds):
        where = os.path.join(self.directory + ".all")
        command = [sys.executable, os.path.join(SUPPORT, "sagemaker_job_gen.py"), "job", "--scenario",
                   "evalphase", "--seconds", str(seconds), "--out", where]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        self.addCleanup(shutil.rmtree, where)
        return where

    def live(self, trainwatch):
        return {name: trainwatch.json("/api/v1/analyses/" + name) for name in NAMES}

    def old(self):
        done = harness.run("analyze", self.directory, "--what=" + ",".join(NAMES))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_same_live_and_on_finished_files(self):
        everything = self.generate(150)
        files = [os.path.join(root, name) for root, _, names in os.walk(everything) for name in names]
        files.sort(key=lambda path: os.path.basename(path)[:10])  # the seconds, in both kinds of names
        self.assertGreater(len(files), 4)
        half = len(files) // 2
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            self.copy(everything, files[:half])
            trainwatch.wait_until_read()
            self.assertEqual(self.live(trainwatch), self.old())
            trainwatch.signal(signal.SIGKILL)
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            self.copy(everything, files[half:])
            trainwatch.wait_until_read()
            self.assertEqual(self.live(trainwatch), self.old())

    def copy(self, everything, files):
        for path in files:
            to = os.path.join(self.directory, os.path.relpath(path, everything))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(path, to)

    def test_what_analyze_says_of_mistakes(self):
        unknown = harness.run("analyze", self.directory, "--what=heatmap,stepstatistics")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("unknown analysis 'stepstatistics' (did you mean 'step_statistics'?)", unknown.stderr)
        for name in NAMES:
            self.assertIn(name, unknown.stderr)
        missing = harness.run("analyze", "/nowhere", "--what=heatmap")
        self.assertEqual(missing.returncode, 1)
        backwards = harness.run("analyze", self.directory, "--what=heatmap", "--from-us=2", "--to-us=1")
        self.assertEqual((backwards.returncode, backwards.stderr), (2, "--to-us is before --from-us\n"))
        none = harness.run("analyze", self.directory)
        self.assertEqual(none.returncode, 2)

    def test_trace_diff_is_of_two_traces(self):
        with harness.Trainwatch(self.directory) as trainwatch:
            with self.assertRaises(urllib.error.HTTPError) as refused:
                trainwatch.get("/api/v1/analyses/trace_diff")
            self.assertEqual(refused.exception.code, 400)
            self.assertIn("analyze CONTROL TEST --what=trace_diff",
                          json.loads(refused.exception.read())["error"])

    def test_python_profile_of_a_running_job(self):
        folder = os.path.join(self.directory, "framework", "pytorch", "cprofile", "0-algo-1",
                              "train-4-stepstart-1596585374963238.0_train-5-stepend-1596585376008161.0")
        profile = cProfile.Profile()
        profile.runcall(sum, range(1000))
        with harness.Trainwatch(self.directory) as trainwatch:
            none = trainwatch.json("/api/v1/analyses/python_profile")
            self.assertEqual(none["nodes"], [])
            os.makedirs(folder)
            profile.dump_stats(os.path.join(folder, "python_stats"))
            live = trainwatch.json("/api/v1/analyses/python_profile")
            self.assertEqual(live["nodes"], [{"node": "algo-1", "rank": 0}])
            self.assertEqual(live["cprofile"]["training_loop"]["profiles"], 1)
            with self.assertRaises(urllib.error.HTTPError):
                trainwatch.get("/api/v1/analyses/python_profile?job=a")
        done = harness.run("analyze", self.directory, "--what=python_profile")
        self.assertEqual(json.loads(done.stdout)["python_profile"], live)

    def test_a_large_python_profile_holds_up_nothing(self):
        functions = {("job.py", line, "function_%d" % line): (1, 1, 1e-6, 2e-6, {}) for line in range(20000)}
        first = None
        for number in range(1000):  # some 20 s of reading
            folder = os.path.join(self.directory, "framework", "pytorch", "cprofile", "0-algo-1",
                                  "train-%d-stepstart-%d.0_train-%d-stepend-%d.0" % (
                                      number, 1596585374000000 + number, number, 1596585374000001 + number))
            os.makedirs(folder)
            path = os.path.join(folder, "python_stats")
            if first:
                os.link(first, path)
            else:
                first = path
                with open(path, "wb") as file:
                    marshal.dump(functions, file)
        job = self.directory + ".all"
        shutil.copytree(harness.JOB, job)
        with harness.Trainwatch(self.directory) as trainwatch:
            answers = []

            def ask():
                try:
                    answers.append(trainwatch.get("/api/v1/analyses/python_profile"))
                except (OSError, http.client.HTTPException) as refused:
                    answers.append(refused)
            tasks = "/proc/%d/task" % trainwatch.pid
            threads = len(os.listdir(tasks))
            asking = threading.Thread(target=ask)
            asking.start()
            harness.wait_for(lambda: len(os.listdir(tasks)) > threads, "the profiles are being read")
            with self.assertRaises(urllib.error.HTTPError) as refused:
                trainwatch.get("/api/v1/analyses/python_profile")
            self.assertEqual(refused.exception.code, 503)
            steps = trainwatch.metric("trainwatch_steps_total")
            os.rename(job, os.path.join(self.directory, "job"))
            harness.wait_for(lambda: trainwatch.metric("trainwatch_steps_total") > steps, "steps")
            self.assertEqual(answers, [])  # it is still being made
            self.assertEqual(trainwatch.stop(), 0)
            asking.join()
            self.assertNotIsInstance(answers[0], str, "the stop has waited for it")

    def test_python_profile_is_an_analysis(self):
        done = harness.run("analyze", self.directory, "--what=python_profile")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["python_profile"]["nodes"], [])


if __name__ == "__main__":
    harness.main()
