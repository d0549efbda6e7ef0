#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is too slow for every change (hours): the daemon, the commands and the live scenarios under
# ThreadSanitizer, the fuzz targets for 20 s each, then the tests labelled "long". Exits with 1 when
# one of them failed.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=()

thread_sanitizer() {
  cmake --preset tsan --log-level=WARNING &&
    ninja -C build/tsan daemon_tests commands_tests &&
    build/tsan/tests/daemon_tests --gtest_brief=1 &&
    build/tsan/tests/commands_tests --gtest_brief=1 &&
    scripts/test.sh --preset=tsan -L '^scenario$'
}

scripts/setup.sh fuzz
thread_sanitizer || failed+=("ThreadSanitizer")
scripts/fuzz.sh || failed+=("fuzz")
scripts/test.sh -L '^long$' || failed+=("long")
if [ ${#failed[@]} -gt 0 ]; then
  echo "nightly: FAILED: ${failed[*]}"
  exit 1
fi
echo "nightly: passed"
