# SPDX-License-Identifier: Apache-2.0
from . import data  # noqa: F401
