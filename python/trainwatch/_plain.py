# SPDX-License-Identifier: Apache-2.0
"""Steps of a loop that announces nothing, from what torch does in it.

An optimizer's step ends a training step. Of several optimizers the last one in an iteration does:
which one that is, the iteration before has shown. Between two batches of a loader that nothing was
learned from, a batch was evaluated.
"""

import time
from typing import Any, Callable, Dict, Optional, Tuple

from . import Watch
from ._recorder import Recorder

_MOST_LOADERS = 16  # iterators that were not read to their end


class _NoWatch:
    """Until there is something to record: a process that only imports torch leaves no file."""

    @staticmethod
    def now() -> int:
        return time.time_ns() // 1000

    def record(self, *_: Any, **__: Any) -> None:
        pass

    def begin(self, *_: Any) -> None:
        pass


class PlainLoop(Recorder):
    """`open_watch` is called when there is something to record, `stands_down` before: whether
    somebody else records it."""

    def __init__(self, open_watch: Callable[[], Watch],
                 stands_down: Callable[[], bool] = lambda: False) -> None:
        super().__init__(_NoWatch())  # type: ignore[arg-type]
        self._open_watch: Optional[Callable[[], Watch]] = open_watch
        self._stands_down = stands_down
        self._last: Optional[int] = None      # id of the optimizer that ends a step
        self._latest: Optional[Tuple[int, int]] = None  # optimizer, end: a step that may go on
        self._learned = 0                     # backward passes and steps so far
        self._reads: Dict[int, Tuple[int, int]] = {}  # iterator -> when it was asked, `_learned`
        self._trainers: Dict[int, bool] = {}  # iterators that a training step was taken from

    def fetching(self, iterator: Any, began: int) -> None:
        if self._latest is not None:  # the optimizer that ended the last steps had no part in this
            self._last = self._latest[0]
            self._end_step(self._latest[1])
        self._end_read(id(iterator), began)
        self._reads[id(iterator)] = (began, self._learned)
        if len(self._reads) > _MOST_LOADERS:
            self._reads.pop(next(iter(self._reads)))

    def fetched(self, iterator: Any, began: int) -> None:
        super().fetched(iterator, began)
        if id(iterator) in self._trainers and not self._is_off():
            self.begins()  # most likely

    def exhausted(self, iterator: Any) -> None:
        read = self._reads.pop(id(iterator), None)  # asked in vain just now
        self._trainers.pop(id(iterator), None)
        if read is not None:
            self._pending.clear()

    def backward(self, began: int) -> None:
        if self._is_off():
            return
        self._learned += 1
        super().backward(began)

    def stepped(self, optimizer: Any, began: int, ended: int) -> None:
        if self._is_off():
            return
        self._learned += 1
        self.trains()
        super().stepped(optimizer, began, ended)
        self._latest = (id(optimizer), ended)
        if self._last is None or self._last == id(optimizer):
            self._last = id(optimizer)
            self._end_step(ended)

    def saved(self, began: int) -> None:
        if self._open_watch is None:
            super().saved(began)

    def loader_started(self, loader: Any, iterator: Any, began: int) -> None:
        if self._open_watch is None:
            super().loader_started(loader, iterator, began)

    def _end_step(self, ended: int) -> None:
        self._latest = None
        self.step_ended(ended)

    def _end_read(self, iterator: int, now: int) -> None:
        """What was done with the batch that this iterator returned before."""
        began, learned = self._reads.pop(iterator, (0, -1))
        if learned < 0:
            return
        if learned != self._learned:
            self._trainers[iterator] = True
            if len(self._trainers) > _MOST_LOADERS:
                self._trainers.pop(next(iter(self._trainers)))
        elif iterator not in self._trainers and not self._is_off():
            self.evaluated(began, now)

    def _is_off(self) -> bool:
        if self._open_watch is not None:
            if self._stands_down():
                return True
            self.watch, self._open_watch = self._open_watch(), None
            self.now = self.watch.now
        return self._stands_down()

    def finish(self) -> None:
        """The training is over, or pauses."""
        if self._latest is not None:
            self._end_step(self._latest[1])
        if self._open_watch is None:
            self.watch.rest()
