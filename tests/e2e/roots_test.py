# SPDX-License-Identifier: Apache-2.0
"""A job is the same job however the directory to watch is written: started again with another
spelling, through a link, with a directory around it or with one inside it as well, trainwatch reads
nothing again, counts nothing twice and raises no alert again."""

import os
import shutil

import harness


class RootsTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        os.rmdir(self.directory)
        shutil.copytree(harness.JOB, self.directory, ignore=shutil.ignore_patterns("*.py"))
        self.link = os.path.join(os.path.dirname(self.directory), "link")
        os.symlink(self.directory, self.link)

    def run_on(self, *roots, state=None):
        """What there is to see once all is read: counters, and every stored alert."""
        more = ["--watch=" + root for root in roots[1:]]
        with harness.Trainwatch(roots[0], *more, state=state or self.state) as trainwatch:
            trainwatch.directory = os.path.realpath(self.directory)
            trainwatch.wait_until_read()
            counted = {name: trainwatch.metric(name) for name in (
                "trainwatch_steps_total", "trainwatch_input_bytes_total",
                "trainwatch_events_total", "trainwatch_file_generations_total",
                "trainwatch_files_tracked", "trainwatch_alerts_total")}
            alerts = trainwatch.json("/api/v1/alerts?after=0")["alerts"]
            self.assertEqual(trainwatch.stop(), 0)
        return counted, alerts

    def test_the_same_job_in_other_words(self):
        relative = os.path.relpath(self.directory)
        first = self.run_on(relative)
        self.assertGreater(first[0]["trainwatch_steps_total"], 500)
        self.assertGreater(len(first[1]), 0)
        for roots in ([os.path.abspath(self.directory)], [self.directory + "/./"], [self.link],
                      [os.path.dirname(self.directory)],
                      [self.directory, os.path.join(self.directory, "system")],
                      [os.path.join(self.link, "system"), relative], [relative]):
            with self.subTest(roots=roots):
                self.assertEqual(self.run_on(*roots), first)

    def test_each_file_belongs_to_the_innermost_root(self):
        system = os.path.join(self.directory, "system")
        on_disk = sum(len(names) for _, _, names in os.walk(system))
        for number, roots in enumerate(([self.directory, system], [system, self.directory],
                                        [self.directory, self.directory, system])):
            state = os.path.join(self.state, str(number))
            more = ["--watch=" + root for root in roots[1:]]
            with self.subTest(roots=roots), harness.Trainwatch(
                    roots[0], *more, state=state) as trainwatch:
                trainwatch.wait_until_read()
                files = {source["source"]: source["files"]
                         for source in trainwatch.json("/api/v1/status")["sources"]}
                self.assertEqual(files[os.path.realpath(system)], on_disk)


if __name__ == "__main__":
    harness.main()
