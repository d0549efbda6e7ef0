#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tf_getnext_per_step on a real job of TensorFlow's, against what its two files say.

The files are those of smdebug's own tests, in ../shared beside the checkout; without them the test is skipped.

    tf_getnext_test.py TRAINWATCH
"""
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
JOB = os.path.join(HERE, "..", "..", "..", "..", "shared", "data", "sagemaker", "profiler", "resources", "merge_traces")


def spans_of(suffix):
    spans = []
    for path in glob.glob(os.path.join(JOB, "framework", "pevents", "*", "*_" + suffix)):
        base = 0
        with open(path) as file:
            for event in json.load(file):
                args = event.get("args", {})
                base = args.get("start_time_since_epoch_in_micros", base)
                if event["ph"] == "X":
                    spans.append((event["ts"] + base, event["dur"], event["name"], args))
    return sorted(spans, key=lambda span: span[0])


def expected():
    calls = spans_of("model_timeline.json")
    for start, duration, name, args in spans_of("pythontimeline.json"):
        if name != "Step:ModeKeys.TRAIN":
            continue
        within = [call for call in calls if start <= call[0] <= start + duration]
        row = [int(args["step_num"]), start, duration, None]  # no call says which thread it was on
        for wanted in ("dataset::GetNext", "IteratorGetNextOp::DoCompute"):
            durations = [call[1] for call in within if call[2] == wanted]
            row += [len(durations), sum(durations) / len(durations) if durations else None]
        yield row


def main(trainwatch):
    if not os.path.isdir(JOB):
        print("no ../shared/data beside the checkout")
        return 77
    command = [trainwatch, "analyze", JOB, "--what=tf_getnext_per_step"]
    result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    rows, known = result["tf_getnext_per_step"]["rows"], list(expected())
    assert len(rows) == len(known) > 0, (len(rows), len(known))
    for mine, theirs in zip(rows, known):
        for got, right in zip(mine, theirs):
            same = got == right if right is None else abs(got - right) <= 1e-9 * abs(right)
            assert same, (mine, theirs)
    print("%d steps, %d calls" % (len(rows), sum(row[4] + row[6] for row in known)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
