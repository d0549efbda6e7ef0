# SPDX-License-Identifier: Apache-2.0
"""Files that are rotated, and compressed, while trainwatch is not running are read on where it had
stopped: the alerts are those of one file that was never rotated."""

import gzip
import json
import os
import random
import shutil
import tempfile
import unittest

import harness
import judge

RULES = ["--rules=low_gpu_utilization", "--set=low_gpu_utilization.window=20",
         "--rules.preset=sagemaker-code",
         "--set=low_gpu_utilization.patience=20", "--set=low_gpu_utilization.recovery_samples=5"]
START = 1795247800


def samples(count, seed):
    """Lines of system metrics: a GPU that is busy for a while, then is not."""
    numbers, lines, busy, left = random.Random(seed), [], True, 60
    for second in range(count):
        if left == 0:
            busy, left = not busy, numbers.randint(40, 80)
        left -= 1
        value = numbers.randint(90, 99) if busy else numbers.randint(20, 40)
        lines.append(json.dumps({"Type": "gpu", "Name": "gpu0", "Dimension": "GPUUtilization",
                                 "Value": value, "NodeId": "algo-1",
                                 "Timestamp": START + second}).encode() + b"\n")
    return lines


class OfflineRotationTest(unittest.TestCase):
    def setUp(self):
        self._scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self._scratch.cleanup)
        self.lines = samples(3000, seed=1)
        whole = self.path("whole")
        with open(os.path.join(whole, "a.jsonl"), "wb") as file:
            file.writelines(self.lines)
        self.expected = harness.replay(whole, *RULES)
        self.assertGreater(len(harness.final(self.expected)), 15)

    def path(self, name):
        path = os.path.join(self._scratch.name, name)
        os.makedirs(path, exist_ok=True)
        return path

    def run_between(self, rotate):
        """All alerts while the lines come in parts: trainwatch reads every other part as it
        is, and is away while the next is written and rotated."""
        job, state = self.path("job"), self.path("state")
        log = os.path.join(job, "a.jsonl")
        cuts = [0, 500, 600, 1900, 2300, len(self.lines)]
        for part, (since, until) in enumerate(zip(cuts, cuts[1:])):
            with open(log, "ab") as file:
                file.writelines(self.lines[since:until])
            if part % 2 == 1:
                rotate(job)  # what was written since the last run is unread
                continue
            with harness.Trainwatch(job, *RULES, state=state) as trainwatch:
                trainwatch.wait_until_read()
                self.assertEqual(trainwatch.stop(), 0)
        with harness.Trainwatch(job, *RULES, state=state) as trainwatch:
            page = trainwatch.json("/api/v1/alerts?after=0")
            rejected = trainwatch.metric("trainwatch_records_rejected_total")
        return page["alerts"], rejected

    def check(self, rotate):
        alerts, rejected = self.run_between(rotate)
        found = judge.judge(alerts, self.expected)
        self.assertEqual(set(found.values()), {0}, found)
        self.assertEqual(rejected, 0)

    @staticmethod
    def shift(job, suffix):
        """a.jsonl -> a.jsonl.1 -> a.jsonl.2 ..., as logrotate does."""
        for number in range(8, 0, -1):
            old = os.path.join(job, "a.jsonl.%d%s" % (number, suffix))
            if os.path.exists(old):
                os.rename(old, os.path.join(job, "a.jsonl.%d%s" % (number + 1, suffix)))
        os.rename(os.path.join(job, "a.jsonl"), os.path.join(job, "a.jsonl.1"))

    def test_renamed(self):
        self.check(lambda job: self.shift(job, ""))

    def test_renamed_and_compressed(self):
        def rotate(job):
            self.shift(job, ".gz")
            plain = os.path.join(job, "a.jsonl.1")
            with open(plain, "rb") as source, gzip.open(plain + ".gz", "wb") as target:
                shutil.copyfileobj(source, target)
            os.remove(plain)
        self.check(rotate)

    def test_copied_and_truncated(self):
        def rotate(job):
            self.shift(job, "")
            log = os.path.join(job, "a.jsonl")
            os.rename(log + ".1", log)
            shutil.copyfile(log, log + ".1")
            os.truncate(log, 0)
        self.check(rotate)


if __name__ == "__main__":
    harness.main()
