# SPDX-License-Identifier: Apache-2.0
"""What python/trainwatch writes about its process: when it began, which step it has begun, and how it ended."""

import glob
import json
import os
import signal
import subprocess
import sys
import time
import unittest

from hook_case import HookCase, PYTHON, read
import harness
import timeline_files

STEP = "with watch.step(): pass\n"
WATCH = "watch = trainwatch.Watch(out, rank=3)\n" + STEP
COMPLETED = {"how": "completed"}


def marks(path, name):
    """The instants of this name in a timeline that may be open."""
    text = read(path)
    records = json.loads(text if text.endswith("]") else text.rstrip(",\n") + "]")
    return [dict(record, base=records[0]["args"]["start_time_since_epoch_in_micros"]) for record in records
            if record["ph"] == "i" and record["name"] == name]


class EndsTest(HookCase):
    def ends(self, text, files=1):
        """What a process that runs `text` says of its end, without its id."""
        process = subprocess.Popen(self.program(text), stderr=subprocess.DEVNULL)
        process.wait()
        closed = self.closed_files()
        found = [mark for path in closed for mark in marks(path, "process_end")]
        for path in closed:
            os.unlink(path)
        self.assertEqual(len(closed), files)
        self.assertTrue(all(mark["args"].pop("pid") == process.pid for mark in found))
        return [mark["args"] for mark in found]

    def test_how_a_process_ends(self):
        raised = {"how": "exception", "exception": "ValueError", "message": "of the training"}
        for text, expected in (
                (WATCH, COMPLETED),
                (WATCH + "sys.exit()", COMPLETED),
                (WATCH + "sys.exit(3)", {"how": "exit", "exit_code": 3}),
                (WATCH + "sys.exit('no data')", {"how": "exit", "exit_code": 1}),
                (WATCH + "raise ValueError('of  the\\ntraining')", raised),
                (WATCH + "try: {}['a']\nexcept KeyError as e: raise RuntimeError('it failed') from e",
                 {"how": "exception", "exception": "KeyError", "message": "'a'"}),
                (WATCH + "class OutOfMemoryError(RuntimeError): pass\nOutOfMemoryError.__module__ = 'torch'\n"
                         "raise OutOfMemoryError('x' * 10000)",
                 {"how": "exception", "exception": "torch.OutOfMemoryError", "message": "x" * 300}),
                (WATCH + "raise KeyboardInterrupt", {"how": "exception", "exception": "KeyboardInterrupt", "message": ""}),
                (WATCH + "import signal; os.kill(os.getpid(), signal.SIGINT)",
                 {"how": "exception", "exception": "KeyboardInterrupt", "message": ""}),
                # What was caught is no end.
                (WATCH + "try: sys.exit(3)\nexcept SystemExit: pass\n" + STEP, COMPLETED),
                (WATCH + "import threading\nt = threading.Thread(target=sys.exit, args=[3]); t.start(); t.join()", COMPLETED),
                # Whoever closes it, closes it once.
                (WATCH + "watch.close()\nsys.exit(3)", COMPLETED),
                (WATCH + "with watch: raise ValueError('of the training')", raised),
                (WATCH + "with watch: sys.exit(4)", {"how": "exit", "exit_code": 4}),
                (WATCH + "with watch: pass\nraise ValueError", COMPLETED),
                # A crash before the first step is an end.
                (WATCH.replace(STEP, "") + "raise ValueError('of the training')", raised)):
            with self.subTest(text):
                self.assertEqual(self.ends(text), [expected])

    def test_an_exception_that_passes_by_is_said_at_exit(self):
        raised = {"how": "exception", "exception": "ValueError", "message": "x"}
        self.assertEqual(self.ends(WATCH + "try: raise ValueError('x')\nfinally: watch.close()", files=2), [raised])
        self.assertEqual(self.ends(WATCH + "try: raise ValueError\nexcept ValueError: watch.close()", files=2), [COMPLETED])

    def test_a_pause_is_no_end(self):
        self.assertEqual(self.ends(WATCH + "watch.rest()\nos._exit(0)"), [])
        self.assertEqual(self.ends(WATCH + "watch.rest()", files=2), [COMPLETED])

    def test_who_has_nothing_to_say_leaves_no_file(self):
        self.assertEqual(self.ends(WATCH.replace(STEP, ""), files=0), [])
        self.assertEqual(self.ends("os.dup2(os.open('/dev/full', os.O_WRONLY), 9)\n" + WATCH +
                                   "os.dup2(9, watch._timeline._fd)\n" + STEP, files=0), [])

    def test_a_fork_has_not_ended_the_training(self):
        text = WATCH + "child = os.fork()\nif child == 0: sys.exit(5)\nos.waitpid(child, 0)\n" + STEP
        self.assertEqual(self.ends(text), [COMPLETED])

    def test_all_files_name_the_process_and_its_begin(self):
        before = time.time()
        process = subprocess.Popen(self.program("watch = trainwatch.Watch(out, rotate_seconds=0)\n" + 3 * STEP))
        process.wait()
        labels = [record["args"] for record in self.records() if record["name"] == "process_labels"]
        self.assertGreater(len(labels), 2)
        self.assertEqual(labels, len(labels) * labels[:1])
        self.assertEqual(labels[0]["process_id"], process.pid)
        began = labels[0]["process_start_in_micros"] / 1e6
        self.assertTrue(before - 0.1 <= began <= time.time(), (before, began))

    def test_what_hangs_has_begun(self):
        watch = self.watch()
        batches = iter(watch.batches(range(3)))
        for number in range(2):
            next(batches)
            step = watch.step()
            step.__enter__()
            if number == 0:
                step.__exit__(None, None, None)
        self.assertEqual([mark["args"] for mark in marks(self.open_file(), "begin")], [{"step_num": "0"}, {"step_num": "1"}])
        last = marks(self.open_file(), "begin")[-1]
        self.assertAlmostEqual((last["base"] + last["ts"]) / 1e6, time.time(), delta=60)
        with watch.step(mode="eval"), watch.step(number=40):
            pass
        numbers = [(mark["pid"], mark["args"]["step_num"]) for mark in marks(self.open_file(), "begin")]
        self.assertEqual([number for _, number in numbers], ["0", "1", "0", "40"])
        self.assertEqual(len({phase for phase, _ in numbers}), 2)


class LaunchedEndsTest(harness.JobTest):
    """python -m trainwatch run, and the file of its own that says how the training ended."""

    def launch(self, *arguments):
        self.out = os.path.join(self.directory, "watched")
        process = subprocess.Popen(
            [sys.executable, "-m", "trainwatch", "run", "--watch-dir=" + self.out, "--listen=127.0.0.1:0", *arguments],
            cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, PYTHONPATH=PYTHON, TRAINWATCH_BINARY=os.path.abspath(harness.binary())))
        self.addCleanup(process.communicate)
        return process

    def script(self, text):
        path = os.path.join(self.directory, "train.py")
        with open(path, "w") as file:
            file.write(text)
        return path

    def files(self):
        return glob.glob(os.path.join(self.out, "framework", "*_launchtimeline.json"))

    def end(self):
        """What the file says, and of which rank."""
        path, = self.files()
        mark, = marks(path, "process_end")
        del mark["args"]["pid"]
        os.unlink(path)
        rank = os.path.basename(path).split("_")[1].partition("-")[0]
        return mark["args"], int(rank) if rank.isdigit() else None

    def test_a_script_without_a_watch(self):
        for text, expected in (("raise ValueError('early')", {"how": "exception", "exception": "ValueError", "message": "early"}),
                               ("raise SystemExit(3)", {"how": "exit", "exit_code": 3})):
            self.launch(self.script(text)).communicate()
            self.assertEqual(self.end(), (expected, 0))
        self.launch(self.script("pass")).communicate()
        self.assertEqual(self.files(), [])

    def test_a_script_with_one(self):
        text = "import trainwatch\nwith trainwatch.Watch(%r).step(): pass\nraise SystemExit(3)\n"
        self.launch(self.script(text % os.path.join(self.directory, "watched"))).communicate()
        self.assertEqual(self.files(), [])
        ends = [mark["args"]["exit_code"] for path in timeline_files.closed_files(self.out)
                for mark in marks(path, "process_end")]
        self.assertEqual(ends, [3])

    def test_a_script_that_is_killed(self):
        process = self.launch(self.script("print('trains', flush=True)\nimport time\ntime.sleep(1000)\n"))
        process.stdout.readline()
        self.assertIn("shows this training", process.stderr.readline())
        process.kill()
        process.wait()
        killed = time.time()
        harness.wait_for(self.files, "the file of its end")
        path, = self.files()
        harness.wait_for(lambda: read(path).endswith("]"), "its last byte")
        mark, = marks(path, "process_end")
        self.assertLess((mark["base"] + mark["ts"]) / 1e6 - killed, 1)
        self.assertEqual(self.end(), ({"how": "unknown"}, 0))

    def test_a_command(self):
        for script, expected in (("exit 0", COMPLETED), ("exit 3", {"how": "exit", "exit_code": 3}),
                                 ("kill -9 $$", {"how": "signal", "signal": 9})):
            self.launch("sh", "-c", script).communicate()
            self.assertEqual(self.end(), (expected, None))

    def test_a_command_that_somebody_ends(self):
        process = self.launch("sh", "-c", "trap 'exit 1' TERM; echo runs; while :; do sleep 0.1; done")
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate()
        self.assertEqual(self.end(), ({"how": "interrupted", "signal": signal.SIGTERM}, None))


if __name__ == "__main__":
    harness.main()
