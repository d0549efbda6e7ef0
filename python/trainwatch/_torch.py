# SPDX-License-Identifier: Apache-2.0
"""Has torch announce what it does to a sink: batches, backward passes, optimizer steps, files.

attach(sink) installs the patches, which stay, and makes `sink` the one that hears instead of the one
before; nobody hears after detach(sink). Without a sink, or in a thread that does not train, a patch costs one test. What
a sink raises ends its hearing, never the training. torch is not imported here: its modules are
patched once they are.
"""

import logging
from threading import get_ident
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional

from . import worker_of_next
from ._patch import when_imported, wrap
from ._recorder import Recorder

_sink: Optional[Recorder] = None
_installed = False
_running: Dict[str, List[int]] = {}  # the threads in a call: what it calls is part of it


def attach(sink: Recorder) -> None:
    global _sink
    _install()
    _sink = sink


def detach(sink: Optional[Recorder]) -> None:
    if sink is _sink:
        silence()


def silence() -> None:
    """Nobody hears until the next attach()."""
    global _sink
    _sink = None


def _install() -> None:
    global _installed
    if _installed:
        return
    _installed = True
    for name, action in (("torch.utils.data.dataloader", _patch_loader),
                         ("torch.autograd", _patch_autograd),
                         ("torch.optim.optimizer", _patch_optimizer),
                         ("torch.serialization", _patch_saving("save")),
                         ("torch", _patch_saving("save")),
                         ("torch.distributed.checkpoint.state_dict_saver", _patch_saving("save")),
                         ("safetensors.torch", _patch_saving("save_file", "save_model")),
                         ("accelerate.data_loader", _patch_shards)):
        when_imported(name, action)


def _hearing() -> Optional[Recorder]:
    sink = _sink
    return sink if sink is not None and sink.thread == get_ident() else None


def _deaf(sink: Recorder, failure: Exception) -> None:
    detach(sink)
    logging.getLogger("trainwatch").warning("no longer recording the training: %r", failure)


def _announce(sink: Recorder, method: str, *arguments: Any) -> None:
    try:
        getattr(sink, method)(*arguments)
    except Exception as failure:
        _deaf(sink, failure)


def _next_of(sink: Recorder, iterator: Any, original: Callable[[], Any]) -> Any:
    """Asks for the next batch, as the outermost of loaders that read each other."""
    began = sink.now()
    sink.worker = worker_of_next(iterator)
    _announce(sink, "fetching", iterator, began)
    sink.inside = True
    try:
        batch = original()
    except StopIteration:
        _announce(sink, "exhausted", iterator)
        raise
    finally:
        sink.inside = False
    _announce(sink, "fetched", iterator, began)
    return batch


def _patch_loader(module: ModuleType) -> None:
    def timed_next(original: Callable) -> Callable:
        def __next__(self: Any) -> Any:
            sink = _hearing()
            if sink is None:
                return original(self)
            if sink.inside:
                sink.worker = worker_of_next(self)
                return original(self)
            return _next_of(sink, self, lambda: original(self))
        return __next__

    def timed_iter(original: Callable) -> Callable:
        def __iter__(self: Any) -> Any:
            sink = _hearing()
            if sink is None:
                return original(self)
            began = sink.now()
            iterator = original(self)
            _announce(sink, "loader_started", self, iterator, began)
            return iterator
        return __iter__

    wrap(module._BaseDataLoaderIter, "__next__", timed_next)  # type: ignore[attr-defined]
    wrap(module.DataLoader, "__iter__", timed_iter)           # type: ignore[attr-defined]


class _Shard:
    """The iterator of a loader of accelerate, a generator that reads one batch ahead."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def __iter__(self) -> "_Shard":
        return self

    def __next__(self) -> Any:
        sink = _hearing()
        if sink is None or sink.inside:
            return next(self._iterator)
        return _next_of(sink, self, self._iterator.__next__)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._iterator, name)


def _patch_shards(module: ModuleType) -> None:
    def timed_iter(original: Callable) -> Callable:
        def __iter__(self: Any) -> Any:
            iterator = original(self)
            return iterator if _hearing() is None else _Shard(iterator)
        return __iter__

    for name in ("DataLoaderShard", "DataLoaderDispatcher"):
        if hasattr(module, name):
            wrap(getattr(module, name), "__iter__", timed_iter)


def _spanning(method: str) -> Callable[[Callable], Callable]:
    """Announces a call that ended to `method` of the sink, with the time it began."""
    running = _running.setdefault(method, [])

    def make(original: Callable) -> Callable:

        def called(*arguments: Any, **options: Any) -> Any:
            sink = _hearing()
            if sink is None or sink.thread in running:
                return original(*arguments, **options)
            began = sink.now()
            running.append(sink.thread)
            try:
                return original(*arguments, **options)
            finally:
                running.remove(sink.thread)
                _announce(sink, method, began)
        return called
    return make


def _patch_autograd(module: ModuleType) -> None:
    wrap(module, "backward", _spanning("backward"))


def patch_saving(owner: Any, *names: str) -> None:
    for name in names:
        wrap(owner, name, _spanning("saved"))


def _patch_saving(*names: str) -> Callable[[ModuleType], None]:
    return lambda module: patch_saving(module, *names)


class _OptimizerSteps:
    """The outermost optimizer that steps: some wrap others. A step that raised has no end, so the
    next of the same optimizer, or the next batch, begins anew."""

    def __init__(self) -> None:
        self._stepping: Optional[int] = None
        self._began = 0

    def before(self, optimizer: Any, *_: Any) -> None:
        sink = _hearing()
        if sink is None:
            return
        now = sink.now()
        if self._stepping in (None, id(optimizer)) or now - self._began > 600_000_000:
            self._stepping, self._began = id(optimizer), now

    def after(self, optimizer: Any, *_: Any) -> None:
        sink = _hearing()
        if sink is not None and self._stepping == id(optimizer):
            self._stepping = None
            _announce(sink, "stepped", optimizer, self._began, sink.now())


def _patch_optimizer(module: ModuleType) -> None:
    steps = _OptimizerSteps()
    if hasattr(module, "register_optimizer_step_pre_hook"):  # since 2.0
        module.register_optimizer_step_pre_hook(steps.before)
        module.register_optimizer_step_post_hook(steps.after)  # type: ignore[attr-defined]
        return

    def timed_step(original: Callable) -> Callable:
        def step(self: Any, *arguments: Any, **options: Any) -> Any:
            steps.before(self)
            result = original(self, *arguments, **options)
            steps.after(self)
            return result
        return step

    def patching_init(original: Callable) -> Callable:
        def __init__(self: Any, *arguments: Any, **options: Any) -> None:
            original(self, *arguments, **options)
            wrap(type(self), "step", timed_step)
        return __init__

    wrap(module.Optimizer, "__init__", patching_init)  # type: ignore[attr-defined]
