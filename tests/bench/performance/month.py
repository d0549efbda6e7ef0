# SPDX-License-Identifier: Apache-2.0
"""Whether a month of a job changes what trainwatch needs: 30 days of it, with a slow step about every six hours and files closed every
three hours, are written in pieces beside `trainwatch run`, and after each day its memory and its state are looked at."""

import os
import random
import statistics
import tempfile
import time

import inputs
import processes
from growing_job import GrowingJob
from table import Figure

DAYS = 30
EARLY = 3, 5  # days: windows and quantiles of a bounded number of values are full
DAY, HOUR = 86_400, 3_600
FILE_HOURS = 3
GPUS, CORES = 4, 4
STEP_SECONDS, TICK_SECONDS = 20, 5
SLOW_EVERY = 6 * HOUR // STEP_SECONDS
SETTLES_SECONDS = 2.5  # snapshots; the last commit may be ten seconds old


def longer(step):
    """At random: a rhythm would be usual."""
    return 6 if random.Random(step).random() * SLOW_EVERY < 1 else 1


class Day:
    """What the daemon needs once it has read `size` bytes: MiB."""

    def __init__(self, daemon, folder, size):
        daemon.wait_until_read(size)
        time.sleep(SETTLES_SECONDS)
        self.resident, self.peak = (processes.memory(daemon.pid, field) for field in ("VmRSS", "VmHWM"))
        self.state = size_below(os.path.join(folder, "state")) / (1 << 20)
        self.alerts = daemon.metric("trainwatch_alerts_total")


def size_below(folder):
    return sum(os.path.getsize(path) for path in inputs.files_below(folder))


def days(trainwatch, scratch):
    """A Day for each day; bytes and files of the job."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        watched = os.path.join(folder, "job")
        began = time.time() // DAY * DAY - DAYS * DAY
        job = GrowingJob(watched, began, GPUS, CORES, STEP_SECONDS, TICK_SECONDS, longer)
        with processes.Daemon(trainwatch, folder, watched, "--web.metrics-interval=0s") as daemon:
            found = []
            for hour in range(1, DAYS * 24 + 1):
                job.write(began + hour * HOUR)
                if hour % FILE_HOURS == 0:
                    daemon.wait_until_read(size_below(watched))  # or it would meet hours of a job in one look at its folder
                    job.close_files(began + hour * HOUR)
                if hour % 24 == 0:
                    found.append(Day(daemon, folder, size_below(watched)))
            return found, size_below(watched), len(inputs.files_below(watched))


def measure(_, trainwatch, bench, scratch):
    found, size, files = days(trainwatch, scratch)
    for what, needs, note in (
            ("memory", [day.resident for day in found], "peak %.1f; %.1f GB in %d files, %d alerts" % (
                found[-1].peak, size / 1e9, files, found[-1].alerts)),
            ("state on disk", [day.state for day in found], "")):
        usual = statistics.median(needs[EARLY[0] - 1:EARLY[1]])
        shown = ", ".join("day %d: %.1f" % (day, needs[day - 1]) for day in (1, EARLY[0], EARLY[1], 10, 20, DAYS))
        yield Figure("%s of a month: the most after day %d, times that of days %d to %d" % (what, EARLY[1], *EARLY),
                     [max(needs[EARLY[1]:]) / usual], 1.1, at_least=False, note="MiB, " + "; ".join(filter(None, (shown, note))))
