#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file names its licence, in its first line or the one after "#!".

    spdx_check.py [--add]      --add writes the line where it is missing
"""

import os
import sys

from text_check import ROOT, report, repository_files

LICENCE = "SPDX-License-Identifier: Apache-2.0"
BEGINNINGS = {
    ".c": "// %s", ".cc": "// %s", ".h": "// %s", ".js": "// %s", ".mjs": "// %s", ".cjs": "// %s", ".ts": "// %s",
    ".css": "/* %s */", ".py": "# %s", ".sh": "# %s", ".cmake": "# %s", "CMakeLists.txt": "# %s"}
DATA = ("tests/data/", "tests/fuzz/corpus/")


def beginning(path):
    """The line with the licence in a file of this kind; None for what is no source."""
    name = os.path.basename(path)
    if path.startswith(DATA) and not path.endswith(".py") or os.path.islink(os.path.join(ROOT, path)):
        return None
    if name not in BEGINNINGS and "." not in name[1:]:
        with open(os.path.join(ROOT, path), "rb") as file:
            return "# " + LICENCE if file.read(2) == b"#!" else None
    line = BEGINNINGS.get(name) or BEGINNINGS.get(os.path.splitext(name)[1])
    return line and line % LICENCE


def complaints(path, text):
    if beginning(path) not in text.split("\n", 2)[:2]:
        yield 1, "its first line should be: " + beginning(path)


def add(path):
    line = beginning(path)
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    if list(complaints(path, text)):
        head, separator, rest = text.partition("\n") if text.startswith("#!") else ("", "", text)
        with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
            file.write(head + separator + line + "\n" + rest)


if __name__ == "__main__":
    sources = [path for path in repository_files() if beginning(path)]
    for path in sources if "--add" in sys.argv[1:] else []:
        add(path)
    sys.exit(report("spdx_check", sources, complaints))
