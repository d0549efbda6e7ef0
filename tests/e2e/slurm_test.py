# SPDX-License-Identifier: Apache-2.0
"""The Slurm prolog and epilog, called as slurmd does: a sidecar for the time of the job, known to Prometheus, then a report.
tests/peers/slurm_test.py lets a real Slurm call them."""

import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

import harness

SCRIPTS = os.path.join(harness.ROOT, "config", "slurm")
JOB_ID = 4711


class SlurmTest(harness.JobTest):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        self.watched = os.path.join(self.scratch, "jobs", str(JOB_ID), "gpu01")
        self.port = harness.free_port()
        self.configure()
        self.addCleanup(self.call, "epilog.sh")  # whatever happens, the sidecar ends

    def configure(self, **settings):
        os.makedirs(os.path.join(self.scratch, "targets"), exist_ok=True)
        given = {"directory": self.scratch + "/jobs/$SLURM_JOB_ID", "state": self.scratch + "/state",
                 "run": self.scratch + "/run", "targets": self.scratch + "/targets", "ports": 1000,
                 "binary": os.path.abspath(harness.binary()), "first_port": self.port - JOB_ID % 1000, **settings}
        self.conf = os.path.join(self.scratch, "trainwatch.conf")
        with open(self.conf, "w") as file:
            file.writelines('%s="%s"\n' % pair for pair in given.items())

    def call(self, script, **more):
        """Returns what it printed. Like slurmd it waits until nobody holds its output."""
        env = {"PATH": os.environ["PATH"], "TRAINWATCH_SLURM_CONF": self.conf, "SLURM_JOB_ID": str(JOB_ID),
               "SLURM_JOB_USER": getpass.getuser(), "SLURMD_NODENAME": "gpu01", "SLURM_JOB_NAME": "bert", **more}
        done = subprocess.run([os.path.join(SCRIPTS, script)], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=harness.PATIENCE_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def sidecar(self):
        """pid and port"""
        with open(os.path.join(self.scratch, "run", str(JOB_ID))) as file:
            pid, _, port = map(int, file.read().split())
        return pid, port

    def ended(self, pid):
        return not os.path.exists("/proc/%d" % pid)

    @unittest.skipIf(shutil.which("shellcheck") is None, "shellcheck is not installed")
    def test_shellcheck(self):
        done = subprocess.run(["shellcheck", "-x", "config/slurm/prolog.sh", "config/slurm/epilog.sh", "packaging/rootfs.sh"],
                              cwd=harness.ROOT, stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.stdout, "")

    def test_a_job_from_its_prolog_to_its_epilog(self):
        self.assertEqual(self.call("prolog.sh"), "")
        pid, port = self.sidecar()
        self.assertEqual(port, self.port)
        self.assertEqual(self.call("prolog.sh", SLURM_LOCALID="0", SLURM_PROCID="0"),
                         "export TRAINWATCH_DIRECTORY=%s\n" % self.watched)
        with open(os.path.join(self.scratch, "targets", "%d-gpu01.json" % JOB_ID)) as file:
            group, = json.load(file)
        self.assertEqual(group["targets"], ["gpu01:%d" % port])
        self.assertEqual(group["labels"]["slurm_job"], str(JOB_ID))

        shutil.copytree(harness.JOB, self.watched, dirs_exist_ok=True)
        url = "http://127.0.0.1:%d" % port
        alerts = harness.wait_for(lambda: json.loads(harness.fetch(url + "/api/v1/alerts?after=0"))["alerts"], "alerts")
        self.assertEqual({alert["subject"]["job"] for alert in alerts}, {"bert/%d" % JOB_ID})

        self.assertEqual(self.call("epilog.sh"), "")
        self.assertTrue(self.ended(pid))
        with open(os.path.join(self.watched, "trainwatch-report.html")) as file:
            self.assertIn("bert/%d" % JOB_ID, file.read())
        for left in ("run", "state", "targets"):
            self.assertEqual(os.listdir(os.path.join(self.scratch, left)), [])
        self.assertEqual(self.call("epilog.sh"), "")  # slurmd may call it again

    def test_the_log_of_a_job_that_was_requeued(self):
        os.makedirs(os.path.join(self.scratch, "run"))
        with open(os.path.join(self.scratch, "run", "%d.log" % JOB_ID), "w") as log:
            log.write("msg=listening\n")
        self.test_a_port_that_is_taken()

    def test_a_port_that_is_taken(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", self.port))
            taken.listen()
            self.call("prolog.sh")
            self.assertGreater(self.sidecar()[1], self.port)

    def test_a_sidecar_that_was_killed_or_does_not_end(self):
        self.call("prolog.sh")
        pid, _ = self.sidecar()
        os.kill(pid, signal.SIGKILL)
        harness.wait_for(lambda: self.ended(pid), "it has ended")
        self.call("epilog.sh")
        self.configure(drain_seconds=-4)
        self.call("prolog.sh")
        self.assertEqual(os.listdir(os.path.join(self.scratch, "run")), ["%d.log" % JOB_ID])  # a bad flag
        self.configure()
        self.call("prolog.sh")
        pid, _ = self.sidecar()
        os.kill(pid, signal.SIGSTOP)
        self.configure(drain_seconds=-4)
        self.call("epilog.sh")  # which waits for it drain_seconds and five
        harness.wait_for(lambda: self.ended(pid), "it was killed")

    def test_another_process_with_its_number_is_left_alone(self):
        self.call("prolog.sh")
        pid, port = self.sidecar()
        os.kill(pid, signal.SIGTERM)
        harness.wait_for(lambda: self.ended(pid), "it has ended")
        with subprocess.Popen(["sleep", "60"]) as other:
            with open(os.path.join(self.scratch, "run", str(JOB_ID)), "w") as file:
                file.write("%d 1 %d\n" % (other.pid, port))
            self.call("epilog.sh")
            self.assertIsNone(other.poll())
            other.kill()

    def test_no_job_fails_for_it(self):
        self.configure(binary=self.scratch + "/none")
        self.call("prolog.sh")
        self.configure(directory="/proc/none")
        self.call("prolog.sh")
        self.call("prolog.sh", SLURM_JOB_ID="; rm -rf /")
        self.configure()
        os.makedirs(os.path.join(self.scratch, "run", "%d.log" % JOB_ID))
        self.assertEqual(self.call("prolog.sh"), "")


if __name__ == "__main__":
    if shutil.which("setpriv") is None:
        harness.skip("setpriv is not installed")
    harness.main()
