# SPDX-License-Identifier: Apache-2.0
import sys

import job
import torch
import torch_parts

if "--pytorch-lightning" in sys.argv:
    import pytorch_lightning as lightning
else:
    import lightning

callbacks = [lightning.pytorch.callbacks.ModelCheckpoint(job.checkpoints(), every_n_train_steps=120)
             if hasattr(lightning, "pytorch") else
             lightning.callbacks.ModelCheckpoint(job.checkpoints(), every_n_train_steps=120)]
if job.has_lines:
    from trainwatch.integrations.lightning import TrainwatchCallback
    callbacks.append(TrainwatchCallback(job.out))


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = torch_parts.Model()

    def training_step(self, batch, _):
        return self.model(**batch)["loss"]

    def validation_step(self, batch, _):
        self.log("loss", self.model(**batch)["loss"])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


lightning.Trainer(accelerator="cpu", max_epochs=1, accumulate_grad_batches=job.ACCUMULATED, callbacks=callbacks,
                  logger=False, enable_progress_bar=False, enable_model_summary=False,
                  val_check_interval=260).fit(
    Module(), torch_parts.train_loader(), torch_parts.eval_loader())
