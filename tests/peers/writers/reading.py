# SPDX-License-Identifier: Apache-2.0
"""What trainwatch reads of a training's files, beside what the training says it has logged (training.py)."""

import glob
import json
import math
import os
import re
import statistics

import harness

PACE_TOLERANCE = 0.1


class Log:
    """One file of a training, and the truth about it."""

    def __init__(self, out, truth):
        self.name, self.tag, self.per, self.records = truth["file"], truth["tag"], truth["per"], truth["records"]
        self._digits = truth.get("decimals"), truth.get("significant")
        self.path, = glob.glob(os.path.join(out, truth["file"]))

    def tolerance(self, loss):
        """Of a loss as it is logged; without digits, it may be a float of 32 bits."""
        decimals, significant = self._digits
        if significant is not None and loss != 0:
            decimals = significant - 1 - math.floor(math.log10(abs(loss)))
        return abs(loss) * 1e-6 if decimals is None else 0.501 * 10.0 ** -decimals

    def steps(self):
        """Of each loss the last record: an epoch may be done again."""
        return {record["step"]: record["loss"] for record in self.records}

    def nan_steps(self):
        """(after, until): the first NaN is in a record after one step, at another one at the latest. None without a NaN.

        A bar may show it before the first record does."""
        for before, record in zip([{"step": -1}, *self.records], self.records):
            if math.isnan(record["loss"]):
                return before["step"], record["step"]
        return None

    def seconds_per_step(self):
        """As its records show it, median and mean: what lies between epochs may be counted or not."""
        pairs = zip(self.records, self.records[1:])
        steps = [(b["step"] - a["step"], b["at"] - a["at"]) for a, b in pairs if b["step"] > a["step"]]
        return (statistics.median(seconds / steps for steps, seconds in steps),
                sum(seconds for _, seconds in steps) / sum(steps for steps, _ in steps))

    def has_pace(self, seconds):
        """Whether these seconds per step are, within a tenth, those of the log."""
        low, high = sorted(self.seconds_per_step())
        return low * (1 - PACE_TOLERANCE) <= seconds <= high * (1 + PACE_TOLERANCE)


class Training:
    def __init__(self, out, truth_file):
        with open(truth_file) as file:
            self.truth = json.load(file)
        self.out = out
        self.console = os.path.join(out, "train.log")
        self.logs = [Log(out, log) for log in self.truth["logs"]]

    def finest(self):
        """The log that counts in the smallest steps, of several the first."""
        return min((log for log in self.logs if log.records[0]["step"] is not None), key=lambda log: log.per)


def format_of(path):
    """The format that reads a file, or why none does."""
    said = json.loads(harness.run("formats", "--format=json", path).stdout.splitlines()[0])
    return said.get("declared") or said.get("format"), said.get("skipped")


def losses_of(log):
    """[(step, loss)] of the series that trainwatch takes for the loss of a file; several are there if it takes several."""
    with harness.Trainwatch(None, "--watch=" + log.path) as trainwatch:
        series = trainwatch.json("/api/v1/scalars")["series"]
    wanted = [one for one in series if one["tag"] == log.tag] or [one for one in series if one["kind"] == "loss"]
    return [(step, float(value)) for one in wanted[:1] for step, _, value in one["points"]], [
        (one["tag"], one["kind"]) for one in wanted[:1]]


def is_same(log, expected, read):
    if math.isnan(expected) or math.isnan(read):
        return math.isnan(expected) and math.isnan(read)
    return abs(expected - read) <= log.tolerance(expected)


def wrong_losses(log, points):
    """The records that were not read, or not as they were logged: texts."""
    if log.records[0]["step"] is None:
        pairs = [(i, record["loss"], points[i][1] if i < len(points) else None) for i, record in enumerate(log.records)]
    else:
        read = dict(points)
        pairs = [(step, loss, read.get(step)) for step, loss in log.steps().items()]
    return ["step %s: logged %r, read %r" % pair for pair in pairs if pair[2] is None or not is_same(log, *pair[1:])]


def runs_of(*paths):
    done = harness.run("runs", "--format=json", *paths)
    return [json.loads(line) for line in done.stdout.splitlines()]


def alerts_of(*paths):
    """The last that is said of each alert."""
    done = harness.run("replay", "--format=json", *paths)
    return list(harness.final(map(json.loads, done.stdout.splitlines())).values())


def nan_steps(alerts):
    return [alert.get("step") for alert in alerts if alert["rule"] == "loss_nan" and alert["severity"] == "critical"]


def critical(alerts):
    return [(alert["rule"], alert["summary"]) for alert in alerts if alert["severity"] == "critical"]


def pace_of(page, job):
    """Mean seconds of a step as /metrics says: what /api/v1/runs says falls once the training stands still."""
    total, count = (re.search(r'(?m)^trainwatch_step_duration_seconds_%s\{%smode="train"\} (\S+)$' % (
        name, 'train_job="%s",' % re.escape(job) if job else ""), page) for name in ("sum", "count"))
    return float(total[1]) / float(count[1]) if count and float(count[1]) else 0
