#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is too slow for every change (hours): the daemon, the commands and the live scenarios under
# ThreadSanitizer, the fuzz targets for 20 s each, then the tests labelled "long". Exits with 1 when
# one of them failed.
#   scripts/nightly.sh [--result=FILE] [PART...]     all parts: tsan, fuzz, long
# FILE (build/nightly/result.txt) gets a line for each part when it ends, and last "nightly: passed" or
# "nightly: FAILED: PART..."; without that line the run was cut short. What the parts print is beside it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

result=build/nightly/result.txt parts=()
for option in "$@"; do
  case $option in
    --result=*) result=${option#*=} ;;
    tsan | fuzz | long) parts+=("$option") ;;
    *) sed -n '3,8s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=(tsan fuzz long)
mkdir -p "$(dirname "$result")"
failed=()

say() { echo "$*" | tee -a "$result"; }

# What the output of a part counts: the summaries of ctest and GoogleTest, the targets of scripts/fuzz.sh.
counts() {
  awk '/^[0-9]+% tests passed, [0-9]+ tests? failed out of/ { bad += $4; good += $NF - $4 }
       /^\[==========\] [0-9]+ tests? from .* ran/ { good += $2 }
       /^\[  FAILED  \] [0-9]+ tests?, listed below/ { bad += $4; good -= $4 }
       /^fuzz: [^ ]+ failed:/ { bad++; good-- }
       /^fuzz: [^ ]+: [0-9]+ executions/ { good++ }
       END { printf "%d passed, %d failed", good, bad }' "$1"
}

# part NAME COMMAND...
part() {
  local name=$1 began=$SECONDS log status
  log=$(dirname "$result")/$name.log
  shift
  "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  [ "$status" -eq 0 ] || failed+=("$name")
  say "$name: $([ "$status" -eq 0 ] && echo passed || echo FAILED), $(counts "$log"), $((SECONDS - began)) s"
  [ "$status" -eq 0 ] || sed -n '/^The following tests FAILED/,$p' "$log" | grep ' - ' | tee -a "$result"
}

run_tsan() {
  cmake --preset tsan --log-level=WARNING && ninja -C build/tsan daemon_tests commands_tests || return 1
  local status=0
  build/tsan/tests/daemon_tests --gtest_brief=1 || status=1
  build/tsan/tests/commands_tests --gtest_brief=1 || status=1
  scripts/test.sh --preset=tsan -L '^scenario$' || status=1
  return $status
}
run_fuzz() { scripts/fuzz.sh; }
run_long() { scripts/test.sh -L '^long$'; }

: >"$result"
say "nightly: $(date -u +%FT%TZ), commit $(git describe --always --dirty), $(nproc) CPUs"
scripts/setup.sh fuzz
for name in "${parts[@]}"; do part "$name" "run_$name"; done
if [ ${#failed[@]} -gt 0 ]; then
  say "nightly: FAILED: ${failed[*]}"
  exit 1
fi
say "nightly: passed"
