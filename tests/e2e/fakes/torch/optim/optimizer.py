# SPDX-License-Identifier: Apache-2.0
import functools
import os

_before, _after = [], []

if not os.environ.get("FAKE_TORCH", "2").startswith("1."):
    register_optimizer_step_pre_hook = _before.append
    register_optimizer_step_post_hook = _after.append


class Optimizer:
    def __init__(self):
        if not getattr(type(self).step, "hooked", False):
            type(self).step = _hooked(type(self).step)


def _hooked(original):
    @functools.wraps(original)
    def step(self, *arguments):
        for hook in _before:
            hook(self, arguments, {})
        result = original(self, *arguments)
        for hook in _after:
            hook(self, arguments, {})
        return result
    step.hooked = True
    return step


class SGD(Optimizer):
    def step(self, closure=None):
        return closure() if closure else None
