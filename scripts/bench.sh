#!/bin/bash
# Measures trainwatch on this machine and prints one line per figure.
#   scripts/bench.sh [metrics|kineto|latency|scrape]      the first three without a name
#   scripts/bench.sh tensors                       tensors of a trial beside the bandwidth of the memory
#   scripts/bench.sh detection [OPTION...]         are the alerts right: tests/bench/detection/README.md
set -euo pipefail
cd "$(dirname "$0")/.."
trainwatch=$(scripts/build.sh)
if [ "${1:-}" = detection ]; then
  shift
  exec /usr/bin/python3 tests/bench/detection/run.py "$trainwatch" "$@"
fi
if [ "${1:-}" = tensors ]; then
  ninja -C build/release tensor_bench >&2
  exec "$(find build/release -name tensor_bench -type f)"
fi
ninja -C build/release decode_bench >&2
exec /usr/bin/python3 scripts/bench.py "$trainwatch" "$(find build/release -name decode_bench -type f)" \
  build/bench "$@"
