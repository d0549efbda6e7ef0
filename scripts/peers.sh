#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Libraries from PyPI for the tests of label "peers", in a virtual environment of their own below
# $XDG_CACHE_HOME. Prints the path of its Python as the only line on standard output.
#   scripts/peers.sh NAME           torch (5.7 GB: PyPI has no smaller one), tensorflow, jax (1.6 GB each), loggers, …:
#                                   tests/peers/python/*.in; writers is 0.6 GB on top of torch; hta and smdebug (0.5 and
#                                   0.2 GB) are for scripts/bench.sh peers
#   scripts/peers.sh --lock NAME    writes tests/peers/python/NAME.txt anew from NAME.in
# For Python 3.11 on x86_64. What is installed is what NAME.txt names, by hash.
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/.."

is_lock=false
[ "${1:-}" != --lock ] || { is_lock=true; shift; }
name=${1:-}
wanted=tests/peers/python/$name
if [ $# -ne 1 ] || [ ! -e "$wanted.in" ]; then
  sed -n '3,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/trainwatch-peers

# `# on top of: BASE` in NAME.in: what the environment BASE has is not installed once more.
base=$(sed -n 's/^# on top of: //p' "$wanted.in")
below=
[ -z "$base" ] || below=$(scripts/peers.sh "$base")
make_venv() {
  /usr/bin/python3 -m venv "$1"
  [ -z "$below" ] || "$below" -c 'import site; print(site.getsitepackages()[0])' >"$1/lib/python3.11/site-packages/below.pth"
}

if $is_lock; then
  report=$(mktemp)
  trap 'rm -f "$report"' EXIT
  lock=$cache/lock${base:+-on-$base}
  anew=(--ignore-installed)
  [ -z "$base" ] || anew=()
  make_venv "$lock" >&2
  "$lock/bin/pip" install --quiet --dry-run "${anew[@]}" --only-binary=:all: --report "$report" -r "$wanted.in" >&2
  python3 - "$report" >"$wanted.txt" <<'PYTHON'
import json
import sys

with open(sys.argv[1]) as file:
    installed = json.load(file)["install"]
for name, version, found in sorted(
        (one["metadata"]["name"].lower(), one["metadata"]["version"], one["download_info"]["archive_info"])
        for one in installed):
    print("%s==%s --hash=sha256:%s" % (name, version, found["hash"].split("=")[1]))
PYTHON
  exit
fi

mkdir -p "$cache"
exec 9>"$cache/lock-$name"  # two at once would undo each other's work
flock 9
place=$cache/$name-$(cat "$wanted.txt" ${base:+"tests/peers/python/$base.txt"} | sha256sum | cut -c1-12)
if [ ! -e "$place/complete" ]; then
  {
    echo "peers: installing $name into $place"
    rm -rf "$place"
    make_venv "$place"
    "$place/bin/pip" install --quiet --no-cache-dir --no-deps --require-hashes -r "$wanted.txt"
    touch "$place/complete"
  } >&2
fi
echo "$place/bin/python"
