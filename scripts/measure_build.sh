#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What building costs without ccache: CPU seconds (user and system, of all processes) of the binary from
# nothing, and seconds until it is linked again after a change of one rule.
#   scripts/measure_build.sh [CMAKE OPTION...]      for example: -DTRAINWATCH_UNITY=OFF
set -euo pipefail
cd "$(dirname "$0")/.."
export CCACHE_DISABLE=1
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  --log-level=WARNING "$@" >/dev/null

TIMEFORMAT='%U %S %R'
timed() {
  { time ninja -C "$build" trainwatch >"$build/log"; } 2>&1 || { cat "$build/log" >&2; exit 1; }
}

cold=$(timed)
touch rules/step_spike.cc
again=$(timed)
awk '{ printf "cold build: %.0f CPU seconds, %.0f s\n", $1 + $2, $3 }' <<<"$cold"
awk '{ printf "one rule changed: %.1f CPU seconds, %.1f s\n", $1 + $2, $3 }' <<<"$again"
