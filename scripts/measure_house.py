#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints figures about the C++ sources: sizes, headers with one includer, repeated lines.

    scripts/measure_house.py [TREE]      TREE: a checkout, default this one
"""
import collections
import os
import re
import statistics
import subprocess
import sys

TREE = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
GROUP = 6  # lines that make a repetition


def sources():
    names = subprocess.run(["git", "-C", TREE, "ls-files", "--cached", "--others", "--exclude-standard", "*.cc", "*.h"],
                           check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    product = [name for name in names if not name.startswith("tests/")]
    texts = {}
    for name in product:
        with open(os.path.join(TREE, name), encoding="utf-8") as file:
            texts[name] = file.read()
    return texts


def headers_with_one_includer(texts):
    """Headers that at most one file beside their own .cc includes."""
    includers = collections.Counter()
    for name, text in texts.items():
        for header in set(INCLUDE.findall(text)):
            path = "include/" + header if header.startswith("trainwatch/") else header
            if os.path.splitext(path)[0] != os.path.splitext(name)[0]:
                includers[path] += 1
    headers = [name for name in texts if name.endswith(".h")]
    return len(headers), sum(1 for name in headers if includers[name] <= 1)


def repeated_share(texts):
    """The share of lines with code that lie in a group of GROUP such lines which occurs twice."""
    places = collections.defaultdict(list)
    total = 0
    for name, text in texts.items():
        lines = [line.strip() for line in text.splitlines()]
        lines = [line for line in lines if len(line) > 2 and not line.startswith(("//", "#include", "namespace"))]
        total += len(lines)
        for first in range(len(lines) - GROUP + 1):
            places["\n".join(lines[first:first + GROUP])].append((name, first))
    repeated = {(name, first + i) for where in places.values() if len(where) > 1
                for name, first in where for i in range(GROUP)}
    return 100.0 * len(repeated) / total


def public_fields_of_tracked_file(texts):
    """Data members of the struct that describes a file to the tailer, and of the structs it is made of."""
    text = next((text for name, text in texts.items() if name.endswith("/tracked_file.h")), "")
    body = re.search(r"struct TrackedFile[^{]*\{(.*?)\n\};", text, re.DOTALL)
    if not body:
        return 0
    member = re.compile(r"^\s+[\w:<>, ]+[ &*]\w+(\{[^}]*\}| = [^;()]+)?;", re.MULTILINE)
    return len([m for m in member.finditer(body.group(1)) if "return" not in m.group()])


def main():
    texts = sources()
    lengths = {name: text.count("\n") for name, text in texts.items()}
    largest = max(lengths, key=lengths.get)
    headers, alone = headers_with_one_includer(texts)
    print("files                       %d" % len(texts))
    print("lines                       %d" % sum(lengths.values()))
    print("median file                 %d lines" % statistics.median(lengths.values()))
    print("largest file                %d lines, %s" % (lengths[largest], largest))
    print("headers with one includer   %d of %d" % (alone, headers))
    print("public fields, TrackedFile  %d" % public_fields_of_tracked_file(texts))
    print("lines in repeated groups    %.1f %%" % repeated_share(texts))


if __name__ == "__main__":
    main()
