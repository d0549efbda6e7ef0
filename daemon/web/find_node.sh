#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prints the path of the node that can build the page and that of its npm, the first in PATH, or else why there is none, with 1.
set -euo pipefail
lowest=18  # esbuild's, in package-lock.json

problem="node is not installed"
IFS=: read -ra folders <<<"$PATH"
for folder in "${folders[@]}"; do
  version=$("$folder/node" --version 2>/dev/null) || continue
  number=${version#v}
  if ! [ "${number%%.*}" -ge "$lowest" ] 2>/dev/null; then
    problem="$folder/node is ${version:-of no known version}, and the page needs $lowest or newer"
    continue
  fi
  npm=$folder/npm
  if [ ! -x "$npm" ] && ! npm=$(command -v npm); then
    problem="npm is not installed"
    continue
  fi
  printf '%s\n' "$folder/node" "$npm"
  exit
done
echo "$problem"
exit 1
