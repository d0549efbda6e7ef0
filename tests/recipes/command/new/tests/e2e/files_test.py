# SPDX-License-Identifier: Apache-2.0
"""`trainwatch files` counts records."""

import unittest

import harness


class FilesTest(unittest.TestCase):
    def test_recorded_job(self):
        done = harness.run("files", harness.JOB, "--min-records=1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("_pythontimeline.json: ", done.stdout)
        self.assertNotIn(" 0 records", done.stdout)
        self.assertEqual(harness.run("files", "/nowhere").returncode, 1)


if __name__ == "__main__":
    harness.main()
