# SPDX-License-Identifier: Apache-2.0
"""Accelerate, in two lines:

    from trainwatch.integrations.accelerate import TrainwatchTracker
    accelerator = Accelerator(log_with=TrainwatchTracker("/path/of/the/job"))

and `accelerator.init_trackers(NAME)`, as for any tracker. A step is one of the optimizer, however
many batches it accumulates. Recorded are steps, waits for data, Backward and Optimizer, batches that
were only evaluated, the writing of checkpoints, and what the main process logs.
"""

import os
from typing import Any, Optional

from accelerate import Accelerator
from accelerate.tracking import GeneralTracker

from .. import _torch, place
from .._plain import PlainLoop
from .._scalars import as_step, numbers_in
from .._session import shared_watch
from .pytorch import observe, stop


class TrainwatchTracker(GeneralTracker):
    """`out`: the directory that trainwatch watches; under `python -m trainwatch run`, its own."""

    name = "trainwatch"
    requires_logging_directory = False
    main_process_only = False  # each rank has its own timeline

    def __init__(self, out: "Optional[os.PathLike[str] | str]" = None) -> None:
        super().__init__()
        self._out = out
        self._loop: Optional[PlainLoop] = None
        _torch.patch_saving(Accelerator, "save_state", "save_model")
        self._loop = observe(out)

    @property
    def tracker(self) -> Optional[PlainLoop]:
        return self._loop

    def store_init_configuration(self, values: Any) -> None:
        pass

    def log(self, values: Any, step: Optional[int] = None, **kwargs: Any) -> None:
        if not place().rank:
            shared_watch(self._out).log(numbers_in(values), as_step(step))

    def finish(self) -> None:
        if self._loop is not None:
            stop(self._loop)
            self._loop = None
