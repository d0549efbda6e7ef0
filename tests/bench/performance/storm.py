# SPDX-License-Identifier: Apache-2.0
"""A step that is slow on every rank of a large job, one rank after the other: each has an alert at once."""

import json
import os
import tempfile
import time

import processes
from growing_timeline import GrowingTimeline, STEP_US
from table import Figure

RANKS = 1000
TIMES = 20  # as long as usual
INTERVAL_SECONDS = 0.002  # from one rank to the next: each alert is known before the next
SETTLES_SECONDS = 3
ROUNDS = 3
WHAT = "a step that is slow on %d ranks: " % RANKS


def storm(trainwatch, scratch):
    """CPU time of the engine's thread (ms) and messages for each alert; memory: MiB before, and the most."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        watched = os.path.join(folder, "job")
        os.mkdir(watched)
        ranks = [GrowingTimeline(watched, rank) for rank in range(RANKS)]
        with processes.Daemon(trainwatch, folder, watched) as daemon:
            time.sleep(SETTLES_SECONDS)
            before, began = processes.memory(daemon.pid, "VmRSS"), processes.seconds_of(daemon.pid, "engine")
            for rank in ranks:
                rank.step(TIMES * STEP_US)
                rank.close()
                time.sleep(INTERVAL_SECONDS)
            while daemon.metric("trainwatch_alerts_total") < RANKS:
                time.sleep(0.2)
            milliseconds = 1e3 * (processes.seconds_of(daemon.pid, "engine") - began)
            messages = json.loads(daemon.get("/api/v1/alerts?limit=1"))["last_seq"]
            return milliseconds / RANKS, messages / RANKS, before, processes.memory(daemon.pid, "VmHWM")


def measure(_, trainwatch, bench, scratch):
    rounds = [storm(trainwatch, scratch) for _ in range(ROUNDS)]
    costs, messages, before, most = zip(*rounds)
    yield Figure(WHAT + "engine's CPU time for each alert", costs, None, " ms", note="%.1f messages for each" % max(messages))
    yield Figure(WHAT + "peak memory", most, None, " MiB", note="%.0f MiB before" % max(before))
