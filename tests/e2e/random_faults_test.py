# SPDX-License-Identifier: Apache-2.0
"""Everything goes wrong at random beside a healthy job: memory does not grow, descriptors come back, and nothing is
said of the healthy job or of trainwatch itself (catalogue cases 4 to 18, 51, 60 to 63, 75, 77, 78, 82, 83 and 86).

TRAINWATCH_FAULT_MINUTES=60 is the whole test, else faults come for some seconds; TRAINWATCH_SEED chooses the faults.
What the faults deserve is that of their own source is said: rejected, truncated, unreadable, stuck. Both before
and after the faults nothing is wrong, and then the open descriptors are counted.
"""

import collections
import heapq
import os
import random
import shutil
import signal
import time

import fault_clients
import fault_writer
import harness
import judge
import live_job
import process_figures
import spiky_job

MINUTES = float(os.environ.get("TRAINWATCH_FAULT_MINUTES", "0.1"))
SEED = int(os.environ.get("TRAINWATCH_SEED", "1"))
WHOLE = MINUTES >= 60
WARM_UP_SECONDS = min(600, MINUTES * 20)
FAULT_EVERY_SECONDS = 2 if WHOLE else 0.1
PAST_HOURS = 2.5 if WHOLE else 0.1     # of every writer: histories are full before anything is measured
BAD_WRITERS = 4                        # of each kind
MOST_MIB_PER_HOUR = 1
MOST_GROWTH_MIB = 16                   # in a run that is too short for a slope
REST_SECONDS = 90                      # until descriptors are given back
DESERVED = {"rejected", "truncated", "unreadable", "stuck"}
SECRET = b"secret of another user\n"  # where links lead
CONFIGURATIONS = ("rules: {input_bound: {window: 100}}\n", "rules: {input_bound: {window: 90}}\n", "rules: {nonsense\n")


def past():
    return int(time.time() - PAST_HOURS * 3600) // 60 * 60


class Faults:
    """Draws faults, and undoes what is to be undone after a while."""

    def __init__(self, trainwatch, config, writers, write):
        self._trainwatch, self._config, self._writers, self._write = trainwatch, config, writers, write
        self._dice = random.Random(SEED)
        self._clients = fault_clients.FaultyClients(trainwatch.url)
        self._undo, self._serial = [], 0
        self.counts = collections.Counter()

    def one(self):
        kind = self._dice.choices(("file", "client", "stop", "reload"), (12, 4, 1, 1))[0]
        getattr(self, "_" + kind)()

    def undo_due(self, everything=False):
        while self._undo and (everything or self._undo[0][0] < time.monotonic()):
            try:
                heapq.heappop(self._undo)[2]()
            except OSError:
                pass  # something else happened to it meanwhile

    def _later(self, seconds, undo):
        self._serial += 1
        heapq.heappush(self._undo, (time.monotonic() + seconds, self._serial, undo))

    def _file(self):
        writer = self._dice.choice(self._writers)
        fault = self._dice.choice(fault_writer.FaultyWriter.FAULTS)
        try:
            undo = writer.suffer(fault, self._dice)
        except (OSError, ValueError):
            return
        self.counts[fault.__name__] += 1
        if undo:
            self._later(self._dice.uniform(0.5, 5), undo)

    def _client(self):
        fault = self._dice.choice(fault_clients.FaultyClients.FAULTS)
        undo = fault(self._clients, self._dice)
        self.counts[fault.__name__] += 1
        if undo:
            self._later(self._dice.uniform(1, 40), undo)

    def _stop(self):
        self._trainwatch.signal(signal.SIGSTOP)
        until = time.monotonic() + self._dice.uniform(0.1, 5 if WHOLE else 0.5)
        while time.monotonic() < until:
            self._write()
            time.sleep(0.1)
        self._trainwatch.signal(signal.SIGCONT)
        self.counts["stop"] += 1

    def _reload(self):
        with open(self._config, "w") as file:
            file.write(self._dice.choice(CONFIGURATIONS))
        self._trainwatch.signal(signal.SIGHUP)
        self.counts["reload"] += 1


class RandomFaultsTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        scratch = os.path.dirname(self.directory)
        self.good, self.bad, self.storm = (os.path.join(self.directory, name) for name in ("good", "bad", "storm"))
        for folder in (self.good, self.bad, self.storm):
            os.mkdir(folder)
        self.config, self.elsewhere = (os.path.join(scratch, name) for name in ("trainwatch.yaml", "elsewhere.json"))
        with open(self.elsewhere, "wb") as file:
            file.write(SECRET)
        with open(self.config, "w") as file:
            file.write(CONFIGURATIONS[0])
        self.options = ["--watch=" + self.bad, "--watch=" + self.storm, "--config.file=" + self.config]
        os.mkdir(self.state)
        if os.geteuid() == 0:  # whom permissions do not bind
            os.chmod(scratch, 0o755)
            shutil.chown(self.state, "nobody")
            self.options.append("--process.user=nobody")

    def healthy_job(self):
        begin = past()
        job = [live_job.RotatedTimeline(self.good, "%d-good-1" % rank, live_job.Rank(begin * 1_000_000, rank), keep=10**6)
               for rank in range(4)]
        job.append(live_job.MinuteFiles(self.good, "good-1", live_job.Node("good-1", begin), begin, keep=10**6))
        for writer in job:
            writer.write_until(live_job.now_us())
            writer.keep = 10
        return job

    def bad_writers(self):
        writers, begin = [], past()
        for number in range(BAD_WRITERS):
            folder = os.path.join(self.bad, "job-%d" % number)
            rank = live_job.Rank(begin * 1_000_000, 100 + number)
            writers.append(fault_writer.FaultyWriter(
                os.path.join(folder, "framework", "%d-bad-%d_pythontimeline.json.tmp" % (number, number)),
                rank.steps_until, self.elsewhere, lambda: live_job.header(begin * 1_000_000)))
            node = live_job.Node("bad-%d" % number, begin)
            writers.append(fault_writer.FaultyWriter(
                os.path.join(folder, "system", "incremental", "%d.bad-%d.json" % (begin // 60 * 60, number)),
                lambda until_us, node=node: node.until(until_us // 1_000_000), self.elsewhere))
        for writer in writers:
            writer.write_until(live_job.now_us())
        return writers

    def test_a_healthy_job_beside_everything(self):
        healthy, bad = self.healthy_job(), self.bad_writers()
        # More alerts than any window of alerts in memory holds.
        spiky_job.SpikyJob(self.storm, 3000 if WHOLE else 300, seed=SEED).write_all()
        with harness.Trainwatch(self.good, *self.options, state=self.state) as trainwatch:
            self.trainwatch, self.client = trainwatch, judge.Client(trainwatch.url)
            self.writers = healthy + bad
            self.live(5)
            at_rest = self.rest(None)
            faults, begun = Faults(trainwatch, self.config, bad, self.write), time.monotonic()
            samples = []
            self.live(MINUTES * 60, faults, lambda: samples.append(
                (time.monotonic() - begun, process_figures.resident_mib(trainwatch.pid))))
            faults.undo_due(everything=True)
            with open(self.config, "w") as file:
                file.write(CONFIGURATIONS[0])
            trainwatch.signal(signal.SIGHUP)
            self.tidy_up(bad)
            self.live(5)
            after = self.rest(len(at_rest))
            self.client.catch_up()
            self.assertNotIn(SECRET.decode().strip(), trainwatch.get("/api/v1/status"))
            with open(self.elsewhere, "rb") as file:
                self.assertEqual(file.read(), SECRET)
            seconds = trainwatch.metric("process_cpu_seconds_total")
            self.assertEqual(trainwatch.stop(), 0)
        self.report(faults, samples, len(at_rest), after, seconds)

    def tidy_up(self, writers):
        """Each has the one file that it had before."""
        kept = {writer.path for writer in writers}
        for folder, _, names in os.walk(self.bad):
            for path in {os.path.join(folder, name) for name in names} - kept:
                os.remove(path)
        for writer in writers:
            writer.write_until(live_job.now_us())

    def write(self):
        for writer in self.writers:
            writer.write_until(live_job.now_us())

    def live(self, seconds, faults=None, sample=lambda: None):
        """Everybody writes; faults come at random, a sample is taken each second."""
        until, next_sample, next_fault = time.monotonic() + seconds, time.monotonic(), time.monotonic()
        while time.monotonic() < until:
            self.write()
            if faults and time.monotonic() > next_fault:
                next_fault += FAULT_EVERY_SECONDS
                faults.one()
            if faults:
                faults.undo_due()
            if time.monotonic() > next_sample:
                next_sample += 1
                sample()
                self.client.catch_up()
            time.sleep(0.1)

    def rest(self, most):
        """The open descriptors once nothing goes wrong any more: as few as `most`, if they become so few."""
        until = time.monotonic() + REST_SECONDS
        while True:
            self.live(1)
            found = process_figures.descriptors(self.trainwatch.pid)
            if most is None or len(found) <= most or time.monotonic() > until:
                return found

    def report(self, faults, samples, before, after, seconds):
        about_bad, undeserved = collections.Counter(), []
        for alert in self.client.alerts:
            subject, kind = alert["subject"], alert["rule"].removeprefix("_self/")
            itself = judge.is_about_itself(alert)
            source = alert["evidence"].get("source", "") if itself else ""
            if (itself and source == self.bad and kind in DESERVED) or "bad-" in subject.get("node", ""):
                about_bad[alert["rule"]] += alert["state"] == "firing"
            elif itself or "algo" not in subject.get("node", ""):
                undeserved.append((alert["rule"], alert["severity"], subject, alert["summary"]))
        measured = [(at / 3600, mib) for at, mib in samples if at >= WARM_UP_SECONDS]
        slope, error = process_figures.slope(measured)
        resident = [mib for _, mib in measured]
        print("%g minutes, seed %d: %d faults: %s" % (MINUTES, SEED, sum(faults.counts.values()), dict(faults.counts)))
        print("deserved: %s" % dict(about_bad))
        print("RSS %.1f MiB after %d s, %.1f to %.1f, at the end %.1f; slope %.2f +- %.2f MiB/h; %.0f s of CPU" % (
            resident[0], WARM_UP_SECONDS, min(resident), max(resident), resident[-1], slope, error, seconds))
        print("descriptors at rest: %d, then %d" % (before, len(after)))
        if WHOLE:
            print("RSS each 5 minutes: " + " ".join("%.1f" % mib for _, mib in samples[::300]))
        self.assertEqual(undeserved, [])
        self.assertLessEqual(len(after), before, after)
        if WHOLE:
            self.assertLessEqual(slope, MOST_MIB_PER_HOUR)
        else:
            self.assertLess(max(resident) - resident[0], MOST_GROWTH_MIB)


if __name__ == "__main__":
    harness.main()
