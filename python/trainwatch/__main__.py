# SPDX-License-Identifier: Apache-2.0
"""python -m trainwatch run train.py: see _launch.py and docs/integrations.md."""

import sys

from ._launch import USAGE, run


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] != "run":
        wanted = sys.argv[1:] in (["-h"], ["--help"])
        print("usage: " + USAGE, file=sys.stdout if wanted else sys.stderr)
        sys.exit(0 if wanted else 2)
    run(sys.argv[2:])


main()
