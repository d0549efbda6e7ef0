# SPDX-License-Identifier: Apache-2.0
"""The Hugging Face Trainer, console only. --deepspeed: by DeepSpeed's engine, on the CPU. Accelerate makes that
print nothing about steps: those lines are in deepspeed_engine.py.

The Trainer hides a NaN of the loss (logging_nan_inf_filter is true by default): --hide-nan leaves it so.
"""

import sys

IS_DEEPSPEED = "--deepspeed" in sys.argv
if IS_DEEPSPEED:
    import deepspeed_on_cpu  # noqa: F401

import torch_task  # noqa: E402
import training as tiny  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402

BETWEEN, EPOCHS = 5, 3
DEEPSPEED = {"train_micro_batch_size_per_gpu": torch_task.BATCH, "gradient_accumulation_steps": 1,
             "zero_optimization": {"stage": 1}, "zero_allow_untested_optimizer": True,
             "optimizer": {"type": "AdamW", "params": {"lr": 1e-2, "torch_adam": True}}}


class Samples(torch_task.Batches):
    def __getitem__(self, number):
        x, y = super().__getitem__(number)
        return {"x": x, "labels": y}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch_task.model()

    def forward(self, x, labels=None):
        logits = self.layers(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


class InOrder(transformers.Trainer):
    """Says when each iteration ended; batches come in their order, with the NaN where it is wanted."""

    def __init__(self, training, **more):
        self._training = training
        super().__init__(**more)

    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)

    def training_step(self, model, inputs, *more):
        step = self.state.global_step
        torch_task.spoil(self._training, step, inputs["x"])
        loss = super().training_step(model, inputs, *more)
        self._training.pause(step)
        self._training.trained(step, loss.item())
        return loss


class Seen(transformers.TrainerCallback):
    def __init__(self, log):
        self._log = log

    def on_log(self, args, state, control, logs=None, **_):
        if "loss" in logs:
            self._log.record(state.global_step, logs["loss"], grad_norm=float(logs.get("grad_norm", "nan")))


with tiny.Training(steps=150) as training:
    # {'loss': '2.25'}: four digits in Transformers 5.
    log = training.log(counts="iterations from 1", significant=4)
    transformers.set_seed(tiny.SEED)
    arguments = transformers.TrainingArguments(
        training.out, num_train_epochs=EPOCHS, logging_steps=BETWEEN, per_device_train_batch_size=torch_task.BATCH, report_to=[],
        save_strategy="no", use_cpu=True, learning_rate=1e-2, logging_nan_inf_filter="--hide-nan" in training.more,
        deepspeed=DEEPSPEED if IS_DEEPSPEED else None)
    InOrder(training, model=Model(), args=arguments, train_dataset=Samples(None, training.steps // EPOCHS),
            callbacks=[Seen(log)]).train()
