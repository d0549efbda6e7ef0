#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs all tests but those labelled "long" or "peers". Missing packages are named, then installed by
# scripts/setup.sh.
#   scripts/test.sh [--preset=NAME] [CTEST OPTION...]    for example: scripts/test.sh -R step_spike
#   scripts/test.sh -L 'unit|rules'     builds only what these labels need: unit, rules, scenario,
#                                       model, differential, e2e, lint, long, peers
# The fast loop while working on a rule (the cases of all rules, in seconds):
#   ninja -C build/release rule_cases && build/release/tests/rule_cases
set -euo pipefail
cd "$(dirname "$0")/.."

preset=release
case ${1:-} in
  -h | --help) sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
  --preset=*) preset=${1#*=}; shift ;;
esac

step() { echo; echo "test: $*"; }

# The targets that the labels of -L need; everything without -L.
targets() {
  local wanted="" label
  while [ $# -gt 0 ]; do
    case $1 in
      -L | --label-regex) wanted=${2:-} ;;
      -L?*) wanted=${1#-L} ;;
    esac
    shift
  done
  if [ -z "$wanted" ]; then
    echo all
    return
  fi
  for label in unit rules scenario model differential e2e long peers; do
    if [[ $label =~ $wanted ]]; then echo "tests_$label"; fi
  done
}

missing=$(scripts/setup.sh --missing)
[ -z "$missing" ] || scripts/setup.sh
mapfile -t targets < <(targets "$@")
case " ${targets[*]} " in
  *" all "* | *" tests_e2e "*)
    if [ tests/e2e/node_modules/.package-lock.json -ot tests/e2e/package-lock.json ]; then
      step "installing the JavaScript test client (npm ci)"
      npm ci --prefix tests/e2e --no-audit --no-fund ||
        step "npm ci failed (is the registry reachable?): the JavaScript client's test will be skipped"
    fi
    ;;
esac
step "building ${targets[*]:-nothing} ($preset)"
cmake --preset "$preset" --log-level=WARNING -DBUILD_TESTING=ON
if [ ${#targets[@]} -gt 0 ]; then ninja -C "build/$preset" "${targets[@]}"; fi
step "running the tests"
without=(-LE '^(long|peers)$')
case " $* " in *long* | *peers*) without=() ;; esac
ctest --preset "$preset" -j "$(($(nproc) + 1))" "${without[@]}" "$@"  # many tests wait most of the time
