#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trainwatch tensors` on trials that smdebug wrote, against what smdebug reads from them (../shared). What smdebug
cannot read, or reads wrongly, is compared with what was written.

The files are in ../shared beside the checkout; without them the test is skipped.

    sagemaker_tensors_test.py TRAINWATCH
"""

import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.join(HERE, "..", "..", "..", "..", "shared")
ZERO_TO_TWO = [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]
NUMBERS_OF = {"t_int8": "int8", "t_int16": "int16", "t_uint16": "uint16", "t_uint32": "uint32", "t_uint64": "uint64",
              "t_complex64": "complex64"}


class Comparison:
    def __init__(self, binary):
        self.binary, self.values, self.wrong = binary, 0, []

    def run(self, trial, *options):
        path = os.path.join(SHARED, "data/sagemaker/trials", trial)
        text = subprocess.run([self.binary, "tensors", path, *options], check=True, capture_output=True, text=True).stdout
        return [json.loads(line) for line in text.splitlines()]

    def same(self, what, found, expected):
        self.values += 1
        if found != expected:
            self.wrong.append("%s: %s, expected %s" % (what, found, expected))

    def same_tensor(self, what, found, expected):
        self.same(what + " dtype", found["dtype"], expected["dtype"])
        self.same(what + " shape", found["shape"], expected["shape"])
        self.same(what + " size", len(found["values"]), expected["n"])
        for ours, theirs in zip(found["values"], expected["values"]):
            self.same(what, ours, theirs)


def check_modes(test, truth):
    trial, = test.run("modes_reductions")
    test.same("workers", trial["workers"], truth["workers"])
    test.same("names", trial["names"], truth["tensor_names"])
    test.same("losses", trial["collections"]["losses"], truth["names_losses"])
    for mode in ("GLOBAL", "TRAIN", "EVAL"):
        test.same("steps " + mode, trial["steps"][mode], truth["steps_" + mode])
    for name in ("last_complete_step", "loaded_all_steps"):
        test.same(name, trial[name], truth[name])

    lines = {(line["name"], line["worker"], line["step"]): line for line in test.run("modes_reductions", "--regex=.")}
    kernel = "gradient/dense/kernel:0"
    for worker, steps in truth["values"].items():
        for step, expected in steps.items():
            if "exception" in expected:
                test.same("missing", (kernel, worker, int(step)) in lines, False)
            else:
                test.same_tensor("%s %s" % (worker, step), lines[kernel, worker, int(step)], expected)
    for step, loss in truth["loss"].items():
        values = lines["loss", "worker_0", int(step)]["values"]
        test.same("loss", math.isclose(values[0], loss, rel_tol=1e-6), True)
    saved = lines[kernel, "worker_0", 4]["reductions"]
    for reduction, expected in truth["reductions_step4_w0"].items():
        test.same(reduction, saved.get(reduction), expected["values"][0])
    at_5 = lines[kernel, "worker_0", 5]
    test.same("mode of step 5", ("ModeKeys." + at_5["mode"], str(at_5["mode_step"])), tuple(truth["mode_modestep(5)"]))
    by_mode = test.run("modes_reductions", "--step=2", "--mode=EVAL", "--collection=losses")
    test.same("EVAL 2", {line["step"] for line in by_mode}, {truth["global_step(EVAL,2)"]})
    shapes = [line for (name, _, _), line in lines.items() if name == "shape_only"]
    test.same("shape only", [(s["shape"], s["values"]) for s in shapes],
              [(truth["shape_only_value"]["shape"], None)] * len(shapes))
    # smdebug loses the values of a tensor whose shape is in the same file.
    both = [line for (name, _, _), line in lines.items() if name == "both"]
    test.same("both payloads", bool(both) and all(line["values"] for line in both), True)


def check_reductions(test, truth):
    """What was saved is taken; of the tensor `both` only values were, so its reductions are computed."""
    kernel = "--regex=^gradient/dense/kernel:0$"
    for reduction, expected in truth["reductions_step4_w0"].items():
        line, = test.run("modes_reductions", kernel, "--step=4", "--worker=worker_0", "--reduction=" + reduction)
        test.same(reduction, (line["value"], line["computed"]), (expected["values"][0], False))
    values = test.run("modes_reductions", "--regex=^both$")[0]["values"]
    mean = math.fsum(values) / len(values)
    numbers = {"min": min(values), "max": max(values), "sum": math.fsum(values), "mean": mean, "prod": math.prod(values),
               "abs_mean": math.fsum(map(abs, values)) / len(values),
               "variance": math.fsum((v - mean) ** 2 for v in values) / len(values)}
    for reduction, expected in numbers.items():
        line = test.run("modes_reductions", "--regex=^both$", "--reduction=" + reduction)[0]
        test.same("computed " + reduction, math.isclose(line["value"], expected, rel_tol=1e-12) and line["computed"], True)


def check_types(test, truth):
    lines = {line["name"]: line for line in test.run("dtypes", "--step=0")}
    for name, expected in truth.items():
        if name in NUMBERS_OF:
            expected = {"dtype": NUMBERS_OF[name], "shape": [2, 3], "values": ZERO_TO_TWO, "n": 6}
        elif "exception" in expected:
            test.same(name, (name, lines[name]["values"]), ("t_empty", []))
            continue
        test.same_tensor(name, lines[name], expected)


def main():
    if not os.path.isdir(SHARED):
        print("skipped: no ../shared")
        return 77
    with open(os.path.join(SHARED, "reference/sagemaker_tensors.json"), encoding="utf-8") as file:
        truth = json.load(file)
    test = Comparison(sys.argv[1])
    check_modes(test, truth["modes_reductions"])
    check_reductions(test, truth["modes_reductions"])
    check_types(test, truth["dtypes"])
    loss, = test.run("tf_loss_2020", "--step=0")
    test.same_tensor("a loss of 2020", loss, truth["real_tfevents_from_history"]["minimal"][0][2])
    for wrong in test.wrong:
        print(wrong)
    print("tensors: %d values, %d wrong" % (test.values, len(test.wrong)))
    return 1 if test.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
