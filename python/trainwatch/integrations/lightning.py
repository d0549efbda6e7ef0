# SPDX-License-Identifier: Apache-2.0
"""Lightning, in two lines:

    from trainwatch.integrations.lightning import TrainwatchCallback
    trainer = Trainer(..., callbacks=[TrainwatchCallback("/path/of/the/job")])

for the Trainer of `lightning` as of `pytorch_lightning`. A step is one of the optimizer, however
many batches it accumulates. Recorded are steps, waits for data of torch's DataLoader, Forward,
Backward and Optimizer, validation, the writing of checkpoints, and what its loggers log.
"""

import os
import sys
from typing import Any, Optional

from .. import _scalars, _torch
from .._recorder import Recorder
from .._session import shared_watch

# Both packages have a Trainer, which takes only callbacks of its own package: the one that the
# script has imported counts.
if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
    from pytorch_lightning import Callback, Trainer
else:
    try:
        from lightning.pytorch import Callback, Trainer
    except ImportError:
        from pytorch_lightning import Callback, Trainer


class TrainwatchCallback(Callback):
    """`out`: the directory that trainwatch watches; under `python -m trainwatch run`, its own."""

    def __init__(self, out: "Optional[os.PathLike[str] | str]" = None) -> None:
        self._out = out
        self._recorder: Optional[Recorder] = None
        self._optimizer_steps = 0
        self._evaluating_since = 0
        self._batch_began = 0
        _torch.patch_saving(Trainer, "save_checkpoint")

    def on_sanity_check_start(self, trainer: Any, pl_module: Any) -> None:
        _torch.silence()  # it is no evaluation of the training

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._optimizer_steps = trainer.global_step
        self._recorder = Recorder(shared_watch(self._out), first_step=trainer.global_step)
        _torch.attach(self._recorder)
        if getattr(trainer, "is_global_zero", True):
            _scalars.attach(lambda: shared_watch(self._out))
            _scalars.hear_loggers(getattr(trainer, "loggers", ()))

    def on_train_batch_start(self, trainer: Any, pl_module: Any, *_: Any) -> None:
        if self._recorder:
            self._recorder.computes()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, *_: Any) -> None:
        if self._recorder and trainer.global_step != self._optimizer_steps:
            self._optimizer_steps = trainer.global_step
            self._recorder.step_ended()

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        if self._recorder:  # not in the sanity check, which comes before the training
            self._evaluating_since = self._recorder.now()

    def on_validation_batch_start(self, trainer: Any, pl_module: Any, *_: Any) -> None:
        if self._recorder:
            self._batch_began = self._recorder.now()

    def on_validation_batch_end(self, trainer: Any, pl_module: Any, *_: Any) -> None:
        if self._recorder:
            self._recorder.evaluated(self._batch_began)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if self._recorder:
            self._recorder.evaluation_ended(self._evaluating_since)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._finish()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._finish()

    def _finish(self) -> None:
        _torch.detach(self._recorder)
        if self._recorder:
            self._recorder.watch.rest()
        self._recorder = None
