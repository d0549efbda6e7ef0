# SPDX-License-Identifier: Apache-2.0
"""The command `trainwatch` of the wheel: becomes the program that lies in the package."""

import os
import sys


def main() -> None:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "trainwatch")
    try:
        os.execv(path, ["trainwatch"] + sys.argv[1:])
    except OSError as error:
        sys.exit("trainwatch: cannot run %s: %s" % (path, error.strerror))
