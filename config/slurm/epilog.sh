#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Slurm: ends the trainwatch of a job on this node, which reads the files to their end first, and writes a report beside them
# (docs/slurm.md). It never fails: an Epilog that does takes the node out of service.
set -u
# shellcheck source=config/slurm/common.sh
. "${BASH_SOURCE[0]%/*}/common.sh" || exit 0

[ -r "$started" ] || exit 0
read -r pid began _ <"$started"

# Its number may be another process's by now.
alive() { [ "$(start_time "$pid")" = "$began" ]; }

if alive; then "${as_user[@]}" kill -TERM "$pid"; fi
for _ in $(seq $(((drain_seconds + 5) * 10))); do
  alive || break
  sleep 0.1
done
if alive; then
  say "did not end in time"
  "${as_user[@]}" kill -KILL "$pid"
fi
if [ -n "$targets" ]; then rm -f "$target"; fi

report=$watched/trainwatch-report.html
if "${as_user[@]}" timeout "$report_seconds" "$binary" report "$watched" -o "$report" </dev/null >/dev/null 2>&1; then
  say "wrote $report"
else
  say "no report: the job wrote nothing below $watched, or $report_seconds s were too few"
fi
"${as_user[@]}" find "$own_state" -mindepth 1 -delete
rmdir "$own_state"
rm -f "$started" "$started.log"
exit 0
