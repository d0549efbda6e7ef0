# SPDX-License-Identifier: Apache-2.0
"""A preloaded library that shows a process other times than the machine has, by offsets that a file holds."""

import mmap
import os
import shutil
import struct
import subprocess
import tempfile

import harness

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
static const volatile long* seconds;
static int (*real)(clockid_t, struct timespec*);
__attribute__((constructor)) static void begin(void) {
  int file = open(getenv("CLOCK_OFFSETS"), O_RDONLY | O_CLOEXEC);
  seconds = mmap(0, 16, PROT_READ, MAP_SHARED, file, 0);
  real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
}
int clock_gettime(clockid_t clock, struct timespec* now) {
  int done = real(clock, now);
  if (clock == CLOCK_REALTIME && seconds != MAP_FAILED) now->tv_sec += seconds[0];
  if (clock == CLOCK_MONOTONIC && seconds != MAP_FAILED) now->tv_sec += seconds[1];
  return done;
}
"""


def require():
    """Ends the test if the library cannot be built here."""
    if shutil.which("cc") is None:
        harness.skip("there is no C compiler for the false clock")


class FalseClock:
    """Processes with its environment `env` see the offsets that were set last, in seconds."""

    def __init__(self, test):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self._offsets = os.path.join(folder.name, "offsets")
        library, source = os.path.join(folder.name, "clock.so"), os.path.join(folder.name, "clock.c")
        with open(source, "w") as file:
            file.write(SOURCE)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        with open(self._offsets, "wb") as file:
            file.write(bytes(16))
        self.env = {"LD_PRELOAD": library, "CLOCK_OFFSETS": self._offsets}

    def set(self, host, steady=0):
        """Of the host's clock, which anybody may set, and of the one that only counts."""
        with open(self._offsets, "r+b") as file, mmap.mmap(file.fileno(), 16) as page:
            page[:] = struct.pack("qq", host, steady)
