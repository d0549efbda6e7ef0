# SPDX-License-Identifier: Apache-2.0
"""What a training logs of itself, heard where it logs it: SummaryWriter, W&B, MLflow.

attach(open_watch) installs the patches, which stay; what is logged goes to the Watch that
`open_watch` returns, once there is something. Of calls that log within each other (a logger of
Lightning that writes to W&B) the outermost counts. Nothing is imported here, and what goes wrong
ends the hearing with one warning, never the training.

A value is taken as a number where it is one already. A tensor on a GPU is not asked for its value:
that would wait for the GPU. SummaryWriter asks it, and the number that it then writes is taken; for
other loggers such a value is passed over.
"""

import logging
import numbers
import threading
import weakref
from types import ModuleType
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from . import Watch
from ._patch import when_imported, wrap

Logged = Tuple[Mapping[str, Any], Optional[int]]  # values by their tags, step

_open_watch: Optional[Callable[[], Watch]] = None
_installed = False


class _Here(threading.local):
    inside = False                         # of a call that logs
    written: Optional[List[float]] = None  # numbers that a SummaryWriter has made of tensors


_here = _Here()


def attach(open_watch: Callable[[], Watch]) -> None:
    global _open_watch
    _install()
    _open_watch = open_watch


def detach() -> None:
    """Nobody hears until the next attach()."""
    global _open_watch
    _open_watch = None


def _install() -> None:
    global _installed
    if _installed:
        return
    _installed = True
    for package in ("torch.utils.tensorboard", "tensorboardX"):
        when_imported(package + ".writer", _patch_summary_writer)
    when_imported("wandb.sdk.wandb_run", _patch_wandb)
    when_imported("wandb.sdk.lib.noop_run", _patch_wandb)
    when_imported("mlflow.tracking.fluent", _patch_mlflow)
    when_imported("transformers.trainer_callback", _patch_transformers)


def as_number(value: Any) -> Optional[float]:
    """None: it is none, or would have to be waited for."""
    if isinstance(value, bool):
        return None
    if isinstance(value, numbers.Real):  # of numpy, too
        return float(value)
    device = getattr(value, "device", None)
    if getattr(device, "type", None) == "cpu" and value.numel() == 1:  # of torch
        return float(value)
    if device in (None, "cpu") and getattr(value, "size", None) == 1 and hasattr(value, "item"):
        return float(value.item())  # of numpy
    return None


def as_step(value: Any) -> Optional[int]:
    return int(value) if isinstance(value, numbers.Integral) and not isinstance(value, bool) else None


def numbers_in(values: Mapping[Any, Any], prefix: str = "") -> Dict[str, float]:
    """What of a dictionary are numbers, and of those in it, as "outer.inner"."""
    found: Dict[str, float] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            found.update(numbers_in(value, "%s%s." % (prefix, key)))
            continue
        number = as_number(value)
        if number is not None:
            found["%s%s" % (prefix, key)] = number
    return found


def heard(read: Callable[..., Optional[Logged]]) -> Callable[[Callable], Callable]:
    """A function that logs, whose arguments `read` understands; it is called before the function."""
    def make(original: Callable) -> Callable:
        def called(*arguments: Any, **options: Any) -> Any:
            if _open_watch is None or _here.inside:
                return original(*arguments, **options)
            logged = _understand(read, arguments, options)
            _here.inside = True
            try:
                result = original(*arguments, **options)
            finally:
                _here.inside = False
            _record(logged)
            return result
        return called
    return make


def silent(original: Callable) -> Callable:
    """A function of which others log what has been heard already."""
    def called(*arguments: Any, **options: Any) -> Any:
        before, _here.inside = _here.inside, True
        try:
            return original(*arguments, **options)
        finally:
            _here.inside = before
    return called


def hear_loggers(loggers: Any) -> None:
    """Of Lightning, each of a class of its own."""
    for logger in loggers:
        wrap(type(logger), "log_metrics", heard(
            lambda _, metrics, step=None: (numbers_in(metrics), as_step(step))))


def _understand(read: Callable[..., Optional[Logged]], arguments: Any, options: Any
                ) -> Optional[Logged]:
    try:
        return read(*arguments, **options)
    except TypeError:  # it is called in a wrong way, and will say so
        return None
    except Exception as failure:
        _deaf(failure)
        return None


def _record(logged: Optional[Logged]) -> None:
    open_watch = _open_watch
    if logged is None or open_watch is None:
        return
    try:
        values, step = logged
        if values:
            open_watch().log(values, step)
    except Exception as failure:
        _deaf(failure)


def _deaf(failure: Exception) -> None:
    detach()
    logging.getLogger("trainwatch").warning("no longer recording what is logged: %r", failure)


def _patch_summary_writer(module: ModuleType) -> None:
    """Of torch or tensorboardX. What it makes of tensors passes through its FileWriter."""
    def writing(original: Callable) -> Callable:
        def add_summary(self: Any, summary: Any, *arguments: Any, **options: Any) -> Any:
            if _here.written is not None:
                _here.written += map(_number_of, summary.value)
            return original(self, summary, *arguments, **options)
        return add_summary

    wrap(module.FileWriter, "add_summary", writing)  # type: ignore[attr-defined]
    writer = module.SummaryWriter                    # type: ignore[attr-defined]
    wrap(writer, "add_scalar", _written(_of_add_scalar))
    wrap(writer, "add_scalars", _written(_of_add_scalars))


def _of_add_scalar(_: Any, tag: Any, scalar_value: Any, global_step: Any = None,
                   *__: Any, **___: Any) -> Logged:
    return {tag: scalar_value}, as_step(global_step)


def _of_add_scalars(_: Any, main_tag: Any, tag_scalar_dict: Any, global_step: Any = None,
                    *__: Any, **___: Any) -> Logged:
    return ({"%s/%s" % (main_tag, tag): value for tag, value in tag_scalar_dict.items()},
            as_step(global_step))


def _number_of(value: Any) -> float:
    """Of a Summary.Value, in either encoding."""
    if value.HasField("simple_value"):
        return float(value.simple_value)
    tensor = value.tensor
    return float((tensor.float_val or tensor.double_val)[0])


def _written(read: Callable[..., Logged]) -> Callable[[Callable], Callable]:
    """As heard(), with the numbers that were written in place of values that are none yet."""
    def make(original: Callable) -> Callable:
        def called(*arguments: Any, **options: Any) -> Any:
            if _open_watch is None or _here.inside:
                return original(*arguments, **options)
            logged = _understand(read, arguments, options)
            _here.inside, _here.written = True, []
            try:
                result = original(*arguments, **options)
            finally:
                written, _here.written, _here.inside = _here.written, None, False
            _record(logged and (_known(logged[0], written or []), logged[1]))
            return result
        return called
    return make


def _known(values: Mapping[str, Any], written: List[float]) -> Dict[str, float]:
    """A number of Python has more digits than what is written of it."""
    complete = len(written) == len(values)
    found: Dict[str, float] = {}
    for place, (tag, value) in enumerate(values.items()):
        number = float(value) if isinstance(value, numbers.Real) else None
        if number is None and complete:
            number = written[place]
        if number is not None:
            found[tag] = number
    return found


class _WandbSteps:
    """The steps of W&B's runs, counted as W&B does: asking a run for its step takes long."""

    def __init__(self) -> None:
        self._next: "weakref.WeakKeyDictionary[Any, int]" = weakref.WeakKeyDictionary()

    def of(self, run: Any, step: Optional[int], commit: Optional[bool]) -> int:
        """Of this call of log()."""
        known = self._next.get(run)
        if known is None:
            known = as_step(getattr(run, "starting_step", 0)) or 0
        known = known if step is None else max(known, step)
        committed = commit if commit is not None else step is None
        self._next[run] = known + 1 if committed else known
        return known


def _patch_wandb(module: ModuleType) -> None:
    """A run, and one that is disabled. The step of a trainer that says its own comes first."""
    steps = _WandbSteps()

    def read(run: Any, data: Any, step: Any = None, commit: Any = None, **_: Any) -> Logged:
        values = numbers_in(data) if isinstance(data, dict) else {}
        known = steps.of(run, as_step(step), commit)
        for name in ("trainer/global_step", "train/global_step"):
            if name in values:
                known = int(values.pop(name))
        return values, known
    for name in ("Run", "NoopRun"):
        if hasattr(module, name):
            wrap(getattr(module, name), "log", heard(read))


def _patch_mlflow(module: ModuleType) -> None:
    def one(key: Any, value: Any, step: Any = None, *_: Any, **__: Any) -> Logged:
        return numbers_in({key: value}), as_step(step)

    def several(metrics: Any, step: Any = None, *_: Any, **__: Any) -> Logged:
        return numbers_in(metrics), as_step(step)
    wrap(module, "log_metric", heard(one))
    wrap(module, "log_metrics", heard(several))


def _patch_transformers(module: ModuleType) -> None:
    """The Trainer gives to its loggers what it gives to our callback."""
    wrap(module.CallbackHandler, "on_log", silent)  # type: ignore[attr-defined]
