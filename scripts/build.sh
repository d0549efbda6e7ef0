#!/bin/bash
# Builds trainwatch and prints the path of the binary as the only line on standard output.
#   scripts/build.sh [PRESET]      release (default), dev, asan or tsan
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
{
  scripts/setup.sh build
  echo "build: preset $preset"
  cmake --preset "$preset" --log-level=WARNING
  ninja -C "build/$preset" trainwatch
} >&2
echo "$PWD/build/$preset/bin/trainwatch"
