# SPDX-License-Identifier: Apache-2.0
"""As much of MLflow as python/trainwatch hears."""

from .tracking.fluent import log_metric, log_metrics  # noqa: F401
