#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links a program that needs nothing of the machine but its C library, version 2.27 or newer.

    link.py ARCHIVES STUBS COMMAND...

COMMAND is how it would be linked against the shared libraries of this machine. Each of them is replaced by its static
archive, from the directory ARCHIVES or beside the library, and the C library by what glibc_stubs.py made in STUBS.
"""

import os
import re
import subprocess
import sys

LIBC = ("c", "dl", "m", "pthread", "rt")


def archive(name, archives, folder):
    for path in (os.path.join(archives, "lib%s.a" % name), os.path.join(folder, "lib%s.a" % name)):
        if os.path.exists(path):
            return path
    sys.exit("link.py: lib%s has no static archive: packaging/portable/README.md says how it gets one" % name)


def replaced(argument, archives, folder):
    match = re.fullmatch(r"-l(\w+)|(/.*)/lib([^/]+?)\.so(?:\.[\d.]+)?", argument)
    if match is None or match.group(1) in LIBC:
        return argument
    name = match.group(1) or match.group(3)
    return archive(name, archives, match.group(2) or folder)


def main():
    archives, stubs, compiler, *arguments = sys.argv[1:]
    folder = os.path.dirname(subprocess.run([compiler, "-print-file-name=libc_nonshared.a"], check=True, text=True,
                                            stdout=subprocess.PIPE).stdout)
    linked = [replaced(argument, archives, folder) for argument in arguments]
    return subprocess.run([compiler, "-B" + stubs, "-static-libstdc++", "-static-libgcc", "-Wl,--gc-sections", *linked,
                           archive("old_glibc", archives, folder)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
