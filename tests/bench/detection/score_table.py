# SPDX-License-Identifier: Apache-2.0
"""The table of a run: a row per class, then false warnings per clean shape, then F1 over everything."""

from collections import Counter
from dataclasses import replace
from statistics import median

HEADS = ("class", "n", "recall", ">=20 %", "right", "wrong", "delay", "warnings", "false")


LEVELS = (("1.1x..1.3x", 1.0, 1.3), ("1.3x..1.5x", 1.3, 1.5), ("from 1.5x on", 1.5, float("inf")))


def percent(part, whole):
    return "%5.1f" % (100 * part / whole) if whole else "    -"


def class_row(kind, scores):
    found = [each for score in scores for each in score.found]
    due = [each for each in found if each.incident.warn]
    large = [each for each in due if each.incident.lost_share >= 0.2]
    seen = [each for each in due if each.detected]
    sampled = any(each.incident.in_seconds for each in due)
    delay = "%.0f%s" % (median(each.delay for each in seen), " s" if sampled else "") if seen else "-"
    each = "%.2f" % (sum(each.warnings for each in seen) / len(seen)) if seen else "-"
    return (kind, len(due), percent(len(seen), len(due)), percent(sum(e.detected for e in large), len(large)),
            percent(sum(e.right for e in seen), len(seen)), percent(sum(e.wrong for e in seen), len(seen)), delay, each,
            sum(len(score.false) for score in scores))


def level_row(name, scores, low, high):
    """A part of a class: the incidents that make an iteration so many times as long."""
    def part(score):
        return [each for each in score.found if low <= 1 / (1 - min(0.999, each.incident.lost_share)) < high]
    return class_row("  " + name, [replace(score, found=part(score), false=[]) for score in scores])


def clean_row(kind, scores):
    steps, false = sum(score.steps for score in scores), sum(len(score.false) for score in scores)
    return (kind, len(scores), steps, false, 1e6 * false / max(1, steps), sum(bool(score.false) for score in scores),
            sum(score.alerts for score in scores) / max(1e-9, sum(score.hours for score in scores)))


def totals(scores):
    """True positives, misses, false warnings."""
    due = [each for score in scores for each in score.found if each.incident.warn]
    hits = sum(each.detected for each in due)
    return hits, len(due) - hits, sum(len(score.false) for score in scores)


def f1(hits, missed, false):
    return 2 * hits / (2 * hits + missed + false) if hits else 0.0


def lines(scores):
    """The whole table as lines of text."""
    kinds = {}
    for score in scores:
        kinds.setdefault(score.kind, []).append(score)
    incidents = {kind: each for kind, each in kinds.items() if not each[0].clean}
    clean = {kind: each for kind, each in kinds.items() if each[0].clean}
    if incidents:
        rows = [HEADS]
        for kind, each in incidents.items():
            rows.append(class_row(kind, each))
            if kind == "lasting_slowdown":
                rows += [level_row(name, each, low, high) for name, low, high in LEVELS]
        rows.append(class_row("all incidents", [score for each in incidents.values() for score in each]))
        for row in rows:
            yield "%-22s %5s %7s %7s %6s %6s %7s %9s %6s" % row
        yield ""
    if clean:
        yield "%-22s %5s %9s %6s %15s %16s %13s" % ("clean", "jobs", "steps", "false", "per 10^6 steps", "jobs with false",
                                                    "any per hour")
        for kind, each in clean.items():
            yield "%-22s %5d %9d %6d %15.1f %16d %13.1f" % clean_row(kind, each)
        yield ""
    rules = Counter(history.rule for score in scores for history in score.false)
    if rules:
        yield "false by rule: " + ", ".join("%s %d" % pair for pair in rules.most_common())
    for what, each in (("jobs with incidents", [s for s in scores if not s.clean]), ("all jobs", scores)):
        hits, missed, false = totals(each)
        yield "%-20s found %d, missed %d, false %d: F1 %.4f" % (what, hits, missed, false, f1(hits, missed, false))
