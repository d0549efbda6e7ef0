# SPDX-License-Identifier: Apache-2.0
"""Replaces functions of libraries by ones that trainwatch hears of, once they are imported.

Nothing here imports a library, and nothing raises: what cannot be patched stays as it is.
"""

import functools
import importlib.abc
import importlib.machinery
import logging
import sys
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional, Sequence

Action = Callable[[ModuleType], None]

_log = logging.getLogger("trainwatch")


def wrap(owner: Any, name: str, make: Callable[[Callable], Callable]) -> None:
    """Replaces `owner.name` by what `make` makes of it, unless that was done before."""
    original = getattr(owner, name, None)
    if original is None or getattr(original, "__trainwatch__", False):
        return
    replacement = functools.wraps(original)(make(original))
    replacement.__trainwatch__ = True  # type: ignore[attr-defined]
    setattr(owner, name, replacement)


def when_imported(name: str, action: Action) -> None:
    """Calls `action(module)` once the module `name` has been imported, at once if it is."""
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        _act(action, module)
        return
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    finder = next(one for one in sys.meta_path if isinstance(one, _Finder))
    finder.actions.setdefault(name, []).append(action)


def _act(action: Action, module: ModuleType) -> None:
    try:
        action(module)
    except Exception as failure:  # another version of the library: it stays unobserved
        _log.warning("%s is not observed: %s", module.__name__, failure)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds nothing itself: has the loaders that others found act after the import."""

    def __init__(self) -> None:
        self.actions: Dict[str, List[Action]] = {}

    def find_spec(self, name: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
                  ) -> Optional[importlib.machinery.ModuleSpec]:
        if name not in self.actions:
            return None
        for finder in sys.meta_path:
            found = getattr(finder, "find_spec", None)
            spec = found(name, path, target) if found and finder is not self else None
            if spec is not None:
                self._follow(name, spec.loader)
                return spec
        return None

    def _follow(self, name: str, loader: Any) -> None:
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return

        def exec_module(module: ModuleType) -> None:
            execute(module)
            for action in self.actions.pop(name, []):
                _act(action, module)
        try:
            loader.exec_module = exec_module
        except AttributeError:  # a loader without attributes of its own
            pass
