# SPDX-License-Identifier: Apache-2.0
"""How the cost of an event grows with the number of files: the timelines of many ranks in one directory, compared with as many bytes in
one file. CPU time of the engine's thread of `trainwatch run`."""

import os

import inputs
from table import Figure
from throughput import run_seconds

ROUNDS = 3
RANKS = (256, 2500)


def measure(_, trainwatch, bench, scratch):
    one = inputs.timelines(scratch)
    one_size = sum(os.path.getsize(path) for path in one)
    for ranks in RANKS:
        many = inputs.timelines_of_ranks(scratch, ranks)
        size = sum(os.path.getsize(path) for path in many)
        shares = []
        for _ in range(ROUNDS):
            alone = run_seconds(trainwatch, scratch, one) / one_size
            together = run_seconds(trainwatch, scratch, many) / size
            shares.append(together / alone)
        yield Figure("cost of a byte in %d timelines, times that in one" % ranks, shares, 1.1, at_least=False)
