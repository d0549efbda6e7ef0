# SPDX-License-Identifier: Apache-2.0
"""Compares what `trainwatch runs` says of lives with the truth, field by field."""

import calendar
import concurrent.futures
import fnmatch
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import time

POINTS, SUM, RATE = 0.01, 0.001, 0.1   # of wall time; of wall time; of the rate
SECONDS = 1.5                          # that a log with whole seconds may be off
REFUSED = "no output"


def add_arguments(parser):
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--trainwatch", metavar="BIN", help="runs `BIN runs DIR... --format=json`")
    who.add_argument("--command", dest="program", metavar="TEXT", help="another command; it gets the watched directories")
    parser.add_argument("--kinds", default="*", help="names and patterns, separated by commas")
    parser.add_argument("--seeds", default="3", help="N: 0 to N-1; or A..B")
    parser.add_argument("--writers", default="", help="only lives of these writers, separated by commas")
    parser.add_argument("--jobs", type=int, default=1, help="lives at the same time")
    parser.add_argument("--surfaces", action="store_true", help="compare a daemon's surfaces with `runs`, too")
    parser.add_argument("--verbose", action="store_true", help="print each wrong field")
    parser.add_argument("--keep", metavar="DIR", help="where the lives stay; by default they are deleted")


def unix(text):
    if not isinstance(text, str):
        return text
    whole, _, fraction = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole[:19], "%Y-%m-%dT%H:%M:%S")) + (float("0." + fraction) if fraction else 0.0)


def ask(command, roots):
    """The runs, or what the command wrote to its standard error."""
    done = subprocess.run([*command, *roots], capture_output=True, text=True, timeout=600, check=False)
    try:
        return [json.loads(line) for line in done.stdout.splitlines() if line.strip()], done.stderr[-400:]
    except ValueError as failure:
        return [], "%s: %s" % (failure, done.stdout[:200])


def overlap(true, said):
    """Seconds that the two have in common."""
    life = said.get("life") or {}
    begin, end = unix(life.get("began_at")), unix(life.get("until"))
    if begin is None or end is None:
        return float("-inf")
    return min(true["attempts"][-1]["ended"], end) - max(true["attempts"][0]["began"], begin)


def pairs(truth, said):
    """Each true run with the one that was said to be it, or None: by its number or name, else by its time."""
    left, found = list(said), []
    for true in truth["runs"]:
        names = [x for x in (true.get("run"), true.get("job")) if x]
        named = [s for s in left if any(n in text for n in names for text in identity(s))]
        best = max(named or left, key=lambda s: overlap(true, s), default=None)
        if best is not None:
            left.remove(best)
        found.append((true, best))
    return found, left


def identity(said):
    """The words by which a run is known."""
    return [str(said[k]) for k in ("job", "run", "name", "id") if said.get(k)]


class Fields:
    """Right and wrong ones of one run."""

    def __init__(self):
        self.right, self.wrong = [], []

    def of(self, name, right, true, said):
        (self.right if right else self.wrong).append((name, true, said))

    def near(self, name, true, said, tolerance):
        self.of(name, said is not None and abs(said - true) <= tolerance, true, said)


def compare(true, said, alone):
    """`alone`: there is one run here, so nothing needs to name it."""
    fields = Fields()
    names = [x for x in (true.get("run"), true.get("job")) if x]
    if not alone and names:
        fields.of("identity", any(n in text for n in names for text in identity(said)), names, identity(said))
    fields.of("state", said.get("state") in true["state"], true["state"], said.get("state"))
    compare_end("end", fields, true["end"], said.get("end"))
    compare_attempts(fields, true["attempts"], said.get("attempts") or [])
    life = said.get("life") or {}
    fields.of("life", {"wall_seconds", "seconds"} <= set(life), "there", sorted(life))
    if not fields.wrong or fields.wrong[-1][0] != "life":
        compare_life(fields, true, life)
    return fields


def compare_end(name, fields, true, said):
    said = said or {}
    if true is None:
        fields.of(name + ".class", said.get("class") in (None, "unknown"), None, said.get("class"))
        return
    for key, value in true.items():
        right = said.get(key) in value if key == "class" else said.get(key) == value
        fields.of("%s.%s" % (name, key), right, value, said.get(key))


def compare_attempts(fields, true, said):
    fields.of("attempts", len(true) == len(said), len(true), len(said))
    if len(true) != len(said):
        return
    for t, s in zip(true, said):
        for key in ("first_step", "last_step"):
            if key in t:
                fields.of("attempt.%s" % key, t[key] == s.get(key), t[key], s.get(key))
    for t, s in list(zip(true, said))[:-1]:
        if t["end"]:
            kind = (s.get("end") or {}).get("class")
            fields.of("attempt.end", kind in t["end"]["class"], t["end"]["class"], kind)


def compare_life(fields, true, life):
    wall, parts = true["wall_seconds"], dict(life["seconds"])
    fields.near("sum", life["wall_seconds"], sum(parts.values()), SUM * max(life["wall_seconds"], 1e-3) + 1e-3)
    if true["dark"]:
        return
    limit = max(POINTS * wall, 0.0) + (SECONDS if wall < 300 else 0.0)
    fields.near("wall", wall, life["wall_seconds"], limit)
    for part, seconds, got in parts_of(true, parts):
        if max(seconds, got) > 0.002 * wall:
            fields.near("part." + part, seconds, got, limit)
    fields.near("goodput", sum(s for p, s, _ in parts_of(true, parts) if "training" in p) / wall if wall else 0.0,
                sum(g for p, _, g in parts_of(true, parts) if "training" in p) / life["wall_seconds"] if life["wall_seconds"] else 0.0,
                POINTS + limit / wall if wall else 1.0)
    for key in ("steps", "redone_steps"):
        if true.get(key) is not None:
            fields.of(key, true[key] == life.get(key), true[key], life.get(key))
    if true.get("rate") is not None:
        least, most = true["rate"]
        got = life.get("steps_per_second") or 0.0
        fields.of("rate", least * (1 - RATE) - 1e-3 <= got <= most * (1 + RATE) + 1e-3, true["rate"], got)
    if true.get("gpu_seconds"):
        fields.near("gpu_seconds", true["gpu_seconds"], life.get("gpu_seconds"), 0.02 * true["gpu_seconds"] + SECONDS * 64)


def parts_of(true, said):
    """(name, true, said) of each part; parts between which nothing decides are added up."""
    either, seconds = set(true.get("either") or ()), true["seconds"]
    rows = [(p, seconds.get(p, 0.0), said.get(p, 0.0)) for p in sorted((set(seconds) | set(said)) - either)]
    if either:
        rows.append(("|".join(sorted(either)), sum(seconds.get(p, 0.0) for p in either), sum(said.get(p, 0.0) for p in either)))
    return rows


class Score:
    def __init__(self):
        self.lives = self.all_right = 0
        self.right = self.fields = 0
        self.wrong = {}

    def add(self, results):
        self.lives += 1
        wrong = [w for _, f in results for w in f.wrong]
        self.all_right += not wrong
        self.right += sum(len(f.right) for _, f in results)
        self.fields += sum(len(f.right) + len(f.wrong) for _, f in results)
        for name, _, _ in wrong:
            self.wrong[name] = self.wrong.get(name, 0) + 1

    def row(self, name):
        worst = sorted(self.wrong.items(), key=lambda x: -x[1])[:6]
        return "%-24s %3d/%-3d lives  %4d/%-4d fields %5.1f %%  %s" % (
            name, self.all_right, self.lives, self.right, self.fields, 100 * self.right / max(1, self.fields),
            " ".join("%s:%d" % x for x in worst))


def judge(truth, said, error):
    """(true run, fields) of each run."""
    found, left = pairs(truth, said)
    results = []
    for true, one in found:
        if one is None:
            fields = Fields()
            fields.of("run", False, true.get("run"), REFUSED + ": " + error)
        else:
            fields = compare(true, one, len(truth["runs"]) == 1)
        results.append((true, fields))
    results[0][1].of("runs", not left and len(said) == len(truth["runs"]), len(truth["runs"]), len(said))
    return results


def seeds_of(text):
    first, _, last = text.rpartition("..")
    return range(int(first or 0), int(last) + (1 if first else 0))


def one_life(args, make, kind, seed):
    folder = os.path.join(args.keep, "%s-%d" % (kind, seed)) if args.keep else tempfile.mkdtemp(prefix="life-")
    try:
        truth = make(kind, seed, folder)
        if args.writers and not any(r["writer"] in args.writers.split(",") for r in truth["runs"]):
            return None
        roots = [os.path.join(folder, w) for w in truth["watch"]]
        command = [args.trainwatch, "runs", "--format=json"] if args.trainwatch else shlex.split(args.program)
        said, error = ask(command, roots)
        results = judge(truth, said, error)
        if args.surfaces:
            import surfaces
            results += surfaces.judge(args.trainwatch, roots, truth, said)
        return results
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)


def main(args, kinds, make):
    names = [k for k in kinds if any(fnmatch.fnmatch(k, p) for p in args.kinds.split(","))]
    cases = [(k, s) for k in names for s in seeds_of(args.seeds)]
    scores, writers, total = {}, {}, Score()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for (kind, seed), results in zip(cases, pool.map(lambda c: one_life(args, make, *c), cases)):
            if results is None:
                continue
            writer = "+".join(sorted({true["writer"] for true, _ in results}))
            for score in (scores.setdefault(kind, Score()), writers.setdefault(writer, Score()), total):
                score.add(results)
            if args.verbose:
                for true, fields in results:
                    for name, value, got in fields.wrong:
                        print("%s/%d %s: %s is %s, said %s" % (kind, seed, true["writer"], name, value, got), flush=True)
    for name, score in list(scores.items()) + [("", Score())] + sorted(writers.items()) + [("all", total)]:
        print(score.row(name) if name else "")
    return 0 if total.all_right == total.lives else 1
