#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Plays a recorded training job to trainwatch at live speed: about 70 seconds, in which one batch comes
# late. Prints the address of the page, where the program has it, and each alert as it comes. The program is that of a package in
# dist/ (scripts/package.sh) if there is one, else it is built.
#   scripts/demo.sh [--keep] [--speed=N]
# --keep leaves trainwatch running at the end, --speed=4 plays four times as fast.
set -euo pipefail
cd "$(dirname "$0")/.."

keep=false speed=1
for option in "$@"; do
  case $option in
    --keep) keep=true ;;
    --speed=*) speed=${option#*=} ;;
    *) sed -n '3,7s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done

job=tests/data/recorded-job
scratch=$(mktemp -d)
pids=()
finish() {
  [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT TERM

# The program in the newest wheel or Debian package of dist/, unpacked.
packaged() {
  local package
  package=$(ls -t dist/*.whl dist/*.deb 2>/dev/null | head -n 1)
  case $package in
    *.whl) python3 -m zipfile -e "$package" "$scratch/package" && echo "$scratch/package/trainwatch/bin/trainwatch" ;;
    *.deb) dpkg-deb -x "$package" "$scratch/package" && echo "$scratch/package/usr/bin/trainwatch" ;;
  esac
}

trainwatch=$(packaged)
if [ -n "$trainwatch" ]; then
  echo "demo: taking the program from dist/"
  chmod +x "$trainwatch"
else
  echo "demo: building (a few minutes the first time)"
  trainwatch=$(scripts/build.sh)
fi
mkdir "$scratch/job"
port=$(python3 scripts/demo.py port 9797)
url=http://127.0.0.1:$port
"$trainwatch" run --watch="$scratch/job" --storage.path="$scratch/state" --web.listen-address="127.0.0.1:$port" \
  >/dev/null 2>"$scratch/log" &
pids+=($!)
python3 scripts/demo.py ready "$url" || { cat "$scratch/log"; exit 1; }
echo "demo: trainwatch watches $scratch/job"
if python3 scripts/demo.py page "$url"; then
  where="$url/"
  echo "demo: open $where in a browser (metrics: $url/metrics)"
else
  where="$url/metrics"
  echo "demo: this trainwatch was built without the page; metrics: $where, alerts: $trainwatch follow $url"
fi
"$trainwatch" follow "$url" 2>/dev/null > >(python3 scripts/demo.py show) &
pids+=($!)

echo "demo: playing a recorded training run, 600 steps of a small CNN, speed x$speed"
python3 scripts/play.py "$job" "$scratch/job" --speed="$speed"
python3 scripts/demo.py verdict "$url" "$job.truth.json" && verdict=0 || verdict=$?
if $keep; then
  echo "demo: still running at $where until Ctrl-C"
  wait "${pids[0]}"
fi
exit "$verdict"
