#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that trainwatch needs and that are missing, as root or with sudo.
#   scripts/setup.sh           to build and to test: scripts/packages.txt up to "# fuzz"
#   scripts/setup.sh build     to build
#   scripts/setup.sh fuzz      also for scripts/fuzz.sh
#   scripts/setup.sh --missing [build]   only prints what it would install
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "setup: $*" >&2; }

only_print=false
if [ "${1:-}" = --missing ]; then
  only_print=true
  shift
fi
case ${1:-all} in
  build) wanted=$(sed '/^# tests/,$d' scripts/packages.txt) ;;
  all) wanted=$(sed '/^# fuzz/,$d' scripts/packages.txt) ;;
  fuzz) wanted=$(cat scripts/packages.txt) ;;
  *) sed -n '3,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
missing=()
for package in $(sed 's/#.*//' <<<"$wanted"); do
  # Node may come from elsewhere, with an npm of its own that Debian's would conflict with.
  case $package in nodejs | npm) command -v "${package%js}" >/dev/null && continue ;; esac
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok' ||
    missing+=("$package")
done
if $only_print; then
  echo "${missing[*]}"
  exit 0
fi
if [ ${#missing[@]} -eq 0 ]; then
  say "all packages are installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { say "run as root, or install sudo: ${missing[*]}"; exit 1; }
  as_root=(sudo)
fi
say "installing with apt-get: ${missing[*]}"
"${as_root[@]}" apt-get update -q >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends \
  "${missing[@]}" >&2
