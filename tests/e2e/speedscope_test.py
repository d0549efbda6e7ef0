# SPDX-License-Identifier: Apache-2.0
"""A merged trace in an independent reader: speedscope, in Chromium, shows every thread with all names of its spans."""

import functools
import http.server
import json
import os
import shutil
import subprocess
import sys

import harness
import trace_schema
from local_server import LocalServer, Quiet

FOLDER = os.path.join(harness.ROOT, "tests", "e2e")
SPEEDSCOPE = os.path.join(FOLDER, "node_modules", "speedscope", "dist", "release")
GENERATOR = os.path.join(harness.ROOT, "tests", "support", "sagemaker_job_gen.py")


class Files(Quiet, http.server.SimpleHTTPRequestHandler):
    pass


class SpeedscopeTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        for program in ("node", "chromium"):
            if shutil.which(program) is None:
                self.skipTest(program + " is not installed")
        if not os.path.isdir(SPEEDSCOPE):
            self.skipTest("npm ci --prefix tests/e2e was not run (scripts/test.sh does)")

    def test_every_thread_and_name_is_shown(self):
        subprocess.run([sys.executable, GENERATOR, "job", "--out", self.directory, "--scenario", "dataloader", "--seconds",
                        "60"], check=True, stdout=subprocess.DEVNULL)
        served = os.path.join(os.path.dirname(self.directory), "served")
        shutil.copytree(SPEEDSCOPE, served)
        trace = os.path.join(served, "trace.json")
        self.assertEqual(harness.run("timeline", self.directory, "-o", trace).returncode, 0)
        expected = {}
        for process, thread, event in trace_schema.resolved(trace_schema.load(trace)):
            if event["ph"] == "X":
                expected.setdefault((process, thread), set()).add(event["name"])
        with LocalServer(functools.partial(Files, directory=served)) as server:
            done = subprocess.run(
                ["node", os.path.join(FOLDER, "timeline_speedscope.mjs"), server.url + "/index.html#profileURL=" + server.url +
                 "/trace.json", shutil.which("chromium")], capture_output=True, text=True, timeout=harness.PATIENCE_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(done.stdout)
        self.assertEqual(shown["failures"], [])
        found = sorted(sorted({name.split(" {")[0] for name in names}) for names in shown["profiles"])
        self.maxDiff = None
        self.assertEqual(found, sorted(sorted(names) for names in expected.values()))


if __name__ == "__main__":
    harness.main()
