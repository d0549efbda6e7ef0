# SPDX-License-Identifier: Apache-2.0
"""What a framework announces, as steps, waits, phases and evaluation of a Watch.

A Watch has with-blocks for loops that somebody edits; a Recorder has methods for callbacks, which
hear of a moment when it is there. A wait for a batch is held back until it is known what the batch
is for: a training step, or an evaluation, whose waits are not the training's.
"""

import threading
from typing import Any, List, Optional, Tuple

from . import Watch, loader_arguments, loader_kind, worker_of_next

_MOST_PENDING = 256  # waits; a gradient is accumulated over fewer batches


class Recorder:
    """Of one training in this process. Times are microseconds, as Watch.now() has them."""

    def __init__(self, watch: Watch, first_step: int = 0) -> None:
        self.watch = watch
        self.now = watch.now
        self.thread = threading.get_ident()  # that trains; a loader read by another is not waited for
        self.inside = False                  # of a loader that reads another one
        self.worker = ""
        self.number = first_step             # of the step to come
        self._began: Optional[int] = None    # that step: it waits for its first batch
        self._said = -1                      # the step that was last said to begin
        self._ended: Optional[int] = None    # the step before
        self._pending: List[Tuple[int, int, str, str]] = []
        self._computing_since: Optional[int] = None
        self._backward_end = 0

    # What loaders, autograd and optimizers of torch announce (_torch.py).

    def loader_started(self, loader: Any, iterator: Any, began: int) -> None:
        self.watch.record("DataLoaderIterInitialize", began,
                          name=loader_kind(iterator) + ".__init__",
                          arguments=loader_arguments(loader))

    def fetching(self, iterator: Any, began: int) -> None:
        """`iterator` is asked for its next batch."""

    def fetched(self, iterator: Any, began: int) -> None:
        """It returned one, which was waited for since `began`."""
        if len(self._pending) < _MOST_PENDING:
            self._pending.append((began, self.now(), loader_kind(iterator) + "::GetNext",
                                  self.worker))

    def exhausted(self, iterator: Any) -> None:
        """It has no more."""

    def backward(self, began: int) -> None:
        """A backward pass ended."""
        self.trains()
        self._backward_end = self.now()
        if self._computing_since is not None:
            self.phase("Forward", self._computing_since, began)
            self._computing_since = None
        self.phase("Backward", began, self._backward_end)

    def stepped(self, optimizer: Any, began: int, ended: int) -> None:
        """An optimizer took a step. In a closure it may have computed the gradient itself."""
        self.phase("Optimizer", max(began, self._backward_end), ended)

    def saved(self, began: int) -> None:
        """A checkpoint was written."""
        self.watch.record("Checkpoint", began)

    # What frameworks announce.

    def trains(self) -> None:
        """The batches read so far are those of a training step."""
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        if self._began is None:
            self._began = pending[0][0]
        for began, ended, name, worker in pending:
            self.watch.record("DataLoaderIter", began, ended, self.number, name, worker, hold=True)
        self.begins()

    def begins(self) -> None:
        """The step to come has begun: it is said once, at once."""
        if self._said != self.number:
            self._said = self.number
            self.watch.begin(self.number)

    def computes(self) -> None:
        """The forward pass of a batch begins."""
        self.trains()
        self._computing_since = self.now()
        if self._began is None:
            self._began = self._computing_since
        self.begins()

    def phase(self, name: str, began: int, ended: Optional[int] = None) -> None:
        """A part of the step; it is written with the step."""
        self.watch.record(name, began, ended, self.number, hold=True)

    def step_ended(self, ended: Optional[int] = None) -> None:
        """A training step ended: the optimizer's, however many batches it took."""
        ended = self.now() if ended is None else ended
        began = self._began if self._began is not None else self._ended
        self._step("TRAIN", ended if began is None else began, ended, self.number)
        self.number += 1
        self._began, self._ended = None, ended

    def evaluated(self, began: int, ended: Optional[int] = None, mode: str = "EVAL") -> None:
        """A batch was evaluated, its wait included."""
        self._pending.clear()
        self._step(mode, began, ended, self.watch.next_number(mode))

    def evaluation_ended(self, began: int) -> None:
        """All of an evaluation, with what is not in its steps: metrics, another loader."""
        self._pending.clear()
        self.watch.record("Evaluation", began)

    def _step(self, mode: str, began: int, ended: Optional[int], number: int) -> None:
        self.watch.record("Step:ModeKeys." + mode, began, ended, number)
