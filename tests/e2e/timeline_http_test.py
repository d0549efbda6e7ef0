# SPDX-License-Identifier: Apache-2.0
"""What ran in a span of time, over HTTP: the same events as `trainwatch timeline`, after a restart, too; and the traces of
alerts, which outlive the files of the job."""

import glob
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import urllib.error
import urllib.request

import harness
import trace_schema

GENERATOR = os.path.join(harness.ROOT, "tests", "support", "sagemaker_job_gen.py")
KINETO = os.path.join(harness.ROOT, "tests", "support", "kineto_gen.py")


def essence(events):
    """All but alerts, with names in place of numbers, without the numbers of flows, and in no order."""
    return sorted(json.dumps([process, thread, {key: value for key, value in event.items()
                                                if key not in ("pid", "tid", "id")}], sort_keys=True)
                  for process, thread, event in trace_schema.resolved(events) if process != "Alerts")


def of_phases(events):
    """The essence of spans: the command leaves out what has no steps, such as system metrics."""
    return [each for each in essence(events) if '"ph": "X"' in each]


class TimelineHttpTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        self.output = os.path.join(os.path.dirname(self.directory), "out.json")

    def generate(self, script, *arguments):
        subprocess.run([sys.executable, script, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)

    def job(self, scenario="dataloader", seconds=240, seed=1):
        self.generate(GENERATOR, "job", "--out", self.directory, "--scenario", scenario, "--seconds", seconds, "--gpus", 2,
                      "--cpus", 4, "--seed", seed)

    def of_command(self, *arguments):
        done = harness.run("timeline", self.directory, "--no-alerts", *arguments, "-o", self.output)
        self.assertEqual(done.returncode, 0, done.stderr)
        return trace_schema.load(self.output)

    def of_daemon(self, trainwatch, query):
        document = trainwatch.json("/api/v1/timeline?" + query)
        self.assertEqual(set(document["leftOut"].values()), {0}, document["leftOut"])
        return document["traceEvents"]

    def check_windows(self, trainwatch, starts, seed, count=6):
        dice = random.Random(seed)
        for _ in range(count):
            first = dice.choice(starts)
            window = first, first + dice.choice((1, 1000, 1000000, 30000000))
            expected = self.of_command("--start=%d" % window[0], "--end=%d" % window[1])
            events = self.of_daemon(trainwatch, "start=%d&end=%d" % window)
            trace_schema.check(events)
            self.assertEqual(essence(events), essence(expected), window)

    def starts(self):
        return [int(event["ts"]) for event in self.of_command() if event["ph"] != "M"]

    def test_any_span_has_the_events_that_the_command_finds(self):
        for seed, scenario in enumerate(("normal", "evalphase")):
            shutil.rmtree(self.directory)
            self.job(scenario, seed=seed)
            starts = self.starts()
            with harness.Trainwatch(self.directory, state=self.state + str(seed)) as trainwatch:
                trainwatch.wait_until_read()
                self.check_windows(trainwatch, starts, seed)
                self.assertEqual(essence(self.of_daemon(trainwatch, "")), essence(self.of_command()))
            with harness.Trainwatch(self.directory, state=self.state + str(seed)) as trainwatch:
                self.check_windows(trainwatch, starts, seed + 100)

    def test_large_files_and_an_open_one(self):
        self.generate(GENERATOR, "timeline", "--out", self.directory, "--events", 60000, "--ranks", 3, "--max-bytes",
                      3000000, "--tail", "--seed", 3)
        with harness.Trainwatch(self.directory) as trainwatch:
            trainwatch.wait_until_read()
            self.check_windows(trainwatch, self.starts(), 7, 12)

    def test_compressed_files(self):
        self.job(seconds=90)
        for path in glob.glob(os.path.join(self.directory, "framework", "**", "*.json"), recursive=True):
            with open(path, "rb") as file, gzip.open(path + ".gz", "wb") as to:
                shutil.copyfileobj(file, to)
            os.remove(path)
        with harness.Trainwatch(self.directory) as trainwatch:
            trainwatch.wait_until_read()
            self.check_windows(trainwatch, self.starts(), 5)

    def test_traces_of_profilers(self):
        self.generate(KINETO, "--out", self.directory, "--ranks", 2, "--steps", 4, "--kernels-per-step", 30)
        with harness.Trainwatch(self.directory) as trainwatch:
            trainwatch.wait_until_read()
            starts = self.starts()
            expected = self.of_command("--start=%d" % starts[len(starts) // 3], "--end=%d" % starts[len(starts) // 2])
            events = self.of_daemon(trainwatch, "start=%d&end=%d" % (starts[len(starts) // 3], starts[len(starts) // 2]))
            self.assertEqual(essence(events), essence(expected))
            whole = trainwatch.json("/api/v1/annotations")
            ranks = {row[whole["columns"].index("rank")] for row in whole["rows"]}
            self.assertEqual(ranks, {0, 1})

    def test_what_ran_in_a_span(self):
        self.job(seconds=90)
        spans = [(process, event) for process, _, event in trace_schema.resolved(self.of_command()) if event["ph"] == "X"]
        first = sorted(event["ts"] for _, event in spans)[len(spans) // 2]
        window = int(first), int(first) + 2000000
        expected = {}
        for process, event in spans:
            inside = min(event["ts"] + event["dur"], window[1]) - max(event["ts"], window[0])
            if inside < 0:
                continue
            count, total, begin = expected.get((event["name"], process), (0, 0, float("inf")))
            expected[event["name"], process] = count + 1, total + inside, min(begin, event["ts"])
        with harness.Trainwatch(self.directory) as trainwatch:
            trainwatch.wait_until_read()
            answer = trainwatch.json("/api/v1/annotations?start=%d&end=%d" % window)
        self.assertEqual(answer["columns"], ["name", "phase", "rank", "count", "total_us", "first_us"])
        self.assertEqual(answer["left_out"], 0)
        rows = [dict(zip(answer["columns"], row)) for row in answer["rows"]]
        self.assertEqual({(row["name"], row["phase"]) for row in rows}, set(expected))
        self.assertEqual([row["total_us"] for row in rows], sorted((row["total_us"] for row in rows), reverse=True))
        for row in rows:
            count, total, begin = expected[row["name"], row["phase"]]
            self.assertEqual(row["count"], count, row)
            self.assertAlmostEqual(row["total_us"], total, delta=1 + 0.001 * count)
            self.assertAlmostEqual(row["first_us"], begin, delta=1)
            self.assertEqual(row["rank"], 0)

    def test_steps(self):
        self.job("normal", 120)
        with harness.Trainwatch(self.directory) as trainwatch:
            trainwatch.wait_until_read()
            for first, last in ((40, 60), (0, 3), (7, 8)):
                expected = of_phases(self.of_command("--start=%d" % first, "--end=%d" % last, "--unit=step"))
                events = of_phases(self.of_daemon(trainwatch, "start=%d&end=%d&unit=step" % (first, last)))
                self.assertGreater(len(expected), 10 * (last - first) - 1)
                self.assertEqual(events, expected, (first, last))

    def test_the_trace_of_an_alert_outlives_the_files(self):
        self.job("dataloader")
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            trainwatch.wait_until_read()
            alert = trainwatch.json("/api/v1/alerts")["alerts"][0]
            trace = trainwatch.json("/api/v1/alerts/%s/trace" % alert["id"])
            trace_schema.check(trace["traceEvents"])
            marked = [event for process, _, event in trace_schema.resolved(trace["traceEvents"])
                      if process == "Alerts" and event["ph"] == "X"]
            self.assertIn(alert["id"], [event["args"]["id"] for event in marked])
            self.assertGreater(len(essence(trace["traceEvents"])), 100)
            harness.wait_for(lambda: trainwatch.metric('trainwatch_incident_traces_total{result="made"}') > 0,
                             "the trace is kept")
            shutil.rmtree(os.path.join(self.directory, "framework"))
            self.assertEqual(trainwatch.json("/api/v1/alerts/%s/trace" % alert["id"])["traceEvents"], trace["traceEvents"])
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            request = urllib.request.Request(trainwatch.url + "/api/v1/alerts/%s/trace" % alert["id"],
                                             headers={"Accept-Encoding": "gzip"})
            with urllib.request.urlopen(request) as response:
                self.assertEqual(response.headers["Content-Encoding"], "gzip")
                self.assertIn("attachment", response.headers["Content-Disposition"])
                kept = json.loads(gzip.decompress(response.read()))
            self.assertEqual(kept["traceEvents"], trace["traceEvents"])

    def test_what_is_not_there_is_said(self):
        self.job(seconds=60)
        with harness.Trainwatch(self.directory) as trainwatch:
            trainwatch.wait_until_read()
            for path, status in (("timeline?start=9&end=3", 400), ("timeline?x=1", 400), ("annotations?unit=step", 400),
                                 ("timeline?unit=step&start=1&end=2&job=nobody", 404), ("alerts/00/trace", 404),
                                 ("alerts/../trace", 404), ("alerts/zz/trace", 404)):
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    trainwatch.get("/api/v1/" + path)
                self.assertEqual(refused.exception.code, status, path)
                refused.exception.close()
            self.assertEqual(trainwatch.json("/api/v1/timeline?start=1&end=2")["traceEvents"], [])
            before = essence(trainwatch.json("/api/v1/timeline")["traceEvents"])
            for path in glob.glob(os.path.join(self.directory, "framework", "**", "*.json"), recursive=True):
                os.rename(path, path + ".old")
                shutil.copy(path + ".old", path)
                os.remove(path + ".old")
            now = trainwatch.json("/api/v1/timeline")
            if now["leftOut"]["filesGone"] == 0:  # the copies have been found already
                self.assertEqual(essence(now["traceEvents"]), before)


if __name__ == "__main__":
    harness.main()
