#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trainwatch timeline` on a job of smdebug's own tests, against what smdebug's MergedTimeline wrote of it: the same events
in the same order, thread ids aside.

The files are in ../shared beside the checkout; without them the test is skipped.

    merged_timeline_test.py TRAINWATCH
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.join(HERE, "..", "..", "..", "..", "shared")
JOB = os.path.join(SHARED, "data", "sagemaker", "profiler", "resources", "merge_traces")
REFERENCE = os.path.join(SHARED, "reference", "sagemaker_repo_merged_timeline%s.out.json")
CASES = (("", ()), ("_step0_9", ("--start=0", "--end=9", "--unit=step")))


def with_names(events):
    """Threads by name: smdebug numbers them by hash."""
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    return [dict(e, tid=names[e["pid"], e["tid"]]) if "tid" in e else e for e in events]


def main():
    if not os.path.isdir(JOB):
        print("skipped: no ../shared")
        return 77
    failed = 0
    for case, arguments in CASES:
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "out.json")
            subprocess.run([sys.argv[1], "timeline", JOB, "--no-alerts", *arguments, "-o", output], check=True)
            with open(output) as file:
                ours = with_names(json.load(file))
        with open(REFERENCE % case) as file:
            theirs = with_names(json.load(file))
        differences = [pair for pair in zip(ours, theirs) if pair[0] != pair[1]]
        print("merged timeline%s: %d events, %d of smdebug, %d differ" % (case, len(ours), len(theirs), len(differences)))
        failed += len(ours) != len(theirs) or bool(differences)
        for pair in differences[:3]:
            print("  ours %s\n  theirs %s" % pair)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
