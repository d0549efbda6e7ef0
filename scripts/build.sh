#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds trainwatch and prints the path of the binary as the only line on standard output.
#   scripts/build.sh [PRESET]      release (default), dev, asan or tsan
# Missing packages are named, then installed by scripts/setup.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
{
  missing=$(scripts/setup.sh --missing build)
  if [ -n "$missing" ]; then
    echo "build: needs these packages, scripts/setup.sh installs them: $missing"
    scripts/setup.sh build
  fi
  echo "build: preset $preset"
  cmake --preset "$preset" --log-level=WARNING
  ninja -C "build/$preset" trainwatch
} >&2
echo "$PWD/build/$preset/bin/trainwatch"
