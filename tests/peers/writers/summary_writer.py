# SPDX-License-Identifier: Apache-2.0
"""torch.utils.tensorboard with the tags of PyTorch's tutorials: "Loss/train", "Accuracy/test"."""

import os

import torch_task
import training as tiny
import torch
from torch.utils.tensorboard import SummaryWriter

EVALUATE_EVERY = 50

with tiny.Training(steps=200) as training:
    log = training.log("runs/events.*", "Loss/train")
    model = torch_task.model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with SummaryWriter(os.path.join(training.out, "runs")) as writer:
        for step, (x, y) in enumerate(torch_task.loader(training, training.steps)):
            loss = torch.nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            training.pause(step)
            training.trained(step, loss.item())
            writer.add_scalar("Loss/train", loss, step)
            log.record(step, loss.item())
            if (step + 1) % EVALUATE_EVERY == 0:
                writer.add_scalar("Accuracy/test", torch_task.accuracy(model(x), y, 1), step)
