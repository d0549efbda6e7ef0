#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds trainwatch and prints the path of the binary as the only line on standard output.
#   scripts/build.sh [--without-page] [PRESET]      release (default), dev, asan or tsan
# Missing packages are named, then installed by scripts/setup.sh. Needs nothing of the tests; what was configured for them
# (scripts/test.sh) stays so as long as their packages are there.
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/.."
page=() options=(-DTRAINWATCH_PAGE=AUTO)
if [ "${1:-}" = --without-page ]; then
  page=(--without-page) options=(-DTRAINWATCH_PAGE=OFF)
  shift
fi
preset=${1:-release}
if [ $# -gt 1 ] || [[ $preset == -* ]]; then
  sed -n '3,6s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
{
  missing=$(scripts/setup.sh --missing build "${page[@]}")
  [ -z "$missing" ] || scripts/setup.sh build "${page[@]}"
  missing=$(scripts/setup.sh --missing --without-page)
  [ -z "$missing" ] || options+=(-DBUILD_TESTING=OFF)
  echo "build: preset $preset"
  cmake --preset "$preset" --log-level=WARNING "${options[@]}"
  ninja -C "build/$preset" trainwatch
  if [ -e "build/$preset/daemon/web/page/without_page" ]; then
    echo "build: WITHOUT THE PAGE: $(cat "build/$preset/daemon/web/page/without_page")"
  fi
} >&2
echo "$PWD/build/$preset/bin/trainwatch"
