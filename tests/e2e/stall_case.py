# SPDX-License-Identifier: Apache-2.0
"""13b: two logs that fall silent while they are watched, one with times and one without; a false clock stands for the minutes."""

import datetime
import os
import tempfile
import time
import types

import case_generators
import false_clock
import harness

NAME = "13b-stall-of-log-without-times-live"
STEP_SECONDS = 10.21
READ_BEFORE, READ_LIVE = 600, 6
SPEED = 20  # how many seconds pass in one


def line(step, at=None):
    text = case_generators.megatron(step, 90000, "", 10.21 + step % 10 * 1e-4, "%.6E" % (9 - step * 0.001))
    stamp = " [%s]" % datetime.datetime.utcfromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S") if at else ""
    return stamp + text[len(" []"):]


class Job:
    def __init__(self, root):
        self._files = {name: os.path.join(root, name, "slurm-%d.out" % number) for number, name in enumerate(("notime", "withtime"), 1)}
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
    """What trainwatch takes for the time: it passes SPEED times as fast."""

    def __init__(self, false):
        self._false, self._real = false, time.time()

    def now(self):
        passed = int((time.time() - self._real) * (SPEED - 1))
        self._false.set(passed, passed)
        return time.time() + passed

    def wait_until(self, moment):
        harness.wait_for(lambda: self.now() >= moment, "the false clock goes on")


def after(minutes, last, clock, trainwatch):
    """What is wrong so many minutes after the last record."""
    clock.wait_until(last + 60 * minutes)
    answer = trainwatch.json("/api/v1/runs")
    now, runs = stamp(answer["now"]), {run["job"]: run for run in answer["runs"]}
    alerts = {alert["subject"].get("job"): alert for alert in trainwatch.json("/api/v1/alerts?state=firing")["alerts"] if alert["rule"] == "stall"}
    for job in ("notime", "withtime"):
        where, run, alert = "%s after %d min" % (job, minutes), runs.get(job), alerts.get(job)
        if run is None:
            yield where + ": no run"
            continue
        if run["state"] != "stalled" or alert is None:
            yield "%s: it is %s, %r" % (where, run["state"], run["headline"]["text"])
        if stamp(run["last_step_at"]) > now or abs(stamp(run["last_step_at"]) - last) > SPEED + 2:
            yield "%s: last step at %s, %+.0f s from when it was" % (where, run["last_step_at"], stamp(run["last_step_at"]) - last)
        if run["step"] != READ_BEFORE + READ_LIVE or run["life"]["total_steps"] != 90000:
            yield "%s: step %s of %s" % (where, run["step"], run["life"]["total_steps"])
        if abs(run["life"]["seconds"].get("stalled", 0) - (now - last)) > STEP_SECONDS + SPEED + 2:
            yield "%s: %s, where %.0f s passed since the last step" % (where, run["life"]["seconds"], now - last)


def stamp(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def complaints():
    cleanups = []
    try:
        with tempfile.TemporaryDirectory() as root:
            false = false_clock.FalseClock(types.SimpleNamespace(addCleanup=cleanups.append))
            job, clock = Job(root), Clock(false)
            job.write(READ_BEFORE, clock.now())
            with harness.Trainwatch(root, env={**false.env, "TZ": "UTC"}) as trainwatch:
                last = clock.now()
                for _ in range(READ_LIVE):
                    clock.wait_until(last + STEP_SECONDS)
                    last += STEP_SECONDS
                    job.write(1, last)
                clock.wait_until(last + 240)
                if trainwatch.json("/api/v1/alerts?state=firing")["alerts"]:
                    yield_early = ["an alert 4 min after the last record"]
                else:
                    yield_early = []
                return yield_early + [*after(6, last, clock, trainwatch), *after(8, last, clock, trainwatch)]
    except (AssertionError, KeyError, TypeError) as error:
        return ["%s: %s" % (type(error).__name__, str(error)[-300:])]
    finally:
        for cleanup in cleanups:
            cleanup()
