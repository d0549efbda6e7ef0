# SPDX-License-Identifier: Apache-2.0
"""The CPU time of other programs, as a multiple of trainwatch's for the same work on the same bytes in the same round. What a peer needs
before it reads anything, such as Python's imports, is measured and not counted; trainwatch's own start counts.

HTA and smdebug come from PyPI (scripts/peers.sh), mtail from Debian; the machine's Python reads JSON lines."""

import collections
import json
import os
import subprocess
import sys

import inputs
import processes
from table import Figure
from throughput import folder_of

ROUNDS = 3
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer_programs")
MTAIL = "mtail=3.0.0~rc50-1+b6"  # Debian 12's
HTA_ANALYSES = ("temporal_breakdown,idle_time_breakdown,comm_comp_overlap,gpu_kernel_breakdown,cuda_kernel_launch_stats,"
                "queue_length_summary,memory_bw_summary,user_annotation_breakdown")
SMDEBUG_ANALYSES = ("job_statistics,step_statistics,training_phase_intervals,utilization_stats,device_usage_stats,"
                    "dataloader_initialization,dataloader_workers,dataloader_getnext,batchtime")

# command: on which `reads` follow; start: what it does without them; ours: one command for each of `reads`
Peer = collections.namedtuple("Peer", "what target command start reads ours")


def mtail(scratch):
    """The path of the program."""
    def make(folder):
        subprocess.run(["apt-get", "download", MTAIL], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["dpkg-deb", "-x", *inputs.files_below(folder), folder], check=True)

    return os.path.join(inputs.made(scratch, "mtail", make), "usr", "bin", "mtail")


def python_of(name):
    """Of the virtual environment with this peer."""
    done = subprocess.run([os.path.join(inputs.ROOT, "scripts", "peers.sh"), name], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def peers(scratch):
    lines = inputs.metrics(scratch)
    of_mtail = [mtail(scratch), "--one_shot", "--address", "127.0.0.1", "--port", "0", "--progs", os.path.join(PROGRAMS, "metrics.mtail")]
    jobs = inputs.real_jobs(scratch)
    if jobs:
        hta = [python_of("hta"), os.path.join(PROGRAMS, "hta_analyses.py")]
        yield Peer("HTA, eight analyses of real traces, times `analyze`", 150, hta, hta, jobs, ["analyze", "--what=" + HTA_ANALYSES])
    smdebug = [python_of("smdebug"), os.path.join(PROGRAMS, "smdebug_analyses.py")]
    yield Peer("smdebug, nine analyses of a job, times `analyze`", 150, smdebug, smdebug, [folder_of(inputs.job(scratch))],
               ["analyze", "--what=" + SMDEBUG_ANALYSES])
    yield Peer("mtail, a regular expression on system metrics, times `replay`", 60, [*of_mtail, "--logs"], [of_mtail[0], "--version"],
               lines, ["replay"])
    python = [sys.executable, os.path.join(PROGRAMS, "json_lines.py")]
    yield Peer("Python's json.loads on system metrics, times `replay`", None, python, python, lines, ["replay"])


def check(peer, output):
    """A peer that left something out would look fast."""
    if peer.ours == ["replay"]:
        with open(peer.reads[0], "rb") as file:
            lines = sum(1 for _ in file)
        read = json.loads(output)["lines"]
        read = read if isinstance(read, int) else read[0]["LabelValues"][0]["Value"]["Value"]
        if read != lines:
            sys.exit("bench: %s read %d of %d lines" % (peer.command[0], read, lines))


def compare(peer, trainwatch, log):
    """Rounds of (seconds of the peer, of its start, of trainwatch), and the peaks of both in MiB."""
    rounds, peaks = [], [0, 0]
    for _ in range(ROUNDS):
        _, start, _ = processes.measured(peer.start, log)
        output, theirs, resident = processes.measured([*peer.command, *peer.reads], log)
        check(peer, output)
        own = [processes.measured([trainwatch, *peer.ours, path]) for path in peer.reads]
        rounds.append((theirs - start, start, sum(seconds for _, seconds, _ in own)))
        peaks = [max(peaks[0], resident), max(peaks[1], *(peak for _, _, peak in own))]
    return rounds, peaks


def measure(_, trainwatch, bench, scratch):
    for peer in peers(scratch):
        size = sum(os.path.getsize(path) for read in peer.reads for path in (inputs.files_below(read) or [read]))
        rounds, peaks = compare(peer, trainwatch, os.path.join(scratch, "peers.log"))
        theirs, start, own = sorted(rounds, key=lambda one: one[0] / one[2])[ROUNDS // 2]
        yield Figure(peer.what, [theirs / own for theirs, _, own in rounds], peer.target,
                     note="%.0f MB: %.1f s after %.2f s of start, peak %.0f MiB; ours %.2f s, %.0f MiB" % (
                         size / 1e6, theirs, start, peaks[0], own, peaks[1]))
