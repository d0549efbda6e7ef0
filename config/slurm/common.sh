# SPDX-License-Identifier: Apache-2.0
# What prolog.sh and epilog.sh share: settings, paths and the job's user.
# shellcheck shell=bash disable=SC2034
[[ ${SLURM_JOB_ID:-} =~ ^[0-9]+$ ]] || { echo "trainwatch: not called by Slurm" >&2; return 1; }
node=${SLURMD_NODENAME:-$(hostname -s)}
: "${SLURM_JOB_USER:=$(id -un)}"

directory=/scratch/$SLURM_JOB_USER/trainwatch/$SLURM_JOB_ID
state=/var/lib/trainwatch-slurm
run=/run/trainwatch-slurm
binary=/usr/bin/trainwatch
host=127.0.0.1
flags=
first_port=20000
ports=10000
targets=
drain_seconds=20
report_seconds=60
conf=${TRAINWATCH_SLURM_CONF:-/etc/slurm/trainwatch.conf}
if [ -r "$conf" ]; then
  # shellcheck source=/dev/null
  . "$conf"
fi

watched=$directory/$node
own_state=$state/$SLURM_JOB_ID
started=$run/$SLURM_JOB_ID
target=$targets/$SLURM_JOB_ID-$node.json

say() { logger -t trainwatch-slurm -- "job $SLURM_JOB_ID: $*" 2>/dev/null || true; }

# Runs a command as the job's user, with the variables by which trainwatch names job and node and nothing else of root's.
mapfile -t variables < <(env | grep -E '^(SLURM|TRAINWATCH_LABEL)[A-Z_]*=')
as_user=(env -i "PATH=/usr/bin:/bin" "${variables[@]}")
own=()
if [ "$(id -u)" -eq 0 ]; then
  as_user=(setpriv "--reuid=$SLURM_JOB_USER" "--regid=$(id -g "$SLURM_JOB_USER")" --init-groups "${as_user[@]}")
  own=(-o "$SLURM_JOB_USER")
fi

# By which a process is distinguished from a later one with its number; nothing if there is none.
start_time() { sed -E 's/^.*\) ([^ ]+ ){19}([0-9]+) .*$/\2/' "/proc/$1/stat" 2>/dev/null; }
