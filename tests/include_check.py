#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which folder may include what. All headers share one include path, so the linker does not notice.

    include <- rules, include <- pipeline <- daemon <- commands
    pipeline: tail -> decode -> timestamps -> cycle -> analysis -> hang -> ledger -> engine -> state, a later part sees
              the earlier ones; beside the line, profile and tensors see tail and decode, timeline tail, decode and cycle
    decode: what all formats share lies at its root; root <- kineto, event_file, flight_recorder, otlp,
            declared <- ends, all <- formats, so that a format is added without touching what is below
    analysis: what its folders share lies at its root; core <- history, core <- sagemaker,
              core <- hta

The longest folder that a file lies in decides. OWN says what each may include; a folder below
another (decode/formats) is a room of its own. Beyond that table no folders may include each other
in a circle, whatever they are.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
PIPELINE = ["tail", "decode", "timestamps", "cycle", "analysis", "hang", "ledger", "engine", "state"]

# Our own headers: folder -> beginnings of the paths it may include.
OWN = {"include/trainwatch": ["trainwatch/"], "rules": ["trainwatch/", "rules/"],
       "daemon": ["trainwatch/", "pipeline/", "rules/", "daemon/"],
       "commands": ["trainwatch/", "pipeline/", "rules/", "daemon/", "commands/"]}
for index, part in enumerate(PIPELINE):
    OWN["pipeline/" + part] = ["trainwatch/"] + ["pipeline/%s/" % p for p in PIPELINE[:index + 1]]
OWN["pipeline/profile"] = ["trainwatch/", "pipeline/tail/", "pipeline/decode/", "pipeline/profile/"]
OWN["pipeline/tensors"] = ["trainwatch/", "pipeline/tail/", "pipeline/decode/", "pipeline/tensors/"]
OWN["pipeline/timeline"] = ["trainwatch/", "pipeline/tail/", "pipeline/decode/", "pipeline/cycle/", "pipeline/timeline/"]
BEFORE_ANALYSIS = ["trainwatch/"] + ["pipeline/%s/" % p for p in PIPELINE[:PIPELINE.index("analysis")]]
for room, sees in (("core", ["core"]), ("history", ["core", "history"]), ("sagemaker", ["core", "sagemaker"]), ("hta", ["core", "hta"])):
    OWN["pipeline/analysis/" + room] = (BEFORE_ANALYSIS + ["pipeline/analysis/FILE"] +
                                        ["pipeline/analysis/%s/" % seen for seen in sees])
BEFORE_DECODE = ["trainwatch/", "pipeline/tail/", "pipeline/decode/FILE"]
for room, sees in (("", []), ("/declared", ["declared"]), ("/event_file", ["event_file"]), ("/flight_recorder", ["flight_recorder"]), ("/kineto", ["kineto"]), ("/otlp", ["otlp"]),
                   ("/ends", ["declared", "flight_recorder", "ends"]), ("/formats", ["declared", "ends", "event_file", "flight_recorder", "kineto", "otlp", "formats"])):
    OWN["pipeline/decode" + room] = BEFORE_DECODE + ["pipeline/decode/%s/" % seen for seen in sees]

# Folders whose own folders count as one when circles are looked for.
ONE_ROOM = ["commands"]

# Headers of libraries: beginning -> folders that may use them. What is not listed is C++, C or
# POSIX, which everyone may use but include/. The longest beginning counts.
LIBRARIES = {
    "boost/": ["daemon"], "boost/graph/": ["pipeline/hang"], "boost/sort/": ["pipeline/cycle"], "boost/pfr": ["include/trainwatch"], "boost/iterator/": ["include/trainwatch"], "protozero": ["pipeline/decode", "pipeline/tensors", "daemon"],
    "yaml-cpp/": ["daemon"], "CLI/": ["commands"], "openssl/": ["daemon", "commands"], "systemd/": ["daemon"],
    "zlib.h": ["pipeline/decode", "pipeline/tensors"], "isa-l": ["pipeline/decode"], "igzip": ["pipeline/decode"],
    "simdjson": ["pipeline/decode", "pipeline/engine", "pipeline/profile", "pipeline/tensors", "daemon", "commands"], "sqlite3": ["pipeline/state"],
    "re2/": ["pipeline/decode/declared", "pipeline/decode/event_file", "pipeline/tensors", "rules", "commands"],
    "xxhash": ["pipeline/tail", "pipeline/timestamps", "pipeline/engine", "pipeline/state"],
}

# No threads, sockets, clocks or logging in what must give the same answer on every replay.
PURE = ["rules", "pipeline/profile", "pipeline/tensors", "pipeline/timeline"] + ["pipeline/" + part for part in PIPELINE]
IMPURE_HEADERS = {"thread", "mutex", "shared_mutex", "condition_variable", "future", "atomic",
                  "random", "iostream", "sys/socket.h", "netinet/in.h", "pthread.h"}
IMPURE_CALLS = re.compile(r"\b(system_clock|steady_clock|high_resolution_clock)::now\b"
                          r"|\b(clock_gettime|gettimeofday|std::rand|random_device)\b")


def folder_of(path):
    return max((folder for folder in OWN if path.startswith(folder + "/")), key=len, default=None)


def within(folder, folders):
    return any(folder == parent or folder.startswith(parent + "/") for parent in folders)


def may_include(folder, header):
    """An entry that ends in FILE allows the headers of that folder, not of the folders below it."""
    return any(header.startswith(allowed) or
               allowed.endswith("/FILE") and os.path.dirname(header) == os.path.dirname(allowed)
               for allowed in OWN[folder])


def complaints(path, text):
    folder = folder_of(path)
    for kind, header in INCLUDE.findall(text):
        if kind == '"' and not may_include(folder, header):
            yield '%s may not include "%s"' % (folder, header)
        library = max(filter(header.startswith, LIBRARIES), key=len, default=None)
        if kind == "<" and library and not within(folder, LIBRARIES[library]):
            yield "%s may not use <%s>" % (folder, header)
        if within(folder, PURE) and header in IMPURE_HEADERS:
            yield "%s may not use <%s>: no threads, sockets or logging here" % (folder, header)
        if folder == "include/trainwatch" and kind == "<" and "." in header and not library:
            yield "%s is C++ only, not <%s>" % (folder, header)
    call = IMPURE_CALLS.search(text) if within(folder, PURE) else None
    if call:
        yield "%s may not read a clock or random numbers: %s" % (folder, call.group())


def unlinked(cmake):
    """simdjson's parser has a member less where its target's definitions are missing, and the linker mixes the two."""
    for folder in LIBRARIES["simdjson"]:
        module = re.fullmatch(r"pipeline/(\w+)", folder)
        if module and not re.search(r"target_link_libraries\(tw_%s [^)]*simdjson::simdjson" % module[1], cmake):
            yield "tw_%s uses simdjson and does not link it" % module[1]


def room_of(folder):
    return next((room for room in ONE_ROOM if within(folder, [room])), folder)


def circles(includes):
    """`includes`: folder -> the folders that it includes. Yields each circle once, as a path."""
    done = set()

    def walk(folder, path):
        if folder in path:
            yield path[path.index(folder):] + [folder]
        elif folder not in done:
            for other in sorted(includes.get(folder, ())):
                yield from walk(other, path + [folder])
            done.add(folder)

    for start in sorted(includes):
        yield from walk(start, [])


def note_folders(path, text, includes):
    folder = room_of(os.path.dirname(path))
    for kind, header in INCLUDE.findall(text):
        other = room_of(os.path.dirname("include/" + header if header.startswith("trainwatch/") else header))
        if kind == '"' and other != folder:
            includes.setdefault(folder, set()).add(other)


def sources():
    for top in ("include", "pipeline", "rules", "daemon", "commands"):
        for where, _, names in os.walk(os.path.join(ROOT, top)):
            for name in sorted(names):
                if name.endswith((".cc", ".h")):
                    yield os.path.relpath(os.path.join(where, name), ROOT)


def main():
    count, found, includes = 0, 0, {}
    for path in sources():
        if folder_of(path) is None:
            continue
        count += 1
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        note_folders(path, text, includes)
        for complaint in complaints(path, text):
            found += 1
            print("%s: %s" % (path, complaint))
    with open(os.path.join(ROOT, "pipeline/CMakeLists.txt"), encoding="utf-8") as file:
        for complaint in unlinked(file.read()):
            found += 1
            print(complaint)
    for circle in circles(includes):
        found += 1
        print("folders in a circle: " + " -> ".join(circle))
    print("include check: %d files, %d complaints" % (count, found))
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main())
