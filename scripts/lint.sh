#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks the form of the sources, also of files that git does not know yet: clang-format, then tests/*_check.py
# and whether the recipes apply. With --tidy also clang-tidy, which takes seconds a file.
#   scripts/lint.sh
#   scripts/lint.sh --tidy                          clang-tidy over all of the program
#   scripts/lint.sh --tidy --changed[=REF] [--most=N]
#       only over what differs from where this branch left REF (origin/main, main): on that branch
#       itself the last commit. --most: the N files that changed most.
set -euo pipefail
cd "$(dirname "$0")/.."

tidy=false changed=false ref="" most=100000
for option in "$@"; do
  case $option in
    --tidy) tidy=true ;;
    --changed) changed=true ;;
    --changed=*) changed=true ref=${option#*=} ;;
    --most=*) most=${option#*=} ;;
    *) sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done

# Files of git, and new ones that it does not ignore.
files() { git ls-files --cached --others --exclude-standard -- "$@" | sort -u | xargs -r ls -d 2>/dev/null; }

# The commit to compare with; fails in a clone that has no other.
base() {
  local candidate commit
  for candidate in ${ref:+"$ref"} origin/main main; do
    commit=$(git merge-base HEAD "$candidate" 2>/dev/null) || continue
    if [ "$commit" != "$(git rev-parse HEAD)" ]; then
      echo "$commit"
      return
    fi
  done
  git rev-parse -q --verify HEAD~1
}

# The sources to compile for what changed, most changed first: a header stands for its source file.
changed_sources() {
  local commit=$1
  { git diff --numstat --no-renames --diff-filter=d "$commit" -- '*.cc' '*.h'
    git ls-files --others --exclude-standard -- '*.cc' '*.h' | sed 's/^/1\t0\t/'
  } | sort -k1,1nr | while read -r _ _ path; do
    path=${path%.h}
    path=${path%.cc}.cc
    case $path in tests/*) continue ;; esac
    if [ -e "$path" ]; then echo "$path"; fi
  done | awk '!seen[$0]++' | head -n "$most"
}

mapfile -t sources < <(files '*.cc' '*.h')
clang-format --dry-run -Werror "${sources[@]}"
python3 tests/include_check.py
python3 tests/definition_check.py
python3 tests/reference_check.py
python3 tests/name_check.py
python3 tests/catalogue_check.py
python3 tests/spdx_check.py
python3 tests/clock_check.py
python3 tests/flaky_check.py
python3 tests/recipes/check.py --apply
if $tidy; then
  if $changed && ! commit=$(base); then
    sources=()
    echo "lint: clang-tidy, no other commit to compare with"
  elif $changed; then
    mapfile -t sources < <(changed_sources "$commit")
    echo "lint: clang-tidy, ${#sources[@]} files that differ from ${commit:0:12}"
  else
    mapfile -t sources < <(files '*.cc' | grep -v '^tests/' | head -n "$most")
    echo "lint: clang-tidy, ${#sources[@]} files"
  fi
  cmake --preset lint --log-level=WARNING >/dev/null
  if [ ${#sources[@]} -gt 0 ]; then
    printf '%s\0' "${sources[@]}" | xargs -0 -P "$(nproc)" -n 1 clang-tidy -p build/lint --quiet
  fi
fi
echo "lint: clean"
