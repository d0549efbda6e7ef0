# SPDX-License-Identifier: Apache-2.0
"""Generated profiler traces of every format version: `analyze --what=profiler_steps` says what their truth says,
for each rank and each of its cycles."""

import decimal
import json
import os
import subprocess
import sys
import tempfile
import unittest

import harness

GENERATOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "kineto_gen.py")
RANKS, CYCLES = 2, 3
FORMATS = ("modern", "modern2024", "int_us", "legacy2021", "array_root")


def nanoseconds(microseconds):
    return int(microseconds * 1000)


class CycleStepsTest(unittest.TestCase):
    def generate(self, folder, *options):
        """The truth: {(rank, cycle, step): (duration, wait)}."""
        steps = {}
        for cycle in range(CYCLES):
            subprocess.run([sys.executable, GENERATOR, "--out", folder, "--ranks", str(RANKS),
                            "--steps", "3", "--kernels-per-step", "40", "--scenario", "input_bound",
                            "--cycle", str(cycle), *options], check=True, stdout=subprocess.DEVNULL)
            for name in [name for name in os.listdir(folder) if name.startswith("truth")]:
                with open(os.path.join(folder, name)) as file:
                    truth = json.load(file, parse_float=decimal.Decimal)
                os.remove(os.path.join(folder, name))
                for step in truth["steps"]:
                    steps[step["rank"], cycle, step["step"]] = (
                        nanoseconds(step["step_us"]), nanoseconds(step["data_wait_us"]))
        return steps

    def analyze(self, folder):
        output = subprocess.run([harness.binary(), "analyze", folder, "--what=profiler_steps"],
                                check=True, stdout=subprocess.PIPE).stdout
        result = json.loads(output)["profiler_steps"]
        self.assertEqual(result["left_out"], 0)
        return [dict(zip(result["columns"], row)) for row in result["rows"]]

    def test_every_format(self):
        for form in FORMATS:
            for compressed in ((), ("--gzip",)):
                with self.subTest(form=form, compressed=compressed), \
                        tempfile.TemporaryDirectory() as folder:
                    truth = self.generate(folder, "--format", form, *compressed)
                    self.assertEqual(len(truth), RANKS * CYCLES * 3)
                    rows = self.analyze(folder)
                    found = {(row["rank"], row["cycle"], row["step"]):
                             (row["dur_ns"], row["data_wait_ns"]) for row in rows}
                    self.assertEqual(len(rows), len(truth))
                    self.assertEqual(found, truth)


if __name__ == "__main__":
    harness.main()
