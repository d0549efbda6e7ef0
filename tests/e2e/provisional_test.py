# SPDX-License-Identifier: Apache-2.0
"""A profiler's file that is still being written shows its first steps in the status, as provisional, until it is
complete: plain under its temporary name, and compressed."""
import glob
import gzip
import json
import os
import subprocess
import sys

import harness

GENERATOR = os.path.join(harness.ROOT, "tests", "support", "kineto_gen.py")


class ProvisionalTest(harness.JobTest):
    def generate(self, *options):
        made = self.directory + ".made"
        command = [sys.executable, GENERATOR, "--out", made, "--scenario", "input_bound", "--ranks", "1", "--steps", "4",
                   *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(made, "truth.json")) as file:
            steps = json.load(file)["steps"]
        traces = [name for name in glob.glob(os.path.join(made, "*")) if "truth" not in name]
        with open(traces[0], "rb") as file:
            return os.path.basename(traces[0]), file.read(), steps

    def file_of(self, trainwatch):
        files = trainwatch.json("/api/v1/status")["files"]
        return files[0] if files else {}

    def check(self, name, content, steps, final):
        path = os.path.join(self.directory, name)
        with harness.Trainwatch(self.directory) as trainwatch:
            with open(path, "wb") as file:
                file.write(content[:len(content) * 9 // 10])
                file.flush()
                shown = harness.wait_for(lambda: self.file_of(trainwatch).get("provisional"), "provisional numbers")
                harness.wait_for(lambda: self.file_of(trainwatch)["provisional"]["steps_seen"] == len(steps), "all steps")
                shown = self.file_of(trainwatch)["provisional"]
                for found, true in zip(shown["steps"], steps):
                    self.assertEqual(found["step"], true["step"])
                    self.assertAlmostEqual(found["seconds"], true["step_us"] / 1e6, delta=1e-8)
                    self.assertAlmostEqual(found["data_wait_seconds"], true["data_wait_us"] / 1e6, delta=1e-8)
                self.assertGreater(shown["gpu_rows"], 0)
                self.assertNotIn("trainwatch_gpu_busy_ratio{", trainwatch.get("/metrics"))
                file.write(content[len(content) * 9 // 10:])
            os.rename(path, os.path.join(self.directory, final))
            harness.wait_for(lambda: "trainwatch_gpu_busy_ratio{" in trainwatch.get("/metrics"), "the complete cycle")
            self.assertNotIn("provisional", self.file_of(trainwatch))

    def test_under_a_temporary_name(self):
        name, content, steps = self.generate()
        self.check(name + ".tmp", content, steps, name)

    def test_compressed(self):
        name, content, steps = self.generate()
        self.check(name + ".gz", gzip.compress(content), steps, name + ".gz")


if __name__ == "__main__":
    harness.main()
