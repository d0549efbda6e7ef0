# SPDX-License-Identifier: Apache-2.0
"""A program on a pseudo terminal, and what a person would see there."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import harness

COLOUR = re.compile(r"\x1b\[[\d;]*m")


class Screen:
    """Runs a command on a terminal of so many columns until the end of the block."""

    def __init__(self, *command, columns=100, env=None, stderr=None):
        self.columns, self.raw = columns, ""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        surroundings = dict(os.environ, TERM="xterm", TZ="UTC", LC_ALL="C.UTF-8")
        surroundings.pop("NO_COLOR", None)
        surroundings.update(env or {})
        self._process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=stderr or slave, env=surroundings)
        os.close(slave)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._master)

    def read(self):
        """Takes what is there now."""
        while select.select([self._master], [], [], 0)[0]:
            try:
                data = os.read(self._master, 65536)
            except OSError:   # the other end is closed
                return
            if not data:
                return
            self.raw += data.decode(errors="replace")

    def type(self, text):
        os.write(self._master, text.encode())

    def lines(self):
        """What a person sees: everything that was ever printed, the line of the cursor last. A line that was written
        over, wider than the terminal, or holds a control character is an error."""
        self.read()
        lines = [""]
        for piece in re.split(r"(\r\n|\r\x1b\[K|\n)", COLOUR.sub("", self.raw)):
            if piece in ("\r\n", "\n"):
                lines.append("")
            elif piece == "\r\x1b[K":
                lines[-1] = ""
            else:
                if piece and lines[-1]:
                    raise AssertionError("glued: %r and %r" % (lines[-1], piece))
                if re.search(r"[\x00-\x1f]", piece):
                    raise AssertionError("control characters: %r" % piece)
                if not piece.startswith(("ts=", "level=")) and len(piece) > self.columns:
                    raise AssertionError("too wide: %r" % piece)
                lines[-1] += piece
        return lines

    def text(self):
        """The lines as one, for what may be wrapped."""
        return re.sub(r"\s+", " ", " ".join(self.lines()))

    def wait_for(self, pattern, seconds=harness.PATIENCE_SECONDS):
        return harness.wait_for(lambda: re.search(pattern, self.text()), "%r in %s" % (pattern, self.lines()[-12:]), seconds)

    def end(self, number=signal.SIGINT):
        """Asks the program to end, and returns its exit code."""
        self._process.send_signal(number)
        return self.wait()

    def wait(self):
        deadline = time.monotonic() + harness.PATIENCE_SECONDS
        while self._process.poll() is None:   # it may wait for its output to be read
            self.read()
            if time.monotonic() > deadline:
                raise AssertionError("it does not end: %s" % self.lines()[-5:])
            time.sleep(0.01)
        self.read()
        return self._process.returncode
