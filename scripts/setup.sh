#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that trainwatch needs and that are missing, as root or with sudo. Removes none.
#   scripts/setup.sh           to build and to test: scripts/packages.txt up to "# fuzz"
#   scripts/setup.sh build     to build
#   scripts/setup.sh fuzz      also for scripts/fuzz.sh
#   scripts/setup.sh --missing [build]   only prints what it would install
# --without-page as the last argument leaves out node and npm, three quarters of the packages to build. Where these alone
# cannot be installed that is said, and no failure: the program is then built without the page.
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/.."

say() { echo "setup: $*" >&2; }
# Only the page is missing: the build goes on.
give_up() { say "$*"; [ ${#needed[@]} -eq 0 ]; exit; }

only_print=false page=true as_root=() count=0 size=""
if [ "${1:-}" = --missing ]; then only_print=true; shift; fi
if [ $# -gt 0 ] && [ "${*: -1}" = --without-page ]; then page=false; set -- "${@:1:$#-1}"; fi
case ${1:-all} in
  build) parts=(build) ;;
  all) parts=(build tests) ;;
  fuzz) parts=(build tests fuzz) ;;
  *) sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
readonly container="build in a container, which needs nothing else: docker build -f packaging/Containerfile . (or podman, buildah)"

# The packages of one part of the list, without how CMake looks for them.
rows() { awk -v part="$1" '/^# (build|page|tests|fuzz)/ { now = $2; sub(":", "", now) } /^[^#]/ && now == part { print $1 }' scripts/packages.txt; }
installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q ' ok installed$'; }

# missing PART: what is not installed.
missing() {
  local package
  for package in $(rows "$1"); do installed "$package" || echo "$package"; done
}

# Sets needed, for_page and both, all. Node may come from elsewhere, with an npm of its own that Debian's would conflict with.
look() {
  mapfile -t needed < <(for part in "${parts[@]}"; do missing "$part"; done)
  for_page=()
  if $page && ! daemon/web/find_node.sh >/dev/null; then mapfile -t for_page < <(missing page); fi
  all=("${needed[@]}" "${for_page[@]}")
}

# plan PACKAGE...: what apt would do, in `count` and `size`; false, and why in `problem`, where it cannot or would remove something.
plan() {
  local text removed error
  text=$(LC_ALL=C apt-get install --assume-no --no-install-recommends -o Debug::NoLocking=1 "$@" 2>&1 </dev/null) || true
  removed=$(awk '/will be REMOVED/ { show = 1; next } /^[^ ]/ { show = 0 } show { $1 = $1; print }' <<<"$text" | tr '\n' ' ')
  removed=${removed% }
  error=$(grep -m 1 -E '^ [^ ]+ : ' <<<"$text" || grep -m 1 '^E: ' <<<"$text" || true)
  count=$(sed -n 's/^\([0-9]*\) upgraded, \([0-9]*\) newly installed.*/\1 + \2/p' <<<"$text")
  count=$((${count:-0}))
  size=$(sed -n 's/^Need to get \(.* [kMG]*B\)\(\/.*\)\{0,1\} of archives.*/\1 to fetch/p; s/^After this operation, \(.* [kMG]*B\) of additional.*/, \1 on the disk/p' <<<"$text" | tr -d '\n')
  if [ -n "$removed" ]; then
    problem="installing what is missing would remove $removed: remove that yourself, or $container"
    return 1
  fi
  if [ -n "$error" ]; then
    problem="apt cannot install what is missing (${error# }): mend that, or $container"
    return 1
  fi
}

install() {
  local log status=0
  log=$(mktemp)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get install -qy --no-remove --no-install-recommends \
    -o DPkg::Lock::Timeout=300 "$@" 2>&1 </dev/null | tee "$log" >&2 || status=1
  problem="apt-get failed ($(grep -m 1 '^E: ' "$log" || tail -n 1 "$log")): try again, or $container"
  rm -f "$log"
  return "$status"
}

look
if $only_print; then
  echo "${all[*]}"
  exit 0
fi
if [ ${#all[@]} -eq 0 ]; then
  say "all packages are installed"
  exit 0
fi
# shellcheck disable=SC1090
read -r system name < <(. "${TRAINWATCH_OS_RELEASE:-/etc/os-release}" && echo "${ID:-}${VERSION_ID:-} ${PRETTY_NAME:-}") || true
case $system in
  debian12) ;;
  *) give_up "${#all[@]} packages are missing, which this script knows on Debian 12 only, not on \
${name:-this system}: $container, or install the wheel that scripts/package.sh makes on Debian 12, which runs on every Linux \
with glibc 2.27 or newer, with pipx or in a virtual environment" ;;
esac
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || give_up "run as root, or install sudo: ${all[*]}"
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq >&2 || true  # what is too old or missing, the plan says
look
[ ${#all[@]} -gt 0 ] || { say "all packages are installed"; exit 0; }
without=0
if [ ${#needed[@]} -gt 0 ]; then
  plan "${needed[@]}" || give_up "$problem"
  without=$count
fi
if [ ${#for_page[@]} -gt 0 ] && ! plan "${all[@]}"; then
  say "without node and npm, so without the page: $problem"
  for_page=() all=("${needed[@]}")
  [ ${#all[@]} -gt 0 ] || exit 0
  plan "${all[@]}"
fi
say "installing $count packages, $size: ${all[*]}"
[ ${#for_page[@]} -eq 0 ] || say "$((count - without)) of them are for the page (--without-page does without)"
if install "${all[@]}"; then exit 0; fi
if [ ${#for_page[@]} -gt 0 ] && [ ${#needed[@]} -gt 0 ] && install "${needed[@]}"; then exit 0; fi
give_up "$problem"
