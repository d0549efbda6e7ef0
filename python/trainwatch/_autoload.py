# SPDX-License-Identifier: Apache-2.0
"""Observes a training that nobody edited, from the environment that _launch.py made.

install() has the trainers of Hugging Face, Lightning and Keras get their callback, observes any other
loop of PyTorch as integrations/pytorch.py does, and hears what is logged (_scalars.py). It imports
none of them. The steps of a script with a Watch or a callback of its own are left to them.
"""

import logging
import os
from types import ModuleType
from typing import Any, Callable

from . import _scalars, _torch
from ._patch import when_imported, wrap
from ._plain import PlainLoop
from ._session import DIRECTORY, made_by_others, shared_watch, watch_of_the_training


def install() -> None:
    """Does nothing where no launcher asked for it."""
    if not os.environ.get(DIRECTORY):
        return
    _torch.attach(PlainLoop(lambda: shared_watch(None), stands_down=made_by_others))
    _scalars.attach(watch_of_the_training)
    when_imported("transformers.trainer", _patch_transformers)
    for package in ("lightning.pytorch", "pytorch_lightning"):
        when_imported(package + ".trainer.trainer", _patch_lightning)
    when_imported("keras.src.models.model", _patch_keras)


def _after(act: Callable[..., None]) -> Callable[[Callable], Callable]:
    """A constructor that calls `act` on the object it made, whatever that raises."""
    def make(original: Callable) -> Callable:
        def __init__(self: Any, *arguments: Any, **options: Any) -> None:
            original(self, *arguments, **options)
            try:
                act(self)
            except Exception as failure:
                _complain(self, failure)
        return __init__
    return make


def _complain(trainer: Any, failure: Exception) -> None:
    logging.getLogger("trainwatch").warning("%s is not observed: %s", type(trainer).__name__, failure)


def _is_ours(callback: Any) -> bool:
    return type(callback).__name__ == "TrainwatchCallback"


def _patch_transformers(module: ModuleType) -> None:
    def add(trainer: Any) -> None:
        if not any(map(_is_ours, trainer.callback_handler.callbacks)):
            from .integrations.huggingface import TrainwatchCallback
            trainer.add_callback(TrainwatchCallback())
    wrap(module.Trainer, "__init__", _after(add))  # type: ignore[attr-defined]


def _patch_lightning(module: ModuleType) -> None:
    def add(trainer: Any) -> None:
        if not any(map(_is_ours, trainer.callbacks)):
            from .integrations.lightning import TrainwatchCallback
            trainer.callbacks.insert(0, TrainwatchCallback())  # checkpoints stay last
    wrap(module.Trainer, "__init__", _after(add))  # type: ignore[attr-defined]


def _patch_keras(module: ModuleType) -> None:
    def observed(original: Callable) -> Callable:
        def called(self: Any, *arguments: Any, **options: Any) -> Any:
            try:
                callbacks = options.get("callbacks")
                if len(arguments) < 6 and (callbacks is None or isinstance(callbacks, (list, tuple))):
                    if not any(map(_is_ours, callbacks or ())):
                        from .integrations.keras import TrainwatchCallback
                        options["callbacks"] = [*(callbacks or ()), TrainwatchCallback()]
            except Exception as failure:
                _complain(self, failure)
            return original(self, *arguments, **options)
        return called
    for name in ("fit", "evaluate"):
        wrap(module.Model, name, observed)  # type: ignore[attr-defined]
