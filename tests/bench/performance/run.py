#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench.sh runs: run.py TRAINWATCH DECODE_BENCH SCRATCH [NAME...]

Prints the table of docs/decisions/performance.md but for what runs only if it is named, or those parts of it that are named."""

import os
import sys

import backlog
import fan_out
import fleet
import idle
import latency
import memory
import month
import peers
import restart
import scrape
import series_memory
import storm
import table
import throughput
import typical_load

PARTS = {**{name: throughput.measure for name in throughput.FORMATS}, "latency": latency.measure, "idle": idle.measure,
         "load": typical_load.measure, "scrape": scrape.measure, "fan_out": fan_out.measure,
         "memory": memory.measure, "series": series_memory.measure, "start": backlog.measure,
         "restart": restart.measure, "fleet": fleet.measure, "storm": storm.measure}
ONLY_IF_NAMED = {"peers": peers.measure, "month": month.measure}  # downloads; minutes


def main():
    trainwatch, bench, scratch = sys.argv[1:4]
    wanted = sys.argv[4:] or list(PARTS)
    parts = {**PARTS, **ONLY_IF_NAMED}
    for name in wanted:
        if name not in parts:
            sys.exit("bench: no part is named %s; there are %s" % (name, ", ".join(parts)))
    os.makedirs(scratch, exist_ok=True)
    print(table.HEAD, flush=True)
    for name in wanted:
        for figure in parts[name](name, trainwatch, bench, scratch):
            print(figure.row(), flush=True)


if __name__ == "__main__":
    main()
