# SPDX-License-Identifier: Apache-2.0
"""What the checks of texts share: the files of the repository, and the report of what is wrong with them."""

import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def repository_files():
    """Relative paths: what git tracks, and what it would track."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE, text=True).stdout.split("\n")
    return [path for path in listed if path and os.path.exists(os.path.join(ROOT, path))]


def report(check, paths, complaints):
    """Prints complaints(path, text), which are pairs of a line number and a sentence. The exit status."""
    count, found = 0, 0
    for path in paths:
        count += 1
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            for number, complaint in complaints(path, file.read()):
                found += 1
                print("%s:%d: %s" % (path, number, complaint))
    print("%s: %d files, %d complaints" % (check, count, found))
    return 1 if found or not count else 0
