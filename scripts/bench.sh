#!/bin/bash
# Measures trainwatch on this machine and prints one line per figure.
#   scripts/bench.sh [metrics|kineto|latency|scrape]      the first three without a name
#   scripts/bench.sh detection [OPTION...]         are the alerts right: tests/bench/detection/README.md
set -euo pipefail
cd "$(dirname "$0")/.."
trainwatch=$(scripts/build.sh)
if [ "${1:-}" = detection ]; then
  shift
  exec /usr/bin/python3 tests/bench/detection/run.py "$trainwatch" "$@"
fi
ninja -C build/release decode_bench >&2
exec /usr/bin/python3 scripts/bench.py "$trainwatch" "$(find build/release -name decode_bench -type f)" \
  build/bench "$@"
