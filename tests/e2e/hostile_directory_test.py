# SPDX-License-Identifier: Apache-2.0
"""A watched directory with links, special files, names that are no text, and more files than there is
room for: a good job beside them gives the same alerts, and what is not read is shown once."""

import json
import os
import shutil
import socket

import harness

ODD_NAMES = [b"new\nline.jsonl", b"\x1b[31mred.jsonl", b"quote\"back\\slash.jsonl", b"\xff\xfe.jsonl",
             b"n" * 249 + b".jsonl"]
FOREIGN_SECONDS = 30  # files that nobody wrote to make room only after a minute
LOG_LINES_PER_ODD_PATH = 1


class HostileDirectoryTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        self.job = os.path.join(self.directory, "job")
        shutil.copytree(harness.JOB, self.job, ignore=shutil.ignore_patterns("*.py"))
        self.alerts = harness.final(harness.replay(self.job))
        self.assertGreater(len(self.alerts), 0)

    def path(self, name):
        return os.path.join(self.directory, name)

    def check_good_job(self, *arguments):
        """`run` and `replay` give the alerts of the good job; returns the status of `run`."""
        replayed = harness.replay(*arguments, self.directory)
        self.assertEqual(sorted(alert["rule"] for alert in replayed),
                         sorted(alert["rule"] for alert in harness.replay(self.job)))
        with harness.Trainwatch(self.directory, *arguments, state=self.state) as trainwatch:
            harness.wait_for(lambda: self.read_of_job(trainwatch), "the job is read")
            status = trainwatch.json("/api/v1/status")
            self.assertEqual(trainwatch.stop(), 0)
            return status, trainwatch.log()

    def read_of_job(self, trainwatch):
        files = {file["path"]: file["offset"] for file in trainwatch.json("/api/v1/status")["files"]}
        for folder, _, names in os.walk(self.job):
            for name in names:
                path = os.path.join(folder, name)
                if files.get(path, -1) != os.path.getsize(path):
                    return False
        return True

    def test_links_and_special_files(self):  # catalogue 61, 62
        with open(os.path.join(os.path.dirname(self.directory), "outside.json"), "w") as file:
            file.write("secret of another user\n")
        os.symlink("../outside.json", self.path("link.json"))
        os.symlink("/etc", self.path("etc"))
        os.symlink(".", self.path("loop"))
        os.mkfifo(self.path("fifo.jsonl"))
        os.mkdir(self.path("directory.json"))
        with socket.socket(socket.AF_UNIX) as listener:
            here = os.getcwd()
            os.chdir(self.directory)  # the address may have 107 bytes
            listener.bind("socket.json")
            os.chdir(here)
            status, log = self.check_good_job()
        skipped = {os.path.basename(each["path"]): each["reason"] for each in status["skipped"]["first"]}
        self.assertEqual(skipped, {"link.json": "symbolic_link", "etc": "symbolic_link",
                                   "loop": "symbolic_link", "fifo.jsonl": "not_regular",
                                   "socket.json": "not_regular"})
        self.assertNotIn("secret", json.dumps(status))
        for name in skipped:
            self.assertEqual(log.count("/" + name + " "), LOG_LINES_PER_ODD_PATH, log)

    def test_a_hard_link(self):  # catalogue 11
        with open(self.path("one.json"), "w") as file:
            file.write('{"step": 1}\n')
        os.link(self.path("one.json"), self.path("two.json"))
        with harness.Trainwatch(self.directory) as trainwatch:
            skipped = harness.wait_for(lambda: trainwatch.json("/api/v1/status")["skipped"]["first"], "it is said")
            self.assertEqual([(os.path.basename(each["path"]), each["reason"]) for each in skipped],
                             [("two.json", "same_file")])
            self.assertEqual(trainwatch.metric("trainwatch_files_skipped"), 1)
            for name in ("three.json", "four.json"):  # each takes another scan
                shutil.copy(self.path("one.json"), self.path(name))
                trainwatch.wait_until_read(but=[self.path("two.json")])
            self.assertEqual(trainwatch.log().count("/two.json "), LOG_LINES_PER_ODD_PATH)

    def test_names_of_any_bytes(self):  # catalogue 64
        for name in ODD_NAMES:
            with open(os.path.join(self.directory.encode(), name), "w") as file:
                file.write('{"step": 1}\n')
        _, log = self.check_good_job()
        self.assertNotIn("\x1b", log)

    def test_more_empty_files_than_there_is_room_for(self):  # catalogue 52
        config = os.path.join(os.path.dirname(self.directory), "trainwatch.yaml")
        with open(config, "w") as file:
            file.write("tail: {max_files: 500}\n")
        crowd = self.path("a")
        os.mkdir(crowd)
        for number in range(2000):
            with open(os.path.join(crowd, "%04d.json" % number), "w"):
                pass
        status, _ = self.check_good_job("--config.file=" + config)
        self.assertEqual(status["limits"]["files_dropped"], 0)

    def test_a_job_that_comes_to_more_foreign_files_than_there_is_room_for(self):  # catalogue 98
        config = os.path.join(os.path.dirname(self.directory), "trainwatch.yaml")
        with open(config, "w") as file:
            file.write("tail: {max_files: 500}\n")
        for number in range(1000):
            with open(self.path("%04d.json" % number), "w") as file:
                file.write('{"image": %d, "boxes": [[1, 2, 3, 4]], "label": "cat"}\n' % number)
        with harness.Trainwatch(self.directory, "--config.file=" + config) as trainwatch:
            shutil.copytree(harness.JOB, self.path("later"), ignore=shutil.ignore_patterns("*.py"))

            def rules():
                alerts = trainwatch.json("/api/v1/alerts?after=0")["alerts"]
                return {alert["rule"] for alert in alerts if not alert["rule"].startswith("_self/")}
            expected = {alert["rule"] for alert in harness.replay(self.path("later"))}
            harness.wait_for(lambda: rules() == expected, "the alerts of the job", FOREIGN_SECONDS)


if __name__ == "__main__":
    harness.main()
