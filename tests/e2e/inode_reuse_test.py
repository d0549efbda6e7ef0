# SPDX-License-Identifier: Apache-2.0
"""A file that got the inode number of a deleted one is read from its beginning: on the file system of the
temporary directory and on an overlay, with and without trainwatch running at the time."""

import os
import subprocess
import tempfile

import harness

LINE = '{"step": %d, "text": "%s"}\n'


class InodeReuseTest(harness.JobTest):
    def write(self, path, text, lines):
        with open(path, "w") as file:
            for step in range(lines):
                file.write(LINE % (step, text))

    def replace(self, path, text):
        """Returns whether the number was used again."""
        before = os.stat(path).st_ino
        os.remove(path)
        self.write(path, text, 200)
        return os.stat(path).st_ino == before

    def check(self, directory):
        path = os.path.join(directory, "log.jsonl")
        self.write(path, "old", 100)
        first = os.path.getsize(path)
        with harness.Trainwatch(directory, state=self.state) as trainwatch:
            trainwatch.wait_until_read()
            self.assertEqual(trainwatch.metric("trainwatch_input_bytes_total"), first)
            reused = self.replace(path, "new")  # case 1: while it runs
            second = os.path.getsize(path)
            harness.wait_for(
                lambda: trainwatch.metric("trainwatch_input_bytes_total") == first + second,
                "the new file is read from its beginning")
            self.assertEqual(trainwatch.stop(), 0)
        reused = self.replace(path, "end") or reused  # cases 2 and 3: while it does not
        with harness.Trainwatch(directory, state=self.state) as trainwatch:
            harness.wait_for(
                lambda: trainwatch.metric("trainwatch_input_bytes_total") == first + 2 * second,
                "the new file is read from its beginning")
        print("%s: inode number %s" % (directory, "used again" if reused else "not used again"))

    def test_here(self):
        self.check(self.directory)

    def test_on_an_overlay(self):  # case 3; emulated in tailer_catalogue_test.cc
        scratch = tempfile.mkdtemp(dir=os.path.dirname(self.directory))
        parts = [os.path.join(scratch, name) for name in ("lower", "upper", "work", "merged")]
        for part in parts:
            os.mkdir(part)
        options = "lowerdir=%s,upperdir=%s,workdir=%s" % tuple(parts[:3])
        if subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, parts[3]],
                          stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("an overlay cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", "--lazy", parts[3]], check=True)
        self.check(parts[3])


if __name__ == "__main__":
    harness.main()
