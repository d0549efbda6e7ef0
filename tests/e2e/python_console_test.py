# SPDX-License-Identifier: Apache-2.0
"""python -m trainwatch run: what a training prints goes where it would have gone, byte for byte, and is in the console logs, which are
of the same run as its steps."""

import glob
import hashlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import harness
import hook_case
import timeline_files
from launch_case import PACKAGE, LaunchCase, processes
from pty_screen import Screen

SPEC = importlib.util.spec_from_file_location("_tee", os.path.join(PACKAGE, "trainwatch", "_tee.py"))
PRINTS = """
    import ctypes, os, subprocess, sys
    print("buffered")
    print("an error", file=sys.stderr)
    os.write(1, b"\\xff\\x00 no text\\r\\n")
    ctypes.CDLL(None).puts(b"of C")
    ctypes.CDLL(None).fflush(None)
    subprocess.run(["sh", "-c", "echo of a child; echo its error >&2"])
    sys.stdout.flush()
    if os.fork() == 0:
        os.write(1, b"of a fork\\n")
        os._exit(0)
    os.waitpid(-1, 0) if %(waits)r else os.wait3(0)
    print("last")
    %(end)s
    """
MEGATRON = " [{:%Y-%m-%d %H:%M:%S}] iteration {:8d}/    5000 | elapsed time per iteration (ms): 5000.0 | lm loss: {:.6E} |"


class PiecesTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = os.path.join(directory.name, "logs", "a.out")
        self.tee = importlib.util.module_from_spec(SPEC)
        SPEC.loader.exec_module(self.tee)

    def pieces(self):
        return [hook_case.read(path) for path in (self.path + ".1", self.path) if os.path.exists(path)]

    def test_two_pieces_of_whole_lines(self):
        log = self.tee.Log(self.path, most=100)
        self.assertEqual(self.pieces(), [])
        lines = ["line %d\n" % number for number in range(100)]
        text = "".join(lines).encode()
        for at in range(0, len(text), 37):
            log.write(text[at:at + 37])
        older, newer = self.pieces()
        self.assertTrue(all(0 < len(piece) <= 100 and piece.endswith("\n") for piece in (older, newer)), (older, newer))
        self.assertTrue("".join(lines).endswith(older + newer))

    def test_a_line_that_is_too_long_is_cut(self):
        log = self.tee.Log(self.path, most=100)
        log.write(b"x" * 1030)
        self.assertEqual([len(piece) for piece in self.pieces()], [100, 30])

    def test_what_cannot_be_written_is_let_be(self):
        with open(os.path.dirname(self.path), "w"):
            log = self.tee.Log(self.path)
        log.write(b"text\n")
        log.write(b"text\n")


class NamesTest(unittest.TestCase):
    def test_rank_node_and_the_number_of_slurm(self):
        from trainwatch._console import log_name
        for environment, is_command, name in (
                ({"RANK": "3", "SM_CURRENT_HOST": "a_1"}, False, "17_rank_3_a-1_stdout.out"),
                ({"RANK": "3", "SM_CURRENT_HOST": "a_1"}, True, "17_a-1_stdout.out"),
                ({"SM_CURRENT_HOST": "a", "SLURM_JOB_ID": "9002"}, False, "17_rank_0_a_stdout-9002.out"),
                ({"SM_CURRENT_HOST": "a", "TORCHELASTIC_RUN_ID": "bert"}, False, "17_rank_0_a_stdout.out")):
            self.assertEqual(log_name(hook_case.trainwatch.place(environment), 17, is_command, "stdout"), name)


class ConsoleTest(LaunchCase):
    def logs(self):
        """By the kind of each: its bytes, with those that were rotated away before them."""
        found = {}
        for path in sorted(glob.glob(os.path.join(self.out, "logs", "*")), reverse=True):
            kind = re.fullmatch(r"\d{16}_(rank_\d+_)?[^_]+_(stdout|stderr|console)[.]out([.]1)?", os.path.basename(path)).group(2)
            with open(path, "rb") as log:
                found[kind] = found.get(kind, b"") + log.read()
        return found

    def outcome(self, *command, launch=True, same=False):
        """Exit code, standard output and error of a training as bytes, without what is trainwatch's."""
        known = {name: value for name, value in os.environ.items() if not name.endswith("RANK")}
        begin = ["-m", "trainwatch", "run", *self.options] if launch else []
        self.addCleanup(self.kill_what_is_left)
        done = subprocess.run([sys.executable, *begin, *command], cwd=self.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT if same else subprocess.PIPE, timeout=harness.PATIENCE_SECONDS, check=False,
                              env={**known, "PYTHONPATH": PACKAGE, "TRAINWATCH_BINARY": os.path.abspath(harness.binary())})
        return (done.returncode, *(re.sub(rb"trainwatch: .*\n", b"", text or b"") for text in (done.stdout, done.stderr)))

    def test_the_bytes_and_the_exit_code_are_those_without_us(self):
        for end, code in (("sys.exit(7)", 7), ("os._exit(0 if sys.stdout.flush() else 5)", 5), ("raise ValueError('of the training')", 1)):
            with self.subTest(end):
                script = self.script(PRINTS % {"end": end, "waits": False})
                expected = self.outcome(script, launch=False)
                self.assertEqual(expected[0], code)
                self.options = ["--watch-dir=" + self.out, "--listen=127.0.0.1:0"]
                self.assertEqual(self.outcome(script), expected)
                self.assertEqual(self.logs(), {"stdout": expected[1], "stderr": expected[2]})
                self.out += "-next"

    def test_the_order_of_streams_that_go_to_one_place_stays(self):
        script = self.script("import os\nfor number in range(20000):\n    os.write(1 + number % 2, b'%d\\n' % number)\n")
        code, out, _ = self.outcome(script, same=True)
        self.assertEqual((code, out), (0, b"".join(b"%d\n" % number for number in range(20000))))
        self.assertEqual(self.logs(), {"console": out})

    def test_of_much_the_end_is_kept(self):
        script = self.script("import sys\nfor number in range(3 << 20):\n    sys.stdout.write('%010d\\n' % number)\n")
        code, out, _ = self.outcome(script)
        expected = b"".join(b"%010d\n" % number for number in range(3 << 20))
        self.assertEqual((code, hashlib.sha1(out).digest()), (0, hashlib.sha1(expected).digest()))
        kept = self.logs()["stdout"]
        self.assertTrue(expected.endswith(kept))
        self.assertTrue(8 << 20 < len(kept) <= 16 << 20, len(kept))
        self.assertEqual(len(glob.glob(os.path.join(self.out, "logs", "*"))), 2)

    def test_a_command(self):
        code, out, err = self.outcome("sh", "-c", "echo begun; echo error >&2; exit 4")
        self.assertEqual((code, out, err), (4, b"begun\n", b"error\n"))
        self.assertEqual(self.logs(), {"stdout": b"begun\n", "stderr": b"error\n"})

    def test_nobody_waits_for_a_grandchild_that_keeps_the_stream(self):
        process = self.start("sh", "-c", "exec 3>&1; sleep 1001 & echo begun")
        self.assertEqual(process.stdout.readline(), "begun\n")
        self.assertEqual(process.wait(harness.PATIENCE_SECONDS), 0)
        for one in processes("sleep\0001001"):
            os.kill(one, signal.SIGKILL)
        self.assertEqual(process.communicate(timeout=harness.PATIENCE_SECONDS)[0], "")

    def test_what_was_printed_before_a_kill_arrives(self):
        lines = "".join("%d\n" % number for number in range(200000))
        process = self.start(self.script("""
            import os, signal, sys
            sys.stdout.write("".join("%d\\n" % number for number in range(200000)))
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)
            """))
        self.assertEqual(process.communicate(timeout=harness.PATIENCE_SECONDS)[0], lines)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertEqual(self.logs()["stdout"].decode(), lines)

    def test_a_reader_who_goes_is_gone_for_the_training(self):
        process = self.start(self.script("import os\nwhile True:\n    os.write(1, b'y\\n')\n"))
        self.assertEqual(process.stdout.readline(), "y\n")
        process.stdout.close()
        err = process.stderr.read()
        self.assertEqual(process.wait(harness.PATIENCE_SECONDS), 1)
        self.assertIn("BrokenPipeError", err)

    def test_a_terminal_stays_one(self):
        script = self.script("""
            import os, sys
            print(sys.stdout.isatty(), sys.stderr.isatty(), os.get_terminal_size().columns, flush=True)
            print("typed", input("? "))
            """)
        environment = {"PYTHONPATH": PACKAGE, "TRAINWATCH_BINARY": os.path.abspath(harness.binary())}
        with Screen(sys.executable, "-m", "trainwatch", "run", *self.options, script, columns=191, env=environment) as screen:
            screen.wait_for("[?]")
            screen.type("abc\n")
            screen.wait_for("typed abc")
            self.assertIn("True True 191\r\n", screen.raw)
        self.assertIn(b"True True 191\n", self.logs()["console"])

    def test_it_can_be_switched_off(self):
        self.options.append("--console=off")
        self.assertEqual(self.outcome(self.script("print('text')\n"))[:2], (0, b"text\n"))
        self.assertEqual(self.logs(), {})

    def test_lines_and_logged_values_are_of_the_run_of_the_steps(self):
        script = self.script("""
            import datetime
            import torch, wandb
            run = wandb.init()
            loss, optimizer = torch.Tensor(), torch.optim.SGD()
            for batch in torch.utils.data.DataLoader(range(50)):
                loss.backward()
                optimizer.step()
                run.log({"train/loss": 4 / (1 + batch)}, step=batch)
                print(%r.format(datetime.datetime.now(), 100 + 10 * batch, 8 / (1 + batch)), flush=True)
            print("trained", flush=True)
            input()
            """ % MEGATRON)
        process = self.start(script)
        address = re.search("http://([0-9.:]+) shows", process.stderr.readline()).group(1)
        while process.stdout.readline() != "trained\n":
            pass
        ask = lambda path: harness.fetch("http://" + address + path)  # noqa: E731
        values = harness.wait_for(lambda: self.scalars(ask("/metrics")), "both losses")
        self.assertEqual(values, {"train/loss": 4 / 50, "lm loss": 8 / 50, "elapsed time per iteration (ms)": 5, "iterations": 5000})
        run, = json.loads(ask("/api/v1/runs"))["runs"]
        self.assertEqual((run["job"], run["ranks"], run["step"]), ("", "0", 49))
        self.assertRegex(ask("/metrics"), r"trainwatch_steps_total\{[^}]*\} 50\n")
        process.communicate("\n", timeout=harness.PATIENCE_SECONDS)
        self.assertEqual(timeline_files.steps(self.out), list(range(50)))

    def scalars(self, metrics):
        found = dict(re.findall(r'trainwatch_scalar\{[^}]*tag="([^"]*)"[^}]*\} (\S+)', metrics))
        return {tag: float(value) for tag, value in found.items()} if {"train/loss", "lm loss"} <= set(found) and re.search(
            r"trainwatch_steps_total\{[^}]*\} 50\n", metrics) and float(found["lm loss"]) == 8 / 50 else None


if __name__ == "__main__":
    harness.main()
