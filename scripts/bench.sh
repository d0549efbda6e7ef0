#!/bin/bash
# Measures trainwatch on this machine and prints one line per figure.
#   scripts/bench.sh [metrics|kineto|latency]      all three without a name
set -euo pipefail
cd "$(dirname "$0")/.."
trainwatch=$(scripts/build.sh)
ninja -C build/release decode_bench >&2
exec /usr/bin/python3 scripts/bench.py "$trainwatch" "$(find build/release -name decode_bench -type f)" \
  build/bench "$@"
