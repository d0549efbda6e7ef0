# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed's engine on the CPU, with the lines that it prints at level info each tenth step, and the script's own."""

import deepspeed_on_cpu  # noqa: F401  before torch is imported
import torch_task
import training as tiny
import deepspeed
import torch
from deepspeed.utils.logging import set_log_level_from_string

BETWEEN = 10
CONFIG = {"train_micro_batch_size_per_gpu": torch_task.BATCH, "gradient_accumulation_steps": 1, "steps_per_print": BETWEEN,
          "wall_clock_breakdown": True, "zero_optimization": {"stage": 1}, "zero_allow_untested_optimizer": True,
          "optimizer": {"type": "AdamW", "params": {"lr": 1e-2, "torch_adam": True}}}

with tiny.Training(steps=150) as training:
    log = training.log(counts="iterations from 1", decimals=4)
    set_log_level_from_string("info")
    model = torch_task.model()
    engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=CONFIG)
    for step, (x, y) in enumerate(torch_task.loader(training, training.steps)):
        loss = torch.nn.functional.cross_entropy(engine(x), y)
        engine.backward(loss)
        training.pause(step)
        engine.step()
        training.trained(step, loss.item())
        if (step + 1) % BETWEEN == 0:
            print(f"step {step + 1} loss {loss.item():.4f}")
            log.record(step + 1, loss.item())
