# SPDX-License-Identifier: Apache-2.0
"""The process that passes on what a training prints, and writes it to its console logs as well.

    _tee.py JSON

The JSON has `control`, a socket, and `streams`: of each where its bytes come `from` and go `to`, file
descriptors both, and the `path` of its log. A byte on the socket is answered once all that had come
before it has been passed on. This process ends when nobody can write any more, however the training
ended: no signal that is meant for the training ends it before. It needs no other file.

What cannot be logged is passed on all the same. A reader who has gone is gone for the training, too.
"""

import fcntl
import json
import os
import select
import signal
import struct
import sys
import termios
import threading
import time
from typing import Any, Dict, List, Optional

CHUNK = 65536
MOST_BYTES = 8 << 20  # of a piece of a log, of which there are two
FOR_THE_TRAINING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGTSTP", "SIGPIPE")
SETTLED_SECONDS = 0.02  # what is written to a terminal takes so long to come out of it, at most
RESIZE_SECONDS = 0.25


class Log:
    """Two files: `path`, and before that `path`.1. Made with the first byte. Who looks whether it is
    written to finds it locked."""

    def __init__(self, path: str, most: int = MOST_BYTES) -> None:
        self._path, self._most = path, most
        self._fd: Optional[int] = None
        self._size = 0
        self._broken = False

    def write(self, data: bytes) -> None:
        try:
            while data and not self._broken:
                part = self._fitting(data)
                if part:
                    self._append(part)
                data = data[len(part):]
                if data:
                    self._rotate()
        except OSError:
            self._broken = True

    def _fitting(self, data: bytes) -> bytes:
        """As many whole lines as there is room for; of a line that has no room in any piece, a part."""
        room = self._most - self._size
        if len(data) <= room:
            return data
        return data[:data.rfind(b"\n", 0, room) + 1] or (data[:room] if self._size == 0 else b"")

    def _append(self, data: bytes) -> None:
        if self._fd is None:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            self._fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            self._size = os.fstat(self._fd).st_size
            self._lock()
        while data:
            written = os.write(self._fd, data)
            self._size += written
            data = data[written:]

    def _lock(self) -> None:
        assert self._fd is not None
        try:
            fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # a file system without locks
            pass

    def _rotate(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            os.rename(self._path, self._path + ".1")
        self._fd, self._size = None, 0


class Stream(threading.Thread):
    """One direction: blocking it blocks only who writes to it, as it would without this process."""

    def __init__(self, source: int, target: int, log: Log) -> None:
        super().__init__(daemon=True)
        self._source, self._target, self._log = source, target, log
        self._is_terminal = os.isatty(source)
        self._passing = threading.Lock()

    def run(self) -> None:
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        while True:
            if not poll.poll(RESIZE_SECONDS * 1000 if self._is_terminal else None):
                self._resize()
                continue
            with self._passing:
                if not self._pass_on():
                    break
        os.close(self._source)
        os.close(self._target)

    def settle(self) -> None:
        """Returns when what had been written is passed on."""
        while self._waits():
            time.sleep(0.001)

    def _waits(self) -> bool:
        try:
            if self._is_terminal:
                ready = select.select([self._source], [], [], SETTLED_SECONDS)[0]
                return bool(ready) and self.is_alive()
            with self._passing:
                return self._unread() > 0 and self.is_alive()
        except (OSError, ValueError):  # it has ended
            return False

    def _unread(self) -> int:
        return struct.unpack("i", fcntl.ioctl(self._source, termios.FIONREAD, b"\0" * 4))[0]

    def _pass_on(self) -> bool:
        """False: there is nobody to pass on from, or to."""
        try:
            data = os.read(self._source, CHUNK)
        except OSError:  # of a terminal whose users have gone
            return False
        if not data:
            return False
        alive = self._write(data)
        self._log.write(data)
        return alive

    def _write(self, data: bytes) -> bool:
        while data:
            try:
                data = data[os.write(self._target, data):]
            except BlockingIOError:
                select.select([], [self._target], [])
            except BrokenPipeError:
                return False
            except OSError:  # a full disk: the training goes on
                return True
        return True

    def _resize(self) -> None:
        """The terminal that the training sees is as large as the one that it is shown on."""
        try:
            size = fcntl.ioctl(self._target, termios.TIOCGWINSZ, b"\0" * 8)
            if size != fcntl.ioctl(self._source, termios.TIOCGWINSZ, b"\0" * 8):
                fcntl.ioctl(self._source, termios.TIOCSWINSZ, size)
        except OSError:
            pass


def answer(control: int, streams: List[Stream]) -> None:
    """Each byte of the socket, until the training has ended."""
    try:
        while os.read(control, 1):
            for stream in streams:
                stream.settle()
            os.write(control, b".")
    except OSError:
        pass


def main(wanted: Dict[str, Any]) -> None:
    for name in FOR_THE_TRAINING:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    streams = [Stream(one["from"], one["to"], Log(one["path"])) for one in wanted["streams"]]
    for stream in streams:
        stream.start()
    threading.Thread(target=answer, args=(wanted["control"], streams), daemon=True).start()
    for stream in streams:
        stream.join()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
