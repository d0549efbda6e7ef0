#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian package and the Python wheel, and prints their paths as the last two lines, the only ones on standard
# output. Both are in dist/. Missing packages are named, then installed by scripts/setup.sh.
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/.."
# One commit gives the same files, wherever and whenever it is built.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
umask 022
{
  binary=$(scripts/build.sh)
  if readelf -d "$binary" | grep -q 'libstdc++'; then
    echo "package: the program needs shared libraries of this machine; the build says why"
    exit 1
  fi
  ninja -C build/release package_files
  rm -rf dist
  mkdir dist
  (cd build/release && cpack -B "$PWD/cpack" -D CPACK_OUTPUT_FILE_PREFIX="$OLDPWD/dist")
  packaging/wheel.sh "$binary" dist
} >&2
if [ -e build/release/daemon/web/page/without_page ]; then
  echo "package: WITHOUT THE PAGE: $(cat build/release/daemon/web/page/without_page)" >&2
fi
ls "$PWD"/dist/*.deb "$PWD"/dist/*.whl
