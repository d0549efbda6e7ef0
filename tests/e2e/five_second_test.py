# SPDX-License-Identifier: Apache-2.0
"""The five-second test: of each class of trouble, the sentence on top alone says what the job is doing, why, on which
ranks or where, and since when.

Jobs of the detection corpus (tests/bench/detection), cut while the trouble lasts, or just after it where it is one
step. The sentence is that of `replay --format=text`, which is that of /api/v1/runs.
"""

import datetime
import os
import re
import sys
import time
import unittest

import harness

sys.path.insert(0, os.path.join(harness.ROOT, "tests", "bench", "detection"))
import jobs  # noqa: E402

SEEDS = range(60)
AHEAD_SECONDS = 60  # of a live job's times, so that it does not stand still before a busy machine has read it
STATES = ("Starting", "Running", "Slow", "Stalled", "Finished", "Failed", "Cancelled", "Gone")
# What a sentence may say of a cause that the labels accept.
WORDS = {
    "input_wait": "data", "io_wait": "storage", "cpu_saturation": "CPU core is saturated|saturated CPU core",
    "host_pause": "the host h|by the host", "checkpoint": "checkpoint", "compute_growth": "comput",
    "gpu_slowdown": "held back", "memory_creep": "memory fill", "straggler": "slower rank|wait for rank",
    "communication": "communication", "kernel_launch": "launched", "synchronization": "hand over values",
    "collective_hang": "not known", "unattributed": "not known", "memory_copy": "copies"}
CLOCK = re.compile(r"(?:(\d\d) (\w{3}) (?:(\d{4}) )?)?(\d\d):(\d\d)(?::(\d\d))? UTC")


def sentence(root):
    """The top sentence of the only run below `root`."""
    done = harness.run("replay", "--format=text", root, env=dict(os.environ, TZ="UTC"))
    text = re.sub(r"\s+", " ", done.stdout)
    found = re.findall(r"((?:%s)\b[^!]*?\.) \d+ alerts?[.:]" % "|".join(STATES), text)
    if not found:
        raise AssertionError("no sentence: " + done.stdout + done.stderr)
    return re.split(r"(?<=\.) (?=(?:%s)\b)" % "|".join(STATES), found[0])[-1]


def cut(job, at):
    """The job as it was at a moment: its processes go on."""
    for attempt in job.attempts:
        count = sum(it.end <= at for it in attempt.ranks[0])
        count = min([count] + [sum(it.end <= at for it in ranks) for ranks in attempt.ranks])
        attempt.ranks = [ranks[:count] for ranks in attempt.ranks]
        attempt.closed = False
    job.attempts = [attempt for attempt in job.attempts if attempt.ranks[0]]
    job.writes_end = False
    job.end = at
    if job.system:
        job.system.after = 0.5


def clock_in(text, near):
    """The time in the sentence, on the day that is nearest to `near`."""
    found = CLOCK.search(text)
    if not found:
        return None
    hour, minute, second = int(found[4]), int(found[5]), int(found[6] or 0)
    base = datetime.datetime.fromtimestamp(near, datetime.timezone.utc)
    days = [base + datetime.timedelta(days=offset) for offset in (-1, 0, 1)]
    return min((day.replace(hour=hour, minute=minute, second=second, microsecond=0).timestamp() for day in days),
               key=lambda time: abs(time - near))


class FiveSecondTest(harness.JobTest):
    def said(self, job, seed):
        jobs.write(job, self.directory, seed)
        return sentence(self.directory)

    def job_of(self, kind, wanted=lambda job: True):
        """The first job of the class that has what the test needs, with its seed; one whose files say why, if there is."""
        for definite in (True, False):
            for seed in SEEDS:
                job = jobs.build(kind, seed)
                first = next((incident for incident in job.incidents if incident.warn), None)
                if first and wanted(job) and not (definite and "unattributed" in first.accepted):
                    return job, seed
        self.fail("no such job of " + kind)

    def check_where(self, text, job, incident):
        world = job.world_size()
        places = [r"ranks? (\d[\d,-]*)", r"GPU \d of algo-\d", "node algo-1"]
        self.assertRegex(text, "|".join(places))
        ranks = re.search(r"ranks? (\d[\d,-]*)", text)
        named = set()
        for part in (ranks[1] if ranks else "").split(","):
            ends = [int(end) for end in part.split("-") if end]
            if ends:
                named |= set(range(ends[0], ends[-1] + 1))
        self.assertLessEqual(named, set(range(world)), text)
        self.assertTrue(named & set(incident.ranks) or not ranks, text)
        if "wait for rank" in text:
            self.assertEqual(named, set(incident.ranks), text)

    def check_trouble(self, text, job, incident, states, slack):
        self.assertRegex(text, "^(%s)" % "|".join(states))
        words = "|".join(WORDS[cause] for cause in incident.accepted)
        self.assertRegex(text, words, (incident.kind, sorted(incident.accepted)))
        self.check_where(text, job, incident)
        since = clock_in(text, incident.begin)
        self.assertIsNotNone(since, text)
        self.assertLess(abs(since - incident.begin), slack + 61, (text, incident.begin))
        print("%-20s %s" % (incident.kind, text))
        return text

    def moment(self, kind, states=("Slow", "Running"), wanted=lambda job: True):
        """One slow step, read shortly after it."""
        job, seed = self.job_of(kind, wanted)
        incident = [incident for incident in job.incidents if incident.warn][0]
        after = job.attempts[0].ranks[0][incident.last:]
        cut(job, max(after[min(5, len(after) - 1)].end, incident.end))
        self.check_trouble(self.said(job, seed), job, incident, states, 30)

    def lasting(self, kind, states=("Slow", "Running"), share=0.7, slack=0, wanted=lambda job: True):
        """Trouble that goes on. "Slow" is a job only from a fifth of lost time on."""
        job, seed = self.job_of(kind, wanted)
        incident = [incident for incident in job.incidents if incident.warn][0]
        cut(job, incident.begin + share * (incident.end - incident.begin))
        return self.check_trouble(self.said(job, seed), job, incident, states, slack)

    def profiled(self, kind, states=("Slow", "Running"), slack=5):
        """Traces of a profiler, all of them."""
        job, seed = self.job_of(kind)
        self.check_trouble(self.said(job, seed), job, job.incidents[0], states, slack)

    def test_data_stall(self):
        self.moment("data_stall")

    def test_io_stall(self):
        self.moment("io_stall", wanted=lambda job: job.system)

    def test_gc_on_a_rank(self):
        self.moment("gc_pause")

    def test_host_stall(self):
        self.moment("host_stall")

    def test_periodic_slow_step(self):
        self.lasting("periodic_slow_step", slack=600)

    def test_costly_checkpoint(self):
        self.lasting("costly_checkpoint", slack=600, wanted=lambda job: job.marks_checkpoints)

    def test_cpu_saturation(self):
        self.lasting("cpu_saturation", slack=120)

    def test_io_wait(self):
        self.lasting("io_wait", slack=120)

    def test_input_bound(self):
        self.lasting("input_bound", slack=300)

    def test_low_gpu(self):
        self.lasting("low_gpu", slack=180)

    def test_hang(self):
        self.lasting("hang", states=("Stalled",), slack=10)

    def test_hang_that_waits_for_data(self):
        """No file says so: the wait is written when it ends, as is the phase in which others hang."""
        self.lasting("hang", states=("Stalled",), slack=10, wanted=lambda job: "host_pause" not in job.incidents[0].accepted)

    def test_periodic_slow_step_of_a_rank(self):
        """The others, which wait for it, are not more alerts."""
        def stall_of_a_rank(job):
            return len(job.incidents[0].ranks) < job.world_size() and job.typical > 0.8
        self.lasting("periodic_slow_step", slack=600, wanted=stall_of_a_rank)

    def test_lasting_slowdown(self):
        self.lasting("lasting_slowdown", slack=60)

    def test_gradual_regression(self):
        self.lasting("gradual_regression", slack=600, share=0.95)

    def test_memory_creep(self):
        self.lasting("memory_creep", states=("Running", "Slow"), slack=300, share=0.9)

    def test_gpu_slowdown(self):
        self.lasting("gpu_slowdown", slack=120)

    def test_straggler(self):
        self.lasting("straggler", slack=60)

    def test_straggler_without_phases(self):
        """Only its forward pass says who it is, and that alone warns of nothing."""
        text = self.lasting("straggler", slack=60, wanted=lambda job: job.writer == "pytorch" and job.world_size() > 2)
        self.assertIn("the other ranks wait for rank", text)

    def test_input_bound_while_it_costs_more_than_half(self):
        """What is most severe does not know why; what knows it is a part of it."""
        self.lasting("input_bound", slack=300, share=0.9, wanted=lambda job: job.writer == "keras" and
                     job.incidents[0].lost_share > 0.55 and job.incidents[0].end - job.incidents[0].begin > 600)

    def test_live(self):
        """The same while it happens: what /api/v1/runs says, for whoever fills in the times."""
        job, seed = self.job_of("input_bound", lambda job: not job.system)
        incident = [incident for incident in job.incidents if incident.warn][0]
        moment = incident.begin + 0.7 * (incident.end - incident.begin)
        now = time.time() + AHEAD_SECONDS
        job.start += now - moment
        jobs.simulate(job)
        jobs.settle_truth(job)
        cut(job, now)
        jobs.write(job, self.directory, seed)
        with harness.Trainwatch(self.directory) as trainwatch:
            run = harness.wait_for(lambda: [run for run in trainwatch.json("/api/v1/runs")["runs"] if "every step" in run["headline"]["text"]],
                                   "it says why")[0]
            self.assertEqual(trainwatch.json("/api/v1/runs")["monitor"], "")
        self.assertRegex(run["headline"]["text"],
                         r"^(Slow|Running): .*since \{since\} \(\{for\}\) every step waits for data on ranks? [\d,-]+: \d+ % of the time "
                         r"is lost, (about |at least )?[\d.]+ (s|min|h)\b.* so far")
        since = datetime.datetime.fromisoformat(run["headline"]["since"].rstrip("Z") + "+00:00").timestamp()
        self.assertLess(abs(since - incident.begin), 300)
        self.assertIn(run["state"], ("slow", "running"))

    def test_restart(self):
        job, seed = jobs.build("restart", 1), 1
        last = job.attempts[-1].ranks[0]
        cut(job, last[len(last) // 2].end)
        text = self.said(job, seed)
        self.assertRegex(text, r"^Running: .* of attempt %d; " % len(job.attempts))

    def test_profiler_data_stall(self):
        self.profiled("k_data_stall", states=("Slow", "Running"))

    def test_profiler_gc_on_a_rank(self):
        self.profiled("k_gc_pause", states=("Slow", "Running"))

    def test_profiler_straggler(self):
        self.profiled("k_straggler")

    def test_profiler_late_data_on_a_rank(self):
        self.profiled("k_late_data_rank")

    def test_profiler_input_bound(self):
        self.profiled("k_input_bound")

    def test_profiler_host_slow(self):
        self.profiled("k_host_slow")

    def test_profiler_launch_bound(self):
        self.profiled("k_launch_bound")

    def test_profiler_sync_heavy(self):
        self.profiled("k_sync_heavy")

    def test_profiler_comm_bound(self):
        self.profiled("k_comm_bound")

    def test_healthy(self):
        job = jobs.build("normal", 1)
        middle = job.attempts[0].ranks[0][len(job.attempts[0].ranks[0]) // 2].end
        cut(job, middle)
        self.assertRegex(self.said(job, 1), r"^Running: [\d.]+ (steps/s|s per step), step [\d,]+; "
                                            r"(nothing is lost|less than 1 % was lost|[1-5] % was lost, mostly [a-z ]+)\.$")

    def test_finished(self):
        job = jobs.build("tight", 1)
        text = self.said(job, 1)
        self.assertRegex(text, r"^Finished at step [\d,]+ after .* \(ranks? [\d-]+, until .* UTC\); "
                               r"(nothing was lost|[1-5] % was lost, mostly [a-z ]+)\.$")
        self.assertLess(abs(clock_in(text, job.end) - job.end), 61)


if __name__ == "__main__":
    harness.main()
