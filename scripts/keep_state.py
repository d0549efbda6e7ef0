#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: keep_state.py PROGRAM FILE

Keeps the state that a trainwatch leaves when it is killed while alerts are firing, as FILE (.db.gz) for
tests/e2e/upgrade_test.py: later versions start with it."""

import gzip
import json
import os
import shutil
import sqlite3
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import harness  # noqa: E402

START = 1795247890


def write_job(directory):
    """A job whose loss becomes NaN, and a recorded one."""
    with open(os.path.join(directory, "metrics.jsonl"), "w") as file:
        for step in range(200):
            file.write(json.dumps({"step": step, "time": START + step, "loss": 2.5 if step < 150 else float("nan")}) + "\n")
    shutil.copytree(harness.JOB, os.path.join(directory, "recorded"), ignore=shutil.ignore_patterns("*.py"))


def firing(trainwatch):
    return [alert for alert in trainwatch.json("/api/v1/alerts?after=0&limit=1000")["alerts"] if alert["state"] == "firing"]


def main():
    kept = sys.argv[2]
    with tempfile.TemporaryDirectory() as scratch:
        job, state = os.path.join(scratch, "job"), os.path.join(scratch, "state")
        os.mkdir(job)
        write_job(job)
        with harness.Trainwatch(job, state=state) as trainwatch:
            harness.wait_for(lambda: len(firing(trainwatch)) >= 2, "alerts are firing")
            trainwatch.signal(9)
            trainwatch.wait()
        database = os.path.join(state, "state.db")
        with sqlite3.connect(database) as opened:
            opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        opened.close()
        with open(database, "rb") as file, open(kept, "wb") as out:
            out.write(gzip.compress(file.read(), 9, mtime=0))


if __name__ == "__main__":
    main()
