# SPDX-License-Identifier: Apache-2.0
"""A module that logs with Lightning's CSVLogger, which writes what it logged to its own file."""

import sys

import lightning.pytorch as lightning
import torch
from lightning.pytorch.loggers import CSVLogger


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, _):
        loss = self.layer(batch[0]).square().mean()
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)


data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(64, 8)), batch_size=4)
lightning.Trainer(max_epochs=2, logger=CSVLogger(sys.argv[1]), log_every_n_steps=4, enable_progress_bar=False,
                  enable_model_summary=False, enable_checkpointing=False).fit(Module(), data)
