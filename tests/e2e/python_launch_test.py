# SPDX-License-Identifier: Apache-2.0
"""python -m trainwatch run: a script that nobody edited runs as Python runs it, and is watched."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import unittest

import harness
import timeline_files
from launch_case import PACKAGE, LaunchCase, processes, programs

SHOW = "import sys; print(__name__, sys.argv[1:], sys.path[0], __package__, __file__, sys.stdin.readline())\n"
LOOP = """
import sys, time
import torch
def batches():
    for number in range(%d):
        time.sleep(%g if number == 60 else 0.01)
        yield number
loss, optimizer = torch.Tensor(), torch.optim.SGD()
for batch in torch.utils.data.DataLoader(batches()):
    loss.backward()
    optimizer.step()
    if batch == 5:
        print("trains", flush=True)
"""


class LaunchTest(LaunchCase):
    def test_a_script_runs_as_python_runs_it(self):
        self.script(SHOW + "sys.exit(7)\n")
        self.script(SHOW, "package/part/__main__.py")
        self.script(SHOW, "package/module.py")
        self.script("import os, sys\nprint('out')\nraise ValueError('of the training')\n", "raises.py")
        self.script("def f(:\n", "syntax.py")
        self.script("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n", "killed.py")
        self.script("""
            import multiprocessing
            def work(number):
                return number + 1
            if __name__ == "__main__":
                with multiprocessing.get_context("spawn").Pool(2) as pool:
                    print(pool.map(work, [1, 2]))
            """, "spawns.py")
        for arguments in (["train.py", "a", "--", "--listen", "-m"], ["-m", "package.part", "b"],
                          ["-m", "package.module"], ["raises.py"], ["syntax.py"], ["killed.py"], ["spawns.py"]):
            with self.subTest(arguments):
                expected = self.run_it(*arguments, launch=False, PYTHONDONTWRITEBYTECODE="1")[:3]
                self.assertEqual(self.run_it(*arguments, TRAINWATCH_BINARY="/none", PATH="/none",
                                             PYTHONDONTWRITEBYTECODE="1")[:3], expected)

    def test_the_lost_time_is_summed_up(self):
        loop = "import time\nbegan = time.monotonic()" + LOOP % (200, 2) + "print(time.monotonic() - began)\n"
        code, out, err, said = self.run_it(self.script(loop))
        self.assertEqual((code, err), (0, ""))
        self.assertIn("shows this training", said[0])
        self.assertRegex(said[1], "^Finished at step 199 after .* was lost, mostly (waiting for data|.*CPU.*)[.]$")
        lost = sum(float(seconds) for seconds in re.findall(r" (\d+[.]\d) s", said[2]))  # of all causes
        self.assertTrue(3.9 <= lost <= float(out.split()[-1]), (said[2], out))  # 199 batches take 10 ms, one 2 s
        self.assertRegex(said[3], "^warning on rank 0: ")
        self.assertEqual(timeline_files.steps(self.out), list(range(200)))
        self.assertEqual(timeline_files.open_files(self.out), [])
        # The process that passes on the output ends when nobody can write any more: after the launcher.
        harness.wait_for(lambda: not processes(self.out), "they have ended")

    def test_the_ranks_of_a_launcher_are_watched_and_signals_reach_it(self):
        loop = self.script(LOOP % (100000, 0))
        launcher = "trap 'kill $one $two; wait; exit 3' TERM\n" + "".join(
            "RANK=%d LOCAL_RANK=%d %s -m trainwatch run %s & %s=$!\n" % (rank, rank, sys.executable, loop, name)
            for rank, name in enumerate(["one", "two"])) + "wait\n"
        process = self.start("sh", "-c", launcher)
        for _ in range(2):
            self.assertEqual(process.stdout.readline(), "trains\n")
        process.send_signal(signal.SIGTERM)
        err = process.communicate(timeout=harness.PATIENCE_SECONDS)[1]
        self.assertEqual(process.returncode, 3, err)
        self.assertEqual(err.count("shows this training"), 1, "one sidecar for both")
        self.assertRegex(err, r"Cancelled at step \d+ after .* \(ranks 0-1\), .* ago: ended by SIGTERM")

    def test_whatever_becomes_of_the_training_nothing_is_left_behind(self):
        for number, code in ((signal.SIGKILL, -9), (signal.SIGTERM, -15)):
            process = self.start(self.script(LOOP % (100000, 0)))
            self.assertEqual(process.stdout.readline(), "trains\n")
            harness.wait_for(lambda: len(programs(self.out)) == 3, "daemon and sampler run")
            os.kill(process.pid, number)
            self.assertEqual(process.wait(harness.PATIENCE_SECONDS), code)
            harness.wait_for(lambda: not processes(self.out), "they have ended")
            err = process.communicate()[1]
            self.assertRegex(err, r"Failed at step \d+ .* ago: ended without saying why", self.sidecar_log())

    def test_the_sidecar_is_killed(self):
        process = self.start(self.script(LOOP % (100000, 0)))
        self.assertEqual(process.stdout.readline(), "trains\n")
        harness.wait_for(lambda: len(programs(self.out)) == 3, "daemon and sampler run")
        sidecar, = [one for one in processes("_sidecar.py") if one in processes(self.out)]
        os.kill(sidecar, signal.SIGKILL)
        harness.wait_for(lambda: programs(self.out) == {process.pid}, "daemon and sampler have ended")
        self.assertIsNone(process.poll())
        process.kill()
        process.communicate()

    def test_the_training_runs_on_without_us(self):
        loop = self.script(LOOP % (20, 0) + "sys.exit(5)\n")
        blocked = self.script("", "a-file")
        for options, environment, words in (
                (self.options, {"TRAINWATCH_BINARY": "/none", "PATH": "/none"}, "there is no program"),
                (self.options, {"TRAINWATCH_BINARY": "/bin/false"}, "trainwatch.log says why"),
                (["--watch-dir=" + blocked], {}, "does not watch")):
            with self.subTest(words):
                self.options = options
                code, out, err, said = self.run_it(loop, **environment)
                self.assertEqual((code, out, err), (5, "trains\n", ""))
                self.assertEqual(len(said), 1, said)
                self.assertIn(words, said[0])

    def test_a_port_that_is_taken(self):
        first = self.start(self.script(LOOP % (100000, 0)))
        address = re.search("http://([0-9.:]+) shows", first.stderr.readline()).group(1)
        self.options = ["--watch-dir=" + self.out + "-2", "--listen=" + address]
        code, _, _, said = self.run_it(self.script(LOOP % (20, 0), "other.py"))
        self.assertEqual(code, 0)
        self.assertRegex(said[0], "^http://127.0.0.1:[0-9]+ shows")
        self.assertNotIn(address, said[0])
        first.kill()
        first.communicate()

    def test_no_more_is_left_than_may_be_kept(self):
        self.options.append("--keep=0")
        code, _, _, said = self.run_it(self.script(LOOP % (20, 0)))
        self.assertEqual(code, 0)
        self.assertIn("shows this training", said[0])
        self.assertEqual(timeline_files.closed_files(self.out), [])

    def test_the_two_lines_for_a_loop_that_is_not_seen(self):
        self.run_it(self.script("""
            import trainwatch, wandb
            watch = trainwatch.Watch()
            run = wandb.init()
            for number in range(5):
                with watch.step():
                    run.log({"loss": 4 / (1 + number)})
            """))
        self.assertEqual(timeline_files.steps(self.out), list(range(5)))
        with open(timeline_files.closed_files(self.out)[0]) as file:
            self.assertEqual([record["args"] for record in json.load(file) if record["ph"] == "C"],
                             [{"step": number, "value": 4 / (1 + number)} for number in range(5)])

    def test_who_has_a_watch_of_his_own_keeps_it(self):
        self.run_it(self.script("import trainwatch\nwatch = trainwatch.Watch(%r)\n" % self.state + LOOP % (20, 0) +
                                "with watch.step(): pass\n"))
        self.assertEqual(timeline_files.counts(self.out), {})
        self.assertEqual(sum(timeline_files.counts(self.state).values()), 1)

    def test_the_sitecustomize_of_others_still_runs(self):
        self.script("print('customised', flush=True)\n", "site/sitecustomize.py")
        path = os.pathsep.join([PACKAGE, os.path.join(self.directory, "site")])
        out = self.run_it("sh", "-c", sys.executable + " -c pass", PYTHONPATH=path, TRAINWATCH_BINARY="/none")[1]
        self.assertEqual(out, "customised\n" * 2)

    def test_usage(self):
        for arguments in ([], ["--watch-dirs=x", "a.py"], ["--keep=much", "a.py"], ["--console=no", "a.py"], ["--listen"], ["-x", "a.py"], ["-m"]):
            done = subprocess.run([sys.executable, "-m", "trainwatch", "run", *arguments], stderr=subprocess.PIPE,
                                  env=dict(os.environ, PYTHONPATH=PACKAGE), text=True, check=False)
            self.assertEqual((done.returncode, done.stderr.startswith("usage: ")), (2, True), done.stderr)


if __name__ == "__main__":
    harness.main()
