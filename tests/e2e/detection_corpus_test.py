# SPDX-License-Identifier: Apache-2.0
"""The labelled corpus of tests/bench/detection: its scorer, its writers, and that trainwatch reads what they write."""

import importlib.util
import json
import os
import re
import sys
import tempfile
import unittest

import harness

sys.path.insert(0, os.path.join(harness.ROOT, "tests", "bench", "detection"))
import jobs  # noqa: E402
import score_table  # noqa: E402
import scoring  # noqa: E402
from timeline_model import Attempt, Incident, Iteration, Job, settle_truth, simulate  # noqa: E402
from timeline_writers import write_timelines  # noqa: E402

START = 1_780_000_000.0


def even_job(count=400, writer="hook", ranks=2):
    """Steps of 0.1 s: each iteration begins a multiple of 0.1 s after START + 1 s."""
    attempt = Attempt([[Iteration(i, "TRAIN", 0.01, 0.03, 0.05, 0.005, 0.005) for i in range(count)]
                       for _ in range(ranks)], silence_before=1.0, initialize=0.0)
    return Job("even", "even", writer, [attempt], START)


def alert(identity, at, severity="warning", cause="input_wait", **more):
    moment = "2026-05-28T20:26:%09.6fZ" % (40 + at) if at < 20 else "2026-05-28T20:27:%09.6fZ" % (at - 20)
    return dict({"id": identity, "state": "firing", "rule": "step_spike", "severity": severity, "started_at": moment,
                 "updated_at": moment, "ended_at": None, "cause": {"name": cause}, "summary": "",
                 "subject": {"rank": 0}, "step": 1}, **more)


def iteration_time(number):
    return 1.0 + 0.1 * number + 0.05


class ScorerTest(unittest.TestCase):
    def score(self, *alerts, **incident):
        job = even_job()
        if incident:
            job.incidents.append(Incident("data_stall", [0], incident.pop("first"), incident.pop("last"),
                                          frozenset(("input_wait",)), **incident))
        simulate(job)
        settle_truth(job)
        return scoring.score(job, alerts, "data_stall")

    def test_time_of_the_first_alert(self):
        self.assertAlmostEqual(scoring.seconds(alert("a", 1.0)["started_at"]), START + 1.0)

    def test_found_in_time_with_the_right_cause(self):
        score = self.score(alert("a", iteration_time(104)), first=100, last=120, lost_share=0.5)
        self.assertTrue(score.found[0].detected and score.found[0].right)
        self.assertEqual((score.found[0].wrong, score.found[0].delay, score.false), (False, 4, []))

    def test_belongs_110_steps_longer_and_then_is_false(self):
        inside = self.score(alert("a", iteration_time(229)), first=100, last=120)
        outside = self.score(alert("a", iteration_time(235)), first=100, last=120)
        self.assertEqual((inside.found[0].detected, len(inside.false)), (True, 0))
        self.assertEqual((outside.found[0].detected, len(outside.false)), (False, 1))

    def test_samples_belong_260_seconds_longer(self):
        about_a_gpu = dict(subject={"gpu": "0"}, step=None)
        score = self.score(alert("a", iteration_time(235), **about_a_gpu), first=100, last=120)
        self.assertEqual((score.found[0].detected, len(score.false)), (True, 0))

    def test_alerts_about_steps_are_false_where_the_steps_are_well(self):
        score = self.score(alert("a", iteration_time(105)), first=100, last=120, steps_are_well=True)
        self.assertEqual((score.found[0].detected, len(score.false)), (False, 1))

    def test_an_update_makes_it_belong(self):
        opened, updated = alert("a", iteration_time(20)), alert("a", iteration_time(101))
        updated["started_at"] = opened["started_at"]
        score = self.score(opened, updated, first=100, last=120)
        self.assertEqual((score.found[0].warnings, len(score.false)), (1, 0))

    def test_notices_are_not_counted(self):
        score = self.score(alert("a", iteration_time(50), "info"), alert("b", iteration_time(110), "info"), first=100, last=120)
        self.assertEqual((score.found[0].detected, len(score.false)), (False, 0))

    def test_parts_of_an_incident_are_not_counted(self):
        score = self.score(alert("a", iteration_time(102), incident="a"), alert("b", iteration_time(103), incident="a"),
                           first=100, last=120)
        self.assertEqual(score.found[0].warnings, 1)

    def test_wrong_and_missing_causes(self):
        wrong = self.score(alert("a", iteration_time(102), cause="checkpoint"), first=100, last=120).found[0]
        none = self.score(alert("a", iteration_time(102), cause="unattributed"), first=100, last=120).found[0]
        self.assertEqual((wrong.right, wrong.wrong), (False, True))
        self.assertEqual((none.right, none.wrong), (False, False))

    def test_a_hang_counts_only_while_it_lasts(self):
        late = self.score(alert("a", iteration_time(120), "critical"), first=100, last=120, must_stand=True)
        mild = self.score(alert("a", iteration_time(110)), first=100, last=120, must_stand=True)
        good = self.score(alert("a", iteration_time(110), "critical"), first=100, last=120, must_stand=True)
        self.assertEqual([score.found[0].detected for score in (late, mild, good)], [False, False, True])

    def test_the_table(self):
        scores = [self.score(alert("a", iteration_time(104)), alert("f", iteration_time(300)), first=100, last=120, lost_share=0.5),
                  self.score(first=100, last=120, lost_share=0.1)]
        row = next(line for line in score_table.lines(scores) if line.startswith("data_stall")).split()
        self.assertEqual(row, ["data_stall", "2", "50.0", "100.0", "100.0", "0.0", "4", "1.00", "1"])
        self.assertEqual(score_table.totals(scores), (1, 1, 1))
        self.assertAlmostEqual(score_table.f1(1, 1, 1), 0.5)


def spans(root):
    """(name, start, duration, arguments without the process) of each line, in the order of files and lines."""
    found = []
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            with open(os.path.join(folder, name)) as file:
                for event in json.load(file):
                    if "start_time_since_epoch_in_micros" in event.get("args", {}):
                        base = event["args"]["start_time_since_epoch_in_micros"]
                    elif event["ph"] == "X":
                        arguments = {key: value for key, value in event.get("args", {}).items()
                                     if key not in ("pid", "worker_id")}
                        found.append((event["name"], base + event["ts"], event["dur"], arguments))
    return found


def drive_hook(root, job):
    """Lets python/trainwatch.py itself record the job, with a clock that shows the simulated times."""
    spec = importlib.util.spec_from_file_location("trainwatch_hook", os.path.join(harness.ROOT, "python", "trainwatch.py"))
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    iterations = job.attempts[0].ranks[0]
    moment = [iterations[0].begin]

    class _MultiProcessingDataLoaderIter:
        num_workers, pin_memory, left = 4, True, list(iterations)

        def __iter__(self):
            return self

        def __next__(self):
            if not self.left:
                raise StopIteration
            moment[0] = self.left.pop(0).step_begin
            return moment[0]

    watch = hook.Watch(root, rank=0, node="algo-1")
    watch._timeline.now = lambda: int(moment[0] * 1e6)
    watch._timeline._base = watch._timeline._last_close = watch._timeline._last_end = int(moment[0] * 1e6)
    for it, _ in zip(iterations, watch.batches(_MultiProcessingDataLoaderIter())):
        with watch.step():
            for phase, end in (("Forward", it.paused_at), ("Backward", it.backward_end), ("Optimizer", it.optimizer_end)):
                with watch.phase(phase):
                    moment[0] = end
        if it.checkpoint:
            with watch.phase("Checkpoint"):
                moment[0] = it.optimizer_end + it.checkpoint
        moment[0] = it.end
    watch.close()


class WriterTest(unittest.TestCase):
    def test_the_hook_writes_the_same_lines(self):
        job = even_job(900, ranks=1)
        job.marks_checkpoints = True
        for i in range(99, 900, 100):
            job.attempts[0].ranks[0][i].checkpoint = 2.0
        simulate(job)
        with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
            write_timelines(job, ours)
            drive_hook(theirs, job)
            written, recorded = spans(ours), spans(theirs)
        self.assertEqual(len(written), len(recorded))
        for mine, real in zip(written, recorded):
            self.assertEqual((mine[0], mine[3]), (real[0], real[3]))
            self.assertLessEqual(abs(mine[1] - real[1]) + abs(mine[2] - real[2]), 3)   # us

    def test_a_seed_is_a_job(self):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            for root in (first, second):
                jobs.write(jobs.build("cpu_saturation", 3), root, 3)
            self.assertEqual(spans(os.path.join(first, "framework", "pevents")),
                             spans(os.path.join(second, "framework", "pevents")))

    def test_trainwatch_reads_every_record(self):
        seen = set()
        for kind in ("data_stall", "restart", "evaluation", "gpu_slowdown", "hang", "k_straggler", "k_clean_hidden_wait"):
            for seed in range(3):
                job = jobs.build(kind, seed, 1000)
                if seed and job.writer in seen:
                    continue
                seen.add(job.writer)
                with tempfile.TemporaryDirectory() as root:
                    jobs.write(job, root, seed)
                    done = harness.run("replay", root)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIsNone(re.search("reject|quarantine", done.stderr), job.name + ": " + done.stderr)
        self.assertLessEqual({"hook", "pytorch", "keras"}, seen)

    def test_every_class_is_built(self):
        for kind in jobs.TIMELINE_CLASSES:
            job = jobs.build(kind, 1, 500)
            self.assertEqual(job.clean, not any(incident.warn for incident in job.incidents) and kind in jobs.CLEAN, kind)
            for incident in job.incidents:
                self.assertLess(incident.begin, incident.end, kind)
                self.assertTrue(incident.accepted or incident.standstill, kind)


if __name__ == "__main__":
    harness.main()
