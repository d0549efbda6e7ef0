#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the fuzz targets of tests/fuzz one after another and prints executions and coverage of each.
#   scripts/fuzz.sh [SECONDS [TARGET...]]     20 seconds for each of all targets by default
# Exits with 1 when a target crashed; its input is in build/fuzz/crashes.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) sed -n '3,5s/^# \{0,1\}//p' "$0"; exit 0 ;; esac

seconds=${1:-20}
[ $# -eq 0 ] || shift
missing=$(scripts/setup.sh --missing fuzz)
[ -z "$missing" ] || scripts/setup.sh fuzz
cmake --preset fuzz --log-level=WARNING
ninja -C build/fuzz fuzz
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  mapfile -t targets < <(build/fuzz/tests/fuzz/fuzz)
fi

failed=()
for target in "${targets[@]}"; do
  new=build/fuzz/corpus/$target crashes=build/fuzz/crashes/$target log=build/fuzz/$target.log
  mkdir -p "$new" "$crashes" "tests/fuzz/corpus/$target"
  TRAINWATCH_FUZZ_TARGET=$target build/fuzz/tests/fuzz/fuzz -max_total_time="$seconds" \
    -rss_limit_mb=1024 -timeout=10 -print_final_stats=1 -artifact_prefix="$crashes/" \
    "$new" "tests/fuzz/corpus/$target" >"$log" 2>&1 || failed+=("$target")
  rmdir --ignore-fail-on-non-empty "tests/fuzz/corpus/$target"
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  coverage=$(grep -o 'cov: [0-9]* ft: [0-9]*' "$log" | tail -1)
  echo "fuzz: $target: ${executions:-0} executions in $seconds s, ${coverage:-no coverage}"
done
if [ ${#failed[@]} -gt 0 ]; then
  for target in "${failed[@]}"; do
    echo "fuzz: $target failed:"
    grep -m 3 -E 'ERROR|fuzz: not so|SUMMARY|runtime error' "build/fuzz/$target.log" || true
  done
  exit 1
fi
echo "fuzz: ${#targets[@]} targets, no crash"
