# SPDX-License-Identifier: Apache-2.0
"""The one Watch that the integrations of a process share.

Two writers of one rank would be two processes to a reader; so callbacks, and what a launcher
loaded, use the same Watch for the same directory.
"""

import os
from typing import Dict, Optional, Tuple

from . import Watch, default_directory

DIRECTORY = "TRAINWATCH_AUTOLOAD"  # the directory that a launcher watches (_launch.py)

_watches: Dict[Tuple[int, str], Watch] = {}  # by process: a fork has none


def shared_watch(out: "Optional[os.PathLike[str] | str]") -> Watch:
    """`out`: by default the directory of the launcher, if there is one."""
    directory = os.path.abspath(default_directory(out))
    key = (os.getpid(), directory)
    if key not in _watches:
        _watches[key] = Watch(directory)
    return _watches[key]


def watch_of_the_training() -> Watch:
    """The one that the training has made itself, else that of the integrations."""
    return Watch.latest if made_by_others() and Watch.latest else shared_watch(None)


def made_by_others() -> bool:
    """The training has a Watch of its own."""
    return Watch.made > len(_watches)
