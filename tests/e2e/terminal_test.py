# SPDX-License-Identifier: Apache-2.0
"""`run`, `follow` and `replay` on a terminal, which is a pseudo terminal here, and in a pipe."""

import json
import os
import re
import signal
import subprocess
import threading
import unittest

import harness
from pty_screen import Screen

BLOCKS = "[▁▂▃▄▅▆▇█]"
SENTENCE = r"Running: [\d.]+ steps/s, step \d+; at 21 Nov 07:57 UTC \(.* ago\) a step waited for data on rank 0"


class TerminalTest(harness.JobTest):
    def run_command(self, *arguments):
        return (harness.binary(), "run", "--watch=" + self.directory, "--storage.path=" + self.state,
                "--web.listen-address=127.0.0.1:0", *arguments)

    def play(self, speed=30):
        """Plays the recorded job in the background."""
        thread = threading.Thread(target=harness.play.play, args=(harness.JOB, self.directory),
                                  kwargs={"speed": speed})
        thread.start()
        self.addCleanup(thread.join)
        return thread

    def test_replay(self):
        with Screen(harness.binary(), "replay", harness.JOB, columns=70) as screen:
            self.assertEqual(screen.wait(), 0)
            text, lines = screen.text(), screen.lines()
        self.assertIn("\x1b[33mWARNING\x1b[0m at", screen.raw)
        self.assertRegex(text, r"WARNING at 07:57:4\d UTC on rank 0: Step 350 took 3.75 s instead of 89.8 ms")
        self.assertRegex(text, r"Cause: It waited 3.65 s for its input, .* \(input_wait, 100 %\) Next: Look at")
        self.assertRegex(text, r"Finished at step 599 after 61 s \(rank 0, until 07:58:13 UTC\); "
                               r"8 % was lost, mostly waiting for data\.")
        self.assertRegex(text, r"\d alerts?: 0 critical, \d warning, \d info\.")
        self.assertRegex(screen.raw, r"\[#*\.*\] \d+ %, [\d.]+ [MGk]B/s, .* left")
        self.assertTrue([line for line in lines if re.match(r"Read [\d.]+ [kM]B in .*/s\.$", line)], lines)
        self.assertFalse([line for line in lines if "[#" in line], "the bar stays")

    def test_replay_in_a_pipe_and_by_request(self):
        for line in harness.run("replay", harness.JOB).stdout.splitlines():
            self.assertIn("id", json.loads(line))
        self.assertIn("WARNING at", harness.run("replay", harness.JOB, "--format=text").stdout)
        self.assertNotIn("\x1b", harness.run("replay", harness.JOB, "--format=text").stdout)
        env = dict(os.environ, TRAINWATCH_FORMAT="text")
        self.assertIn("WARNING at", harness.run("replay", harness.JOB, env=env).stdout)
        with Screen(harness.binary(), "replay", harness.JOB, "--format=json", columns=60_000) as screen:
            self.assertEqual(screen.wait(), 0)
            alerts = [json.loads(line) for line in screen.lines() if line.startswith("{")]
        self.assertEqual(alerts, harness.replay(harness.JOB))

    def test_no_colour_and_no_rewriting(self):
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            with Screen(harness.binary(), "replay", harness.JOB, env=env) as screen:
                self.assertEqual(screen.wait(), 0)
                self.assertIn("WARNING at", screen.text())
                self.assertNotRegex(screen.raw, r"\x1b\[[\d;]+m")
        self.assertNotIn("\x1b", screen.raw)
        self.assertNotIn("Read ", screen.raw)   # no bar, no total

    def test_run(self):
        with Screen(*self.run_command(), columns=100) as screen:
            screen.wait_for(r"Watching %s Page, metrics and API: http://127\.0\.0\.1:\d+/" % re.escape(self.directory))
            self.play()
            screen.wait_for(r"WARNING since 21 Nov 07:57 UTC on rank 0: .*350.*Cause: .*Next: ")
            screen.wait_for(BLOCKS + "+ " + SENTENCE[:60])
            lines = screen.lines()
            self.assertRegex(lines[-1], "^%s+ Running: " % BLOCKS)
            self.assertLess(len(lines[-1]), 100)
            self.assertEqual(screen.end(), 0)
            self.assertRegex(screen.text(), "msg=stopping .*%s" % SENTENCE)
            self.assertEqual(screen.lines()[-1], "")
        drawn = re.findall(r"\r\x1b\[K" + BLOCKS, screen.raw)
        print("state line drawn %d times" % len(drawn))

    def test_the_log_goes_elsewhere(self):
        with open(os.path.join(self.state + ".log"), "w+") as log, Screen(*self.run_command(), stderr=log) as screen:
            self.play(speed=0)
            screen.wait_for(SENTENCE[:40])
            self.assertEqual(screen.end(signal.SIGTERM), 0)
            self.assertNotIn("level=", screen.raw)
            log.seek(0)
            self.assertIn("msg=listening", log.read())

    def test_run_says_what_it_does_not_see(self):
        with Screen(harness.binary(), "run", "--watch=/typo", "--storage.path=" + self.state,
                    "--web.listen-address=127.0.0.1:0") as screen:
            screen.wait_for("Page, metrics and API")
            first = [line for line in screen.lines() if not line.startswith("ts=")][0]
            self.assertEqual(first, "/typo does not exist: nothing is read from it until it does.")
            screen.wait_for(r"Monitoring is impaired: nothing is read from /typo: it does not exist\.")
            screen.wait_for(r"\[monitoring impaired\] No training step has been seen yet\.")
            self.assertEqual(screen.end(), 0)

    def test_run_on_a_dumb_terminal(self):
        with Screen(*self.run_command(), env={"TERM": "dumb"}) as screen:
            self.play(speed=0)
            screen.wait_for("WARNING since")
            screen.wait_for(r"Running: [\d.]+ steps/s")
            self.assertEqual(screen.end(), 0)
            self.assertNotIn("\x1b", screen.raw)
            self.assertNotRegex(screen.raw, BLOCKS)

    def test_run_in_a_pipe(self):
        process = subprocess.Popen(self.run_command(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        try:
            self.play(speed=0)
            alert = json.loads(process.stdout.readline())
            self.assertEqual((alert["severity"], alert["subject"]["rank"]), ("warning", 0))
        finally:
            process.terminate()
            self.assertEqual(process.wait(harness.PATIENCE_SECONDS), 0)

    def test_run_into_a_file_says_nothing_there(self):
        with open(self.state + ".out", "w+") as out:
            process = subprocess.Popen(self.run_command(), stdout=out, stderr=subprocess.PIPE, text=True)
            try:
                harness.wait_for(lambda: "first scan" in process.stderr.readline(), "it is ready")
            finally:
                process.terminate()
                process.wait(harness.PATIENCE_SECONDS)
                process.stderr.close()
            out.seek(0)
            self.assertEqual(out.read(), "")

    def test_follow(self):
        with harness.Trainwatch(self.directory) as trainwatch, \
                Screen(harness.binary(), "follow", trainwatch.url, columns=90) as screen:
            screen.wait_for("No training step has been seen yet")
            self.play()
            screen.wait_for(r"WARNING since 21 Nov 07:57 UTC on rank 0: .*350.*Cause: .*Next: ")
            screen.wait_for(BLOCKS + "+ Running: ")
            self.assertEqual(trainwatch.stop(), 0)
            screen.wait_for("trainwatch follow: connection lost: .*, reconnecting")
            self.assertEqual(screen.end(), 0)
            self.assertEqual(screen.lines()[-1], "")

    def test_follow_in_a_pipe(self):
        with harness.Trainwatch(self.directory) as trainwatch:
            for form in ("text", "json"):
                process = subprocess.Popen([harness.binary(), "follow", trainwatch.url, "--after=0", "--format=" + form],
                                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                try:
                    if form == "text":
                        self.play(speed=0)
                        harness.wait_for(lambda: "WARNING since" in process.stdout.readline(), "a sentence")
                    else:
                        self.assertIn("id", json.loads(process.stdout.readline()))
                finally:
                    process.terminate()
                    self.assertEqual(process.wait(harness.PATIENCE_SECONDS), 0)
                    process.stdout.close()


if __name__ == "__main__":
    harness.main()
