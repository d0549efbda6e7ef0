# SPDX-License-Identifier: Apache-2.0
"""Hugging Face Trainer, in two lines:

    from trainwatch.integrations.huggingface import TrainwatchCallback
    trainer = Trainer(..., callbacks=[TrainwatchCallback("/path/of/the/job")])

A step is one of the optimizer, however many batches it accumulates; its number is the Trainer's
`global_step` before it. Recorded are steps, waits for data, Forward, Backward and Optimizer,
evaluation, the writing of checkpoints, and what the Trainer logs, under the names that its loggers
give it ("train/loss", "eval/loss").
"""

import os
from typing import Any, Dict, Optional

from transformers import TrainerCallback

from .. import _torch
from .._recorder import Recorder
from .._scalars import numbers_in
from .._session import shared_watch


def _as_loggers_name_it(logs: Any) -> Dict[str, float]:
    named = {}
    for name, value in numbers_in(logs or {}).items():
        kind, bar, rest = name.partition("_")
        named["%s/%s" % (kind, rest) if bar and kind in ("eval", "test") else "train/" + name] = value
    return named


class _TrainerRecorder(Recorder):
    def saved(self, began: int) -> None:
        """A part of what on_save announces."""


class TrainwatchCallback(TrainerCallback):
    """`out`: the directory that trainwatch watches; under `python -m trainwatch run`, its own."""

    def __init__(self, out: "Optional[os.PathLike[str] | str]" = None) -> None:
        self._out = out
        self._recorder: Optional[Recorder] = None
        self._training = False
        self._mark = 0                                # when the last thing that was announced ended
        self._evaluating_since: Optional[int] = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        _torch.detach(self._recorder)
        self._recorder = _TrainerRecorder(shared_watch(self._out), first_step=state.global_step)
        self._training = True
        self._mark = self._recorder.now()
        _torch.attach(self._recorder)

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._recorder:
            self._recorder.computes()

    def on_substep_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._recorder:
            self._recorder.computes()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._recorder:
            self._recorder.number = max(state.global_step - 1, 0)
            self._mark = self._recorder.now()
            self._recorder.step_ended(self._mark)

    def on_prediction_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        recorder = self._evaluator()
        now = recorder.now()
        if self._evaluating_since is None:
            if not self._training:  # what came before is not known
                self._mark = now
            self._evaluating_since = self._mark
        recorder.evaluated(self._mark, now)
        self._mark = now

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._recorder and self._evaluating_since is not None:
            self._recorder.evaluation_ended(self._evaluating_since)
            self._mark = self._recorder.now()
        self._evaluating_since = None
        if self._recorder and not self._training:
            self._recorder.watch.rest()

    on_predict = on_evaluate

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        if self._recorder and getattr(state, "is_world_process_zero", True):
            self._recorder.watch.log(_as_loggers_name_it(logs), state.global_step)
        if self._recorder and self._evaluating_since is None:
            self._mark = self._recorder.now()

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._recorder:
            self._recorder.watch.record("Checkpoint", self._mark)
            self._mark = self._recorder.now()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._training = False
        _torch.detach(self._recorder)
        if self._recorder:
            self._recorder.watch.rest()

    def _evaluator(self) -> Recorder:
        """Evaluation may come without training."""
        if self._recorder is None:
            self._recorder = _TrainerRecorder(shared_watch(self._out))
            self._mark = self._recorder.now()
            _torch.attach(self._recorder)
        return self._recorder
