#!/bin/bash
# Checks the form of the sources: clang-format, and with --tidy also clang-tidy (needs a build).
#   scripts/lint.sh [--tidy]
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t sources < <(git ls-files '*.cc' '*.h')
clang-format --dry-run -Werror "${sources[@]}"
python3 tests/include_check.py
if [ "${1:-}" = --tidy ]; then
  cmake --preset release --log-level=WARNING
  git ls-files '*.cc' | grep -v '^tests/' | xargs -P "$(nproc)" -n 4 clang-tidy -p build/release --quiet
fi
echo "lint: clean"
