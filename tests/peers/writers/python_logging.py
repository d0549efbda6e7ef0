# SPDX-License-Identifier: Apache-2.0
"""A loop that uses Python's logging, on standard error as by default."""

import logging

import training as tiny

logging.basicConfig(format="%(asctime)s - %(name)s - %(levelname)s - %(message)s", level=logging.INFO)
logger = logging.getLogger("train")

BETWEEN = 5

with tiny.Training(steps=150) as training:
    log = training.log(counts="iterations from 1", decimals=5)
    model = tiny.Regression(training)
    logger.info("***** Running training *****")
    logger.info("  Total optimization steps = %d", training.steps)
    for step in range(training.steps):
        loss = model.step(step)
        if (step + 1) % BETWEEN == 0:
            logger.info("step: %d, loss: %.5f, lr: %.2e", step + 1, loss, 0.05)
            log.record(step + 1, loss)
    logger.info("Training completed.")
