#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what lies here: profiles of a small program by Python's own profilers, under the names that
smdebug gives them, and in expected.json what Python's pstats says of them.

    python3 tests/data/python-profile/record.py

The times are those of a clock that counts its calls, so the files are the same wherever they are
recorded with one version of Python (these: 3.11)."""

import cProfile
import json
import marshal
import os
import profile
import pstats

HERE = os.path.dirname(os.path.abspath(__file__))
JOB = os.path.join(HERE, "framework", "pytorch", "cprofile", "0-algo-1")
START_US = 1596585363775342


class CallCountingClock:
    """Seconds; every look takes 1.25 us, but every seventh 1 ms."""

    def __init__(self):
        self.looks = 0

    def __call__(self):
        self.looks += 1
        return self.looks * 1.25e-6 + self.looks // 7 * 1e-3


def load(depth):
    return [load(depth - 1)] if depth else []


def fetch(batch):
    return sorted(str(i) for i in range(batch))


def größe(batch):  # a name that is not ASCII
    return len(batch)


def step(number):
    load(number % 4)
    return größe(fetch(3 + number))


def initialize():
    load(5)
    json.dumps({"workers": list(range(3))})


def finish():
    for _ in range(2):
        load(1)


def at(mode, step_number, phase, microseconds):
    return "%s-%s-%s-%.1f" % (mode, step_number, phase, START_US + microseconds)


# directory -> what runs in it
PARTS = {
    at("prestepzero", "*", "start", 0) + "_" + at("train", 0, "stepstart", 9000): initialize,
    at("train", 4, "stepstart", 20000) + "_" + at("train", 4, "forwardpassend", 20500):
        lambda: step(4),
    at("train", 4, "forwardpassend", 20500) + "_" + at("train", 4, "stepend", 21000):
        lambda: step(5),
    at("train", 5, "stepstart", 22000) + "_" + at("train", 5, "forwardpassend", 22500):
        lambda: step(6),
    at("train", 9, "stepend", 30000) + "_" + at("posthookclose", "*", "end", 39000): finish,
}


def run(profiler, part):
    profiler.runcall(part)
    profiler.create_stats()
    # Nothing may depend on where this is recorded: no directories, no addresses of objects.
    def short(function):
        file, line, name = function
        return (os.path.basename(file) if "/" in file else file, line, name.split(" at 0x")[0])
    return {short(function): values[:4] + ({short(c): v for c, v in values[4].items()},)
            for function, values in profiler.stats.items()}


def write(path, stats, version):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        marshal.dump(stats, file, version)


def ns(seconds):
    return round(seconds * 1e9)


def caller_row(function, share):
    calls = [share, share, 0, 0] if isinstance(share, int) else \
        [share[1], share[0], ns(share[2]), ns(share[3])]
    return list(function) + calls


def expected(*paths):
    stats = pstats.Stats(*[os.path.join(HERE, path) for path in paths])
    rows = [list(function) + [pcalls, ncalls, ns(total), ns(cumulative),
                              sorted(caller_row(*each) for each in callers.items())]
            for function, (pcalls, ncalls, total, cumulative, callers) in stats.stats.items()]
    return {"files": list(paths), "pcalls": stats.prim_calls, "ncalls": stats.total_calls,
            "total_time_ns": ns(stats.total_tt), "functions": sorted(rows)}


def main():
    paths = []
    for directory, part in PARTS.items():
        path = os.path.join(JOB, directory, "python_stats")
        write(path, run(cProfile.Profile(CallCountingClock()), part), marshal.version)
        paths.append(os.path.relpath(path, HERE))
    versions = []
    stats = run(cProfile.Profile(CallCountingClock()), lambda: step(7))
    for version in range(5):
        path = os.path.join(HERE, "versions", str(version))
        write(path, stats, version)
        versions.append(os.path.relpath(path, HERE))
    plain = os.path.join(HERE, "versions", "profile")
    write(plain, run(profile.Profile(CallCountingClock(), bias=0), lambda: step(7)), 4)
    tables = [expected(path) for path in paths + versions + [os.path.relpath(plain, HERE)]]
    tables += [expected(*paths[1:4]), expected(*paths)]
    with open(os.path.join(HERE, "expected.json"), "w", encoding="utf-8") as file:
        json.dump(tables, file, ensure_ascii=False, indent=None, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
