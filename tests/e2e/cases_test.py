# SPDX-License-Identifier: Apache-2.0
"""Small files as jobs write them, and what must come of each: alerts, runs, series, and what `trainwatch formats` says.

    cases_test.py BINARY [--invented] [--only NAME...] [--table] [--keep DIR]

--invented: the rows of invented_cases.py instead of case_table.py. --only: those whose names begin so. --table: no checks,
but for each file what it was recognised as, its records and fields. The exit code is 1 if a case is not as wanted."""

import argparse
import concurrent.futures
import json
import os
import shutil
import sys
import tempfile

import case_table
import cases_not_reached
import cases
import harness
import stall_case

WATCHED_TOGETHER = 8  # the points of their series have room in one daemon
DATA = os.path.join(harness.ROOT, "tests", "data")


def lay(case, root, data):
    """The files of a case as a directory of their own below `root`."""
    target, kept = os.path.join(root, case.name), os.path.join(data, case.name)
    if os.path.isdir(kept):
        shutil.copytree(kept, target, ignore=shutil.ignore_patterns("expected.txt"), copy_function=shutil.copyfile)
    else:
        os.makedirs(target)
    if case.make:
        case.make(target)
    for folder, _, names in os.walk(target):
        for name in names if case.touch else ():
            os.utime(os.path.join(folder, name), (case.touch, case.touch))
    return target


def watch(root):
    with harness.Trainwatch(root, env={"TZ": "UTC"}) as trainwatch:
        return cases.Live(root, trainwatch)


def check(case, root, live):
    try:
        seen = cases.Seen(os.path.join(root, case.name), live and live.of(case.name))
        return list(cases.judge(case, seen))
    except (AssertionError, KeyError, TypeError, ValueError, IndexError, OSError) as error:
        return ["%s: %s" % (type(error).__name__, str(error)[:300])]


def check_some(rows, root):
    """name -> complaints, of cases below one directory, which one daemon watches."""
    try:
        live, complaints = watch(root), []
    except (AssertionError, OSError) as error:  # it has ended, or died while it answered
        live, complaints = None, ["no daemon: %s" % str(error)[-300:]]
    return {case.name: check(case, root, live) + complaints for case in rows}


def check_all(parts, more):
    """`parts`: directory -> its cases; `more`: pairs of a name and a function that gives complaints."""
    found = {}
    with concurrent.futures.ThreadPoolExecutor(2 + len(more)) as pool:
        others = {name: pool.submit(function) for name, function in more}
        for part in [pool.submit(check_some, rows, root) for root, rows in parts.items()]:
            found.update(part.result())
        found.update({name: future.result() for name, future in others.items()})
    return found


def table(parts):
    """What `trainwatch formats` says of each file."""
    print("%-72s %-24s %8s  %-8s %s" % ("file", "recognised as", "records", "", "fields"))
    for root, case in [(root, case) for root, rows in parts.items() for case in rows]:
        directory = os.path.join(root, case.name)
        files = sorted(os.path.join(folder, name) for folder, _, names in os.walk(directory) for name in names)
        done = harness.run("formats", "--format=json", *files, env=cases.ENVIRONMENT)
        for entry in map(json.loads, done.stdout.splitlines()):
            fields = dict.fromkeys("%s=%s" % (value["tag"], value["kind"]) for value in entry.get("first", []))
            guessed = "guessed" if entry.get("guessed") or "guess" in entry.get("why", "") else "sure" if "format" in entry else ""
            print("%-72s %-24s %8s  %-8s %s" % (os.path.relpath(entry["path"], root), entry.get("declared", entry.get("format", "-")),
                                               entry.get("records", ""), guessed, ", ".join(fields) or entry.get("skipped", "")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--invented", action="store_true")
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--keep", help="lay the files there, and leave them")
    options = parser.parse_args()
    rows, data, more = case_table.CASES, os.path.join(DATA, "cases"), [(stall_case.NAME, stall_case.complaints)]
    if options.invented:
        import invented_cases
        rows, data, more = invented_cases.CASES, os.path.join(DATA, "cases2"), []
    rows = [case for case in rows if case.name.startswith(tuple(options.only))]
    more = [pair for pair in more if pair[0].startswith(tuple(options.only))]
    with tempfile.TemporaryDirectory() as scratch:
        parts = {}
        for number, case in enumerate(rows):
            root = os.path.join(options.keep or scratch, str(number // WATCHED_TOGETHER))
            lay(case, root, data)
            parts.setdefault(root, []).append(case)
        if options.table:
            return table(parts)
        found = check_all(parts, more)
    for name, complaints in sorted(found.items()):
        print("%s  %s" % ("FAIL" if complaints else "pass", name))
        for complaint in complaints:
            print("        " + complaint)
    return verdict(found)


def verdict(found):
    """The exit code. What is not reached yet must not be said to be: a case of that list that passes fails the test."""
    failed = {name for name, complaints in found.items() if complaints} - cases_not_reached.EITHER
    known = cases_not_reached.NAMES & found.keys()
    reached, new = sorted(known - failed), sorted(failed - known)
    print("%d cases, %d pass, %d fail, of which %d are known (cases_not_reached.py)" % (len(found), len(found) - len(failed), len(failed), len(known & failed)))
    if new:
        print("fail: " + " ".join(new))
    if reached:
        print("reached, and still in cases_not_reached.py: " + " ".join(reached))
    return 1 if new or reached else 0


if __name__ == "__main__":
    sys.exit(main())
