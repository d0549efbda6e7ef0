# SPDX-License-Identifier: Apache-2.0
"""Keras 3, in two lines:

    from trainwatch.integrations.keras import TrainwatchCallback
    model.fit(..., callbacks=[TrainwatchCallback("/path/of/the/job")])

A step is one of the optimizer (`gradient_accumulation_steps`), or of `steps_per_execution` batches.
Recorded are steps, evaluation, the writing of checkpoints, and what Keras logs: the means of an epoch
so far, as "batch_loss", and at its end as "epoch_loss" and "val_loss"; with the torch backend waits for
data, Forward, Backward and Optimizer as well. The other backends fetch a batch inside the step,
where nothing announces it.
"""

import os
from typing import Any, Optional

import keras

from .. import _torch
from .._recorder import Recorder
from .._scalars import numbers_in
from .._session import shared_watch


class TrainwatchCallback(keras.callbacks.Callback):
    """`out`: the directory that trainwatch watches; under `python -m trainwatch run`, its own."""

    def __init__(self, out: "Optional[os.PathLike[str] | str]" = None) -> None:
        super().__init__()
        self._out = out
        self._recorder: Optional[Recorder] = None
        self._batches = 0            # since the last step of the optimizer
        self._accumulated = 1        # by each step of the optimizer
        self._training = False
        self._evaluating_since = 0
        self._batch_began = 0

    def on_train_begin(self, logs: Any = None) -> None:
        self._recorder = Recorder(shared_watch(self._out))
        self._training = True
        self._batches = 0
        optimizer = getattr(self.model, "optimizer", None)
        self._accumulated = getattr(optimizer, "gradient_accumulation_steps", None) or 1
        _torch.patch_saving(type(self.model), "save", "save_weights")
        _torch.attach(self._recorder)

    def on_train_batch_begin(self, batch: Any, logs: Any = None) -> None:
        if self._recorder:
            self._recorder.computes()

    def on_train_batch_end(self, batch: Any, logs: Any = None) -> None:
        self._batches += 1
        if self._recorder and self._batches >= self._accumulated:
            self._batches = 0
            self._log("batch_", logs, self._recorder.number, hold=True)
            self._recorder.step_ended()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self._recorder:
            self._log("epoch_", logs, max(self._recorder.number - 1, 0))

    def on_train_end(self, logs: Any = None) -> None:
        self._training = False
        self._rest()

    def on_test_begin(self, logs: Any = None) -> None:
        if self._recorder is None:  # evaluation without training
            self._recorder = Recorder(shared_watch(self._out))
        self._evaluating_since = self._recorder.now()

    def on_test_batch_begin(self, batch: Any, logs: Any = None) -> None:
        if self._recorder:
            self._batch_began = self._recorder.now()

    def on_test_batch_end(self, batch: Any, logs: Any = None) -> None:
        if self._recorder:
            self._recorder.evaluated(self._batch_began)

    def on_test_end(self, logs: Any = None) -> None:
        if self._recorder:
            self._recorder.evaluation_ended(self._evaluating_since)
        if not self._training:
            self._rest()

    def _log(self, prefix: str, logs: Any, step: int, hold: bool = False) -> None:
        assert self._recorder is not None
        values = numbers_in(logs or {})
        self._recorder.watch.log({name if name.startswith("val_") else prefix + name: value
                                  for name, value in values.items()}, step, hold)

    def _rest(self) -> None:
        _torch.detach(self._recorder)
        if self._recorder:
            self._recorder.watch.rest()
        self._recorder = None
