# SPDX-License-Identifier: Apache-2.0
"""A FUSE file system that shows another directory, badly: reads give 7 bytes at a time, inotify sees
nothing, and reads fail or hang while a file says so.

    faulty_fs.py BACKING MOUNTPOINT CONTROL      CONTROL/fail: EIO; CONTROL/hang: no answer until it is gone,
                                             CONTROL/hangs: a read waits for that
"""

import errno
import os
import sys
import time

import fusepy

SHORT = 7
FIELDS = ("st_mode", "st_ino", "st_nlink", "st_uid", "st_gid", "st_size", "st_atime", "st_mtime", "st_ctime")


class FaultyFs(fusepy.Operations):
    def __init__(self, backing, control):
        self._backing = backing
        self._control = control

    def _asked_for(self, what):
        return os.path.exists(os.path.join(self._control, what))

    def _path(self, path):
        return os.path.join(self._backing, path.lstrip("/"))

    def getattr(self, path, fh=None):
        found = os.lstat(self._path(path))
        return {field: getattr(found, field) for field in FIELDS}

    def readdir(self, path, fh):
        return [".", "..", *os.listdir(self._path(path))]

    def open(self, path, flags):
        return os.open(self._path(path), flags)

    def release(self, path, fh):
        os.close(fh)

    def read(self, path, size, offset, fh):
        while self._asked_for("hang"):
            with open(os.path.join(self._control, "hangs"), "w"):
                time.sleep(0.05)
        if self._asked_for("fail"):
            raise fusepy.FuseOSError(errno.EIO)
        return os.pread(fh, min(size, SHORT), offset)


if __name__ == "__main__":
    fusepy.FUSE(FaultyFs(sys.argv[1], sys.argv[3]), sys.argv[2], foreground=True, direct_io=True,
                use_ino=True, attr_timeout=0, entry_timeout=0)
