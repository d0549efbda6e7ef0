# SPDX-License-Identifier: Apache-2.0
"""Accelerate with tqdm, as the examples of Accelerate and Diffusers do: the loss is in the bar's postfix."""

import logging
import os

os.environ["ACCELERATE_USE_CPU"] = "true"

import torch_task  # noqa: E402
import training as tiny  # noqa: E402
import torch  # noqa: E402
from accelerate import Accelerator  # noqa: E402
from accelerate.logging import get_logger  # noqa: E402
from tqdm.auto import tqdm  # noqa: E402

with tiny.Training(steps=250) as training:
    log = training.log(tag="step_loss", counts="iterations from 1, as the bar shows them", significant=3)
    accelerator = Accelerator()
    logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S",
                        level=logging.INFO)
    logger = get_logger(__name__)
    model = torch_task.model()
    model, optimizer, batches = accelerator.prepare(
        model, torch.optim.SGD(model.parameters(), lr=0.1), torch_task.loader(training, training.steps))
    logger.info("***** Running training *****")
    logger.info("  Total optimization steps = %d", training.steps)
    bar = tqdm(range(training.steps), initial=0, desc="Steps", disable=not accelerator.is_local_main_process)
    for step, (x, y) in enumerate(batches):
        with accelerator.accumulate(model):
            loss = torch.nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        training.pause(step)
        training.trained(step, loss.item())
        if accelerator.sync_gradients:
            bar.update(1)
        bar.set_postfix(step_loss=loss.detach().item(), lr=0.1)
        log.record(step + 1, loss.item())
    bar.close()
    accelerator.end_training()
