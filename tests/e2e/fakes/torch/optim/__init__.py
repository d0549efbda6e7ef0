# SPDX-License-Identifier: Apache-2.0
from .optimizer import SGD, Optimizer  # noqa: F401
