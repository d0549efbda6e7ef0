# SPDX-License-Identifier: Apache-2.0
"""A writer whose files are mistreated: what a fault can do to its one open file, and what undoes it.

Nothing but files of the test may ever be reached: links lead to `elsewhere`, and what is no file now is left alone."""

import gzip
import os
import shutil
import stat

KEPT = 3  # rotated files of one writer


class FaultyWriter:
    """Appends what `text(until_us)` gives to `path`, by name, as a shell's >> would. `head()` begins a new file."""

    def __init__(self, path, text, elsewhere, head=lambda: b""):
        self.path, self._text, self._elsewhere, self._head = path, text, elsewhere, head
        self._torn = b""
        os.makedirs(os.path.dirname(path), exist_ok=True)

    def write_until(self, until_us):
        data, self._torn = self._torn + self._text(until_us), b""
        if not data or not os.path.isdir(os.path.dirname(self.path)) or self._swapped():
            return
        try:
            with open(self.path, "ab") as file:
                file.write(data if os.fstat(file.fileno()).st_size else self._head() + data)
        except PermissionError:
            self._torn = data

    def suffer(self, fault, dice):
        """Does it; returns what undoes it. OSError or ValueError: the file is not there, or empty."""
        if self._swapped():
            raise OSError("not a file now")
        return fault(self, dice)

    def _swapped(self):
        return os.path.lexists(self.path) and not stat.S_ISREG(os.lstat(self.path).st_mode)

    def rotate(self, _):  # catalogue 4
        for number in range(KEPT, 0, -1):
            for end in ("", ".gz"):
                old = self.path + (".%d" % number) + end
                if os.path.lexists(old) and number == KEPT:
                    os.remove(old)
                elif os.path.lexists(old):
                    os.rename(old, self.path + (".%d" % (number + 1)) + end)
        os.rename(self.path, self.path + ".1")

    def rotate_and_compress(self, dice):  # catalogue 6
        self.rotate(dice)
        with open(self.path + ".1", "rb") as plain, gzip.open(self.path + ".1.gz", "wb") as packed:
            shutil.copyfileobj(plain, packed)
        os.remove(self.path + ".1")

    def copy_and_truncate(self, _):  # catalogue 7
        shutil.copyfile(self.path, self.path + ".1")
        os.truncate(self.path, 0)

    def truncate(self, dice):  # catalogue 8
        os.truncate(self.path, dice.randrange(os.path.getsize(self.path) + 1))

    def delete(self, _):  # catalogue 14
        os.remove(self.path)

    def rewrite(self, _):  # catalogue 12
        shutil.copyfile(self.path, self.path + ".new")
        os.rename(self.path + ".new", self.path)

    def leave_a_hole(self, _):  # catalogue 9, 28
        os.truncate(self.path, os.path.getsize(self.path) + 4096)

    def add_garbage(self, dice):  # catalogue 21, 28
        with open(self.path, "ab") as file:
            file.write(dice.randbytes(dice.randrange(1, 3000)) + dice.choice([b"", b"\n"]))

    def damage(self, dice):  # catalogue 13
        with open(self.path, "r+b") as file:
            file.seek(dice.randrange(os.path.getsize(self.path)))
            file.write(dice.randbytes(dice.randrange(1, 10)))

    def tear(self, dice):  # catalogue 18
        """The next records come in two pieces, seconds apart."""
        with open(self.path, "r+b") as file:
            size = os.path.getsize(self.path)
            cut = dice.randrange(1, min(60, size))
            file.seek(size - cut)
            self._torn = file.read(cut) + self._torn
            file.truncate(size - cut)

    def hide(self, _):  # catalogue 51
        os.chmod(self.path, 0)
        return lambda: self._swapped() or os.chmod(self.path, 0o644)

    def move_away(self, _):  # catalogue 16
        folder = os.path.dirname(self.path)
        os.rename(folder, folder + ".away")
        return lambda: os.rename(folder + ".away", folder)

    def swap_for_a_link(self, _):  # catalogue 61, 63
        os.rename(self.path, self.path + ".real")
        os.symlink(self._elsewhere, self.path)
        return lambda: os.rename(self.path + ".real", self.path)

    def swap_for_a_fifo(self, _):  # catalogue 62
        os.rename(self.path, self.path + ".real")
        os.mkfifo(self.path)
        return lambda: os.rename(self.path + ".real", self.path)

    FAULTS = (rotate, rotate_and_compress, copy_and_truncate, truncate, delete, rewrite, leave_a_hole, add_garbage,
              damage, tear, hide, move_away, swap_for_a_link, swap_for_a_fifo)
