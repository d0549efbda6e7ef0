# SPDX-License-Identifier: Apache-2.0
"""What a training prints is in `logs/` of the watched directory, too: a process (_tee.py) passes it
on unchanged to where it would have gone, and writes it down.

It reads pipes, or where the training prints to a terminal, another terminal: programs that ask
whether they write to one get the same answer as ever. Standard output and error that go to the same
place have one pipe, so that their order stays.
"""

import fcntl
import json
import os
import re
import select
import socket
import subprocess
import sys
import termios
import tty
from typing import List, NamedTuple, Optional

from . import Place, writer_name

SETTLE_SECONDS = 10


class Ends(NamedTuple):
    """Of what a stream goes through."""
    read: int
    write: int


class Console:
    """Standard output and error of a training, from now on. Raises OSError."""

    def __init__(self, directory: str, here: Place, began: int, is_command: bool) -> None:
        """Of the process that began then, in microseconds since 1970. A command has no rank."""
        self._process = os.getpid()
        self._writers: List[int] = []  # for standard output and error; -1: it is closed
        streams, passed = [], []
        known = list(map(_place_of, (1, 2)))
        together = known[0] is not None and known[0] == known[1]
        for fd, name in ((1, "console"),) if together else ((1, "stdout"), (2, "stderr")):
            if known[fd - 1] is None:
                self._writers.append(-1)
                continue
            ends = _terminal(fd) if os.isatty(fd) else Ends(*os.pipe())
            target = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
            passed += [ends.read, target]
            self._writers.append(ends.write)
            streams.append({"from": ends.read, "to": target,
                            "path": os.path.join(directory, "logs", log_name(here, began, is_command, name))})
        if together:
            self._writers.append(self._writers[0])
        self._control, other = socket.socketpair()
        passed.append(other.fileno())
        self._tee = self._start({"streams": streams, "control": other.fileno()}, passed)
        other.close()
        for fd in passed[:-1]:
            os.close(fd)

    def _start(self, wanted: dict, passed: List[int]) -> subprocess.Popen:
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_tee.py")
        null = subprocess.DEVNULL
        return subprocess.Popen([sys.executable, "-I", "-S", script, json.dumps(wanted)], stdin=null, stdout=null,
                                stderr=null, pass_fds=passed, start_new_session=True)

    def take_over(self) -> None:
        """Of this process, and of those that it starts."""
        _flush()
        for fd, writer in ((1, self._writers[0]), (2, self._writers[1])):
            if writer >= 0:
                os.dup2(writer, fd)
        self.close()

    def streams(self) -> List[Optional[int]]:
        """Standard output and error for another process. Call close() once it has them."""
        return [None if writer < 0 else writer for writer in self._writers]

    def close(self) -> None:
        """This process has no use of its own for what streams() gave."""
        for writer in set(self._writers) - {-1}:
            os.close(writer)

    def settle(self) -> None:
        """Returns when all that was printed is where it goes, or will not get there soon."""
        if os.getpid() != self._process:  # a fork of the training
            return
        _flush()
        try:
            self._control.sendall(b"?")
            select.select([self._control], [], [], SETTLE_SECONDS)
        except OSError:
            pass


def log_name(here: Place, began: int, is_command: bool, stream: str) -> str:
    """Unlike that of any other process, with its rank where it has one. With a job number of Slurm's at
    the end it is of that run, as the timelines are."""
    rank = "" if is_command else "rank_%d_" % (here.rank or 0)
    run = "-" + here.run if re.fullmatch("[1-9][0-9]{2,7}", here.run) else ""
    return "%d_%s%s_%s%s.out" % (began, rank, writer_name(None, here.node), stream, run)


def _place_of(fd: int) -> Optional[tuple]:
    """The same for two that go to the same place. None: it is closed."""
    try:
        found = os.fstat(fd)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _terminal(fd: int) -> Ends:
    """As large as that at `fd`, which does what there is to do with line ends."""
    master, slave = os.openpty()
    tty.setraw(slave)
    try:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, fcntl.ioctl(fd, termios.TIOCGWINSZ, b"\0" * 8))
    except OSError:
        pass
    return Ends(master, slave)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass
