#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what alerts are worth: generates labelled jobs, replays them, and prints the table of README.md.

    run.py TRAINWATCH [--seed A..B] [--jobs N] [--only CLASS,...] [--keep DIR] [--verbose]
"""

import argparse
import collections
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time

import jobs
import score_table
import scoring


def measure(task):
    """Generates, replays and scores one job."""
    binary, kind, seed, keep, clean_steps = task
    job = jobs.build(kind, seed, clean_steps)
    root = os.path.join(keep, job.name)
    jobs.write(job, root, seed)
    done = subprocess.run([binary, "replay", root], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError("%s: replay failed: %s" % (job.name, done.stderr[-500:]))
    alerts = [json.loads(line) for line in done.stdout.splitlines()]
    result = scoring.score(job, alerts, kind)
    result.label = "%s %s %s %d ranks%s" % (job.name, job.shape, job.writer, job.world_size(),
                                            " samples" if job.system else "")
    for history in result.false:   # only what is printed travels between processes
        history.emissions = history.emissions[-1:]
    return result, done.stderr


def complaints(result):
    """The missed and the false, for a reader."""
    for each in result.found:
        at = "step %d, %s" % (each.incident.step, each.incident.note)
        if each.incident.warn and not each.detected:
            yield "missed  %s: %s (lost %.0f %%)" % (result.label, at, 100 * each.incident.lost_share)
        elif each.detected and (each.wrong or not each.right):
            yield "cause   %s: %s said %s" % (result.label, at, ", ".join(each.causes))
        if each.warnings > 2:
            rules = collections.Counter(each.rules).most_common()
            yield "many    %s: %s: %s" % (result.label, at, ", ".join("%s %d" % pair for pair in rules))
    for history in result.false:
        alert = history.emissions[-1][3]
        yield "false   %s: %s at step %s: %s" % (result.label, history.rule, alert.get("step"), history.summary())


def seed_range(text):
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trainwatch", help="the binary")
    parser.add_argument("--seed", type=seed_range, help="A..B; below 1000 for tuning, from 1000 on held out")
    parser.add_argument("--jobs", type=int, default=12, help="jobs of each class, without --seed")
    parser.add_argument("--only", default="", help="classes, with commas; also incidents, clean, timeline, kineto")
    parser.add_argument("--clean-steps", type=int, default=6000, help="steps of a clean job, over its ranks")
    parser.add_argument("--keep", help="write the jobs there and leave them")
    parser.add_argument("--verbose", action="store_true", help="print what was missed, false, or wrongly explained")
    parser.add_argument("--processes", type=int, default=2)
    return parser.parse_args()


def chosen(only):
    groups = {"incidents": tuple(jobs.INCIDENTS), "clean": jobs.CLEAN, "timeline": jobs.TIMELINE_CLASSES,
              "kineto": jobs.KINETO_CLASSES, "purpose": tuple(jobs.on_purpose.KINDS)}
    kinds = [kind for word in filter(None, only.split(",")) for kind in groups.get(word, (word,))]
    unknown = set(kinds) - set(jobs.CLASSES) - set(jobs.ON_REQUEST)
    if unknown:
        sys.exit("unknown class %s; there are %s" % (", ".join(sorted(unknown)), ", ".join(jobs.CLASSES + jobs.ON_REQUEST)))
    return kinds or list(jobs.CLASSES)


def removing(task):
    """measure(), and the job's files are gone afterwards."""
    kind, seed, scratch = task[1], task[2], task[3]
    try:
        return measure(task)
    finally:
        shutil.rmtree(os.path.join(scratch, "%s-%d" % (kind, seed)), ignore_errors=True)


def main():
    options, began = arguments(), time.monotonic()
    seeds = options.seed or range(options.jobs)
    with tempfile.TemporaryDirectory(prefix="detection-") as scratch:
        tasks = [(os.path.abspath(options.trainwatch), kind, seed, options.keep or scratch, options.clean_steps)
                 for kind in chosen(options.only) for seed in seeds]
        scores = []
        with multiprocessing.Pool(options.processes) as pool:
            for score, errors in pool.imap(measure if options.keep else removing, tasks):
                scores.append(score)
                if options.verbose:
                    for line in complaints(score):
                        print(line, flush=True)
                    if "reject" in errors:
                        print("input   %s: %s" % (score.label, errors.strip().splitlines()[0]))
    print("\n".join(score_table.lines(scores)))
    print("%d jobs, seeds %d..%d, %.0f s" % (len(scores), seeds[0], seeds[-1], time.monotonic() - began))


if __name__ == "__main__":
    main()
