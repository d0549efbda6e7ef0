#!/usr/bin/env python3
"""Which folder may include what. All headers share one include path, so the linker cannot tell.

    include <- rules, include <- pipeline, and daemon sees all three
    pipeline: tail -> decode -> cycle -> analysis -> engine -> state, a later part sees the earlier ones;
              beside the line, profile sees tail and decode, timeline sees decode and cycle; only the daemon sees them
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
PIPELINE = ["tail", "decode", "cycle", "analysis", "engine", "state"]

# Our own headers: folder -> beginnings of the paths it may include.
OWN = {"include/trainwatch": ["trainwatch/"], "rules": ["trainwatch/", "rules/"],
       "daemon": ["trainwatch/", "pipeline/", "rules/", "daemon/"]}
for index, part in enumerate(PIPELINE):
    OWN["pipeline/" + part] = ["trainwatch/"] + ["pipeline/%s/" % p for p in PIPELINE[:index + 1]]
OWN["pipeline/profile"] = ["trainwatch/", "pipeline/tail/", "pipeline/decode/", "pipeline/profile/"]
OWN["pipeline/timeline"] = ["trainwatch/", "pipeline/decode/", "pipeline/cycle/", "pipeline/timeline/"]

# Headers of libraries: beginning -> folders that may use them. What is not listed is C++, C or
# POSIX, which everyone may use but include/, which is C++ alone.
LIBRARIES = {
    "boost/": ["daemon"], "prometheus/": ["daemon"], "spdlog/": ["daemon"], "fmt/": ["daemon"],
    "yaml-cpp/": ["daemon"], "CLI/": ["daemon"], "openssl/": ["daemon"], "systemd/": ["daemon"],
    "zlib.h": ["pipeline/decode"], "isa-l": ["pipeline/decode"], "igzip": ["pipeline/decode"],
    "simdjson": ["pipeline/decode", "pipeline/profile", "daemon"], "sqlite3": ["pipeline/state"],
    "xxhash": ["pipeline/tail", "pipeline/engine", "pipeline/state"],
}

# No threads, sockets, clocks or logging in what must give the same answer on every replay.
PURE = ["rules", "pipeline/profile", "pipeline/timeline"] + ["pipeline/" + part for part in PIPELINE]
IMPURE_HEADERS = {"thread", "mutex", "shared_mutex", "condition_variable", "future", "atomic",
                  "random", "iostream", "sys/socket.h", "netinet/in.h", "pthread.h"}
IMPURE_CALLS = re.compile(r"\b(system_clock|steady_clock|high_resolution_clock)::now\b"
                          r"|\b(clock_gettime|gettimeofday|std::rand|random_device)\b")


def folder_of(path):
    return next((folder for folder in OWN if path.startswith(folder + "/")), None)


def complaints(path, text):
    folder = folder_of(path)
    for kind, header in INCLUDE.findall(text):
        if kind == '"' and not any(header.startswith(allowed) for allowed in OWN[folder]):
            yield '%s may not include "%s"' % (folder, header)
        for library, users in LIBRARIES.items():
            if kind == "<" and header.startswith(library) and folder not in users:
                yield "%s may not use <%s>" % (folder, header)
        if folder in PURE and header in IMPURE_HEADERS:
            yield "%s may not use <%s>: no threads, sockets or logging here" % (folder, header)
        if folder == "include/trainwatch" and kind == "<" and "." in header:
            yield "%s is C++ only, not <%s>" % (folder, header)
    call = IMPURE_CALLS.search(text) if folder in PURE else None
    if call:
        yield "%s may not read a clock or random numbers: %s" % (folder, call.group())


def sources():
    for top in ("include", "pipeline", "rules", "daemon"):
        for where, _, names in os.walk(os.path.join(ROOT, top)):
            for name in sorted(names):
                if name.endswith((".cc", ".h")):
                    yield os.path.relpath(os.path.join(where, name), ROOT)


def main():
    count, found = 0, 0
    for path in sources():
        if folder_of(path) is None:
            continue
        count += 1
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            for complaint in complaints(path, file.read()):
                found += 1
                print("%s: %s" % (path, complaint))
    print("include check: %d files, %d complaints" % (count, found))
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main())
