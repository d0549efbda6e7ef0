# SPDX-License-Identifier: Apache-2.0
"""What charts are drawn from is what the files say, and a kill in the middle changes nothing."""

import collections
import os
import signal
import unittest

import harness


def files_of(folder):
    """The timelines and metrics below a folder: path in it, content."""
    for where, _, names in os.walk(folder):
        for name in sorted(name for name in names if ".json" in name):
            path = os.path.join(where, name)
            with open(path, "rb") as file:
                yield os.path.relpath(path, folder), file.read()


def by_rank(last):
    """`?last=N` as {step: {column: value}}."""
    return {row[last["columns"].index("step")]: dict(zip(last["columns"], row)) for row in last["rows"]}


def without_lost_time(chart):
    """What is lost is explained when it is read: a live reader may know less of what came with it."""
    if isinstance(chart, dict):
        return {name: without_lost_time(member) for name, member in chart.items() if name != "lost"}
    return [without_lost_time(row) for row in chart] if isinstance(chart, list) else chart


class ChartsTest(harness.JobTest):
    CHARTS = ("steps", "steps?columns=40", "steps?last=1000", "heatmap", "heatmap?what=ranks&columns=7", "histogram",
              "histogram?what=utilization")

    def write(self, share):
        """Writes the files of every folder of the recorded job, one after another, up to this share of their bytes."""
        folders = collections.defaultdict(list)
        for name, content in files_of(harness.JOB):
            folders[os.path.dirname(name)].append((name, content))
        for files in folders.values():
            left = int(share * sum(len(content) for _, content in files))
            for name, content in files:
                self.append(os.path.join(self.directory, name), content[:left])
                left = max(left - len(content), 0)

    def append(self, path, content):
        if content:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            written = os.path.getsize(path) if os.path.exists(path) else 0
            with open(path, "ab") as file:
                file.write(content[written:])

    def charts(self, trainwatch):
        return {chart: trainwatch.json("/api/v1/" + chart) for chart in self.CHARTS}

    def test_the_recorded_job(self):
        self.write(1)
        truth = harness.truth()
        with harness.Trainwatch(self.directory) as trainwatch:
            trainwatch.wait_until_read()
            # What a run lost is drawn when it is booked.
            harness.wait_for(lambda: trainwatch.json("/api/v1/runs")["runs"][0]["life"]["open_seconds"] == 0, "all is booked")
            charts = self.charts(trainwatch)
            spent = {row["part"]: sum(filter(None, row["values"])) for row in trainwatch.json("/api/v1/heatmap?what=wall_time")["rows"]}
            life = trainwatch.json("/api/v1/runs")["runs"][0]["life"]
        self.assertEqual(spent.keys(), life["seconds"].keys())
        for part, seconds in spent.items():
            self.assertAlmostEqual(seconds, life["seconds"][part], delta=1e-3, msg=part)
        for chart in ("steps", "steps?columns=40"):
            columns = charts[chart]["columns"]
            self.assertEqual(sum(columns["steps"]), truth["steps"] - 1, "of the first no iteration is known")
            self.assertLessEqual(len(columns["t_us"]), 501 if chart == "steps" else 41)
            self.assertAlmostEqual(max(columns["max"]), truth["stall"]["slept_seconds"], delta=0.5)
            for i, steps in enumerate(columns["steps"]):
                parts = sum(part[i] for part in columns["phases"].values())
                self.assertTrue(columns["min"][i] - 1e-5 <= parts <= columns["max"][i] + 1e-5, (i, steps))
        steps = by_rank(charts["steps?last=1000"])
        self.assertAlmostEqual(steps[truth["stall"]["step"]]["duration"], truth["stall"]["step_seconds"], delta=0.001)
        ranks = charts["heatmap?what=ranks&columns=7"]["rows"]
        self.assertEqual([row["rank"] for row in ranks], [truth["rank"]])
        cores = [row["device"] for row in charts["heatmap"]["rows"] if row["resource"] == "cpu"]
        self.assertEqual(cores, ["cpu0", "cpu1"])
        self.assertEqual(sum(charts["histogram"]["groups"][0]["counts"]), truth["steps"] - 1)

    def test_a_kill_changes_nothing(self):
        self.write(0.5)
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            trainwatch.wait_until_read()
            half = sum(trainwatch.json("/api/v1/steps")["columns"]["steps"])
            harness.wait_for(lambda: self.stored(trainwatch), "what was read is stored")
            trainwatch.signal(signal.SIGKILL)
            trainwatch.wait()
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            self.assertEqual(sum(trainwatch.json("/api/v1/steps")["columns"]["steps"]), half)
            self.write(1)
            trainwatch.wait_until_read()
            resumed = self.charts(trainwatch)
        with harness.Trainwatch(self.directory) as trainwatch:
            trainwatch.wait_until_read()
            straight = self.charts(trainwatch)
        for chart in self.CHARTS:
            self.assertEqual(without_lost_time(resumed[chart]), without_lost_time(straight[chart]), chart)

    def test_scalars_are_what_the_job_logged_also_after_a_kill(self):
        log = os.path.join(self.directory, "console.log")
        line = "[rank0]:[titan] 2026-01-02 03:04:05,678 - root - INFO - step: %d  loss: %s  tps: 12,345\n"
        lines = [line % (step, "nan" if step == 150 else 5 - step / 100) for step in list(range(200)) + list(range(150, 300))]
        self.append(log, "".join(lines[:149]).encode())
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            trainwatch.wait_until_read()
            loss = trainwatch.json("/api/v1/scalars?tag=loss")["series"]
            self.assertEqual([point[0] for point in loss[0]["points"]], list(range(149)))
            harness.wait_for(lambda: self.stored(trainwatch), "what was read is stored")
            trainwatch.signal(signal.SIGKILL)
            trainwatch.wait()
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            self.assertEqual(trainwatch.json("/api/v1/scalars?tag=loss")["series"], loss)
            self.append(log, "".join(lines).encode())
            trainwatch.wait_until_read()
            series = {each["tag"]: each for each in trainwatch.json("/api/v1/scalars")["series"]}
            latest = trainwatch.json("/api/v1/scalars?tag=tps&last=1")["series"]
        self.assertEqual([each["points"][0][::2] for each in latest], [[299, 12345]])
        loss = series["loss"]
        self.assertEqual((loss["rank"], loss["kind"], loss["attempts"]), (0, "loss", [200]))
        self.assertEqual([point[0] for point in loss["points"]], list(range(200)) + list(range(150, 300)))
        self.assertEqual([point[2] for point in loss["points"]][148:152], [3.52, 3.51, "NaN", 3.49])

    def stored(self, trainwatch):
        read = sum(source["bytes"] for source in trainwatch.json("/api/v1/status")["sources"])
        if read != getattr(self, "_read", None):
            self._read, self._commits = read, trainwatch.metric("trainwatch_state_commit_seconds_count")
        return trainwatch.metric("trainwatch_state_commit_seconds_count") >= self._commits + 2

    def test_questions_that_make_no_sense_are_refused(self):
        with harness.Trainwatch(self.directory) as trainwatch:
            for question, status in (("steps?columns=0", 400), ("steps?start=9&end=3", 400), ("heatmap?what=x", 400),
                                     ("steps?job=nobody", 404), ("histogram?x=1", 400), ("scalars?last=0", 400),
                                     ("scalars?tag=", 400), ("scalars?job=nobody", 404)):
                with self.assertRaises(harness.urllib.error.HTTPError) as refused:
                    trainwatch.get("/api/v1/" + question)
                self.assertEqual(refused.exception.code, status, question)
                refused.exception.close()


if __name__ == "__main__":
    harness.main()
