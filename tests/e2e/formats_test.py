# SPDX-License-Identifier: Apache-2.0
"""`trainwatch formats`, and formats of the configuration in `formats`, `replay` and `check-config`."""

import json
import os
import tempfile
import unittest

import harness

LOGS = os.path.join(harness.ROOT, "tests", "data", "recorded-logs")
CONFIG = r"""formats:
  mine:
    files: ["train-*.txt"]
    kind: regex
    probe: "it/s loss"
    line: 'at (?P<step>\d+) .*loss (?P<loss>\S+)'
    fields: {loss: loss}
"""


class FormatsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def formats(self, *arguments, code=0):
        done = harness.run("formats", "--format=json", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_lists_all(self):
        done = harness.run("formats")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("megatron", "torchtitan_structured", "lightning_csv", "tensorboard", "wandb"):
            self.assertIn(name, done.stdout)
        (listed,) = self.formats()
        names = [each["name"] for each in listed if "kind" in each]
        self.assertIn("detectron2", names)

    def test_recorded_logs_of_real_writers(self):
        found = {os.path.relpath(each["path"], LOGS): each for each in self.formats(LOGS)}
        lightning = found["lightning_csv/lightning_logs/version_0/metrics.csv"]
        self.assertEqual((lightning["format"], lightning["declared"], lightning["records"]), ("csv", "lightning_csv", 12))
        self.assertIn("step, epoch", lightning["why"])
        self.assertEqual(lightning["first"][1], {"tag": "train_loss", "kind": "loss", "value": 1.5672067403793335, "step": 4})
        self.assertEqual(found["keras_csv/training.csv"]["declared"], "keras_csv")
        self.assertEqual(found["hf_trainer/console.log"]["declared"], "huggingface")
        self.assertEqual(found["tensorboardx/events.out.tfevents.1795597538.vm"]["format"], "tensorboard")
        for step in (20, 40):  # what the console says, once more
            self.assertEqual(found["hf_trainer/checkpoint-%d/trainer_state.json" % step]["skipped"], "no format knows it")

    def test_what_nobody_knows_is_skipped(self):
        path = self.write("notes.csv", "name,colour\nfox,red\n")
        self.assertEqual(self.formats(path, code=1), [{"path": path, "skipped": "no format knows it"}])
        self.assertEqual(harness.run("formats", path).stdout, path + ": skipped: no format knows it\n")
        log = self.write("stdout.log", "hello\n")
        self.assertIn("no line is of a known format", self.formats(log, code=1)[0]["skipped"])
        self.assertEqual(harness.run("formats", "/does/not/exist").returncode, 1)
        done = harness.run("replay", self.folder)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", "nothing could be read: 2 files, no records\n"))

    def test_a_log_without_records_has_lines_about_ends(self):
        watchdog = ("[E ProcessGroupNCCL.cpp:566] [Rank %d] Watchdog caught collective operation timeout: "
                    "WorkNCCL(OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800004 milliseconds before timing out.\n")
        (log,) = self.formats(self.write("slurm-1.out", watchdog % 0 + watchdog % 1))
        self.assertEqual((log["why"], log["collectives"], log["notes"]), ("it has lines about ends and collectives", 2, 1))
        kernel = self.write("kern.log", "Sep 21 14:22:01 n12 kernel: NVRM: Xid (PCI:0000:4e:00): 31, pid=4711, name=python3\n")
        self.assertIn("why: it has lines about errors of GPUs\n", harness.run("formats", kernel).stdout)

    def test_the_example_of_the_document(self):
        with open(os.path.join(harness.ROOT, "docs", "formats.md"), encoding="utf-8") as file:
            example = file.read().split("```yaml\n", 1)[1].split("```", 1)[0]
        done = harness.run("check-config", self.write("example.yaml", example))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_formats_of_the_configuration(self):
        config = self.write("c.yaml", CONFIG)
        self.write("train-1.txt", "".join("at %d it/s loss %s\n" % (i, "nan" if i == 30 else "1.5") for i in range(40)))
        self.assertEqual(harness.run("check-config", config).returncode, 0)
        (found,) = self.formats(self.folder, "--config.file=" + config)
        self.assertEqual((found["declared"], found["records"], found["scalars"]), ("mine", 40, 40))
        alerts = [json.loads(line) for line in harness.run("replay", self.folder, "--config.file=" + config).stdout.splitlines()]
        self.assertIn(("loss_nan", 30), [(alert["rule"], alert["step"]) for alert in alerts])
        bad = self.write("bad.yaml", CONFIG.replace("(?P<step>", "(?P<"))
        done = harness.run("check-config", bad)
        self.assertEqual(done.returncode, 78)
        self.assertIn("bad.yaml:6: formats.mine.line: ", done.stderr)
        self.assertEqual(harness.run("replay", self.folder, "--config.file=" + bad).returncode, 78)


if __name__ == "__main__":
    harness.main()
