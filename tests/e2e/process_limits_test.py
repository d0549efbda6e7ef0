# SPDX-License-Identifier: Apache-2.0
"""What the process of `trainwatch run` survives: readers of its log that go away or stop, and limits
on files, memory and descriptors."""

import http.client
import os
import re
import resource
import signal
import subprocess
import time

import harness
import judge
import spiky_job

FEWEST_DESCRIPTORS = 32
MIB = 1 << 20


def data_bytes(pid):
    """What RLIMIT_DATA counts."""
    with open("/proc/%d/status" % pid) as status:
        return int(re.search(r"VmData:\s*(\d+)", status.read()).group(1)) * 1024


class ProcessLimitsTest(harness.JobTest):
    def start(self, *arguments, stderr=subprocess.PIPE, limit=None):
        """`trainwatch run` without waiting for anything."""
        process = subprocess.Popen(
            [harness.binary(), "run", "--watch=" + self.directory, "--storage.path=" + self.state,
             "--web.listen-address=127.0.0.1:0", *arguments],
            stdout=subprocess.DEVNULL, stderr=stderr,
            preexec_fn=limit and (lambda: resource.setrlimit(*limit)))
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def published_everything(self):
        """Another one, without limits, has everything; all of it once."""
        replayed = harness.replay(self.directory, *spiky_job.RULES)
        with harness.Trainwatch(self.directory, *spiky_job.RULES, state=self.state) as trainwatch:
            client = judge.Client(trainwatch.url)
            client.poll_until_all(replayed)
        found = judge.judge(client.alerts, replayed)
        self.assertEqual(set(found.values()), {0}, found)

    def test_the_reader_of_the_log_is_gone(self):
        process = self.start("--log.level=debug")
        process.stderr.readline()
        process.stderr.close()
        for _ in range(3):
            process.send_signal(signal.SIGHUP)  # each is a line
            time.sleep(0.1)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(harness.PATIENCE_SECONDS), 0)

    def test_the_log_is_a_full_pipe(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        process = self.start(stderr=writer)
        harness.wait_for(lambda: b"scan done" in os.read(reader, 4096), "it runs")
        os.set_blocking(writer, False)
        try:
            while True:
                os.write(writer, b"x" * 1024)
        except BlockingIOError:
            os.set_blocking(writer, True)
        os.close(writer)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(harness.PATIENCE_SECONDS), 0)

    def test_too_few_descriptors_are_refused(self):
        for limit in (4, 7, 12, 16, 20, FEWEST_DESCRIPTORS - 1):
            process = self.start(limit=(resource.RLIMIT_NOFILE, (limit, limit)))
            _, text = process.communicate(timeout=harness.PATIENCE_SECONDS)
            self.assertEqual(process.returncode, 78 if limit > 6 else process.returncode, text)
            self.assertIn(process.returncode, (78, 127))  # 127: the loader itself has too few
            if process.returncode == 78:
                self.assertIn(b"at most %d files may be open" % limit, text)

    def test_the_fewest_descriptors_are_enough(self):
        spiky_job.SpikyJob(self.directory, 100, seed=1).write_all()
        prefix = ["prlimit", "--nofile=%d" % FEWEST_DESCRIPTORS]
        with harness.Trainwatch(self.directory, prefix=prefix, state=self.state) as trainwatch:
            trainwatch.wait_until_read()
            self.assertEqual(trainwatch.stop(), 0)

    def test_a_file_size_limit_is_a_full_disk(self):
        """Case 70, by SIGXFSZ and EFBIG."""
        job = spiky_job.SpikyJob(self.directory, 2000, seed=1)
        with harness.Trainwatch(self.directory, *spiky_job.RULES, state=self.state) as trainwatch:
            size = max(os.path.getsize(os.path.join(self.state, name)) for name in os.listdir(self.state))
            resource.prlimit(trainwatch.pid, resource.RLIMIT_FSIZE, (size + 8192, resource.RLIM_INFINITY))
            job.write_all()
            harness.wait_for(lambda: trainwatch.metric("trainwatch_state_degraded") == 1, "it cannot store")
            resource.prlimit(trainwatch.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
            harness.wait_for(lambda: trainwatch.metric("trainwatch_state_degraded") == 0, "it stores again")
            self.assertEqual(trainwatch.stop(), 0)
        self.published_everything()

    def answers(self, trainwatch):
        try:
            return trainwatch.json("/api/v1/status")
        except (OSError, http.client.HTTPException):
            return trainwatch.alive()

    def test_memory_runs_out_at_any_time(self):
        """Case 74: it ends with a sentence, or lives; the next one has lost and doubled nothing."""
        job = spiky_job.SpikyJob(self.directory, 3000, seed=1)
        ends = []
        for spare in (0, 100, 200, 300, 400, 600, 800, 1200, 1600):
            with harness.Trainwatch(self.directory, *spiky_job.RULES, state=self.state) as trainwatch:
                now = data_bytes(trainwatch.pid)
                resource.prlimit(trainwatch.pid, resource.RLIMIT_DATA,
                                 (now + spare * 1024, resource.RLIM_INFINITY))
                job.write_some(400)
                until = time.monotonic() + 0.8
                harness.wait_for(lambda: not trainwatch.alive() or time.monotonic() > until, "some time passes")
                if spare == 0:  # an answer takes a thread's stack, which is certainly more than there is
                    harness.wait_for(lambda: not self.answers(trainwatch), "memory has run out")
                code = trainwatch.stop() if trainwatch.alive() else trainwatch.wait()
                self.assertIn(code, (0, 1), trainwatch.log())
                if code == 1:
                    self.assertIn("thread failed: ", trainwatch.log())
                ends.append(code)
        job.write_all()
        self.published_everything()
        print("exit codes: %s" % ends)
        self.assertIn(1, ends)

    def test_memory_is_too_little_from_the_start(self):
        for limit in (24, 28, 32, 40, 48):  # with less, not even the libraries are loaded
            process = self.start(limit=(resource.RLIMIT_AS, (limit * MIB, limit * MIB)))
            text = b""
            for line in process.stderr:  # until it ends
                text += line
                if b"msg=listening" in line:
                    process.send_signal(signal.SIGTERM)
            process.stderr.close()
            process.wait(harness.PATIENCE_SECONDS)
            self.assertIn(process.returncode, (0, 1), text)
            self.assertNotIn(b"terminate called", text)


if __name__ == "__main__":
    harness.main()
