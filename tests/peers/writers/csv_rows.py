# SPDX-License-Identifier: Apache-2.0
"""A loop that writes rows with csv.writer, without times."""

import csv
import os

import training as tiny

with tiny.Training(steps=200) as training:
    log = training.log("log.csv")
    model = tiny.Regression(training)
    with open(os.path.join(training.out, "log.csv"), "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["step", "loss", "lr"])
        for step in range(training.steps):
            loss = model.step(step)
            rows.writerow([step, loss, 0.05])
            file.flush()
            log.record(step, loss)
