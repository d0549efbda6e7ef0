# SPDX-License-Identifier: Apache-2.0
"""As much of torch as python/trainwatch observes: loaders, backward passes, optimizers, files.

The parts are where torch has them and call each other as torch's do, so that patches of trainwatch
meet the same names. FAKE_TORCH=1.13 in the environment lacks what came with 2.0.
"""

import os

from . import autograd
from .serialization import save

__version__ = os.environ.get("FAKE_TORCH", "2.15.0")


class Tensor:
    def backward(self):
        autograd.backward(self)


from . import optim, utils  # noqa: E402,F401
