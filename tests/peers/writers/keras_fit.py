# SPDX-License-Identifier: Apache-2.0
"""Keras 3 on PyTorch: what fit() prints with --verbose=1 (the default) or --verbose=2, and CSVLogger's table."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import torch_task  # noqa: E402
import training as tiny  # noqa: E402
import keras  # noqa: E402
import numpy  # noqa: E402

PER_EPOCH, EVALUATED = 10, 3


class Batches(keras.utils.PyDataset):
    def __init__(self, number, step_of=None, training=None):
        super().__init__()
        self._number, self._step_of, self._training = number, step_of, training

    def __len__(self):
        return self._number

    def __getitem__(self, number):
        x = numpy.random.default_rng(number).normal(size=(torch_task.BATCH, torch_task.FEATURES)).astype("float32")
        y = x[:, :torch_task.CLASSES].argmax(1)
        if self._training is not None and self._training.is_nan(self._step_of() + number):
            x[0, 0] = numpy.nan
        return x, y


class Seen(keras.callbacks.Callback):
    """Says what was trained, and which epochs were logged."""

    def __init__(self, training, losses, console, table):
        super().__init__()
        self._training, self._losses, self._console, self._table = training, losses, console, table
        self.step = 0
        self.first = 0

    def on_train_batch_end(self, batch, logs=None):
        self._training.pause(self.step)
        self._training.trained(self.step, self._losses[-1])
        self.step += 1

    def on_epoch_begin(self, epoch, logs=None):
        self.first = epoch * PER_EPOCH

    def on_epoch_end(self, epoch, logs=None):
        self._console.record(self.step, logs["loss"], val_loss=float(logs["val_loss"]))
        self._table.record(epoch, logs["loss"], val_loss=float(logs["val_loss"]))


with tiny.Training(steps=200) as training:
    # At the end of each epoch; what a bar shows before is drawn twenty times a second at most.
    console = training.log(counts="iterations over all epochs, from 1", decimals=4)
    table = training.log("training.csv", counts="epochs from 0", per=PER_EPOCH)
    keras.utils.set_random_seed(tiny.SEED)
    losses = []

    def cross_entropy(y, predicted):
        each = keras.losses.sparse_categorical_crossentropy(y, predicted, from_logits=True)
        losses.append(each.mean().item())
        return each

    seen = Seen(training, losses, console, table)
    model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(torch_task.CLASSES)])
    model.compile(keras.optimizers.SGD(0.1), cross_entropy, metrics=["accuracy"])
    model.fit(Batches(PER_EPOCH, lambda: seen.first, training), validation_data=Batches(EVALUATED), shuffle=False,
              epochs=training.steps // PER_EPOCH, verbose=2 if "--verbose=2" in training.more else 1,
              callbacks=[seen, keras.callbacks.CSVLogger(os.path.join(training.out, "training.csv"))])
