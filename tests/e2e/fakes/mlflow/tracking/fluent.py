# SPDX-License-Identifier: Apache-2.0


def log_metric(key, value, step=None, synchronous=None):
    pass


def log_metrics(metrics, step=None, synchronous=None):
    for key, value in metrics.items():
        log_metric(key, value, step)
