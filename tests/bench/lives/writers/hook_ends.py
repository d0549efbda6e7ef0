# SPDX-License-Identifier: Apache-2.0
"""The hook since it says when its process began, which step it has begun, and how it ended (docs/formats.md)."""

from . import hook

NAME, FIRST, view = "hook_ends", 0, hook.view


def write(job, folder, view, name=None):
    hook.write(job, folder, view, name, speaks=True)
