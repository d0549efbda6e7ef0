#!/bin/bash
# Installs what is missing, builds everything and runs all tests but those labelled "long".
#   scripts/test.sh [CTEST OPTION...]      for example: scripts/test.sh -R step_spike
set -euo pipefail
cd "$(dirname "$0")/.."

step() { echo; echo "test: $*"; }

scripts/setup.sh
if [ tests/e2e/node_modules/.package-lock.json -ot tests/e2e/package-lock.json ]; then
  step "installing the JavaScript test client (npm ci)"
  npm ci --prefix tests/e2e --no-audit --no-fund ||
    step "npm ci failed (is the registry reachable?): the JavaScript client's test will be skipped"
fi
step "building"
cmake --preset release --log-level=WARNING
ninja -C build/release
step "running the tests"
without_long=(-LE '^long$')
case " $* " in *long*) without_long=() ;; esac
ctest --test-dir build/release --output-on-failure -j "$(nproc)" "${without_long[@]}" "$@"
