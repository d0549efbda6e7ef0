# SPDX-License-Identifier: Apache-2.0
"""Stopping while busy, being suspended, and too few file descriptors for all who connect."""

import contextlib
import datetime
import os
import random
import re
import signal
import socket
import subprocess
import time

try:
    import websockets  # noqa: F401
except ImportError:
    websockets = None

import harness
import judge
import spiky_job

CONNECTIONS = 200
TRIES_NEAR_A_SECOND, AT_ONCE = 48, 8


def started_at(trainwatch):
    """When it began to listen, by its log; the engine's first second begins just before."""
    stamp = re.search(r"ts=(\S+?)(\.\d+)?Z .*msg=listening", trainwatch.log())
    whole = datetime.datetime.fromisoformat(stamp.group(1) + "+00:00").timestamp()
    return whole + float(stamp.group(2) or 0)


class StopTest(harness.JobTest):
    def trainwatch(self, *arguments, prefix=()):
        return harness.Trainwatch(self.directory, *spiky_job.RULES, *arguments, state=self.state, prefix=prefix)

    def check(self, alerts):
        found = judge.judge(alerts, harness.replay(self.directory, *spiky_job.RULES))
        self.assertEqual(set(found.values()), {0}, found)

    def test_stops_in_the_middle_of_work(self):
        job = spiky_job.SpikyJob(self.directory, 3000, seed=1)
        with self.trainwatch("--process.drain-timeout=0s") as trainwatch, \
                harness.Listener(trainwatch.stream, "?after=0") as listener:
            job.write_some(400)
            harness.wait_for(listener.alerts, "it is at work")
            trainwatch.signal(signal.SIGSTOP)
            job.write_all()
            trainwatch.signal(signal.SIGTERM)  # with all of that to do
            trainwatch.signal(signal.SIGCONT)
            self.assertEqual(trainwatch.wait(), 0)
            listener.wait_closed()
            self.assertEqual(listener.close_code, 1001)
        before = listener.alerts()
        replayed = harness.replay(self.directory, *spiky_job.RULES)
        self.assertLess(len(before), len(replayed) / 2, "it did not do all that there was to do")
        with self.trainwatch() as trainwatch:
            client = judge.Client(trainwatch.url)
            harness.wait_for(lambda: client.poll() and len(client.alerts) > len(before), "it goes on")
            self.assertEqual(client.alerts[:len(before)],
                             [{key: value for key, value in alert.items() if key != "op"}
                              for alert in before])
            client.poll_until_all(replayed)
        self.check(client.alerts)
        print("stopped after %d of %d messages" % (len(before), len(replayed)))

    def test_stops_while_it_starts(self):
        if not harness.can_trace():
            self.skipTest("strace is not installed, or may not trace here")
        process = subprocess.run(
            ["strace", "-D", "-f", "-o", os.devnull, "-e", "trace=flock", "-e",
             "inject=flock:signal=SIGTERM:when=1", harness.binary(), "run", "--watch=" + self.directory,
             "--storage.path=" + self.state, "--web.listen-address=127.0.0.1:0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=harness.PATIENCE_SECONDS,
            check=False)
        self.assertEqual(process.returncode, 0, process.stderr)

    def test_stops_near_a_whole_second(self):
        dice = random.Random(1)
        for _ in range(TRIES_NEAR_A_SECOND // AT_ONCE):
            with contextlib.ExitStack() as stack:
                running = [stack.enter_context(harness.Trainwatch(self.directory)) for _ in range(AT_ONCE)]
                first = time.time() + 0.1
                for trainwatch in running:  # at its first tick after all have started
                    begun = started_at(trainwatch)
                    trainwatch.due = begun + 1 + int(first - begun) + dice.uniform(-0.004, 0.002)
                for trainwatch in sorted(running, key=lambda one: one.due):
                    time.sleep(max(0, trainwatch.due - time.time()))
                    trainwatch.signal(signal.SIGTERM)
                for trainwatch in running:
                    self.assertEqual(trainwatch.wait(), 0)

    def test_a_suspended_one_catches_up(self):
        job = spiky_job.SpikyJob(self.directory, 100, seed=1)
        with self.trainwatch() as trainwatch, \
                harness.Listener(trainwatch.stream, "?after=0") as listener:
            job.write_some(100)
            harness.wait_for(listener.alerts, "the first alert")
            trainwatch.signal(signal.SIGSTOP)
            until = time.monotonic() + 3
            harness.wait_for(lambda: not job.write_some(5) and time.monotonic() > until, "3 s")
            trainwatch.signal(signal.SIGCONT)
            trainwatch.wait_until_read()
            self.assertEqual(trainwatch.stop(), 0)
            listener.wait_closed()
        self.check(listener.alerts())  # and no alert of trainwatch about itself
        self.assertFalse([alert for alert in listener.alerts() if judge.is_about_itself(alert)])

    def turns_in(self, seconds, pid):
        """How often the process looks for connections or accepts one; None: it may not be traced here."""
        if not harness.can_trace():
            return None
        done = subprocess.run(["timeout", "--signal=INT", str(seconds), "strace", "-qq", "-f", "-e", "trace=accept,accept4,epoll_wait", "-p", str(pid)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        return done.stderr.count("accept") + done.stderr.count("epoll_wait")

    def test_connections_do_not_take_the_files_descriptors(self):
        job = spiky_job.SpikyJob(self.directory, 100, seed=1)
        with self.trainwatch(prefix=["prlimit", "--nofile=64"]) as trainwatch:
            address = trainwatch.url.rsplit("/", 1)[1].split(":")
            log = os.path.join(self.state, "state.db-wal")
            size = os.path.getsize(log)
            idle = [socket.create_connection((address[0], int(address[1]))) for _ in range(CONNECTIONS)]
            try:
                job.write_all()
                harness.wait_for(lambda: os.path.getsize(log) > size + 100000, "it reads and stores")
                turns = self.turns_in(2, trainwatch.pid)
            finally:
                for connection in idle:
                    connection.close()
            replayed = harness.replay(self.directory, *spiky_job.RULES)
            client = judge.Client(trainwatch.url)
            client.poll_until_all(replayed)
            self.assertEqual(trainwatch.metric("trainwatch_read_errors_total"), 0)
            self.assertEqual(trainwatch.metric("trainwatch_state_commit_failures_total"), 0)
            self.assertEqual(trainwatch.stop(), 0)
        self.check(client.alerts)
        print("%d connections, looked at or accepted %s times in 2 s" % (CONNECTIONS, turns))
        if turns is not None:
            self.assertGreater(turns, 0, "strace has seen something")
            self.assertLess(turns, 5000, "it does not try again and again")


if __name__ == "__main__":
    if websockets is None:
        harness.skip("python3-websockets is not installed")
    harness.main()
