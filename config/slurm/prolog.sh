#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Slurm: starts one trainwatch on each node of a job, as the job's user and outside the job's cgroup (docs/slurm.md).
#   slurm.conf:  Prolog=/etc/slurm/prolog.sh  TaskProlog=/etc/slurm/prolog.sh  Epilog=/etc/slurm/epilog.sh
# As TaskProlog it sets the directory to which tasks write. It never fails: a Prolog that does takes the node out of service.
set -u
# shellcheck source=config/slurm/common.sh
. "${BASH_SOURCE[0]%/*}/common.sh" || exit 0

if [ -n "${SLURM_LOCALID:-}" ]; then  # TaskProlog
  echo "export TRAINWATCH_DIRECTORY=$watched"
  exit 0
fi

give_up() { say "$*; the job is not watched"; exit 0; }

# Starts it on this port and waits until it listens. False: it has ended.
start() {
  local more=()
  read -ra more <<<"$flags"
  { : >"$log"; } 2>/dev/null || give_up "cannot write $log"  # a requeued job has the number, and the log, of the one before
  # Slurm waits for whoever holds its pipes.
  "${as_user[@]}" setsid "$binary" run "--watch=$watched" "--storage.path=$own_state" \
    "--web.listen-address=$host:$1" --process.ends-with-job=true \
    "--process.drain-timeout=${drain_seconds}s" "${more[@]}" </dev/null >/dev/null 2>"$log" &
  pid=$!
  for _ in $(seq 100); do
    if grep -q 'msg=listening' "$log"; then return 0; fi
    kill -0 "$pid" 2>/dev/null || return 1
    sleep 0.1
  done
}

[ -x "$binary" ] || give_up "$binary is missing"
install -d -m 755 "$run" || give_up "cannot make $run"
install -d -m 711 "$state" || give_up "cannot make $state"
install -d -m 700 "${own[@]}" "$own_state" || give_up "cannot make $own_state"
"${as_user[@]}" mkdir -p "$watched" || give_up "cannot make $watched"

log=$started.log
for try in $(seq 0 9); do
  port=$((first_port + (SLURM_JOB_ID + try) % ports))
  if start "$port" || ! grep -q 'cannot listen' "$log"; then break; fi
done
kill -0 "$pid" 2>/dev/null || give_up "did not start: $(tail -n 1 "$log")"
echo "$pid $(start_time "$pid") $port" >"$started"
if [ -n "$targets" ]; then
  new=$targets/.$SLURM_JOB_ID-$node.new
  printf '[{"targets": ["%s:%s"], "labels": {"slurm_job": "%s", "slurm_user": "%s"}}]\n' \
    "$node" "$port" "$SLURM_JOB_ID" "$SLURM_JOB_USER" >"$new" && mv "$new" "$target"
fi
say "watches $watched on port $port"
exit 0
