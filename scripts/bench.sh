#!/bin/bash
# Measures trainwatch on this machine and prints one line per figure.
#   scripts/bench.sh [metrics|kineto|latency|scrape|idle] the first three without a name
#   scripts/bench.sh tensors                       tensors of a trial beside the bandwidth of the memory
#   scripts/bench.sh console                       what a job prints: text without records, and lines with records
#   scripts/bench.sh detection [OPTION...]         are the alerts right: tests/bench/detection/README.md
set -euo pipefail
cd "$(dirname "$0")/.."
trainwatch=$(scripts/build.sh)
if [ "${1:-}" = detection ]; then
  shift
  exec /usr/bin/python3 tests/bench/detection/run.py "$trainwatch" "$@"
fi
if [ "${1:-}" = tensors ] || [ "${1:-}" = console ]; then
  bench=${1%s}_bench
  ninja -C build/release "$bench" >&2
  exec "$(find build/release -name "$bench" -type f)"
fi
ninja -C build/release decode_bench >&2
exec /usr/bin/python3 scripts/bench.py "$trainwatch" "$(find build/release -name decode_bench -type f)" \
  build/bench "$@"
