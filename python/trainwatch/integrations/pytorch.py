# SPDX-License-Identifier: Apache-2.0
"""A loop of one's own in PyTorch, in two lines before it:

    from trainwatch.integrations.pytorch import observe
    observe("/path/of/the/job")

Steps end with the optimizer's; recorded are waits for torch's DataLoader, Backward and Optimizer,
batches that were only evaluated, and torch.save. For more, `trainwatch.Watch` has with-blocks.
"""

import os
from typing import Optional

from .. import _torch
from .._plain import PlainLoop
from .._session import shared_watch


def observe(out: "Optional[os.PathLike[str] | str]" = None) -> PlainLoop:
    """`out`: the directory that trainwatch watches; under `python -m trainwatch run`, its own."""
    loop = PlainLoop(lambda: shared_watch(out))
    _torch.attach(loop)
    return loop


def stop(loop: PlainLoop) -> None:
    """The training of `loop` is over."""
    _torch.detach(loop)
    loop.finish()
