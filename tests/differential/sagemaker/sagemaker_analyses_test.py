#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The analyses against smdebug's own numbers, on two jobs of the job generator.

tests/data/sagemaker_analyses.json has what smdebug said. Counts and times are equal, other numbers to 1e-9 of
themselves. Where smdebug's number is a defect, the right one is worked out here from the job's files, and a
comment says why it differs.

    sagemaker_analyses_test.py TRAINWATCH
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "..", "..")
TRAINWATCH = None

with open(os.path.join(TESTS, "data", "sagemaker_analyses.json")) as file:
    REFERENCE = json.load(file)


def table(result):
    """Rows as dictionaries."""
    return [dict(zip(result["columns"], row)) for row in result["rows"]]


def spans_of(directory):
    """(start, end, phase, name) of every span, in the order of the files."""
    spans = []
    for path in sorted(glob.glob(os.path.join(directory, "framework", "pevents", "*", "*.json"))):
        phases, base = {}, 0
        with open(path) as file:
            events = json.load(file)
        for event in events:
            args = event.get("args", {})
            if event["ph"] == "M":
                base = args.get("start_time_since_epoch_in_micros", base)
                phases[event["pid"]] = args.get("name", phases.get(event["pid"]))
            else:
                start = event["ts"] + base
                spans.append((start, start + event["dur"], phases[event["pid"]], event["name"]))
    return spans


def samples_of(directory):
    """[(time, value)] by (dimension, node) and name; and the stamp of the last file."""
    samples, stamps = {}, []
    for path in sorted(glob.glob(os.path.join(directory, "system", "incremental", "*", "*.json"))):
        stamps.append(int(os.path.basename(path).split(".")[0]))
        with open(path) as file:
            for line in file:
                record = json.loads(line)
                names = samples.setdefault((record["Dimension"], record["NodeId"]), {})
                names.setdefault(record["Name"], []).append((record["Timestamp"], record["Value"]))
    return samples, max(stamps)


def quantile(values, q):
    values = sorted(values)
    place = q * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


class Analyses(unittest.TestCase):
    scenario = None

    @classmethod
    def setUpClass(cls):
        if cls.scenario is None:
            raise unittest.SkipTest("the cases are below")
        cls.known = REFERENCE[cls.scenario]
        cls.directory = tempfile.TemporaryDirectory()
        words = cls.known["_gen"].split()[1:]
        generator = os.path.join(TESTS, "support", "sagemaker_job_gen.py")
        subprocess.run([sys.executable, generator, *words, "--out", cls.directory.name], check=True,
                       stdout=subprocess.DEVNULL)
        cls.spans = spans_of(cls.directory.name)
        cls.samples, cls.last_stamp = samples_of(cls.directory.name)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def analyze(self, name, *options):
        command = [TRAINWATCH, "analyze", self.directory.name, "--what=" + name, *options]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.stderr, "", "nothing is rejected")
        result = json.loads(done.stdout)
        self.assertEqual(list(result), [name])
        return result[name]

    def equal(self, mine, theirs, what=""):
        if isinstance(theirs, (int, float)) and not isinstance(theirs, bool):
            self.assertLessEqual(abs(mine - theirs), 1e-9 * abs(theirs), what)
        else:
            self.assertEqual(mine, theirs, what)

    def equal_rows(self, mine, theirs):
        """Each row and column of smdebug's; there may be further columns."""
        mine, theirs = table(mine), table(theirs)
        self.assertEqual(len(mine), len(theirs))
        for my_row, their_row in zip(mine, theirs):
            for column, value in their_row.items():
                self.equal(my_row[column], value, "%s of %s" % (column, their_row))

    def test_job_statistics(self):
        mine, theirs = self.analyze("job_statistics"), self.known["job_statistics"]
        base = self.known["start_time"]
        self.assertEqual(mine["framework"], "pytorch")
        self.assertEqual(mine["job_duration_us"], theirs["job_duration"])
        self.assertEqual([mine["training_loop_duration_us"]], theirs["training_loop_duration"])
        self.assertEqual(mine["finalization_us"], theirs["finalization"])
        self.equal(mine["training_loop_%"], theirs["training_loop_%"][0])
        self.equal(mine["finalization_%"], theirs["finalization_%"])
        # smdebug counts initialization from the stamp of the first file's minute, up to a minute before
        # the job began: its three shares are more than 100 %. Ours is from the first sample.
        early = mine["start_time_us"] - base
        self.assertEqual(mine["initialization_us"], theirs["initialization"] - early)
        self.equal(mine["initialization_%"] + mine["training_loop_%"] + mine["finalization_%"], 100)

    def test_step_statistics(self):
        mine = self.analyze("step_statistics")
        self.assertEqual(mine["left_out"], 0)
        for part in ("training_phase", "framework_metric", "process"):
            self.equal_rows(mine[part], self.known["step_statistics_" + part])

    def test_utilization_stats(self):
        mine = self.analyze("utilization_stats")
        self.equal_rows(mine["by_node"], self.known["utilization_all"])
        # By training phase: every row, the samples before, between and after the steps too.
        self.equal_rows(mine["by_phase"], self.known["utilization_by_phase"])
        self.assertEqual(mine["left_out_of_phases"], 0)

    def test_time_annotations(self):
        begin, end = self.known["time_annotations"]["interval_us"]
        mine = self.analyze("time_annotations", "--from-us=%d" % begin, "--to-us=%d" % end)
        self.assertEqual(mine["left_out"], 0)
        durations = {}
        for row in table(mine["annotations"]):
            # smdebug shows a name without a step as itself, and adds up what has the same text.
            name = row["framework_metric"] + ("_%d" % row["step"] if row["step"] >= 0 else "")
            durations[name] = durations.get(name, 0) + row["duration_us"]
        self.assertEqual(len(durations), self.known["time_annotations"]["names"])
        # smdebug divides microseconds by 10^9 and calls them milliseconds.
        for name, shown in self.known["time_annotations"]["shown"].items():
            self.equal(durations[name], shown * 1e9, name)

    def test_device_usage_stats(self):
        self.equal_rows(self.analyze("device_usage_stats"), self.known["device_usage_default"]["ok"])

    def test_training_phase_intervals(self):
        known, base = self.known["training_phase_intervals"], self.known["start_time"]
        mine = [[row["start_time_us"] - base, row["end_time_us"] - base, row["phase"]]
                for row in table(self.analyze("training_phase_intervals"))]
        self.assertEqual(len(mine), known["rows"])
        self.assertEqual(mine[:len(known["first"])], known["first"])
        self.assertEqual(mine[-len(known["last"]):], known["last"])

    def histograms(self, bins, until=None):
        """What the samples up to a time make, by key and name."""
        result = {}
        for (dimension, node), names in self.samples.items():
            kept = {name: [value for at, value in values if until is None or at <= until]
                    for name, values in names.items()}
            if dimension:
                kept["total"] = [sum(values) / len(values) for values in zip(*kept.values())]
            counted = result["%s-nodeid:%s" % (dimension, node)] = {}
            for name, values in kept.items():
                counts = counted[name] = [0] * bins
                for value in values:
                    if 0 <= value <= 2 * bins:
                        counts[min(int(value // 2), bins - 1)] += 1
        return result

    def test_metrics_histogram(self):
        mine, theirs = self.analyze("metrics_histogram"), self.known["metrics_histogram"]
        for key, names in theirs.items():
            # smdebug's total of what has no dimension is a mean of IOPS, bytes and per cent: none here.
            if key.startswith("-nodeid:"):
                del names["total"]
        # smdebug reads up to the stamp of the last file, which is when that begins, and counts nothing
        # above 98, so that a busy GPU is not seen. That said, its numbers are these:
        self.assertEqual(self.histograms(49, self.last_stamp), theirs)
        # Right is every sample, and a bin more.
        self.assertEqual(mine["bin_edges"], list(range(0, 101, 2)))
        self.assertEqual(mine["histograms"], self.histograms(50))

    def test_step_histogram(self):
        mine, theirs = self.analyze("step_histogram"), self.known["step_histogram"]
        theirs = theirs.get("ok", theirs)
        self.assertEqual(set(mine), set(theirs))
        for key, known in theirs.items():
            phase = key.split("-nodeid:")[0]
            values = [end - start for start, end, of, _ in self.spans if of == phase]
            # smdebug drops the last step, and the rounding of numpy.arange makes its bins 49 or 50.
            self.assertEqual(mine[key]["n"], len(values))
            mean = sum(values) / len(values)
            deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
            first, last = min(values), quantile(values, 0.5) + 2 * deviation
            edges = mine[key]["bin_edges_us"]
            self.assertEqual(len(edges), 51)
            for i, edge in enumerate(edges):
                self.equal(edge, first + (last - first) * i / 50, key)
            for i, count in enumerate(mine[key]["counts"]):
                inside = [v for v in values if edges[i] <= v < edges[i + 1]]
                self.assertEqual(count, len(inside), (key, i))
            # The two are still of the same steps.
            self.assertAlmostEqual(edges[0] / 1e6, known["hist"][1][0], delta=1e-9)

    def test_step_timeline(self):
        rows = table(self.analyze("step_timeline"))
        # smdebug leaves out the first step.
        self.assertEqual(rows[0]["step"], 0)
        for row, known in zip(rows[1:], self.known["step_timeline_chart_first10"]["ok"]):
            self.assertEqual(row["start_time_us"], round(known[0] * 1e6))
            self.assertEqual(row["duration_us"], round(known[1] * 1e6))
            self.assertEqual(row["step"], known[2])
        self.assertEqual(len(rows), len([s for s in self.spans if s[2].startswith("Step:")]))

    def test_heatmap(self):
        mine, theirs = self.analyze("heatmap"), self.known["heatmap_first10"]["rows"]
        self.assertEqual(mine["samples_per_column"], 1)
        rows = {(row["nodeID"], row["dimension"], row["system_metric"]): row["values"]
                for row in mine["rows"]}
        compared = 0
        for node, dimensions in theirs.items():
            for dimension, names in dimensions.items():
                for name, values in names.items():
                    for got, known in zip(rows[node, dimension, name], values):
                        self.equal(got, known, (node, dimension, name))
                    compared += 1
        self.assertGreater(compared, 8)

    def loader(self, name, analysis):
        """smdebug prints sentences; the numbers in them."""
        known = self.known[name]["ok"]
        words = " ".join(known["stdout"]).replace(",", " ").split()
        numbers = [float(word) for word in words if word.replace(".", "", 1).isdigit()]
        self.assertIsNone(known["outliers"])
        return self.analyze(analysis), numbers

    def test_dataloader_calls(self):
        for name, analysis in (("pt_analyze_dataloader_getnext", "dataloader_getnext"),
                               ("pt_analyze_dataloaderWorkers", "dataloader_workers")):
            mine, (count, median, longest) = self.loader(name, analysis)
            self.assertEqual([mine["count"], mine["median_us"], mine["max_us"]],
                             [count, median, longest])
            self.assertEqual([mine["outlier_count"], mine["outliers"]["rows"]], [0, []])

    def test_dataloader_initialization(self):
        mine, (workers, count, median, longest) = self.loader("pt_analyze_dataloaderIter_initialization",
                                                              "dataloader_initialization")
        self.assertEqual(list(mine), ["_MultiProcessingDataLoaderIter.__init__"])
        iterator = mine["_MultiProcessingDataLoaderIter.__init__"]
        self.assertIs(iterator["pin_memory"], True)
        self.assertEqual(iterator["num_workers"], workers)
        calls = iterator["initializations"]
        self.assertEqual([calls["count"], calls["median_us"], calls["max_us"]], [count, median, longest])

    def test_batchtime(self):
        mine, (median,) = self.loader("pt_analyze_batchtime", "batchtime")
        self.equal(mine["median_us"] / 1e6, median)
        self.assertEqual([mine["outlier_count"], mine["outliers"]["rows"]], [0, []])


class Normal(Analyses):
    scenario = "normal"


class EvalPhase(Analyses):
    scenario = "evalphase"


if __name__ == "__main__":
    TRAINWATCH = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
