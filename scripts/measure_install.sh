#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How long it takes from a package to the first alert that the page shows: seconds, for the packages in dist/
# (scripts/package.sh).
#   scripts/measure_install.sh [wheel] [deb]      default: both; deb needs root and mmdebstrap, and fetches a Debian first
# What a user does, without thinking: make a virtual environment and install the wheel, or install the package and say
# what to watch; start trainwatch beside a job that is being written; look at the page's API until there is an alert.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
pids=()
finish() {
  [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT

seconds() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }'; }

# first_alert URL JOB: waits until the page's API has an alert. The job is the recorded one, whose batch comes late.
first_alert() {
  python3 scripts/demo.py ready "$1"
  cp -r tests/data/recorded-job "$2/recorded"
  python3 scripts/demo.py alert "$1"
}

measure_wheel() {
  local start=$EPOCHREALTIME port wheel=("$PWD"/dist/*.whl)
  python3 -m venv "$scratch/venv"
  "$scratch/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "${wheel[0]}"
  port=$(python3 scripts/demo.py port 9797)
  "$scratch/venv/bin/trainwatch" run --watch="$scratch/job" --storage.path="$scratch/state" \
    --web.listen-address="127.0.0.1:$port" >"$scratch/log" 2>&1 &
  pids+=($!)
  first_alert "http://127.0.0.1:$port" "$scratch/job"
  echo "from pip install to the first alert: $(seconds "$start") s"
}

measure_deb() {
  local root=$scratch/root start port deb=("$PWD"/dist/*.deb)
  mmdebstrap --quiet --variant=apt --include=init-system-helpers bookworm "$root" >&2
  mkdir -p "$root/job"
  cp "${deb[0]}" "$root/trainwatch.deb"
  start=$EPOCHREALTIME
  chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -qqy --no-install-recommends /trainwatch.deb >&2
  sed -i 's|^watch: \[\]|watch: [/job]|' "$root/etc/trainwatch/trainwatch.yaml"
  port=$(python3 scripts/demo.py port 9797)
  # The service's command; there is no systemd in there.
  chroot "$root" /usr/bin/trainwatch run --config.file=/etc/trainwatch/trainwatch.yaml --storage.path=/var/lib/trainwatch \
    --web.listen-address="127.0.0.1:$port" >"$scratch/log" 2>&1 &
  pids+=($!)
  first_alert "http://127.0.0.1:$port" "$root/job"
  echo "from apt install to the first alert: $(seconds "$start") s"
}

mkdir "$scratch/job"
[ $# -gt 0 ] || set -- wheel deb
for what in "$@"; do "measure_$what"; done
