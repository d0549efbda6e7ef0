# SPDX-License-Identifier: Apache-2.0
"""As much of Accelerate as its trackers and its loader see."""

import torch


class Accelerator:
    def __init__(self, log_with):
        self.trackers = [log_with]

    def save_state(self, path):
        torch.save({}, path)

    def end_training(self):
        for tracker in self.trackers:
            tracker.finish()
