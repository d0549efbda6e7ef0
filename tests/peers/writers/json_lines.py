# SPDX-License-Identifier: Apache-2.0
"""A loop that appends an object per iteration to metrics.jsonl, and prints nothing."""

import json
import os
import time

import training as tiny

with tiny.Training(steps=200) as training:
    log = training.log("metrics.jsonl")
    model = tiny.Regression(training)
    with open(os.path.join(training.out, "metrics.jsonl"), "w", buffering=1) as file:
        for step in range(training.steps):
            began = time.time()
            loss = model.step(step)
            file.write(json.dumps({"step": step, "loss": loss, "lr": 0.05, "step_time": time.time() - began,
                                   "timestamp": time.time()}) + "\n")
            log.record(step, loss)
