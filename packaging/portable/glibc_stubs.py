#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes libraries to link with instead of glibc, so that a program runs with an older one.

    glibc_stubs.py OUT_DIR      libc.so, libm.so, lib{c.so.6,m.so.6,pthread.so.0,dl.so.2,rt.so.1}

A linker binds a symbol to the default version of the library it links with, which for this machine's
glibc may be newer than the glibc of the machine that runs the program. These libraries have the
symbols of this machine's glibc, without code, each with its newest version up to OLDEST_GLIBC alone,
and in the library in which that glibc had it. Symbols that are newer are left out, so that using one
is an error of the linker; old_glibc.c defines those that are needed.
"""

import os
import re
import subprocess
import sys

OLDEST_GLIBC = (2, 27)

# glibc 2.34 moved these into libc.so.6. What moved is known by its two versions, the home by its name.
MOVED = (2, 29)
HOMES = (
    (r"dl", "libdl.so.2"),
    (r"aio_|lio_|mq_|__mq_|shm_|timer_", "librt.so.1"),
    (r"pthread_|__pthread_|_pthread_|sem_|thrd_|mtx_|cnd_|tss_|call_once|__errno|raise$", "libpthread.so.0"),
)


def version_key(version):
    """GLIBC_2.2.5 -> (2, 2, 5); None for GLIBC_PRIVATE."""
    match = re.fullmatch(r"GLIBC_([\d.]+)", version)
    return tuple(map(int, match.group(1).split("."))) if match else None


def library_path(name):
    """Where the compiler finds it."""
    return subprocess.run(["cc", "-print-file-name=" + name], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def symbols(path):
    """name -> [(version key, version, type, size, address)], of what a library defines."""
    text = subprocess.run(["readelf", "-W", "--dyn-syms", path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    found = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 8 or "@" not in fields[7] or fields[6] in ("UND", "ABS"):
            continue
        name, version = re.split("@+", fields[7])
        key = version_key(version)
        if key is not None:
            found.setdefault(name, []).append((key, version, fields[3], int(fields[2], 0), int(fields[1], 16)))
    return found


def home(library, name, versions):
    """The library that had it in OLDEST_GLIBC."""
    if library == "libc.so.6" and max(versions)[0] >= MOVED:
        for pattern, lib in HOMES:
            if re.match(pattern, name):
                return lib
    return library


def write_library(out, soname, members):
    """An empty shared library: `members` are (name, version, type, size, address)."""
    base = os.path.join(out, soname)
    versions = {}
    with open(base + ".s", "w") as file:
        file.write(".text\n")
        for name, version, kind, _, _ in members:
            versions.setdefault(version, []).append(name)
            if kind in ("FUNC", "IFUNC"):
                file.write(".globl {0}\n.type {0},@function\n{0}:\n".format(name))
        # Names of one object stay names of one object: a program's copy of it has them all.
        objects = [member for member in members if member[2] == "OBJECT"]
        first = min((address for *_, address in objects), default=0)
        end = max((address + size for *_, size, address in objects), default=0)
        file.write(".bss\ndata: .zero %d\n" % (end - first + 1))
        for name, _, _, size, address in objects:
            file.write(".globl {0}\n.type {0},@object\n.size {0},{1}\n.set {0},data+{2}\n".format(
                name, size, address - first))
        file.write('.section .note.GNU-stack,"",@progbits\n')
    with open(base + ".map", "w") as file:
        for version in sorted(versions, key=version_key):
            file.write("%s { global: %s; };\n" % (version, "; ".join(sorted(versions[version]))))
    subprocess.run(["cc", "-shared", "-nostdlib", "-Wl,-soname," + soname, "-Wl,--version-script=" + base + ".map",
                    "-o", base, base + ".s"], check=True)


def main():
    out = os.path.abspath(sys.argv[1])
    os.makedirs(out, exist_ok=True)
    libraries = {soname: [] for soname in ("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1",
                                           "ld-linux-x86-64.so.2")}
    for library in ("libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"):
        for name, versions in symbols(library_path(library)).items():
            old = [v for v in versions if v[0] <= OLDEST_GLIBC]
            if old:
                _, version, kind, size, address = max(old)
                libraries[home(library, name, versions)].append((name, version, kind, size, address))
    for soname, members in libraries.items():
        write_library(out, soname, members)
    subprocess.run(["objcopy", "--redefine-sym", "__libc_start_main=start_main", library_path("Scrt1.o"),
                    os.path.join(out, "Scrt1.o")], check=True)
    nonshared = library_path("libc_nonshared.a")
    with open(os.path.join(out, "libc.so"), "w") as file:
        file.write("GROUP ( %s %s AS_NEEDED ( %s ) )\n" % (
            os.path.join(out, "libc.so.6"), nonshared, " ".join(
                os.path.join(out, soname) for soname in libraries if soname not in ("libc.so.6", "libm.so.6"))))
    with open(os.path.join(out, "libm.so"), "w") as file:
        file.write("INPUT ( %s )\n" % os.path.join(out, "libm.so.6"))


if __name__ == "__main__":
    main()
