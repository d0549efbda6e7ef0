# SPDX-License-Identifier: Apache-2.0
"""A real Slurm (slurmctld and slurmd of Debian, one node) runs a job as another user, with the prolog and epilog of config/slurm."""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness  # noqa: E402

USER = "nobody"
CONF = """
ClusterName=test
SlurmctldHost=%(host)s(127.0.0.1)
SlurmctldPort=%(controller)d
SlurmdPort=%(daemon)d
AuthType=auth/none
CredType=cred/none
MpiDefault=none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=%(scratch)s/controller
SlurmdSpoolDir=%(scratch)s/spool
SlurmctldPidFile=%(scratch)s/slurmctld.pid
SlurmdPidFile=%(scratch)s/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
Prolog=%(prolog)s
Epilog=%(epilog)s
TaskProlog=%(prolog)s
PrologFlags=Alloc
NodeName=%(host)s NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
# What a job does: trains, and says where.
JOB = """#!/bin/bash
srun sh -c 'cp -r %(recorded)s/. "$TRAINWATCH_DIRECTORY/" && echo "$TRAINWATCH_DIRECTORY" >%(scratch)s/out/where'
while [ ! -e %(scratch)s/out/end ]; do sleep 0.1; done
"""


class SlurmTest(harness.JobTest):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        os.chmod(self.scratch, 0o755)
        user = pwd.getpwnam(USER)
        for name in ("controller", "spool", "jobs", "out", "targets", "scripts"):
            os.mkdir(os.path.join(self.scratch, name))
        for name in ("jobs", "out"):
            os.chown(os.path.join(self.scratch, name), user.pw_uid, user.pw_gid)
        recorded = shutil.copytree(harness.JOB, self.path("recorded"))
        shutil.copy(harness.binary(), self.path("trainwatch"))
        scripts = self.path("scripts")
        for name in ("prolog.sh", "epilog.sh", "common.sh"):
            shutil.copy(os.path.join(harness.ROOT, "config", "slurm", name), scripts)
        self.names = {"scratch": self.scratch, "host": socket.gethostname().split(".")[0],
                      "prolog": scripts + "/prolog.sh", "epilog": scripts + "/epilog.sh",
                      "controller": harness.free_port(), "daemon": harness.free_port(), "recorded": recorded}
        self.write("slurm.conf", CONF % self.names)
        self.write("trainwatch.conf", "".join("%s=%s\n" % pair for pair in {
            "directory": self.path("jobs/$SLURM_JOB_ID"), "state": self.path("state"), "run": self.path("run"),
            "binary": self.path("trainwatch"), "targets": self.path("targets"),
            "first_port": harness.free_port()}.items()))
        # slurmd calls its scripts with an environment of its own.
        common = self.path("scripts/common.sh")
        with open(common) as file:
            text = file.read()
        self.write("scripts/common.sh", text.replace("/etc/slurm/trainwatch.conf", self.path("trainwatch.conf")))
        self.env = dict(os.environ, SLURM_CONF=self.path("slurm.conf"))
        self.addCleanup(self.write, "out/end", "")  # ends the job's step, which outlives slurmd

    def path(self, name):
        return os.path.join(self.scratch, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def start(self, program, *arguments):
        log = open(self.path(program + ".log"), "w")
        self.addCleanup(log.close)
        process = subprocess.Popen([program, "-D", "-f", self.path("slurm.conf"), *arguments], env=self.env,
                                   stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.send_signal, signal.SIGTERM)
        return process

    def slurm(self, *command):
        done = subprocess.run(command, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60, check=False)
        return done.stdout.strip()

    def test_a_job_of_another_user(self):
        self.start("slurmctld")
        self.start("slurmd", "-N", self.names["host"])
        try:
            harness.wait_for(lambda: "idle" in self.slurm("sinfo", "-h", "-o", "%t"), "the node is idle", 60)
            self.write("job.sh", JOB % self.names)
            number = self.slurm("sbatch", "--parsable", "--uid=" + USER, "--chdir=/tmp", "--output=" + self.path("out/log"),
                                "--job-name=bert", self.path("job.sh"))
            harness.wait_for(lambda: os.path.exists(self.path("out/where")), "the job has written", 60)
        except AssertionError:
            for log in ("slurmctld.log", "slurmd.log"):
                print(log, self.read(log)[-3000:])
            raise
        node = self.names["host"]
        watched = self.path("jobs/%s/%s" % (number, node))
        self.assertEqual(self.read("out/where").strip(), watched)
        pid, _, port = map(int, self.read("run/" + number).split())
        self.assertEqual(os.stat("/proc/%d" % pid).st_uid, pwd.getpwnam(USER).pw_uid)
        group, = json.loads(self.read("targets/%s-%s.json" % (number, node)))
        self.assertEqual(group["targets"], ["%s:%d" % (node, port)])
        self.assertEqual(group["labels"]["slurm_user"], USER)
        alerts = harness.wait_for(
            lambda: json.loads(harness.fetch("http://127.0.0.1:%d/api/v1/alerts?after=0" % port))["alerts"], "alerts")
        jobs = {alert["subject"]["job"] for alert in alerts}
        self.assertIn(jobs, [{number}, {"bert/" + number}])  # as far as this Slurm gives the prolog the job's name
        print("job %s, an alert of %s" % (number, jobs))

        self.write("out/end", "")
        report = os.path.join(watched, "trainwatch-report.html")
        harness.wait_for(lambda: os.path.exists(report) and not os.listdir(self.path("run")), "the epilog has ended", 60)
        self.assertFalse(os.path.exists("/proc/%d" % pid))
        self.assertEqual(os.stat(report).st_uid, pwd.getpwnam(USER).pw_uid)
        self.assertEqual(os.listdir(self.path("targets")), [])
        self.assertEqual(os.listdir(self.path("state")), [])
        harness.wait_for(lambda: "idle" in self.slurm("sinfo", "-h", "-o", "%t"), "the node stays in service", 60)


if __name__ == "__main__":
    for program in ("slurmctld", "slurmd", "sbatch"):
        if shutil.which(program) is None:
            harness.skip(program + " is not installed (Debian: slurmctld, slurmd, slurm-client)")
    if os.geteuid() != 0:
        harness.skip("only root may run slurmd")
    harness.main()
