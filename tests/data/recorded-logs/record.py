#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what real loggers write: a small regression is trained, and each logger writes it in its own format.

    record.py LOGGER... [--out=DIR]     in the environment that has the logger: `scripts/peers.sh NAME` prints its Python

    loggers      tensorboardx wandb
    torch        torch_summary lightning_csv hf_trainer       with the packages of `loggers` on PYTHONPATH
    tensorflow   tf_summary keras_tensorboard keras_csv       the same
    jax          flax_summary clu_summary                     the same

Each LOGGER has a folder; beside it, LOGGER.truth.json says what was trained: {"steps": [{"step", "loss", "lr", "at"}, ...]}, in the
units of the training loop and seconds since 1970. tests/peers/logged_trainings_test.py has longer ones watched while they run.
"""

import argparse
import json
import os
import random
import shutil
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Plan:
    """How long a training is, and at which step its loss becomes NaN (None: at none)."""

    def __init__(self, steps=40, step_seconds=0.02, nan_at=None):
        self.steps, self.step_seconds, self.nan_at = steps, step_seconds, nan_at

    @property
    def epochs(self):
        """Of Keras, with three batches each."""
        return max(1, self.steps // 3)


class Regression:
    """y = 3x - 1 with noise, by gradient descent in plain Python."""

    def __init__(self):
        self._random = random.Random(7)
        self.slope = self.offset = 0.0

    def step(self, lr):
        points = [(x, 3 * x - 1 + self._random.gauss(0, 0.1)) for x in (self._random.uniform(-1, 1) for _ in range(64))]
        errors = [(self.slope * x + self.offset - y, x) for x, y in points]
        self.slope -= lr * 2 * sum(error * x for error, x in errors) / len(errors)
        self.offset -= lr * 2 * sum(error for error, _ in errors) / len(errors)
        return sum(error * error for error, _ in errors) / len(errors)


def train(plan, log):
    """Calls log(step, {"loss", "lr"}) after each step; returns what was trained."""
    model, steps = Regression(), []
    for step in range(plan.steps):
        lr = 0.1 * 0.98 ** step
        loss = model.step(lr) if step != plan.nan_at else float("nan")
        time.sleep(plan.step_seconds)
        steps.append({"step": step, "loss": loss, "lr": lr, "at": time.time()})
        log(step, {"loss": loss, "lr": lr})
    return steps


def tensorboardx(out, plan):
    from tensorboardX import SummaryWriter
    with SummaryWriter(out) as writer:
        def log(step, values):
            writer.add_scalar("train/loss", values["loss"], step)
            writer.add_scalar("train/lr", values["lr"], step)
            writer.add_histogram("noise", [values["loss"], 1.0], step)
            writer.add_text("note", "step %d" % step, step)
        return train(plan, log)


def torch_summary(out, plan):
    from torch.utils.tensorboard import SummaryWriter
    with SummaryWriter(out) as writer:
        def log(step, values):
            writer.add_scalar("train/loss", values["loss"], step)
            writer.add_scalar("train/lr", values["lr"], step, new_style=True)  # as a tensor
        return train(plan, log)


def tf_summary(out, plan):
    import tensorflow as tf
    writer = tf.summary.create_file_writer(out)

    def log(step, values):
        with writer.as_default():
            tf.summary.scalar("loss", values["loss"], step=step)
            tf.summary.scalar("learning_rate", tf.constant(values["lr"], tf.float64), step=step)
    steps = train(plan, log)
    writer.close()
    return steps


def flax_summary(out, plan):
    from flax.metrics.tensorboard import SummaryWriter
    writer = SummaryWriter(out)

    def log(step, values):
        writer.scalar("train_loss", values["loss"], step)
        writer.scalar("learning_rate", values["lr"], step)
    steps = train(plan, log)
    writer.close()
    return steps


def clu_summary(out, plan):
    from clu import metric_writers
    writer = metric_writers.SummaryWriter(out)
    steps = train(plan, lambda step, values: writer.write_scalars(step, {"loss": values["loss"], "learning_rate": values["lr"]}))
    writer.close()
    return steps


def _keras(callback, plan):
    """A Keras fit of the same points; what its own callback sees is the truth."""
    import keras
    import numpy as np
    steps = []

    class Seen(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self.batches = []

        def on_train_batch_end(self, batch, logs=None):
            time.sleep(plan.step_seconds)
            self.batches.append(time.time())

        def on_epoch_end(self, epoch, logs=None):
            steps.append({"step": epoch, "loss": float(logs["loss"]), "val_loss": float(logs["val_loss"]), "at": time.time(),
                          "batches": self.batches})

    keras.utils.set_random_seed(7)
    x = np.random.uniform(-1, 1, (256, 1)).astype("float32")
    y = 3 * x - 1 + np.random.normal(0, 0.1, x.shape).astype("float32")
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(x, y, epochs=plan.epochs, batch_size=64, validation_split=0.25, verbose=0, callbacks=[Seen(), callback])
    return steps


def keras_tensorboard(out, plan):
    import keras
    return _keras(keras.callbacks.TensorBoard(out, update_freq=1, write_graph=False), plan)


def keras_csv(out, plan):
    import keras
    return _keras(keras.callbacks.CSVLogger(os.path.join(out, "training.csv")), plan)


def wandb(out, plan):
    os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true", WANDB_DIR=out, WANDB_DISABLE_GIT="true", WANDB_DISABLE_CODE="true")
    import wandb as logger
    run = logger.init(project="recorded", dir=out, settings=logger.Settings(console="off", x_stats_sampling_interval=0.1))
    steps = train(plan, lambda step, values: run.log({"train/loss": values["loss"], "lr": values["lr"]}))
    run.finish()
    return steps


def _lightning(logger, log_every, plan):
    """A Lightning fit; what is logged is the truth."""
    import lightning
    import torch
    steps = []

    class Line(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.line = torch.nn.Linear(1, 1)

        def training_step(self, batch, index):
            loss = torch.nn.functional.mse_loss(self.line(batch[0]), batch[1])
            self.log("train_loss", loss)
            time.sleep(plan.step_seconds)
            steps.append({"step": self.global_step, "loss": float(loss), "at": time.time()})
            return loss

        def validation_step(self, batch, index):
            self.log("val_loss", torch.nn.functional.mse_loss(self.line(batch[0]), batch[1]))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    lightning.seed_everything(7)
    x = torch.rand(320, 1) * 2 - 1
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, 3 * x - 1), batch_size=32)
    trainer = lightning.Trainer(max_steps=plan.steps, logger=logger, log_every_n_steps=log_every, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False, accelerator="cpu")
    trainer.fit(Line(), loader, loader)
    return [step for step in steps if (step["step"] + 1) % log_every == 0]


def lightning_csv(out, plan):
    from lightning.pytorch.loggers import CSVLogger
    return _lightning(CSVLogger(out, flush_logs_every_n_steps=10), log_every=5, plan=plan)


def hf_trainer(out, plan):
    """Its console goes to console.log, as a job's standard output and error do under Slurm."""
    import torch
    import transformers
    steps = []

    class Line(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.line = torch.nn.Linear(1, 1)

        def forward(self, x, labels=None):
            return {"loss": torch.nn.functional.mse_loss(self.line(x), labels)}

    class Seen(transformers.TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            time.sleep(plan.step_seconds)

        def on_log(self, args, state, control, logs=None, **_):
            if "loss" in logs:
                steps.append({"step": state.global_step, "loss": float(logs["loss"]), "lr": float(logs["learning_rate"]),
                              "at": time.time()})

    os.environ["TENSORBOARD_LOGGING_DIR"] = os.path.join(out, "runs")
    transformers.set_seed(7)
    data = [{"x": torch.tensor([i / 100 - 1]), "labels": torch.tensor([3 * (i / 100 - 1) - 1])} for i in range(200)]
    arguments = transformers.TrainingArguments(output_dir=out, max_steps=plan.steps, logging_steps=4, per_device_train_batch_size=16,
                                               report_to=["tensorboard"], save_steps=20, save_only_model=True, use_cpu=True)
    with open(os.path.join(out, "console.log"), "w", buffering=1) as console:
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(console.fileno(), 1)
        os.dup2(console.fileno(), 2)
        transformers.Trainer(model=Line(), args=arguments, train_dataset=data, callbacks=[Seen()]).train()
    for folder, _, names in os.walk(out):
        for name in names:  # weights and the like
            if name.endswith((".safetensors", ".bin", ".pt", ".pth")):
                os.remove(os.path.join(folder, name))
    return steps


LOGGERS = {logger.__name__: logger for logger in (tensorboardx, torch_summary, tf_summary, flax_summary, clu_summary,
                                                  keras_tensorboard, keras_csv, wandb, lightning_csv, hf_trainer)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("loggers", nargs="+", choices=LOGGERS, metavar="LOGGER")
    parser.add_argument("--out", default=HERE)
    parser.add_argument("--truth", help="where the truth is written; by default, the same")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--step-seconds", type=float, default=0.02)
    parser.add_argument("--nan-at", type=int, help="the step whose loss is NaN")
    options = parser.parse_args()
    for name in options.loggers:
        out = os.path.join(options.out, name)
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        steps = LOGGERS[name](out, Plan(options.steps, options.step_seconds, options.nan_at))
        with open(os.path.join(options.truth or options.out, name + ".truth.json"), "w") as file:
            json.dump({"steps": steps}, file, indent=1)


if __name__ == "__main__":
    main()
