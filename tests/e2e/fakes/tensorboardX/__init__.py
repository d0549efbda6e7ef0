# SPDX-License-Identifier: Apache-2.0
"""As much of tensorboardX as python/trainwatch hears; torch.utils.tensorboard has the same names."""

from .writer import SummaryWriter  # noqa: F401
