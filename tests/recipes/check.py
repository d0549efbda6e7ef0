#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows the recipes of CONTRIBUTING.md: applies their examples to a copy of the tree, builds what they need, and runs
their tests.

    check.py [NAME...]          all of them without a name; the copy is build/recipes, which the next run builds on
    check.py --apply [NAME...]  only whether their edits fit the tree, each alone and all together; lint does this

An example is a folder here: `new/` holds files to add at their paths, `edits` says what to change in existing files, and
`check` what to build and run. tests/recipes/README.md explains the two text formats.
"""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COPY = os.path.join(ROOT, "build", "recipes")


class Misfit(Exception):
    """An example does not fit the tree: which, where and why."""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def tree():
    """path -> contents of every file of the project."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    return {path: read(os.path.join(ROOT, path)) for path in listed
            if path and os.path.isfile(os.path.join(ROOT, path))}


def edit(files, name, text):
    """Does what a recipe's `edits` say."""
    path, lines, at = None, [], 0

    def put_back():
        if path:
            files[path] = "\n".join(lines).encode()

    for number, line in enumerate(text.splitlines(), 1):
        sign, rest = line[:1], line[2:]
        if sign == "@":
            put_back()
            if rest not in files:
                raise Misfit("%s/edits:%d: there is no %s" % (name, number, rest))
            path, at = rest, 0
            lines = files[path].decode().split("\n")
        elif sign == ">":
            at = next((i for i in range(at, len(lines)) if rest in lines[i]), None)
            if at is None:
                raise Misfit("%s/edits:%d: %s has no line with '%s'" % (name, number, path, rest))
        elif sign == "+":
            at += 1
            lines.insert(at, rest)
        elif sign == "=":
            lines[at] = rest
        elif sign not in ("", "#"):
            raise Misfit("%s/edits:%d: unknown sign '%s'" % (name, number, sign))
    put_back()


def apply(files, name):
    new = os.path.join(HERE, name, "new")
    for folder, _, names in os.walk(new):
        for each in names:
            path = os.path.relpath(os.path.join(folder, each), new)
            if path in files:
                raise Misfit("%s: %s is there already" % (name, path))
            files[path] = read(os.path.join(folder, each))
    edits = os.path.join(HERE, name, "edits")
    if os.path.exists(edits):
        edit(files, name, read(edits).decode())


def write(files):
    """Makes the copy hold these files and no others, and touches only what differs."""
    for folder, folders, names in os.walk(COPY):
        if folder == COPY and "build" in folders:
            folders.remove("build")
        for each in names:
            path = os.path.join(folder, each)
            if os.path.relpath(path, COPY) not in files:
                os.remove(path)
    for path, contents in files.items():
        target = os.path.join(COPY, path)
        if os.path.exists(target) and read(target) == contents:
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(contents)
        shutil.copymode(os.path.join(ROOT, path), target) if os.path.exists(os.path.join(ROOT, path)) else None


def call(command, **options):
    print("recipes:", command if isinstance(command, str) else " ".join(command), flush=True)
    environment = dict(os.environ, CCACHE_BASEDIR=COPY, CCACHE_NOHASHDIR="1")
    return subprocess.run(command, cwd=COPY, env=environment, check=False, **options).returncode == 0


def misfits(names):
    """What is wrong when each recipe is applied alone; if nothing is, when all are applied together."""
    original = tree()
    alone = [misfit for name in names for misfit in misfits_of(dict(original), [name])]
    return alone or misfits_of(dict(original), names)


def misfits_of(files, names):
    try:
        for name in names:
            apply(files, name)
    except Misfit as misfit:
        return [str(misfit)]
    return []


def check_that_they_apply(names):
    found = misfits(names)
    for misfit in found:
        print("recipes:", misfit, file=sys.stderr)
    print("recipes: %d apply, alone and together" % len(names) if not found else
          "recipes: edit what does not fit in tests/recipes, and what CONTRIBUTING.md says of it")
    return 1 if found else 0


def build_and_run(names):
    if check_that_they_apply(names) != 0:
        return 1
    files, targets, runs = tree(), [], []
    for name in names:
        apply(files, name)
        for line in read(os.path.join(HERE, name, "check")).decode().splitlines():
            verb, _, rest = line.partition(" ")
            (targets if verb == "build" else runs).extend(rest.split() if verb == "build" else [(name, rest)])
    write(files)
    if not call(["cmake", "--preset", "release", "--log-level=WARNING", "-DBUILD_TESTING=ON"]) or not call(
            ["ninja", "-C", "build/release", *sorted(set(targets))]):
        return 1
    failed = [name for name, command in runs if not call(command, shell=True)]
    print("recipes:", "failed: " + ", ".join(failed) if failed else "ok: " + ", ".join(names))
    return 1 if failed else 0


def main():
    only_apply, named = sys.argv[1:2] == ["--apply"], [name for name in sys.argv[1:] if name != "--apply"]
    names = named or sorted(name for name in os.listdir(HERE) if os.path.isdir(os.path.join(HERE, name, "new")))
    return check_that_they_apply(names) if only_apply else build_and_run(names)


if __name__ == "__main__":
    sys.exit(main())
