#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Lives of training jobs with exactly known accounts.

    lives.py kinds
    lives.py make KIND SEED DIR        the files below DIR/watch (or DIR/watch_*), the truth in DIR/truth.json
    lives.py check --trainwatch=BIN [--kinds=A,B*] [--seeds=N|A..B] [--surfaces] [--verbose] [--keep=DIR]
    lives.py check --command="COMMAND" ...     instead: what prints the runs below its arguments as JSON
"""

import argparse
import os
import sys
import time

os.environ["TZ"] = "UTC"  # what loggers print is local time
time.tzset()
sys.dont_write_bytecode = True

import check  # noqa: E402
import kinds_life  # noqa: E402
import kinds_pace  # noqa: E402
from scene import Scene  # noqa: E402

KINDS = {**kinds_pace.KINDS, **kinds_life.KINDS}


def make(kind, seed, directory, now=None):
    scene = Scene(kind, seed, time.time() if now is None else now)
    KINDS[kind](scene)
    os.makedirs(directory, exist_ok=True)
    return scene.make(directory)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("kinds", help="their names")
    one = commands.add_parser("make", help="write one life")
    one.add_argument("kind", choices=KINDS, metavar="KIND")
    one.add_argument("seed", type=int, metavar="SEED")
    one.add_argument("directory", metavar="DIR")
    check.add_arguments(commands.add_parser("check", help="compare what is said of lives with the truth"))
    args = parser.parse_args()
    if args.command == "kinds":
        print("\n".join(KINDS))
    elif args.command == "make":
        make(args.kind, args.seed, args.directory)
    else:
        return check.main(args, KINDS, make)
    return 0


if __name__ == "__main__":
    sys.exit(main())
