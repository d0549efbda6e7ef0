# SPDX-License-Identifier: Apache-2.0
"""MMEngine's Runner: the console, the same as a text log, and vis_data's JSON lines."""

import torch_task
import training as tiny
import torch
from mmengine.hooks import Hook
from mmengine.model import BaseModel
from mmengine.runner import Runner

EPOCHS, BETWEEN, SMOOTHED = 3, 5, 10


class Model(BaseModel):
    def __init__(self, training):
        super().__init__()
        self.layers = torch_task.model()
        self._training, self.step = training, 0

    def forward(self, x, y, mode="tensor"):
        output = self.layers(torch_task.spoil(self._training, self.step, x))
        return {"loss": torch.nn.functional.cross_entropy(output, y)} if mode == "loss" else (output, y)


class Seen(Hook):
    """Before the hook that logs, as the lowest is called last."""

    priority = "NORMAL"

    def __init__(self, training, logs):
        self._training, self._logs = training, logs

    def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
        self._training.pause(runner.model.step)
        self._training.trained(runner.model.step, outputs["loss"].item())
        runner.model.step += 1
        if (batch_idx + 1) % BETWEEN == 0:
            for log in self._logs:  # the mean of the last ten iterations, across epochs
                log.record(runner.model.step, self._training.mean_loss(SMOOTHED), epoch=runner.epoch + 1, batch=batch_idx + 1)


with tiny.Training(steps=150) as training:
    text = {"counts": "epochs from 1 and batches from 1", "decimals": 4}
    logs = [training.log(**text), training.log("work/*/*.log", **text),
            training.log("work/*/vis_data/2*.json", counts="iterations from 1"),
            training.log("work/*/vis_data/scalars.json", counts="iterations from 1")]
    model = Model(training)
    Runner(model=model, work_dir=training.out + "/work", train_dataloader=torch_task.loader(None, training.steps // EPOCHS),
           train_cfg={"by_epoch": True, "max_epochs": EPOCHS}, optim_wrapper={"optimizer": {"type": "SGD", "lr": 0.1}},
           default_hooks={"logger": {"type": "LoggerHook", "interval": BETWEEN}}, custom_hooks=[Seen(training, logs)],
           randomness={"seed": tiny.SEED}, experiment_name="tiny").train()
