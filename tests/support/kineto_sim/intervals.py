# SPDX-License-Identifier: Apache-2.0
"""Microseconds, and sorted lists of intervals."""

from kineto_sim.constants import US


def micros(ns):
    """ns -> us as a number with at most 3 decimals."""
    return round(ns / US, 3)


def union(intervals):
    """Sorted disjoint union of half-open intervals."""
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def total(intervals):
    return sum(end - start for start, end in union(intervals))


def intersect(a, b):
    """Intersection of two interval lists."""
    a, b, i, j, out = union(a), union(b), 0, 0, []
    while i < len(a) and j < len(b):
        start, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if start < end:
            out.append((start, end))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return out
