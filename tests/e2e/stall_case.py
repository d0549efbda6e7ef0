# SPDX-License-Identifier: Apache-2.0
"""13b: two logs that fall silent while they are watched, one with times and one without; a false clock stands for the minutes."""

import datetime
import math
import os
import signal
import tempfile
import time
import types

import case_generators
import false_clock
import harness

NAME = "13b-stall-of-log-without-times-live"
STEP_SECONDS = 10.21
READ_BEFORE, READ_LIVE = 600, 6
SPEED = 40  # how many seconds pass in one while nothing is asked
SOON = 15  # seconds within which trainwatch shows what it knows
JOBS = ("notime", "withtime")


def line(step, at=None):
    text = case_generators.megatron(step, 90000, "", 10.21 + step % 10 * 1e-4, "%.6E" % (9 - step * 0.001))
    stamp = " [%s]" % datetime.datetime.utcfromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S") if at else ""
    return stamp + text[len(" []"):]


class Job:
    def __init__(self, root):
        self._files = {name: os.path.join(root, name, "slurm-%d.out" % number) for number, name in enumerate(JOBS, 1)}
        self.step = 0
        for path in self._files.values():
            os.makedirs(os.path.dirname(path))

    def write(self, steps, at):
        """The last of these steps ends at `at`."""
        for name, path in self._files.items():
            with open(path, "a") as file:
                for number in range(1, steps + 1):
                    when = at - (steps - number) * STEP_SECONDS
                    file.write(line(self.step + number, when if name == "withtime" else None))
            os.utime(path, (at, at))
        self.step += steps


class Clock:
    """What trainwatch takes for the time: ahead of ours, and further with each minute that is waited for."""

    def __init__(self, false):
        self._false, self._ahead = false, 0

    def now(self):
        return time.time() + self._ahead

    def go_to(self, moment):
        began, before = time.time(), self._ahead

        def go():
            fast = before + int((time.time() - began) * (SPEED - 1))
            self._ahead = max(before, min(fast, math.ceil(moment - time.time())))
            self._false.set(self._ahead, self._ahead)
            return self.now() >= moment
        harness.wait_for(go, "the false clock goes on")


def stamp(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def wrong(trainwatch, last):
    """What is wrong with what it says of the two silent jobs, in sentences."""
    answer = trainwatch.json("/api/v1/runs")
    now, runs = stamp(answer["now"]), {run["job"]: run for run in answer["runs"]}
    stalled = {alert["subject"].get("job") for alert in trainwatch.json("/api/v1/alerts?state=firing")["alerts"] if alert["rule"] == "stall"}
    for job in JOBS:
        run = runs.get(job)
        if run is None:
            yield job + ": no run"
            continue
        if run["state"] != "stalled" or job not in stalled:
            yield "%s: it is %s, %r" % (job, run["state"], run["headline"]["text"])
        if stamp(run["last_step_at"]) > now or abs(stamp(run["last_step_at"]) - last) > 5:
            yield "%s: last step at %s, %+.0f s from when it was" % (job, run["last_step_at"], stamp(run["last_step_at"]) - last)
        if run["step"] != READ_BEFORE + READ_LIVE or run["life"]["total_steps"] != 90000:
            yield "%s: step %s of %s" % (job, run["step"], run["life"]["total_steps"])
        if abs(run["life"]["seconds"].get("stalled", 0) - (now - last)) > STEP_SECONDS + 5:
            yield "%s: %s, where %.0f s passed since the last step" % (job, run["life"]["seconds"], now - last)


def after(minutes, last, clock, trainwatch):
    """What is still wrong soon after so many minutes since the last record."""
    clock.go_to(last + 60 * minutes)
    said = []

    def right():
        said[:] = wrong(trainwatch, last)
        return not said
    try:
        harness.wait_for(right, "both jobs stand still", SOON)
    except AssertionError:
        pass
    return ["after %d min: %s" % (minutes, complaint) for complaint in said]


def write_unseen(job, at, trainwatch):
    """A step that ends at `at`. The kernel says that the file was written to now, by another clock than trainwatch's: it must not
    look before that is put right."""
    trainwatch.signal(signal.SIGSTOP)
    os.waitid(os.P_PID, trainwatch.pid, os.WSTOPPED)
    job.write(1, at)
    trainwatch.signal(signal.SIGCONT)


def watch(root, false):
    job, clock = Job(root), Clock(false)
    job.write(READ_BEFORE, clock.now())
    with harness.Trainwatch(root, env={**false.env, "TZ": "UTC"}) as trainwatch:
        trainwatch.wait_until_read()
        last = clock.now()
        for _ in range(READ_LIVE):
            clock.go_to(last + STEP_SECONDS)
            last = clock.now()
            write_unseen(job, last, trainwatch)
            trainwatch.wait_until_read()
        clock.go_to(last + 240)
        early = ["after 4 min: " + alert["summary"] for alert in trainwatch.json("/api/v1/alerts?state=firing")["alerts"]]
        return early + after(6, last, clock, trainwatch) + after(8, last, clock, trainwatch)


def complaints():
    cleanups = []
    try:
        with tempfile.TemporaryDirectory() as root:
            return watch(root, false_clock.FalseClock(types.SimpleNamespace(addCleanup=cleanups.append)))
    except (AssertionError, KeyError, TypeError, OSError) as error:
        return ["%s: %s" % (type(error).__name__, str(error)[-300:])]
    finally:
        for cleanup in cleanups:
            cleanup()
