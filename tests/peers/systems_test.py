# SPDX-License-Identifier: Apache-2.0
"""The released program on other distributions does what it does here, on the oldest with the oldest C library that it is
linked for."""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
import harness  # noqa: E402
import systems  # noqa: E402

# With the C library 2.27, 2.31, 2.31, 2.35, 2.39 and 2.41.
SYSTEMS = ("bionic", "focal", "bullseye", "jammy", "noble", "trixie")


class SystemsTest(harness.unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name

    def test_it_does_there_what_it_does_here(self):
        for suite in SYSTEMS:
            with self.subTest(suite):
                root = os.path.join(self.scratch, suite)
                systems.make(suite, root)
                shared = os.path.join(self.scratch, suite + "-shared")
                shutil.copytree(harness.JOB, shared + "/finished")
                self.prefix = systems.inside(root, shared, os.path.dirname(harness.binary()))
                self.check_commands(shared)
                self.check_run(shared)

    def both(self, *arguments):
        """Runs a command here and there, and expects the same."""
        command = [harness.binary(), *arguments]
        here, there = (subprocess.run(prefix + command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                                      check=False) for prefix in ([], self.prefix))
        self.assertEqual((there.returncode, there.stdout, there.stderr), (here.returncode, here.stdout, here.stderr))
        return here

    def check_commands(self, shared):
        job = shared + "/finished"
        self.both("version")
        self.assertGreater(len(self.both("replay", job).stdout), 1000)
        self.both("analyze", job, "--what=step_statistics,step_histogram")
        self.both("timeline", job, "-o", shared + "/timeline.json.gz")
        self.both("report", job, "-o", "-")
        self.assertEqual(self.both("run", "--no-such-flag").returncode, 2)  # an exception that is caught
        with open(shared + "/bad.yaml", "w") as file:
            file.write("rules: {[")
        self.assertEqual(self.both("check-config", shared + "/bad.yaml").returncode, 78)

    def check_run(self, shared):
        job = shared + "/job"
        sampled = subprocess.run(self.prefix + [harness.binary(), "sample", "--out=" + job,
                                                "--interval=100ms", "--duration=1s"], stderr=subprocess.PIPE,
                                 timeout=60, check=False)
        self.assertEqual(sampled.returncode, 0, sampled.stderr)
        with harness.Trainwatch(job, state=shared + "/state", prefix=self.prefix) as trainwatch:
            shutil.copytree(harness.JOB, job + "/recorded")
            alerts = harness.wait_for(lambda: trainwatch.json("/api/v1/alerts?after=0")["alerts"], "an alert")
            harness.wait_for(lambda: trainwatch.metric("trainwatch_steps_total") >= 600, "all steps are read")
            self.assertGreater(trainwatch.metric("trainwatch_system_utilization_ratio"), 0)
            # By name: what resolves it is a part of the C library that is loaded when it is needed.
            url = trainwatch.url.replace("127.0.0.1", "localhost")
            with subprocess.Popen(["timeout", str(harness.PATIENCE_SECONDS), *self.prefix, harness.binary(), "follow", url, "--after=0"],
                                  stdout=subprocess.PIPE, text=True) as follow:
                self.assertTrue(any(alerts[0]["id"] in line for line in follow.stdout))
                follow.terminate()


if __name__ == "__main__":
    if systems.why_not():
        harness.skip(systems.why_not())
    sys.argv[1] = os.path.abspath(harness.binary())  # the same path there
    harness.main()
