# SPDX-License-Identifier: Apache-2.0
"""`trainwatch timeline --counters`: a copy of a profiler's trace that has every event as it was, and counters that say
what the analyses say."""

import collections
import gzip
import json
import os
import shutil
import subprocess
import sys
import unittest

import harness

TRACES = os.path.join(harness.ROOT, "tests", "data", "hta", "kineto")
REAL = os.path.join(os.path.dirname(harness.ROOT), "shared", "data", "kineto")


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return json.loads(file.read().decode(errors="replace"), strict=False)


def events_of(trace):
    return trace if isinstance(trace, list) else trace["traceEvents"]


def traces_below(folder):
    return sorted(os.path.join(where, name) for where, _, names in os.walk(folder) for name in names
                  if ".json" in name and name != "truth.json")


def series(events):
    """(name, pid, id) -> the values of its counter, in order."""
    found = collections.defaultdict(list)
    for event in events:
        assert event["ph"] == "C" and list(event["args"]) == [event["name"]], event
        found[event["name"], event["pid"], event["id"]].append((event["ts"], event["args"][event["name"]]))
    return found


class TimelineTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        self.output = os.path.join(os.path.dirname(self.directory), "out.json")

    def timeline(self, *paths, output=None, code=0, options=("--counters",)):
        done = harness.run("timeline", *paths, *options, "-o", output or self.output)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def summaries(self, path, *arguments):
        done = harness.run("analyze", path, "--what=queue_length_summary,memory_bw_summary", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def rows(self, summary, *columns):
        places = [summary["columns"].index(column) for column in columns]
        return sorted(tuple(row[place] for place in places) for row in summary["rows"])

    def check(self, path, *arguments):
        """One trace: what was in it is in the copy, and what is more says what the analyses say."""
        self.timeline(path, options=("--counters", *arguments))
        before, after = load(path), load(self.output)
        count = len(events_of(before))
        self.assertEqual(events_of(after)[:count], events_of(before))
        if isinstance(before, dict):
            self.assertEqual({**after, "traceEvents": 0}, {**before, "traceEvents": 0})
        added = series(events_of(after)[count:])
        for points in added.values():
            self.assertEqual([at for at, _ in points], sorted(at for at, _ in points))
        expected = self.summaries(path, *arguments)
        queues = [(identity, len(points), max(value for _, value in points),
                   sum(value for _, value in points) / len(points))
                  for (name, _, identity), points in added.items() if name == "Queue Length"]
        self.match(queues, self.rows(expected["queue_length_summary"], "stream", "queue_length_count",
                                     "queue_length_max", "queue_length_mean"))
        busy = [(identity, [value for _, value in points if value > 0])
                for (name, _, identity), points in added.items() if name == "Memcpy BW"]
        self.match([(kind, len(values), max(values), sum(values) / len(values)) for kind, values in busy],
                   self.rows(expected["memory_bw_summary"], "name", "memory_bw_gbps_count",
                             "memory_bw_gbps_max", "memory_bw_gbps_mean"))
        return added

    def match(self, got, expected):
        self.assertEqual([row[:2] for row in sorted(got)], [row[:2] for row in expected])
        for mine, theirs in zip(sorted(got), expected):
            for a, b in zip(mine[2:], theirs[2:]):
                self.assertAlmostEqual(a, b, delta=1e-9 * max(1, abs(b)), msg=(mine, theirs))

    def test_one_trace_of_each(self):
        for path in traces_below(TRACES):
            with self.subTest(path=path):
                added = self.check(path)
                self.assertIn("Queue Length", {name for name, _, _ in added})
                self.assertIn("Memcpy BW", {name for name, _, _ in added})
                for steps in ("default", "raw"):
                    self.check(path, "--steps=" + steps)

    @unittest.skipUnless(os.path.isdir(REAL), "no real traces here: ../shared/data/kineto")
    def test_real_traces(self):
        for path in traces_below(REAL):
            with self.subTest(path=path):
                self.check(path)

    def test_times_are_digit_for_digit(self):
        """Every counter lies at the start of some event, to the digit where the file has nanoseconds."""
        path = traces_below(os.path.join(TRACES, "clock_skew"))[0]
        self.timeline(path)
        with open(self.output) as file:
            events = json.load(file, parse_float=str, parse_int=str)["traceEvents"]
        starts = {event["ts"] for event in events if event["ph"] == "X"}
        queue = [event["ts"] for event in events if event["name"] == "Queue Length"]
        self.assertGreater(len(queue), 100)
        self.assertLessEqual({at.removesuffix(".000") for at in queue}, {at.removesuffix(".000") for at in starts})

    def test_several_ranks_in_one(self):
        folder = os.path.join(TRACES, "clock_skew")
        self.timeline(folder)
        after = load(self.output)
        names = {event["pid"]: event["args"]["name"] for event in after["traceEvents"]
                 if event["name"] == "process_name"}
        self.assertEqual({event["pid"] for event in after["traceEvents"] if "pid" in event}, set(names))
        self.assertEqual({name.split(":")[0] for name in names.values()}, {"rank 0", "rank 1", "rank 2"})
        ranks = {source["processes"]: source for source in after["traces"]}
        base = after["baseTimeNanoseconds"]
        by_rank = collections.defaultdict(list)
        for event in after["traceEvents"]:
            by_rank[names[event["pid"]].split(":")[0]].append(event)
        flows = [set(), set(), set()]
        for number in range(3):
            rank = "rank %d" % number
            source = ranks[rank]
            before = load(source["path"])
            self.assertEqual(source["members"], {key: value for key, value in before.items() if key != "traceEvents"})
            self.assertEqual(source["members"]["distributedInfo"]["rank"], number)
            shift = (before["baseTimeNanoseconds"] - base) / 1000
            self.assertEqual(collections.Counter(self.essence(event, shift) for event in before["traceEvents"]
                                                 if event["ph"] != "M"),
                             collections.Counter(self.essence(event, 0) for event in by_rank[rank]
                                                 if event["ph"] not in "MC"))
            added = [event for event in by_rank[rank] if event["ph"] == "C"]
            summary = self.summaries(source["path"])["queue_length_summary"]
            self.match([(identity, len(points)) for (name, _, identity), points in series(added).items()
                        if name == "Queue Length"], self.rows(summary, "stream", "queue_length_count"))
            flows[number] = {event["id"] for event in by_rank[rank] if event["ph"] in "sf"}
        self.assertFalse(flows[0] & flows[1] or flows[1] & flows[2] or flows[0] & flows[2])

    @staticmethod
    def essence(event, shift):
        same = {key: value for key, value in event.items() if key not in ("pid", "id", "ts")}
        return json.dumps([same, round(event["ts"] + shift, 3)], sort_keys=True)

    def test_bases_that_differ_become_one(self):
        """Rank 1 counts from an hour later; its base stands behind its events."""
        for rank, base in ((0, 1_700_000_000_000_000_000), (1, 1_700_003_600_000_000_001)):
            event = '{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":5,"tid":5,"ts":10.5,"dur":7}'
            with open(os.path.join(self.directory, "%d.pt.trace.json" % rank), "w") as file:
                file.write('{"schemaVersion": 1, "traceEvents": [%s], "baseTimeNanoseconds": %d, '
                           '"distributedInfo": {"rank": %d}}' % (event, base, rank))
        self.timeline(self.directory)
        with open(self.output) as file:
            after = json.load(file, parse_float=str)
        self.assertEqual(after["baseTimeNanoseconds"], 1_700_000_000_000_000_000)
        self.assertEqual([event["ts"] for event in after["traceEvents"] if event["ph"] == "X"],
                         ["10.5", "3600000010.501"] if after["traces"][0]["processes"] == "rank 0" else [])

    def test_ranks_that_are_not_known_and_names_that_are_no_text(self):
        folder = self.directory.encode()
        for name in (b"a\xff\".json", b"b.json"):
            with open(os.path.join(folder, name), "w") as file:
                file.write('[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1}]')
        self.timeline(self.directory)
        after = load(self.output)
        self.assertEqual({event["args"]["name"] for event in after["traceEvents"] if event["name"] == "process_name"},
                         {'a\ufffd".json: 0', "b.json: 0"})
        self.assertEqual(sorted(event["pid"] for event in after["traceEvents"] if event["ph"] == "X"), [1, 2])

    def test_one_rank_on_two_nodes_is_two(self):
        for node in ("here", "there", "there"):
            stamp = 1787426465773 + len(os.listdir(self.directory))
            with open(os.path.join(self.directory, "%s_7.%d.pt.trace.json" % (node, stamp)), "w") as file:
                file.write('{"distributedInfo": {"rank": 0}, "traceEvents": ['
                           '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1}]}')
        self.timeline(self.directory)
        after = load(self.output)
        self.assertEqual({event["args"]["name"] for event in after["traceEvents"] if event["name"] == "process_name"},
                         {"rank 0 on here: 0", "rank 0 on there: 0"})
        self.assertEqual([event["pid"] for event in after["traceEvents"] if event["ph"] == "X"], [1, 2, 2])

    def test_other_files_below_a_path_do_no_harm(self):
        path = traces_below(os.path.join(TRACES, "clock_skew"))[0]
        harness.play.play(harness.JOB, self.directory, speed=0)
        for where, _, names in os.walk(self.directory):
            for name in names:
                if "pt.trace" in name:
                    os.remove(os.path.join(where, name))
        shutil.copy(path, self.directory)
        self.timeline(self.directory)
        self.assertEqual(events_of(load(self.output))[:5], events_of(load(path))[:5])
        # Once more into the tree: the output is no input.
        inside = os.path.join(self.directory, "out.json")
        for _ in range(2):
            self.timeline(self.directory, output=inside)
            self.assertEqual(load(inside), load(self.output))

    def test_compressed_plain_and_standard_output_are_the_same(self):
        path = traces_below(TRACES)[0]
        self.timeline(path)
        with open(self.output) as file:
            plain = file.read()
        self.timeline(path, output=self.output + ".gz")
        with gzip.open(self.output + ".gz", "rt") as file:
            self.assertEqual(file.read(), plain)
        self.assertEqual(self.timeline(path, output="-").stdout, plain)

    def test_what_trainwatch_says_of_the_copy_is_the_same(self):
        path = traces_below(TRACES)[0]
        copy = os.path.join(os.path.dirname(self.directory), os.path.basename(path))
        self.timeline(path, output=copy)
        self.assertEqual(self.summaries(copy), self.summaries(path))

    def test_cut_and_broken_traces(self):
        whole = load(traces_below(TRACES)[0])["traceEvents"]
        with gzip.open(traces_below(TRACES)[0]) as file:
            text = file.read()
        path = os.path.join(self.directory, "cut.json")
        for share in (3, 7, 9):
            with open(path, "wb") as file:
                file.write(text[:len(text) * share // 10])
            self.timeline(path)
            events = [event for event in load(self.output)["traceEvents"] if event["ph"] != "C"]
            self.assertEqual(events, whole[:len(events)])
            self.assertAlmostEqual(len(events) / len(whole), share / 10, delta=0.15)
        with open(path + ".gz", "wb") as file:
            compressed = gzip.compress(text)
            file.write(compressed[:len(compressed) // 2])
        done = self.timeline(path + ".gz")
        self.assertIn("damaged or truncated", done.stderr)
        self.assertGreater(len(load(self.output)["traceEvents"]), 10)
        events = [json.dumps(event) for event in whole]
        broken = [event.replace('"dur": ', '"dur": N/A', 1) if i % 10 == 0 else event
                  for i, event in enumerate(events)]
        with open(path, "w") as file:
            file.write("[" + ",\n".join(broken) + "]")
        done = self.timeline(path)
        kept = [event for event in load(self.output) if event["ph"] != "C"]
        left_out = sum(a != b for a, b in zip(events, broken))
        self.assertEqual(kept, [json.loads(a) for a, b in zip(events, broken) if a == b])
        self.assertGreater(left_out, 10)
        self.assertIn("%d broken records left out" % left_out, done.stderr)

    def test_memory_is_that_of_the_cycle(self):
        """Ten times the operators of the host, which nothing keeps, take no more memory."""
        events = load(traces_below(TRACES)[0])["traceEvents"]
        host = [json.dumps(event) for event in events if event.get("cat") == "cpu_op"]
        others = [json.dumps(event) for event in events if event.get("cat") != "cpu_op"]
        peaks = []
        for times in (1, 10):
            path = os.path.join(self.directory, "%d.json" % times)
            with open(path, "w") as file:
                file.write("[" + ",\n".join(host * (times * 20_000 // len(host)) + others) + "]")
            done = subprocess.run([sys.executable, "-c",
                                   "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
                                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                                   harness.binary(), "timeline", path, "--counters", "-o", self.output],
                                  stdout=subprocess.PIPE, text=True, check=True)
            peaks.append(int(done.stdout))
            self.assertGreater(os.path.getsize(self.output), os.path.getsize(path))
        self.assertLess(peaks[1], peaks[0] + 8192, "KiB")

    def test_refusals(self):
        path = traces_below(TRACES)[0]
        empty = os.path.join(self.directory, "empty")
        os.mkdir(empty)
        metrics = os.path.join(self.directory, "1.json")
        with open(metrics, "w") as file:
            file.write('{"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":4,"Timestamp":1}\n')
        for code, arguments, said in (
                (2, [path, "--start=9", "--end=3", "-o", "-"], "--end"), (2, [path, "--counters"], "--output"),
                (2, ["--counters", "-o", "-"], "PATH"),
                (2, [path, "--counters", "-o", "-", "--steps=none"], "--steps"),
                (2, [metrics, "--counters", "-o", metrics], metrics),
                (1, ["/nowhere", "--counters", "-o", "-"], "/nowhere"),
                (1, [empty, "--counters", "-o", "-"], "no PyTorch profiler trace"),
                (1, [metrics, "--counters", "-o", self.output], metrics),
                (1, [metrics, path + "x", "--counters", "-o", self.output], path + "x"),
                (1, [path, "--counters", "-o", "/nowhere/out.json"], "/nowhere"),
                (1, [path, "--counters", "-o", self.directory], self.directory),
                (1, [path, "--counters", "-o", "/dev/full"], "/dev/full"),
                (78, [path, "--counters", "-o", "-", "--config.file=/nowhere"], "/nowhere")):
            with self.subTest(arguments=arguments):
                refused = harness.run("timeline", *arguments)
                self.assertEqual((refused.returncode, refused.stdout), (code, ""), refused.stderr)
                self.assertIn(said, refused.stderr)
        self.assertEqual([name for name in os.listdir(os.path.dirname(self.output)) if "out" in name], [])


if __name__ == "__main__":
    harness.main()
