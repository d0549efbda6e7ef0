# SPDX-License-Identifier: Apache-2.0
"""One book: what a daemon's surfaces and the report say of ended runs is what `runs` says of them."""

import json
import os
import re
import subprocess
import sys
import tempfile

import check

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "performance"))
import processes  # noqa: E402

ENDED = ("finished", "failed", "cancelled")
SAMPLE = re.compile(r"^(trainwatch_\w+)(?:\{([^}]*)\})? (\S+)$", re.M)  # without labels: of a run without a name
LABEL = re.compile(r'(\w+)="([^"]*)"')
ANSWERS = re.compile(r'<script type="application/json" id="trainwatch-answers">(.*?)</script>', re.S)


def judge(binary, roots, truth, runs):
    """(true run, fields) of the first run for each surface."""
    fields = check.Fields()
    if all(run.get("state") in ENDED for run in runs) and runs:
        with tempfile.TemporaryDirectory() as folder:
            daemon(binary, roots, folder, runs, fields)
        report(binary, roots, runs, fields)
    return [(truth["runs"][0], fields)]


def daemon(binary, roots, folder, runs, fields):
    with processes.Daemon(binary, folder, roots[0], *("--watch=" + r for r in roots[1:])) as one:
        one.wait_until_ready()
        same(fields, "api", runs, json.loads(one.get("/api/v1/runs"))["runs"])
        metrics(fields, runs, one.get("/metrics").decode())


def same(fields, surface, runs, others):
    """Each run on both: the same state, end, attempts and seconds."""
    fields.of(surface + ".runs", len(runs) == len(others), len(runs), len(others))
    for run in runs:
        other = min((o for o in others if (o.get("life") or {}).get("began_at")), default=None, key=lambda o, run=run: abs(
            check.unix(o["life"]["began_at"]) - check.unix(run["life"]["began_at"])))
        if other is None:
            fields.of(surface + ".life", False, "there", "absent")
            continue
        fields.of(surface + ".state", run["state"] == other["state"], run["state"], other["state"])
        for key in ("end", "attempts", "life"):
            fields.of("%s.%s" % (surface, key), alike(run[key], other.get(key)), run[key], other.get(key))


def alike(one, other):
    """The same documents, but for the last figures of numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return all(alike(one.get(k), other.get(k)) for k in set(one) | set(other))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other) <= 1e-3 + 1e-4 * abs(one)
    return one == other


def metrics(fields, runs, page):
    """Sums over all runs, whatever labels name them."""
    seconds, ratios, states = {}, [], []
    for name, labels, value in SAMPLE.findall(page):
        labels, value = dict(LABEL.findall(labels)), float(value)
        if name in ("trainwatch_run_seconds_total", "trainwatch_run_open_seconds"):
            seconds[labels["part"]] = seconds.get(labels["part"], 0.0) + value
        elif name == "trainwatch_goodput_ratio":
            ratios.append(value)
        elif name == "trainwatch_run_state" and value:
            states.append(labels["state"])
    wanted = {}
    for run in runs:
        for part, s in run["life"]["seconds"].items():
            wanted[part] = wanted.get(part, 0.0) + s
    wall = sum(run["life"]["wall_seconds"] for run in runs)
    off = max(abs(wanted.get(p, 0.0) - seconds.get(p, 0.0)) for p in set(wanted) | set(seconds))
    fields.of("metrics.seconds", off <= 0.001 * wall, wanted, seconds)
    fields.of("metrics.goodput", alike(sorted(r["life"]["goodput"] for r in runs), sorted(ratios)), None, ratios)
    fields.of("metrics.state", sorted(r["state"] for r in runs) == sorted(states), [r["state"] for r in runs], states)


def report(binary, roots, runs, fields):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.html")
        done = subprocess.run([binary, "report", *roots, "-o", path], capture_output=True, text=True, timeout=600, check=False)
        if done.returncode:
            fields.of("report", False, 0, done.stderr[-200:])
            return
        with open(path, encoding="utf-8") as file:
            found = ANSWERS.search(file.read())
    same(fields, "report", runs, json.loads(found.group(1))["/api/v1/runs"]["runs"])
