#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the licences of what the program contains of others.

    third_party.py OUT_FILE NODE_MODULES

Those of libraries are what their Debian packages say, those of the page's libraries what npm brought.
"""

import glob
import os
import subprocess
import sys

# The packages with the static and the header-only libraries.
PACKAGES = ("libboost1.81-dev", "libcli11-dev", "libcrypt-dev", "libfmt-dev", "libisal-dev", "libprotozero-dev", "libre2-dev",
            "libsimdjson-dev", "libspdlog-dev", "libsqlite3-dev", "libssl-dev", "libstdc++-12-dev", "libxxhash-dev", "libyaml-cpp-dev",
            "zlib1g-dev")
PAGE = ("htm", "preact", "uplot")  # daemon/web/package.json


def parts(node_modules):
    """(name, text of the licence)"""
    for package in PACKAGES:
        version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], text=True, check=False,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        path = "/usr/share/doc/%s/copyright" % package
        if version and os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                yield package + " " + version, file.read()
    for name in PAGE:
        for path in glob.glob(os.path.join(node_modules, name, "LICENSE*")):
            with open(path, encoding="utf-8") as file:
                yield name + " (npm)", file.read()


def main():
    out, node_modules = sys.argv[1:]
    with open(out, "w", encoding="utf-8") as file:
        file.write("The program trainwatch contains libraries of others.\n")
        for name, licence in parts(node_modules):
            file.write("\n%s\n%s\n%s\n\n%s\n" % ("=" * 80, name, "=" * 80, licence.strip()))


if __name__ == "__main__":
    main()
