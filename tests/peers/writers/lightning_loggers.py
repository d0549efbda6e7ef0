# SPDX-License-Identifier: Apache-2.0
"""Lightning with its progress bar (tqdm's, or with --rich the one of rich), CSVLogger and TensorBoardLogger at once."""

import torch_task
import training as tiny
import lightning
import torch
from lightning.pytorch.callbacks import RichProgressBar, TQDMProgressBar
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger

EPOCHS, BETWEEN, EVALUATED = 3, 5, 4


class Module(lightning.LightningModule):
    def __init__(self, training, logs):
        super().__init__()
        self.layers = torch_task.model()
        self._training, self._logs = training, logs

    def training_step(self, batch, index):
        step = self.global_step
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self.layers(torch_task.spoil(self._training, step, x)), y)
        self.log("train_loss", loss, prog_bar=True)
        self._training.pause(step)
        self._training.trained(step, loss.item())
        if (step + 1) % BETWEEN == 0:
            for log in self._logs:
                log.record(step, loss.item())
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        self.log("val_loss", torch.nn.functional.cross_entropy(self.layers(x), y), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Bar(lightning.Callback):
    """What the progress bar shows behind a batch, as it is set to do so at the end of each."""

    def __init__(self, log):
        self._log = log

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self._log.record(module.global_step, outputs["loss"].item(), epoch=trainer.current_epoch, batch=batch_idx + 1)


with tiny.Training(steps=150) as training:
    logs = [training.log("csv/version_0/metrics.csv", "train_loss"),
            training.log("tensorboard/version_0/events.*", "train_loss")]
    lightning.seed_everything(tiny.SEED)
    per_epoch = training.steps // EPOCHS
    if "--rich" in training.more:
        callbacks = [RichProgressBar()]  # in a file it shows only how the last epoch ended
    else:
        bar = training.log(tag="train_loss", counts="iterations over all epochs, from 1", significant=3)
        callbacks = [TQDMProgressBar(), Bar(bar)]
    trainer = lightning.Trainer(
        max_epochs=EPOCHS, accelerator="cpu", log_every_n_steps=BETWEEN, enable_checkpointing=False, callbacks=callbacks,
        logger=[CSVLogger(training.out, "csv", flush_logs_every_n_steps=10), TensorBoardLogger(training.out, "tensorboard")])
    trainer.fit(Module(training, logs), torch_task.loader(None, per_epoch), torch_task.loader(None, EVALUATED))
