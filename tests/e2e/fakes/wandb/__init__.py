# SPDX-License-Identifier: Apache-2.0
"""As much of W&B as python/trainwatch hears: init() gives the module the log() of its run."""

from .sdk.wandb_run import Run


def init():
    run = Run()
    globals()["log"] = run.log
    return run
