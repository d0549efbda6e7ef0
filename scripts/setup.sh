#!/bin/bash
# Installs the Debian packages that building (and, without "build", testing) trainwatch needs:
# those of scripts/packages.txt that are missing. As root or with sudo.
#   scripts/setup.sh [build]
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "setup: $*" >&2; }

wanted=$(sed '/^# tests$/,$d' scripts/packages.txt)
[ "${1:-}" = build ] || wanted=$(cat scripts/packages.txt)
missing=()
for package in $(sed 's/#.*//' <<<"$wanted"); do
  # Node may come from elsewhere, with an npm of its own that Debian's would conflict with.
  case $package in nodejs | npm) command -v "${package%js}" >/dev/null && continue ;; esac
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok' ||
    missing+=("$package")
done
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
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -qy --no-install-recommends \
  "${missing[@]}" >&2
