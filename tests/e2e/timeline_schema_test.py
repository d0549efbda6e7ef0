# SPDX-License-Identifier: Apache-2.0
"""`trainwatch timeline`: every event of its traces is checked, and for generated jobs a second reader, in Python, says
which events there must be, in whole and in windows."""

import collections
import glob
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import unittest
from decimal import Decimal

import harness
import trace_schema

SUPPORT = os.path.join(harness.ROOT, "tests", "support")
LOW_GPU = 85


def generate(script, *arguments):
    subprocess.run([sys.executable, os.path.join(SUPPORT, script), *map(str, arguments)], check=True,
                   stdout=subprocess.DEVNULL)


def writer_of(path):
    """SageMaker's name of the node: "1594_0-algo-1_pythontimeline.json" is algo-1-0."""
    name = os.path.basename(path).split("_")
    name = name[1] if len(name) > 2 else name[0]
    rank, _, node = name.partition("-algo")
    return "algo" + node + "-" + rank if node else name


def timeline_events(directory):
    """(phase, thread, name, start in us, duration in us, args) of all spans of SageMaker's timelines."""
    for path in sorted(glob.glob(os.path.join(directory, "framework", "**", "*timeline.json*"), recursive=True)):
        phases, base = {}, 0
        with open(path) as file:
            text = file.read().strip().rstrip(",]").rstrip().rstrip(",")
        for event in json.loads(text + "]" if text else "[]"):
            args = event.get("args")
            if event["ph"] == "M":
                base = args.get("start_time_since_epoch_in_micros", base)
                if event["name"] == "process_name" and "name" in args:
                    phases[event["pid"]] = args["name"]
            elif event["ph"] == "X":
                thread = "%s_%s" % (writer_of(path), event.get("tid", 0))
                yield (phases[event["pid"]], thread, event["name"], Decimal(event["ts"] + base),
                       Decimal(event["dur"]), json.dumps(args, sort_keys=True))


def samples(directory):
    """(process, name, time in us, value) of all system metrics."""
    for path in glob.glob(os.path.join(directory, "system", "**", "*.json"), recursive=True):
        with open(path) as file:
            for line in file:
                record = json.loads(line, parse_float=Decimal)
                name = " ".join(part for part in (record["Name"], record["Dimension"]) if part)
                yield ("System metrics " + record["NodeId"], name,
                       (Decimal(record["Timestamp"]) * 1_000_000).quantize(Decimal("0.001")), float(record["Value"]))


def profiler_events(directory):
    """(name, start in us, duration, category) of all spans of PyTorch's traces."""
    for path in glob.glob(os.path.join(directory, "**", "*.pt.trace.json*"), recursive=True):
        with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
            trace = json.load(file, parse_float=Decimal)
        base = Decimal(trace.get("baseTimeNanoseconds", 0)) / 1000 if isinstance(trace, dict) else 0
        for event in trace if isinstance(trace, list) else trace["traceEvents"]:
            if event["ph"] == "X":
                yield event["name"], Decimal(event["ts"]) + base, Decimal(event["dur"]), event.get("cat")


def touches(start, duration, window):
    return window is None or (start + duration >= window[0] and start <= window[1])


class SchemaTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        self.output = os.path.join(os.path.dirname(self.directory), "out.json")

    def timeline(self, *arguments, code=0, output=None):
        done = harness.run("timeline", self.directory, *arguments, "-o", output or self.output)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def events(self, *arguments):
        self.timeline(*arguments)
        return trace_schema.load(self.output)

    def exact(self):
        """The same trace, with times as they are written."""
        with open(self.output) as file:
            return json.load(file, parse_float=Decimal)

    def check_against_files(self, window, *arguments):
        trace_schema.check(self.events(*arguments))
        found = collections.Counter()
        for process, thread, event in trace_schema.resolved(self.exact()):
            at = Decimal(event["ts"])
            if event["ph"] == "X" and "cat" in event:
                found[event["name"], at, Decimal(event["dur"]), event["cat"]] += 1
            elif event["ph"] == "X":
                found[process, thread, event["name"], at, Decimal(event["dur"]),
                      json.dumps(event["args"], sort_keys=True, default=float)] += 1
            elif event["ph"] == "C":
                found[process, event["name"], at, float(event["args"]["value"])] += 1
        expected = collections.Counter(e for e in timeline_events(self.directory) if touches(e[3], e[4], window))
        expected += collections.Counter(e for e in samples(self.directory) if touches(e[2], 0, window))
        expected += collections.Counter(e for e in profiler_events(self.directory) if touches(e[1], e[2], window))
        self.assertEqual(sum(found.values()), sum(expected.values()))
        self.assertEqual(list((found - expected).items())[:3], [])
        self.assertEqual(list((expected - found).items())[:3], [])
        return sum(found.values())

    def test_generated_jobs_whole_and_in_windows(self):
        for seed, scenario in enumerate(("normal", "evalphase", "dataloader", "lowgpu")):
            with self.subTest(scenario=scenario):
                shutil.rmtree(self.directory)
                generate("sagemaker_job_gen.py", "job", "--out", self.directory, "--scenario", scenario,
                         "--seconds", 90, "--gpus", 2, "--cpus", 4, "--nodes", 1 + seed % 2, "--seed", seed)
                count = self.check_against_files(None)
                self.assertGreater(count, 1000)
                starts = sorted(e[3] for e in timeline_events(self.directory))
                dice = random.Random(seed)
                for _ in range(3):
                    first, last = sorted(dice.choices(starts, k=2))
                    window = int(first), int(last)
                    kept = self.check_against_files(window, "--start=%d" % window[0], "--end=%d" % window[1])
                    self.assertLessEqual(kept, count)

    def test_many_files_of_several_ranks_and_an_open_one(self):
        generate("sagemaker_job_gen.py", "timeline", "--out", self.directory, "--events", 20000, "--ranks", 4,
                 "--max-bytes", 100000, "--tail", "--seed", 3)
        self.check_against_files(None)
        threads = {thread for _, thread, event in trace_schema.resolved(trace_schema.load(self.output))
                   if event["ph"] == "X"}
        self.assertEqual(len(threads), 4, threads)

    def test_generated_profiler_traces_beside_timelines(self):
        for seed, form in enumerate(("modern", "int_us", "array_root")):
            with self.subTest(format=form):
                shutil.rmtree(self.directory)
                generate("kineto_gen.py", "--out", self.directory, "--format", form, "--ranks", 2, "--steps", 4,
                         "--kernels-per-step", 30, "--gzip", "--seed", seed)
                generate("sagemaker_job_gen.py", "timeline", "--out", self.directory, "--events", 500, "--ranks", 2)
                self.check_against_files(None)
                processes = {process.split(":")[0] for process, _, event in
                             trace_schema.resolved(trace_schema.load(self.output)) if "cat" in event}
                self.assertEqual(processes, {"rank 0", "rank 1"})
                spans = [e for e in profiler_events(self.directory)]
                middle = sorted(e[1] for e in spans)[len(spans) // 2]
                window = int(middle) - 50, int(middle) + 50
                self.check_against_files(window, "--start=%d" % window[0], "--end=%d" % window[1])

    def test_flows_lead_where_they_led(self):
        generate("kineto_gen.py", "--out", self.directory, "--ranks", 2, "--steps", 3, "--kernels-per-step", 20)
        expected = collections.Counter()
        for path in glob.glob(os.path.join(self.directory, "**", "*.pt.trace.json"), recursive=True):
            with open(path) as file:
                for event in json.load(file)["traceEvents"]:
                    if event["ph"] in "sf":
                        expected[path, event["id"], event["ph"]] += 1
        found = collections.Counter((event["id"], event["ph"]) for _, _, event in trace_schema.resolved(self.events())
                                    if event["ph"] in "sf")
        self.assertGreater(len(found), 100)
        self.assertEqual(sorted(found.values()), sorted(expected.values()), "none of two traces has one number")
        for phase in "sf":
            self.assertEqual(len({number for number, its in found if its == phase}),
                             len({number[:2] for number in expected if number[2] == phase}))

    def test_steps(self):
        """From the first event of step 5 until just before the first one of step 8, for every kind of file."""
        generate("sagemaker_job_gen.py", "job", "--out", self.directory, "--scenario", "normal", "--seconds", 60)
        steps = [e for e in timeline_events(self.directory) if "step_num" in e[5]]
        begin = {n: min(e[3] for e in steps if int(json.loads(e[5])["step_num"]) == n) for n in (5, 8)}
        self.check_against_files((begin[5], begin[8] - 1), "--start=5", "--end=8", "--unit=step")
        done = self.timeline("--start=100000", "--end=100001", "--unit=step", "--no-alerts")
        self.assertIn("no such steps", done.stderr)
        self.assertEqual(trace_schema.load(self.output), [])

    def test_suffixes_choose_files(self):
        generate("sagemaker_job_gen.py", "job", "--out", self.directory, "--scenario", "normal", "--seconds", 60)
        kinds = {suffix: {process.split(" ")[0].split(":")[0] for process, _, event in trace_schema.resolved(
            self.events("--no-alerts", *("--suffix=" + s for s in suffix)))}
            for suffix in ((), ("pythontimeline.json",), ("algo-1.json",), ("pythontimeline.json", "algo-1.json"))}
        self.assertEqual(kinds["pythontimeline.json", "algo-1.json"], kinds[()])
        self.assertEqual(kinds["algo-1.json",], {"System"})
        self.assertEqual(kinds["pythontimeline.json",], kinds[()] - {"System"})
        self.assertIn("no timeline", self.timeline("--suffix=none", code=1).stderr)

    def test_alerts_are_those_of_the_replay(self):
        generate("sagemaker_job_gen.py", "job", "--out", self.directory, "--scenario", "stepoutlier",
                 "--seconds", 240)
        replayed = harness.run("replay", self.directory)
        alerts = [json.loads(line) for line in replayed.stdout.splitlines()]
        fired = {(alert["id"], alert["rule"]) for alert in alerts}
        self.assertTrue(fired)
        shown = [event for process, _, event in trace_schema.resolved(self.events()) if process == "Alerts"]
        self.assertEqual({event["ph"] for event in shown}, {"i"})
        self.assertEqual({(event["args"]["id"], event["args"]["rule"]) for event in shown}, fired)
        for event in shown:
            self.assertIn(event["args"], alerts)
        self.assertNotIn("Alerts", {process for process, _, _ in trace_schema.resolved(self.events("--no-alerts"))})

    def test_moments_of_low_gpu_use(self):
        """Of each moment in which a GPU is used little: all metrics within 20 ms of it."""
        generate("sagemaker_job_gen.py", "job", "--out", self.directory, "--scenario", "lowgpu", "--seconds", 60,
                 "--gpus", 2)
        records = sorted(samples(self.directory), key=lambda record: record[2])
        low = [at for _, name, at, value in records if name.endswith("GPUUtilization") and value < LOW_GPU]
        expected, last = [], None
        for at in low:
            if last is None or at > last + 20000:
                last = at
                expected.append(at)
        events = self.events("--low-gpu")
        marks = [event for event in self.exact() if event["name"] == "sys_metrics_bottlenecks"]
        self.assertGreater(len(marks), 20)
        self.assertEqual([Decimal(mark["ts"]) for mark in marks], expected)
        for mark in marks[:: len(marks) // 20]:
            around = {"%s_%s" % (name.replace(" ", "_"), process.split(" ")[-1]): value
                      for process, name, at, value in records if abs(at - Decimal(mark["ts"])) <= 20000}
            self.assertEqual({key: float(value) for key, value in mark["args"].items()}, around)
        plain = [event for event in events if event["name"] != "sys_metrics_bottlenecks" and event["ph"] != "M"]
        self.assertEqual(len(plain), len([event for event in self.events() if event["ph"] != "M"]))

    def test_compressed_plain_and_standard_output_are_the_same(self):
        generate("sagemaker_job_gen.py", "job", "--out", self.directory, "--scenario", "normal", "--seconds", 60)
        self.timeline()
        with open(self.output) as file:
            plain = file.read()
        self.timeline(output=self.output + ".gz")
        with gzip.open(self.output + ".gz", "rt") as file:
            self.assertEqual(file.read(), plain)
        self.assertEqual(self.timeline(output="-").stdout, plain)
        for path in glob.glob(os.path.join(self.directory, "**", "*.json"), recursive=True):
            with open(path, "rb") as file, gzip.open(path + ".gz", "wb") as to:
                shutil.copyfileobj(file, to)
            os.remove(path)
        self.timeline()
        with open(self.output) as file:
            self.assertEqual(file.read(), plain)

    def test_broken_records_are_left_out_and_said(self):
        folder = os.path.join(self.directory, "framework", "pevents", "2020071317")
        os.makedirs(folder)
        with open(os.path.join(folder, "1594662624718694_0-algo-1_pythontimeline.json"), "w") as file:
            file.write('[\n{"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "Step:ModeKeys.TRAIN"}},\n'
                       '{"name": "a", "pid": 0, "ph": "X", "ts": 5, "dur": 7, "args": {"loss": NaN}},\n'
                       '{"name": "b", "pid": 0, "ph": "X", "ts": 6, "dur": -7},\n'
                       '{"name": "c", "pid": 0, "ph": "X", "ts": "soon", "dur": 7},\n'
                       '{"name": "d", "pid": 0, "ph": "B", "ts": 8},\n{"ph": "E", "pid": 0, "ts": 9},\n'
                       '{"name": "e", "ph": "i", "ts": 8.5, "s": "g"},\n{}\n')
        done = self.timeline("--no-alerts")
        self.assertIn("2 broken records left out", done.stderr)
        events = trace_schema.load(self.output)
        trace_schema.check(events)
        self.assertEqual([(e["name"], e["ts"], e.get("dur")) for e in events if e["ph"] != "M"],
                         [("b", 6, 0), ("d", 8, 1), ("e", 8.5, None)])

    def test_memory_is_bounded(self):
        """Four times the events take no more memory: they are sorted on disk."""
        peaks = []
        for events in (250_000, 1_000_000):
            shutil.rmtree(self.directory)
            generate("sagemaker_job_gen.py", "timeline", "--out", self.directory, "--events", events, "--ranks", 2)
            done = subprocess.run([sys.executable, "-c",
                                   "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
                                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                                   harness.binary(), "timeline", self.directory, "--no-alerts", "-o", self.output],
                                  stdout=subprocess.PIPE, text=True, check=True)
            peaks.append(int(done.stdout))
        print("peaks: %s KiB" % peaks)
        self.assertLess(peaks[1], peaks[0] + 16384, "KiB")
        self.assertLess(peaks[1], 96 << 10, "KiB")
        last, count = 0, 0
        with open(self.output) as file:
            for line in file:
                if '"ph": "X"' in line:
                    at = int(line.split('"ts": ')[1].split(",")[0])
                    self.assertGreaterEqual(at, last)
                    last, count = at, count + 1
        self.assertGreaterEqual(count, 1_000_000)
        self.assertEqual([name for name in os.listdir(os.path.dirname(self.output)) if "trainwatch" in name], [])


if __name__ == "__main__":
    harness.main()
