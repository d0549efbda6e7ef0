# SPDX-License-Identifier: Apache-2.0
"""Accelerate, in two lines:

    from trainwatch.integrations.accelerate import TrainwatchTracker
    accelerator = Accelerator(log_with=TrainwatchTracker("/path/of/the/job"))

and `accelerator.init_trackers(NAME)`, as for any tracker. A step is one of the optimizer, however
many batches it accumulates. Recorded are steps, waits for data, Backward and Optimizer, batches that
were only evaluated, and the writing of checkpoints. What is logged is not.
"""

import os
from typing import Any, Optional

from accelerate import Accelerator
from accelerate.tracking import GeneralTracker

from .. import _torch
from .._plain import PlainLoop
from .pytorch import observe, stop


class TrainwatchTracker(GeneralTracker):
    """`out`: the directory that trainwatch watches; under `python -m trainwatch run`, its own."""

    name = "trainwatch"
    requires_logging_directory = False
    main_process_only = False  # each rank has its own timeline

    def __init__(self, out: "Optional[os.PathLike[str] | str]" = None) -> None:
        super().__init__()
        self._loop: Optional[PlainLoop] = None
        _torch.patch_saving(Accelerator, "save_state", "save_model")
        self._loop = observe(out)

    @property
    def tracker(self) -> Optional[PlainLoop]:
        return self._loop

    def store_init_configuration(self, values: Any) -> None:
        pass

    def log(self, values: Any, step: Optional[int] = None, **kwargs: Any) -> None:
        pass

    def finish(self) -> None:
        if self._loop is not None:
            stop(self._loop)
            self._loop = None
