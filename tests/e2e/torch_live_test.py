# SPDX-License-Identifier: Apache-2.0
"""Beside a real training with PyTorch: what is said, when, and that nothing else is.

Takes some minutes, and needs a machine that is otherwise quiet: real steps are as regular as the machine is.
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time

import harness

if os.environ.get("TRAINWATCH_LONG") != "1":
    harness.skip("takes minutes; TRAINWATCH_LONG=1 runs it")
if importlib.util.find_spec("torch") is None:
    harness.skip("no torch: python3-torch of Debian 12 has it")

LOOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_loop.py")


class Training:
    """torch_loop.py as a process; `last` is the number of the last step that it printed."""

    def __init__(self, out, *arguments):
        self.last = -1
        self._process = subprocess.Popen([sys.executable, LOOP, out, *arguments], stdout=subprocess.PIPE, text=True)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.kill()
        self.join()

    def _read(self):
        for line in self._process.stdout:
            self.last = int(line)

    def reach(self, step):
        harness.wait_for(lambda: self.last >= step, "step %d, %d is the last" % (step, self.last))

    def signal(self, number):
        self._process.send_signal(number)

    def join(self):
        code = self._process.wait(3 * harness.PATIENCE_SECONDS)
        self._reader.join()
        self._process.stdout.close()
        return code


class TorchLiveTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        daemon = harness.Trainwatch(self.directory, state=self.state)
        self.daemon = daemon.__enter__()
        self.addCleanup(daemon.__exit__)

    def out(self, name="job"):
        return os.path.join(self.directory, name)

    def said(self):
        """The incidents above info so far: the alerts that speak for them, as last said."""
        log = self.daemon.json("/api/v1/alerts?limit=1000")["alerts"]
        return [alert for alert in harness.final(log).values()
                if alert["severity"] != "info" and alert["incident"] == alert["id"]]

    def firing(self):
        return [alert for alert in self.daemon.json("/api/v1/alerts?state=firing")["alerts"]
                if alert["severity"] != "info"]

    def run_state(self, job="job"):
        runs = {run["job"]: run for run in self.daemon.json("/api/v1/runs")["runs"]}
        return runs.get(job, {}).get("state")

    def the_one(self):
        said = self.said()
        text = json.dumps([(a["rule"], a["severity"], a["summary"], a["cause"]) for a in said], indent=1)
        self.assertEqual(len(said), 1, text)
        return said[0]

    def test_nothing_is_said_of_a_healthy_job_nor_of_its_end(self):
        with Training(self.out(), "--steps=600") as training:
            training.reach(300)
            self.assertEqual(self.run_state(), "running")
            self.assertEqual(training.join(), 0)
        harness.wait_for(lambda: self.run_state() == "finished", "the run is finished")
        self.assertEqual(self.said(), [])

    def test_slow_data(self):
        with Training(self.out(), "--steps=400", "--trouble=slow_data@250:2.5") as training:
            training.reach(251)
            alert = harness.wait_for(self.said, "the stall is reported")[0]
            self.assertEqual(alert["step"], 250)
            training.join()
        alert = self.the_one()
        self.assertEqual(alert["cause"]["name"], "input_wait")
        self.assertAlmostEqual(alert["lost_seconds"], 2.5, delta=0.5)

    def test_a_collection_of_garbage(self):
        with Training(self.out(), "--steps=400", "--trouble=collect@250:3") as training:
            training.join()
        alert = self.the_one()
        self.assertEqual((alert["rule"], alert["step"], alert["cause"]["name"]), ("step_spike", 250, "host_pause"))
        self.assertIn("garbage", alert["cause"]["explanation"])

    def test_an_unmarked_checkpoint(self):
        with Training(self.out(), "--steps=400", "--trouble=pause@253:3") as training:
            training.join()
        alert = self.the_one()
        self.assertEqual((alert["rule"], alert["step"]), ("step_spike", 254))
        self.assertIn(alert["cause"]["name"], ("host_pause", "checkpoint"))

    def test_a_checkpoint_that_only_its_file_shows(self):
        with Training(self.out(), "--steps=450", "--trouble=save@253:3", "--trouble=save@353:14") as training:
            training.join()
        said = [(a["step"], a["cause"]["name"], a["cause"]["explanation"]) for a in self.said()]
        self.assertEqual([(step, cause) for step, cause, _ in said], [(254, "checkpoint"), (354, "checkpoint")], said)
        self.assertNotIn("stall", {a["rule"] for a in self.daemon.json("/api/v1/alerts?limit=1000")["alerts"]})

    def test_a_stopped_process(self):
        with Training(self.out(), "--steps=500") as training:
            training.reach(250)
            training.signal(signal.SIGSTOP)
            began = time.monotonic()
            alert = harness.wait_for(self.firing, "the stall is reported")[0]
            print("the stall was reported after %.1f s" % (time.monotonic() - began))
            self.assertEqual((alert["rule"], alert["severity"]), ("stall", "critical"))
            self.assertEqual(self.run_state(), "stalled")
            time.sleep(max(0, 60 - (time.monotonic() - began)))
            self.assertEqual([one["id"] for one in self.firing()], [alert["id"]], "while it lasts")
            training.signal(signal.SIGCONT)
            lasted = time.monotonic() - began
            harness.wait_for(lambda: not self.firing(), "the stall is over")
            training.join()
        over = self.the_one()
        self.assertEqual((over["id"], over["state"], over["ended_because"]), (alert["id"], "resolved", "recovered"))
        self.assertAlmostEqual(over["lost_seconds"], lasted, delta=0.1 * lasted)

    def test_a_killed_job_is_gone(self):
        with Training(self.out(), "--steps=5000", "--trouble=slow_data@250:2.5") as training:
            training.reach(255)
            time.sleep(11)  # its process has been seen
            training.signal(signal.SIGKILL)
            training.join()
            harness.wait_for(lambda: any(one["rule"] == "stall" for one in self.firing()), "it stands still")
            harness.wait_for(lambda: self.run_state() == "gone", "the run is gone")
        self.assertEqual(self.firing(), [])
        stall = next(one for one in self.said() if one["rule"] == "stall")
        self.assertEqual(stall["ended_because"], "run_gone")

    def test_a_restart(self):
        with Training(self.out(), "--steps=500") as training:
            training.reach(250)
            training.signal(signal.SIGKILL)
            training.join()
        with Training(self.out(), "--steps=300") as training:
            training.join()
        self.assertEqual(self.said(), [])
        run = self.daemon.json("/api/v1/runs")["runs"][0]
        self.assertEqual([attempt["attempt"] for attempt in run["attempts"]], [1, 2])

    def test_busy_cores(self):
        metrics = subprocess.Popen([harness.binary(), "sample", "--out=" + self.out(), "--interval=500ms"],
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(metrics.wait)
        self.addCleanup(metrics.terminate)
        with Training(self.out(), "--steps=900") as training:
            training.reach(300)
            hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(6)]
            began = training.last
            alert = harness.wait_for(lambda: [one for one in self.firing()], "the slowdown is reported")[0]
            self.assertLess(training.last - began, 60)
            for hog in hogs:
                hog.kill()
                hog.wait()
            training.join()
        self.assertEqual({one["cause"]["name"] for one in self.said()}, {"cpu_saturation"}, alert)

    def test_two_runs_side_by_side(self):
        with Training(self.out("good"), "--steps=400") as good, \
             Training(self.out("bad"), "--steps=400", "--trouble=slow_data@250:2.5") as bad:
            good.join()
            bad.join()
        self.assertEqual({alert["subject"]["job"] for alert in self.said()}, {"bad"})
        self.assertEqual({run["job"] for run in self.daemon.json("/api/v1/runs")["runs"]}, {"good", "bad"})

    def test_two_ranks_of_which_one_is_slow(self):
        meet = "--meet=%d" % harness.free_port()
        together = ("--steps=400", "--world=2", meet)
        with Training(self.out(), *together, "--rank=0") as first, \
             Training(self.out(), *together, "--rank=1", "--slow=1.6") as second:
            first.join()
            second.join()
        run = self.daemon.json("/api/v1/runs")["runs"][0]
        self.assertEqual(run["ranks"], "0-1")
        causes = {alert["cause"]["name"] for alert in self.said()}
        self.assertLessEqual(causes, {"straggler"})
        self.assertLessEqual(len({alert["incident"] for alert in self.said()}), 1)


if __name__ == "__main__":
    harness.main()
