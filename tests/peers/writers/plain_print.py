# SPDX-License-Identifier: Apache-2.0
"""A loop that prints what its author thought of, as most do."""

import training as tiny

EPOCHS, BETWEEN = 3, 5

with tiny.Training(steps=150) as training:
    log = training.log(tag="Loss", counts="iterations over all epochs, from 1", decimals=4)
    model = tiny.Regression(training)
    per_epoch = training.steps // EPOCHS
    print("Start training ...")
    for step in range(per_epoch * EPOCHS):
        epoch, batch = divmod(step, per_epoch)
        loss = model.step(step)
        if (step + 1) % BETWEEN == 0:
            print(f"Epoch {epoch + 1}/{EPOCHS}, Step {step + 1}, Loss: {loss:.4f}")
            log.record(step + 1, loss)
    print("Finished Training")
