# SPDX-License-Identifier: Apache-2.0
"""Logs the same loss with every logger there is, without a line of trainwatch."""

import sys

import tensorboardX
import torch
import wandb
from torch.utils.tensorboard import SummaryWriter

folder = sys.argv[1]
writer, other = SummaryWriter(folder + "/tb"), tensorboardX.SummaryWriter(folder + "/tbx")
run = wandb.init(mode=sys.argv[2], dir=folder, project="p")
for step in range(5):
    loss = torch.tensor(4 / (1 + step), dtype=torch.float32)
    writer.add_scalar("torch/loss", loss, step)
    writer.add_scalar("torch/new_style", loss, step, new_style=True)
    writer.add_scalars("torch", {"a": loss, "b": loss.item()}, step)
    other.add_scalar("tbx/loss", loss.item(), step)
    wandb.log({"wandb/loss": loss.item(), "nested": {"loss": loss}})
run.finish()
