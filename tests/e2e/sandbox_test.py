# SPDX-License-Identifier: Apache-2.0
"""What the running daemon has given up: files, system calls, root."""

import os
import pwd
import shutil
import tempfile

import harness
import spiky_job

NOBODY = pwd.getpwnam("nobody")


def status_of(pid, task=None):
    path = "/proc/%d/status" % pid if task is None else "/proc/%d/task/%s/status" % (pid, task)
    with open(path) as file:
        return dict(line.split(":", 1) for line in file.read().splitlines() if ":" in line)


class SandboxTest(harness.JobTest):
    def test_says_what_is_enforced_and_every_thread_is_inside(self):
        spiky_job.SpikyJob(self.directory, 20, seed=1).write_all()
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            trainwatch.wait_until_read()
            enforced = trainwatch.json("/api/v1/status")["sandbox"]
            self.assertIn('msg="sandbox entered"', trainwatch.log()) if "," in enforced else None
            if "seccomp" in enforced:
                for task in os.listdir("/proc/%d/task" % trainwatch.pid):
                    found = status_of(trainwatch.pid, task)
                    self.assertEqual((found["Seccomp"].strip(), found["NoNewPrivs"].strip()), ("2", "1"))
            self.assertEqual(trainwatch.stop(), 0)
        print("enforced: " + enforced)

    def test_can_be_switched_off(self):
        with harness.Trainwatch(self.directory, "--process.sandbox=false") as trainwatch:
            self.assertEqual(trainwatch.json("/api/v1/status")["sandbox"], "off")
            self.assertEqual(status_of(trainwatch.pid)["Seccomp"].strip(), "0")

    def test_a_root_that_comes_later_or_is_made_anew_is_read(self):
        root = os.path.join(self.directory, "not", "yet", "there")
        with harness.Trainwatch(root) as trainwatch:
            for ranks in (1, 2):
                os.makedirs(root)
                spiky_job.SpikyJob(root, 20, seed=ranks, ranks=ranks).write_all()
                trainwatch.wait_until_read()
                shutil.rmtree(os.path.join(self.directory, "not"))
            self.assertEqual(trainwatch.metric("trainwatch_read_errors_total"), 0)

    def test_a_configuration_that_is_replaced_is_reloaded(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trainwatch.yaml")

            def write(text):
                with open(path + ".new", "w") as file:
                    file.write(text)
                os.replace(path + ".new", path)
            write("log: {level: info}\n")
            with harness.Trainwatch(self.directory, "--config.file=" + path) as trainwatch:
                write("log: {level: debug}\n")
                trainwatch.signal(1)
                harness.wait_for(lambda: "configuration reloaded" in trainwatch.log(), "it is reloaded")

    def test_root_becomes_the_user_that_is_named(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        spiky_job.SpikyJob(self.directory, 20, seed=1).write_all()
        os.chmod(os.path.dirname(self.directory), 0o755)
        os.mkdir(self.state)
        os.chown(self.state, NOBODY.pw_uid, NOBODY.pw_gid)
        with harness.Trainwatch(self.directory, "--process.user=nobody", state=self.state) as trainwatch:
            trainwatch.wait_until_read()
            found = status_of(trainwatch.pid)
            self.assertEqual(found["Uid"].split(), [str(NOBODY.pw_uid)] * 4)
            self.assertEqual(found["Gid"].split(), [str(NOBODY.pw_gid)] * 4)
            self.assertEqual(int(found["CapPrm"], 16), 0)
            self.assertNotIn("running as root", trainwatch.log())
        with harness.Trainwatch(self.directory) as trainwatch:
            self.assertIn("running as root", trainwatch.log())

    def test_a_user_that_cannot_be_is_refused(self):
        done = harness.run("run", "--watch=" + self.directory, "--process.user=no-such-user",
                           "--storage.path=" + self.state)
        self.assertEqual((done.returncode, done.stderr.strip()), (78, "there is no user no-such-user"))
        self.assertFalse(os.path.exists(self.state))


if __name__ == "__main__":
    harness.main()
