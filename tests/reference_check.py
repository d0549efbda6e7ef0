#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files and sections that comments and documents name exist, and no document was run through clang-format.

A name with a folder of ours in front ("pipeline/tail/lane.h", "pipeline/tail/lane") is a path from the
root or from the folder of the file that names it; the end of a path ("tail/lane.h", "lane.h") may be
anywhere. A star stands for anything, and so do NAME, RULE and KIND.
"""

import fnmatch
import functools
import io
import os
import re
import sys
import tokenize

from text_check import ROOT, report, repository_files

FOLDERS = "include|pipeline|rules|daemon|commands|config|docs|python|scripts|systemd|tests"
PATH = re.compile(r"(?<![\w./:$*<-])(?:%s)/[\w./*{},-]*[\w*/}]" % FOLDERS)
BARE = re.compile(r"(?<![\w./*:$<=-])[\w*-]+\.(?:h|cc|md|cmake|service|py|sh)\b(?![\w/(.])")
PART = re.compile(r"(?<![\w./:$*<-])[a-z][\w-]*(?:/[\w*-]+)*/[\w*-]+\.(?:h|cc|md|cmake|service|py|sh)\b"
                  r"|(?<=`)[a-z][a-z_]+/[a-z_]+(?=`)")
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")
SECTION = re.compile(r"([\w./-]*\.md|README|CONTRIBUTING), \"([^\"]+)\"")
SERVED = re.compile(r"docs/(?!architecture\.md|decisions/)")  # by the daemon, without the rest of the tree
ELSEWHERE = re.compile(r"\bspecs? [A-Z]\d+\b|§ ?\d+|\b(?:DESIGN|INTERFACES)\b")
FORMATTED = re.compile(r"^#+[^\s#]", re.MULTILINE)  # clang-format takes a heading for a directive

# This file, and the table of old names.
EXEMPT = {"tests/reference_check.py", "docs/decisions/names.md"}

# Of others: what the operating system, Python and the programs we compare ourselves with call theirs.
FOREIGN = {"sysexits.h", "trace_counters.py"}


class Repository:
    def __init__(self, files):
        self._paths = set(files)
        for path in files:
            while os.path.dirname(path):
                path = os.path.dirname(path)
                self._paths.add(path)
        self._names = {os.path.basename(path) for path in self._paths}

    def has_path(self, path, beside):
        path = path.rstrip("/.")
        for start in ("", beside + "/"):
            for ending in ("", ".h", ".cc", ".py"):
                if self._matches(self._paths, os.path.normpath(start + path) + ending):
                    return True
        return False

    def has_name(self, name):
        return name in FOREIGN or self._matches(self._names, name)

    def has_end(self, end):
        return any(path.endswith(("/" + end, "/" + end + ".h", "/" + end + ".cc")) or path == end
                   for path in self._paths) or self._matches(self._paths, "*/" + end)

    @staticmethod
    def _matches(known, name):
        pattern = re.sub(r"(?<![A-Za-z])(?:NAME|RULE|KIND)(?![A-Za-z])", "*", name)
        if "{" in pattern:
            return True  # of a shell
        return pattern in known or "*" in pattern and any(fnmatch.fnmatch(one, pattern) for one in known)


def python_prose(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or token.type == tokenize.STRING and token.string[:3] == '"""':
            yield from enumerate(token.string.split("\n"), token.start[0])


def prose(path, text):
    """Numbered lines: the comments of a source, all of a document."""
    if path.endswith(".py"):
        yield from python_prose(text)
        return
    mark = {".cc": "//", ".h": "//", ".js": "//"}.get(os.path.splitext(path)[1], "#")
    for number, line in enumerate(text.split("\n"), 1):
        if path.endswith(".md"):
            yield number, line
        elif line.lstrip().startswith(mark) or " %s " % mark in line:
            yield number, line[line.index(mark):]


@functools.cache
def anchors(path):
    """The names of the sections of a document, as GitHub makes them."""
    with open(path, encoding="utf-8") as file:
        return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
                for heading in re.findall(r"^#+ (.*)$", file.read(), re.MULTILINE)}


def complaints(path, text, repository):
    beside = os.path.dirname(path)
    for number, line in prose(path, text):
        for name in PATH.findall(line):
            if not repository.has_path(name, beside):
                yield number, "there is no %s" % name
        for name in BARE.findall(line):
            if not repository.has_name(name):
                yield number, "there is no file %s" % name
        for name in PART.findall(line):
            if not PATH.match(name) and not repository.has_end(name):
                yield number, "there is no %s" % name
        for name, anchor in LINK.findall(line) if path.endswith(".md") else ():
            target = os.path.join(ROOT, beside, name) if name else os.path.join(ROOT, path)
            if not os.path.exists(target):
                yield number, "a link to %s, which is not there" % name
            elif SERVED.match(path) and not os.path.relpath(target, ROOT).startswith("docs/"):
                yield number, "a link to %s, which is not served with this page: a path in code font instead" % name
            elif anchor and anchor not in anchors(target):
                yield number, "a link to a section of %s that is not there: %s" % (name or path, anchor)
        for document, section in SECTION.findall(line):
            document += "" if document.endswith(".md") else ".md"
            target = os.path.join(ROOT, document)
            if not os.path.exists(target) or not re.search(
                    r"^#+ %s$" % re.escape(section), open(target, encoding="utf-8").read(), re.MULTILINE):
                yield number, "%s has no section %s" % (document, section)
        for name in ELSEWHERE.findall(line):
            yield number, "refers to a document that is not here: %s" % name
    if path.endswith(".md"):
        for heading in FORMATTED.finditer(text):
            yield text.count("\n", 0, heading.start()) + 1, "looks as if clang-format had been at it"


def is_checked(path):
    return path.endswith((".cc", ".h", ".md", ".py", ".sh", ".js", ".yaml", ".cmake", "CMakeLists.txt")) \
        and not path.startswith(("tests/data/", "tests/recipes/")) and path not in EXEMPT


def main():
    files = repository_files()
    repository = Repository(files)
    return report("reference check", filter(is_checked, files),
                  lambda path, text: complaints(path, text, repository))


if __name__ == "__main__":
    sys.exit(main())
