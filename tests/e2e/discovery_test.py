# SPDX-License-Identifier: Apache-2.0
"""Which files below a watched directory are logs: their contents decide, live and in a replay alike. What was looked at
and left is named, and two copies of one log are one."""

import datetime
import json
import os
import shutil

import harness

TITAN = "[titan] {at:%Y-%m-%d %H:%M:%S},101 - root - INFO - step: {step:2d}  loss: {loss:8.5f}  grad_norm:  1.21  memory: 11.20GiB(14.1%)  tps: {tps:,}  tflops: 80.10  mfu: 8.11%\n"
MEGATRON = (" [{at:%Y-%m-%d %H:%M:%S}] iteration {step:8d}/   10000 | consumed samples: {samples:12d} | "
            "elapsed time per iteration (ms): {ms:.1f} | learning rate: 1.1E-05 | global batch size:   256 | "
            "lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: 1.101 | number of skipped iterations:   0 | "
            "number of nan iterations:   0 |\n")
FAIRSEQ = ("| epoch 001: {step:5d} / 30000 loss={loss:.3f}, nll_loss=4.1, ppl=20.1, wps=32101, ups=4, wpb=3400.0, bsz=110.0, "
           "num_updates={step}, lr=0.0001, gnorm=1.2, clip=0.000, oom=0.000, wall=120, train_wall=110\n")
START = datetime.datetime(2026, 9, 21, 14, 13, 22)


def lines(form, first, last, seed=0.0, nan=None, start=START):
    """Records two seconds apart; the one at step `nan` has a loss that is none."""
    return "".join(form.format(at=start + datetime.timedelta(seconds=2 * step), step=step, samples=256 * step,
                               loss=float("nan") if step == nan else 4 - 0.01 * step + seed, ms=2000.1 + seed,
                               tps=5120 + int(100 * seed))
                   for step in range(first, last + 1))


class DiscoveryTest(harness.JobTest):
    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text, mode="a"):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), mode) as file:
            file.write(text)

    def shown(self, trainwatch):
        """The files that are read, and those that are left, by name below the directory."""
        status = trainwatch.json("/api/v1/status")
        read = sorted(os.path.relpath(file["path"], self.directory) for file in status["files"])
        left = {os.path.relpath(each["path"], self.directory): each for each in status["skipped"]["first"]}
        return read, left

    def replayed_jobs(self):
        """job -> the steps at which its loss is NaN."""
        nans = {}
        for alert in harness.final(harness.replay(self.directory)).values():
            if alert["rule"] == "loss_nan":
                nans.setdefault(alert["subject"].get("job", ""), []).append(alert["step"])
        return nans

    def offline_files(self):
        done = harness.run("formats", "--format=json", self.directory)
        shown = [json.loads(line) for line in done.stdout.splitlines()]
        return {os.path.relpath(each["path"], self.directory): each.get("skipped") for each in shown}

    def test_names_that_jobs_give(self):
        names = {"a/train.log": MEGATRON, "b/training.log": MEGATRON, "c/run.log": TITAN, "d/log.txt": TITAN,
                 "e/20261101_101010.log": TITAN, "f/0.log": MEGATRON, "g/rank_0.log": MEGATRON, "h/4f0c.log": FAIRSEQ,
                 "i/console": TITAN}
        for name, form in names.items():
            self.write(name, lines(form, 1, 100, nan=90))
        self.assertEqual(self.replayed_jobs(), {name[0]: [90] for name in names})
        with harness.Trainwatch(self.directory) as trainwatch:
            trainwatch.wait_until_read()
            self.assertEqual(self.shown(trainwatch), (sorted(names), {}))

            def nans():
                return {(each["subject"]["job"], each["step"]) for each in trainwatch.json("/api/v1/alerts")["alerts"]
                        if each["rule"] == "loss_nan"}
            harness.wait_for(lambda: nans() == {(name[0], 90) for name in names}, "the NaN of each job is found")

    def test_decoys(self):
        self.write("train.log", lines(MEGATRON, 1, 20))
        decoys = {"README": "# How to train\nRun python train.py --lr 0.1, the loss goes to 2.1 after 3 epochs.\n",
                  "requirements.txt": "torch==2.9.0\nnumpy>=1.26\n",
                  "pip.log": "2026-11-21T10:00:00,000 Collecting torch\nTraceback (most recent call last):\n"
                             "  File \"x.py\", line 3, in f\nValueError: no such wheel\n",
                  "data/sources.txt": "https://example.org/a.tar\nhttps://example.org/b.tar\n",
                  "data/train.txt": "A training run ended with CUDA out of memory.\n" * 2000,
                  "data/stories.txt": "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\nKilled\n",
                  "data/part-00000": "the cat sat on the mat\n" * 1000,
                  "access.log": '127.0.0.1 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1\n' * 100}
        for name, text in decoys.items():
            self.write(name, text)
        with harness.Trainwatch(self.directory) as trainwatch:
            trainwatch.wait_until_read(but=[self.path(name) for name in decoys])
            read, left = self.shown(trainwatch)
            self.assertEqual(read, ["train.log"])
            self.assertEqual({name: each["reason"] for name, each in left.items()}, dict.fromkeys(decoys, "no_known_format"))
            self.assertIn('trainwatch_files_skipped{reason="no_known_format"} %d' % len(decoys), trainwatch.get("/metrics"))
            self.assertNotIn("README", trainwatch.log())
        offline = self.offline_files()
        self.assertIsNone(offline.pop("train.log"))
        self.assertEqual(set(offline), set(decoys))
        os.remove(self.path("train.log"))
        done = harness.run("replay", self.directory)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing of a known format in the first bytes of 8 other files: ", done.stderr)

    def test_a_log_that_shows_it_late(self):
        self.write("train.log", "Loading the tokenizer\n")
        with harness.Trainwatch(self.directory) as trainwatch:
            harness.wait_for(lambda: self.shown(trainwatch)[1], "it is looked at")
            self.assertEqual(self.shown(trainwatch)[0], [])
            for step in range(1, 30):
                self.write("train.log", lines(MEGATRON, step, step))
            trainwatch.wait_until_read()
            self.assertEqual(self.shown(trainwatch), (["train.log"], {}))
            os.rename(self.path("train.log"), self.path("train.log.1"))
            self.write("train.log", lines(MEGATRON, 30, 40))
            trainwatch.wait_until_read()

    def test_after_a_restart(self):
        self.write("train.log", lines(MEGATRON, 1, 20))
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            trainwatch.wait_until_read()
            trainwatch.stop()
        self.write("train.log", lines(MEGATRON, 21, 40, nan=33))
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            trainwatch.wait_until_read()
            status = trainwatch.json("/api/v1/status")
            self.assertEqual([file["records"] for file in status["files"]], [40])

    def check_one_is_read(self, read, left):
        """The same live and offline; `left` is the copy of `read`."""
        with harness.Trainwatch(self.directory) as trainwatch:
            trainwatch.wait_until_read(but=[self.path(name) for name in left])
            shown, skipped = self.shown(trainwatch)
            self.assertEqual(shown, sorted(read))
            self.assertEqual({name: (each["reason"], os.path.relpath(each["of"], self.directory))
                              for name, each in skipped.items()},
                             {name: ("copy", of) for name, of in left.items()})
        offline = self.offline_files()
        self.assertEqual(sorted(name for name, why in offline.items() if why is None), sorted(read))
        for name, of in left.items():
            self.assertIn("holds the same records as " + self.path(of), offline[name])

    def test_both_sides_of_tee(self):
        text = "starting\n" + lines(MEGATRON, 1, 50, nan=45)
        self.write("slurm-1.out", "srun: job 1\n" + text)
        self.write("train.log", text)
        self.write("other.log", lines(MEGATRON, 1, 50, seed=0.5))
        self.check_one_is_read(["slurm-1.out", "other.log"], {"train.log": "slurm-1.out"})
        self.assertEqual(self.replayed_jobs(), {"": [45]})

    def test_the_file_of_a_logger_beside_the_console(self):
        self.write("stdout.log", lines(TITAN, 1, 50))
        self.write("logs/run.log", "".join("INFO:root:" + line + "\n" for line in lines(TITAN, 1, 50).splitlines()))
        self.check_one_is_read(["stdout.log"], {"logs/run.log": "stdout.log"})

    def test_two_jobs_with_the_same_losses(self):
        """In directories of their own, or with other times: they are no copies."""
        self.write("a/train.log", lines(MEGATRON, 1, 50))
        self.write("b/train.log", lines(MEGATRON, 1, 50))
        self.write("c/slurm-1.out", lines(MEGATRON, 1, 50))
        self.write("c/slurm-2.out", lines(MEGATRON, 1, 50))
        self.write("d/train.log", lines(MEGATRON, 1, 50))
        self.write("d/run.log", lines(MEGATRON, 1, 50, start=START + datetime.timedelta(seconds=400)))
        self.check_one_is_read(["a/train.log", "b/train.log", "c/slurm-1.out", "c/slurm-2.out", "d/train.log", "d/run.log"], {})

    def test_a_copy_that_grows(self):
        with harness.Trainwatch(self.directory) as trainwatch:
            self.write("slurm-1.out", "srun: job 1\n")
            self.write("train.log", "")
            trainwatch.wait_until_read()
            for step in range(1, 20):
                for name in ("train.log", "slurm-1.out"):
                    self.write(name, lines(MEGATRON, step, step))
            harness.wait_for(lambda: self.shown(trainwatch)[1], "the copy is found")
            trainwatch.wait_until_read(but=[self.path("train.log")])
            self.assertEqual(self.shown(trainwatch)[0], ["slurm-1.out"])
            self.assertIn("slurm-1.out", next(line for line in trainwatch.log().splitlines() if "not read" in line))

    def test_a_hostile_tree(self):
        self.write("train.log", lines(MEGATRON, 1, 20))
        os.mkfifo(self.path("fifo.log"))
        os.mkfifo(self.path("fifo"))
        with open(self.path("sparse.log"), "wb") as file:
            file.truncate(1 << 40)
        self.write("binary.txt", "\x00\x01\x02" * 1000)
        os.symlink("/etc/passwd", self.path("passwd.log"))
        os.mkdir(self.path("directory.log"))
        for number in range(5000):
            self.write("data/%04d.txt" % number, "a cat\n" * (number % 50))
        self.write("data/5000.log", lines(TITAN, 1, 20, seed=0.5))
        with harness.Trainwatch(self.directory) as trainwatch:
            harness.wait_for(lambda: len(self.shown(trainwatch)[0]) == 2, "both logs are found")
            skipped = harness.wait_for(lambda: trainwatch.json("/api/v1/status")["skipped"], "it is said")
            reasons = {os.path.basename(each["path"]): each["reason"] for each in skipped["first"]}
            self.assertEqual((reasons["fifo.log"], reasons["passwd.log"]), ("not_regular", "symbolic_link"))
            self.assertNotIn("fifo", reasons)
            # What exceeds 4096 but for the two logs; the empty ones among the others say nothing.
            harness.wait_for(lambda: trainwatch.json("/api/v1/status")["skipped"]["not_looked_at"] == 5000 + 2 - 4096,
                             "the rest is counted")
            self.assertGreater(trainwatch.json("/api/v1/status")["skipped"]["no_known_format"], 3900)
        self.assertEqual(len([name for name, why in self.offline_files().items() if why is None]), 2)

    def test_a_data_set_costs_nothing_once_it_is_known(self):
        if not harness.can_trace():
            self.skipTest("no strace")
        self.write("train.log", lines(MEGATRON, 1, 20))
        for number in range(3000):
            self.write("data/%04d.txt" % number, "a cat\n" * 50)
        trace = os.path.join(os.path.dirname(self.directory), "trace")
        with harness.Trainwatch(self.directory, prefix=(shutil.which("strace"), "-D", "-f", "-e", "trace=openat2,openat", "-o", trace)) as trainwatch:
            harness.wait_for(lambda: trainwatch.json("/api/v1/status")["skipped"]["no_known_format"] == 3000, "all are known")
            for step in range(21, 26):
                self.write("data/new-%d.txt" % step, "a dog\n")  # each takes a scan
                harness.wait_for(lambda step=step: trainwatch.json("/api/v1/status")["skipped"]["no_known_format"] == 3000 + step - 20,
                                 "it is known")

        def opened():
            with open(trace) as file:
                return sum("data/" in line and ".txt" in line for line in file)
        self.assertEqual(opened(), 3005)


if __name__ == "__main__":
    harness.main()
