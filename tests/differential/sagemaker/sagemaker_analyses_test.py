#!/usr/bin/env python3
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

with open(os.path.join(TESTS, "data", "sagemaker_analyses.json")) as told:
    TOLD = json.load(told)


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
        cls.told = TOLD[cls.scenario]
        cls.directory = tempfile.TemporaryDirectory()
        words = cls.told["_gen"].split()[1:]
        generator = os.path.join(TESTS, "support", "sagemaker_job_gen.py")
        subprocess.run([sys.executable, generator, *words, "--out", cls.directory.name], check=True,
                       stdout=subprocess.DEVNULL)
        cls.spans = spans_of(cls.directory.name)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def analyze(self, name):
        command = [TRAINWATCH, "analyze", self.directory.name, "--what=" + name]
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
        mine, theirs = self.analyze("job_statistics"), self.told["job_statistics"]
        base = self.told["start_time"]
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
            self.equal_rows(mine[part], self.told["step_statistics_" + part])

    def test_utilization_stats(self):
        self.equal_rows(self.analyze("utilization_stats")["by_node"], self.told["utilization_all"])

    def test_device_usage_stats(self):
        self.equal_rows(self.analyze("device_usage_stats"), self.told["device_usage_default"]["ok"])


class Normal(Analyses):
    scenario = "normal"


class EvalPhase(Analyses):
    scenario = "evalphase"


if __name__ == "__main__":
    TRAINWATCH = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
