#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Measures trainwatch on this machine, beside limits and targets.
#   scripts/bench.sh [PART...]                     the table of docs/decisions/performance.md, or some parts of it: metrics, nodes, shuffled,
#                                                  kineto, real_kineto, gz, timelines, hook, tensorflow, latency, idle, load, scrape, fan_out,
#                                                  memory, series, start, restart, fleet, storm; and what runs only if it is named:
#                                                  peers (HTA and smdebug from PyPI, mtail from Debian: 0.8 GB), month (six minutes)
#   scripts/bench.sh tensors                       tensors of a trial beside the bandwidth of the memory
#   scripts/bench.sh console                       what a job prints: text without records, and lines with records
#   scripts/bench.sh page                          frames of the page, and how soon it shows what: printed by its tests
#   scripts/bench.sh flood                         a minute of 100,000 records a second in 1,000 files, 120 subscribers: how late alerts are
#   scripts/bench.sh detection [OPTION...]         are the alerts right: tests/bench/detection/README.md
#   scripts/bench.sh lives [OPTION...]             is the account of runs right: tests/bench/lives/README.md
set -euo pipefail
cd "$(dirname "$0")/.."
# They are built beside the tests.
with_benchmarks() {
  [ -z "$(scripts/setup.sh --missing)" ] || scripts/setup.sh
  cmake --preset release --log-level=WARNING -DBUILD_TESTING=ON >&2
}

trainwatch=$(scripts/build.sh)
if [ "${1:-}" = detection ]; then
  shift
  exec /usr/bin/python3 tests/bench/detection/run.py "$trainwatch" "$@"
fi
if [ "${1:-}" = lives ]; then
  shift
  exec /usr/bin/python3 tests/bench/lives/lives.py check --trainwatch="$trainwatch" "$@"
fi
if [ "${1:-}" = page ]; then
  /usr/bin/python3 tests/e2e/page_test.py "$trainwatch" frames daemon
  TRAINWATCH_ALERTS=100000 exec /usr/bin/python3 tests/e2e/page_alerts_test.py "$trainwatch"
fi
if [ "${1:-}" = flood ]; then
  TRAINWATCH_LOAD_SECONDS=60 exec /usr/bin/python3 tests/e2e/load_test.py "$trainwatch"
fi
if [ "${1:-}" = tensors ] || [ "${1:-}" = console ]; then
  bench=${1%s}_bench
  with_benchmarks
  ninja -C build/release "$bench" >&2
  exec "$(find build/release -name "$bench" -type f)"
fi
with_benchmarks
ninja -C build/release decode_bench alert_floor fan_out_floor >&2
exec /usr/bin/python3 tests/bench/performance/run.py "$trainwatch" "$(find build/release -name decode_bench -type f)" build/bench "$@"
