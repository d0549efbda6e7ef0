#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No name is used that docs/decisions/names.md maps to another one.

Names of several words ("cycle_measure", "CycleMeasure") are looked for everywhere, also as part of
longer ones and in prose. A name of one word ("Look") may be an English word: it is looked for in code
only. What the table "Words in sentences" lists is looked for everywhere, with its usual endings.

Nothing installs `trainwatch` from PyPI, which is another project (ours is `trainwatchd`), and nothing states another
version of trainwatch than CMakeLists.txt, where it is set.
"""

import functools
import os
import re
import sys

from text_check import ROOT, report, repository_files

TABLE = "docs/decisions/names.md"
TEXTS = (".cc", ".h", ".py", ".sh", ".md", ".js", ".html", ".css", ".yaml", ".cases", ".cmake", ".service", ".txt", ".toml",
         ".tpl", "Containerfile")
NO_TEXTS = ("tests/data/",)
EXEMPT = {TABLE, "CHANGELOG.md", "tests/name_check.py"}

# Where an old name is right: path (a prefix), what the line matches, why.
ALLOWED = [
    ("", r"suspect", "ranks that may hang; quarantine is of event times"),
    ("pipeline/state/", r"\btold\b", "a table of the stored database; see docs/decisions/state.md"),
    ("tests/unit/state/sqlite_", r"\btold\b", "the same, where a test damages it"),
    ("docs/decisions/state.md", r"\btold\b", "says why that table keeps its name"),
    ("", r"\btold apart\b|\btells? .{1,60}\bapart\b|\bunless told otherwise\b|\bno telling\b", "usual English"),
]

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
PATH = re.compile(r"[\w/]+")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
QUOTED = re.compile(r"`([^`]+)`")
COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"', re.DOTALL)
ENDINGS = r"(?:s|d|ed|ing)?"
FOREIGN = re.compile(r"\b(?:(?:pip3?|pipx|uv tool) install|pipx run|uvx) (?:[^`\n|]*[ '\"])?trainwatch(?![\w/])")
VERSION = re.compile(r"\btrainwatchd?[-:_ ]v?(\d+\.\d+\.\d+)\b|\"version\" \"(\d+\.\d+\.\d+)\""
                     r"|\b(?:appV|v)ersion: (\d+\.\d+\.\d+)$|\(trainwatch VERSION ([\d.]+)")


@functools.cache
def split(identifier):
    return " ".join(WORD.findall(identifier))


def words(name):
    return [word.lower() for word in WORD.findall(name)]


def rows(text, section):
    """The left column of the table in a section."""
    body = re.search(r"^## %s\n(.*?)(?=^## |\Z)" % re.escape(section), text, re.DOTALL | re.MULTILINE).group(1)
    for line in body.split("\n"):
        if line.startswith("|") and not line.startswith(("| was ", "|---")):
            yield line.split("|")[1].strip()


class OldNames:
    def __init__(self, table):
        self.compound = {}  # words: as written
        self.single = set()
        self.paths = set()
        for cell in [*rows(table, "Folders"), *rows(table, "Types, functions and files")]:
            if QUOTED.sub("", cell).strip(" ,;"):
                continue  # explained rather than named
            for name in QUOTED.findall(cell):
                self._add(name)
        phrases = [phrase.strip() for cell in rows(table, "Words in sentences") if "(" not in cell
                   for phrase in cell.split(",")]
        self.phrase = re.compile(r"(?<![A-Za-z])(%s)%s(?![A-Za-z])"
                                 % ("|".join(sorted(map(re.escape, phrases), key=len, reverse=True)), ENDINGS), re.I)

    def _add(self, name):
        if "/" in name:
            if re.fullmatch(r"[\w/]+", name) and not exists(name):
                self.paths.add(name)
        elif re.fullmatch(r"\w+", name):
            if len(words(name)) > 1:
                self.compound[tuple(words(name))] = name
            else:
                self.single.add(name)

    def in_line(self, line):
        for path in PATH.findall(line):
            if path in self.paths:
                yield path
        for found in IDENTIFIER.finditer(line):
            yield from self.in_identifier(found.group())
        # Parts of identifiers are words, too.
        spaced = IDENTIFIER.sub(lambda found: split(found.group()), line)
        for found in self.phrase.finditer(spaced):
            yield found.group()

    @functools.cache  # most identifiers come many times
    def in_identifier(self, identifier):
        parts = words(identifier)
        return [name for old, name in self.compound.items()
                if any(tuple(parts[i:i + len(old)]) == old for i in range(len(parts) - len(old) + 1))]

    def in_code(self, line):
        for found in IDENTIFIER.finditer(line):
            if found.group() in self.single:
                yield found.group()


def exists(path):
    return any(os.path.exists(os.path.join(ROOT, path + ending)) for ending in ("", ".h", ".cc"))


def allowed(path, line):
    return any(path.startswith(where) and re.search(what, line) for where, what, _ in ALLOWED)


def blank(found):
    return re.sub(r"[^\n]", " ", found.group())


def current_version():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        return next(filter(None, VERSION.search(file.read()).groups()))


def distribution_complaints(text, version):
    for number, line in enumerate(text.split("\n"), 1):
        if FOREIGN.search(line):
            yield number, "PyPI's trainwatch is another project: trainwatchd"
        for found in VERSION.finditer(line):
            stated = next(filter(None, found.groups()))
            if stated != version:
                yield number, "version %s, where CMakeLists.txt has %s" % (stated, version)


def complaints(path, text, old):
    lines = text.split("\n")
    code = COMMENT_OR_STRING.sub(blank, text).split("\n") if path.endswith((".cc", ".h")) else [""] * len(lines)
    for name in set(old.in_line(path)):
        if not allowed(path, path):
            yield 1, "the name of the file: " + name
    for number, (line, code_line) in enumerate(zip(lines, code), 1):
        for name in sorted({*old.in_line(line), *old.in_code(code_line)}):
            if not allowed(path, line):
                yield number, name


def is_checked(path):
    return path.endswith(TEXTS) and not path.startswith(NO_TEXTS) and path not in EXEMPT


def test_itself():
    old = OldNames("## Folders\n| `gone/cli/`, `gone/net/url` | x |\n## Types, functions and files\n"
                   "| `CycleMeasure`, `Look` | x |\n| `Lane` of a rule | x |\n"
                   "## Words in sentences\n| told, old file | x |\n| work (of a GPU) | x |\n")
    text = ("kCycleMeasureSize\nLook at it // Look\n// Look\nstruct Lane; work\nall old files\nLastTold x\n"
            "gone/net/url.h\nretold\n")
    found = list(complaints("rules/a.h", text, old))
    expected = [(1, "CycleMeasure"), (2, "Look"), (5, "old files"), (6, "Told"), (7, "gone/net/url")]
    assert found == expected, found
    assert list(complaints("a/cycle_measure.md", "", old)) == [(1, "the name of the file: CycleMeasure")]
    wrong = ["pip install trainwatch", "pip install -U trainwatch-1.2.3-py3.whl", "pipx install 'trainwatch'",
             "trainwatch:1.2.2", "appVersion: 1.2.2", "trainwatch_1.2.2-1_amd64.deb"]
    right = ["pip install ./dist/trainwatchd-*.whl", "pip install trainwatchd", "pip install ./python (trainwatch)",
             "`pip install`, then trainwatch", "trainwatch 1.2.3", "version: 3.1.0 of it"]
    found = list(distribution_complaints("\n".join(wrong + right), "1.2.3"))
    assert [number for number, _ in found] == list(range(1, len(wrong) + 1)), found


def main():
    test_itself()
    with open(os.path.join(ROOT, TABLE), encoding="utf-8") as file:
        old = OldNames(file.read())

    version = current_version()

    def old_names(path, text):
        yield from ((number, "old name: " + name) for number, name in complaints(path, text, old))
        yield from distribution_complaints(text, version)
    return report("name check", filter(is_checked, repository_files()), old_names)


if __name__ == "__main__":
    sys.exit(main())
