"""python/trainwatch writes SageMaker's timeline format, and never disturbs the training."""

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))
import timeline_files  # noqa: E402
import trainwatch  # noqa: E402


def read(path):
    with open(path) as file:
        return file.read()


class _MultiProcessingDataLoaderIter:
    """What the hook looks at in torch's iterator of the same name."""

    def __init__(self, count, workers):
        self._count, self._rcvd_idx = count, 0
        self._task_info = {i: (i % workers,) for i in range(count)}

    def __iter__(self):
        return self

    def __next__(self):
        if self._rcvd_idx == self._count:
            raise StopIteration
        del self._task_info[self._rcvd_idx]
        self._rcvd_idx += 1
        return self._rcvd_idx - 1


class Loader:
    num_workers, pin_memory = 2, False

    def __iter__(self):
        return _MultiProcessingDataLoaderIter(5, self.num_workers)

    def __len__(self):
        return 5


class HookTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.out = directory.name

    def watch(self, **options):
        watch = trainwatch.Watch(self.out, rank=3, node="gpu_box.example", **options)
        self.addCleanup(watch.close)
        return watch

    def open_file(self, node="3-gpu-box-example"):
        return os.path.join(self.out, "framework", node + "_pythontimeline.json.tmp")

    def closed_files(self):
        return timeline_files.closed_files(self.out)

    def records(self):
        return [record for path in self.closed_files() for record in json.loads(read(path))]

    def spans(self, phase=None):
        return timeline_files.spans(self.out, phase)

    def test_pauses_of_the_garbage_collector_are_recorded(self):
        watch = self.watch()
        timeline = watch._timeline
        for length, generation in ((5000, 2), (200, 0)):  # microseconds; the second is too short
            timeline.on_collection("start", {})
            timeline._collecting_since -= length
            timeline.on_collection("stop", {"generation": generation})
        with watch.step():
            pass
        watch.close()
        pauses = self.spans("GarbageCollection")
        self.assertEqual([span["args"]["generation"] for span in pauses], [2])
        self.assertGreaterEqual(pauses[0]["dur"], 5000)
        self.assertNotIn(timeline.on_collection, gc.callbacks)

    def test_the_bytes_of_an_open_file(self):
        watch = self.watch()
        with watch.step():
            with watch.phase("Forward"):
                pass
        lines = read(self.open_file()).split(",\n")
        self.assertEqual(lines.pop(), "")  # every event is complete and flushed
        self.assertTrue(lines[0].startswith("[\n{"))
        lines[0] = lines[0][2:]
        records = [json.loads(line) for line in lines]
        base = records[0]["args"].pop("start_time_since_epoch_in_micros")
        forward, step = records[4], records[7]
        pid = os.getpid()
        self.assertEqual(records, [
            {"name": "process_name", "ph": "M", "pid": 0, "args": {}},
            {"name": "process_sort_index", "ph": "M", "pid": 0, "args": {"sort_index": 0}},
            {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Forward"}},
            {"name": "process_sort_index", "ph": "M", "pid": 1, "args": {"sort_index": 1}},
            {"name": "Forward", "pid": 1, "ph": "X", "ts": forward["ts"], "dur": forward["dur"],
             "args": {"pid": pid, "step_num": "0"}},
            {"name": "process_name", "ph": "M", "pid": 2,
             "args": {"name": "Step:ModeKeys.TRAIN"}},
            {"name": "process_sort_index", "ph": "M", "pid": 2, "args": {"sort_index": 2}},
            {"name": "Step:ModeKeys.TRAIN", "pid": 2, "ph": "X", "ts": step["ts"],
             "dur": step["dur"], "args": {"pid": pid, "step_num": "0"}}])
        self.assertAlmostEqual(base / 1e6, os.stat(self.open_file()).st_mtime, delta=60)

    def test_closing_makes_an_array_and_moves_the_file(self):
        watch = self.watch()
        with watch.step():
            pass
        inode = os.stat(self.open_file()).st_ino
        watch.close()
        self.assertFalse(os.path.exists(self.open_file()))
        path, = self.closed_files()
        self.assertEqual(os.stat(path).st_ino, inode)
        self.assertTrue(read(path).endswith("}}\n]"))
        stamp, node, kind = os.path.basename(path).split("_")
        self.assertEqual((node, kind), ("3-gpu-box-example", "pythontimeline.json"))
        span, = self.spans()
        self.assertEqual(int(stamp), span["ts"] + span["dur"])
        watch.close()
        with watch.step():
            pass
        self.assertEqual(len(self.records()), 5)

    def test_batches_records_the_waits_and_ends_with_the_loader(self):
        watch = self.watch()
        batches = watch.batches(Loader())
        self.assertEqual(len(batches), 5)
        seen = []
        for batch in batches:
            with watch.step() as number:
                seen.append((batch, number))
        watch.close()
        self.assertEqual(seen, [(i, i) for i in range(5)])
        init, = self.spans("DataLoaderIterInitialize")
        self.assertEqual(init["name"], "_MultiProcessingDataLoaderIter.__init__")
        self.assertEqual(init["args"],
                         {"pid": os.getpid(), "num_workers": 2, "pin_memory": False})
        waits = self.spans("DataLoaderIter")
        self.assertEqual([wait["name"] for wait in waits],
                         ["_MultiProcessingDataLoaderIter::GetNext"] * 5)
        self.assertEqual([(wait["args"]["worker_id"], wait["args"]["step_num"]) for wait in waits],
                         [(i % 2, str(i)) for i in range(5)])
        for wait, step in zip(waits, self.spans("Step:ModeKeys.TRAIN")):
            self.assertEqual(step["ts"], wait["ts"])  # a step covers the wait for its batch
            self.assertGreaterEqual(step["dur"], wait["dur"])

    def test_any_iterable_is_a_loader(self):
        watch = self.watch()
        for _ in watch.batches(i for i in range(3)):
            with watch.step():
                pass
        watch.close()
        wait = self.spans("DataLoaderIter")[0]
        self.assertEqual(wait["name"], "DataLoaderIter::GetNext")
        self.assertNotIn("worker_id", wait["args"])

    def test_modes_count_their_own_steps(self):
        watch = self.watch()
        for epoch in range(2):
            for _ in watch.batches(range(2)):
                with watch.step():
                    pass
            for _ in watch.batches(range(1), mode="eval"):
                with watch.step():
                    pass
        with watch.step(number=40):
            pass
        with watch.step():
            pass
        watch.close()
        numbers = [span["args"]["step_num"] for span in self.spans("Step:ModeKeys.TRAIN")]
        self.assertEqual(numbers, ["0", "1", "2", "3", "40", "41"])
        numbers = [span["args"]["step_num"] for span in self.spans("Step:ModeKeys.EVAL")]
        self.assertEqual(numbers, ["0", "1"])

    def test_an_exception_in_the_body_passes_and_is_recorded(self):
        watch = self.watch()
        with self.assertRaises(KeyError):
            for _ in watch.batches(range(3)):
                with watch.step():
                    with watch.phase("Forward"):
                        raise KeyError("of the training")
        with watch.step():
            pass
        watch.close()
        self.assertEqual([span["pid"] for span in self.spans()],
                         ["DataLoaderIterInitialize", "DataLoaderIter", "Forward",
                          "Step:ModeKeys.TRAIN", "Step:ModeKeys.TRAIN"])
        after = self.spans("Step:ModeKeys.TRAIN")[1]
        self.assertGreaterEqual(after["ts"], self.spans("Forward")[0]["ts"])

    def test_an_exception_of_the_loader_passes(self):
        def broken():
            yield 1
            raise ValueError("bad sample")
        watch = self.watch()
        with self.assertRaises(ValueError):
            for _ in watch.batches(broken()):
                pass
        watch.close()
        self.assertEqual(len(self.spans("DataLoaderIter")), 1)

    def test_nested_phases(self):
        watch = self.watch()
        with watch.step():
            with watch.phase("Backward"):
                with watch.phase('all "reduce"'):
                    pass
        with watch.phase("Checkpoint"):
            pass
        watch.close()
        inner, outer, step, checkpoint = self.spans()
        self.assertEqual(inner["name"], 'all "reduce"')
        self.assertLessEqual(outer["ts"], inner["ts"])
        self.assertGreaterEqual(outer["ts"] + outer["dur"], inner["ts"] + inner["dur"])
        self.assertEqual(inner["args"]["step_num"], "0")
        self.assertNotIn("step_num", checkpoint["args"])

    def test_rotation_by_size(self):
        watch = self.watch(rotate_bytes=1000)
        for _ in range(50):
            with watch.step():
                pass
        watch.close()
        self.assertGreater(len(self.closed_files()), 3)
        self.assertEqual([span["args"]["step_num"] for span in self.spans()],
                         [str(i) for i in range(50)])
        bases = {record["args"]["start_time_since_epoch_in_micros"] for record in self.records()
                 if "start_time_since_epoch_in_micros" in record["args"]}
        self.assertEqual(len(bases), 1)
        stamps = [int(os.path.basename(path).split("_")[0]) for path in self.closed_files()]
        self.assertEqual(len(set(stamps)), len(stamps))
        for path in self.closed_files():
            self.assertLess(os.path.getsize(path), 1300)

    def test_rotation_by_time(self):
        watch = self.watch(rotate_seconds=0)
        for _ in range(3):
            with watch.step():
                pass
        watch.close()
        self.assertEqual(len(self.closed_files()), 3)

    def test_the_leftover_of_a_crash_is_closed_first(self):
        script = ("import sys, os; sys.path.insert(0, sys.argv[1]); import trainwatch\n"
                  "watch = trainwatch.Watch(sys.argv[2], rank=3, node='gpu-box-example')\n"
                  "for _ in range(2):\n"
                  "    with watch.step(): pass\n"
                  "os._exit(1)\n")
        subprocess.run([sys.executable, "-c", script, os.path.join(ROOT, "python"), self.out])
        with open(self.open_file(), "a") as file:
            file.write('{"name": "Step:Mod')  # the last write was cut
        watch = self.watch()
        with watch.step():
            pass
        watch.close()
        self.assertEqual(len(self.closed_files()), 2)
        self.assertEqual([span["args"]["step_num"] for span in self.spans()], ["0", "1", "0"])

    def test_a_leftover_without_a_line_is_removed(self):
        os.makedirs(os.path.dirname(self.open_file()))
        with open(self.open_file(), "w") as file:
            file.write("[\n")
        watch = self.watch()
        with watch.step():
            pass
        watch.close()
        self.assertEqual(len(self.closed_files()), 1)

    def test_two_processes_of_one_rank_keep_apart(self):
        script = ("import sys; sys.path.insert(0, sys.argv[1]); import trainwatch\n"
                  "watch = trainwatch.Watch(sys.argv[2], rank=3, node='gpu-box-example')\n"
                  "with watch.step(): pass\n"
                  "print('open', flush=True); input()\n")
        with subprocess.Popen([sys.executable, "-c", script, os.path.join(ROOT, "python"),
                               self.out], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            other.stdout.readline()
            watch = self.watch()
            with watch.step():
                pass
            self.assertTrue(os.path.exists(self.open_file("3-gpu-box-example-%d" % os.getpid())))
            other.communicate(b"\n")
        watch.close()
        self.assertEqual(len(self.spans()), 2)

    def test_a_fork_writes_nothing(self):
        watch = self.watch()
        with watch.step():
            pass
        before = read(self.open_file())
        child = os.fork()
        if child == 0:
            with watch.step():
                pass
            watch.close()
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(read(self.open_file()), before)
        watch.close()
        self.assertEqual(len(self.spans()), 1)

    def test_a_fork_while_another_thread_writes(self):
        watch = self.watch()
        watch._timeline._lock.acquire()
        child = os.fork()
        if child == 0:
            with watch.step():
                pass
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        watch._timeline._lock.release()

    def test_threads_share_a_watch(self):
        watch = self.watch(rotate_bytes=20000)

        def work(mode):
            for _ in watch.batches(range(500), mode=mode):
                with watch.step():
                    pass
        threads = [threading.Thread(target=work, args=(m,)) for m in ("TRAIN", "EVAL", "PREDICT")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        watch.close()
        for mode in ("TRAIN", "EVAL", "PREDICT"):
            steps = self.spans("Step:ModeKeys." + mode)
            self.assertEqual([int(step["args"]["step_num"]) for step in steps], list(range(500)))

    def test_a_failed_write_is_one_warning_and_the_training_goes_on(self):
        blocked = os.path.join(self.out, "a file")
        open(blocked, "w").close()
        watch = trainwatch.Watch(blocked, rank=0)
        self.addCleanup(watch.close)
        with self.assertLogs("trainwatch", "WARNING") as logs:
            for _ in watch.batches(range(10)):
                with watch.step():
                    pass
            watch.close()
        self.assertEqual(len(logs.output), 1)

    def test_a_full_disk(self):
        watch = self.watch()
        with watch.step():
            pass
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, watch._timeline._fd)
        os.close(full)
        with self.assertLogs("trainwatch", "WARNING"):
            with watch.step():
                pass
        with watch.step():
            pass

    def test_a_file_copied_alone(self):
        shutil.copy(os.path.join(ROOT, "python", "trainwatch.py"), self.out)
        script = ("import trainwatch; watch = trainwatch.Watch('.', node='a')\n"
                  "with watch.step(): pass\n")
        subprocess.run([sys.executable, "-c", script], cwd=self.out, check=True)
        self.assertEqual(timeline_files.steps(self.out), [0])

    def test_two_watches_of_one_process_keep_apart(self):
        watches = [self.watch() for _ in range(3)]
        for watch in watches:
            with watch.step():
                pass
        self.assertEqual(len(timeline_files.open_files(self.out)), 3)
        for watch in watches:
            watch.close()
        self.assertEqual(len(self.spans()), 3)

    def test_spans_without_a_block(self):
        watch = self.watch()
        began = watch.now()
        watch.record("Checkpoint", began, began + 5)
        watch.record("Step:ModeKeys.TRAIN", began, step=17)
        watch.close()
        checkpoint, step = self.spans()
        self.assertEqual((checkpoint["ts"], checkpoint["dur"]), (began, 5))
        self.assertEqual(step["args"]["step_num"], "17")

    def test_rest_closes_the_file_and_the_next_event_opens_another(self):
        watch = self.watch()
        for _ in range(2):
            with watch.step():
                pass
            watch.rest()
            self.assertEqual(timeline_files.open_files(self.out), [])
        watch.close()
        self.assertEqual(len(self.closed_files()), 2)
        self.assertEqual(timeline_files.steps(self.out), [0, 1])

    def test_what_launchers_say(self):
        nothing = trainwatch.place({})
        self.assertEqual(nothing, (None, None, None, "", "", ""))
        torchrun = {"RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "TORCHELASTIC_RUN_ID": "abc"}
        slurm = {"SLURM_PROCID": "3", "SLURM_LOCALID": "1", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "99",
                 "SLURM_JOB_NAME": "gpt", "SLURM_NODEID": "1"}
        cases = {
            "torchrun": (torchrun, (5, 1, 8, "", "", "abc")),
            "slurm": (slurm, (3, 1, 4, "", "gpt", "99")),
            "torchrun in a job of Slurm": ({**slurm, **torchrun}, (5, 1, 8, "", "gpt", "99")),
            "static torchrun in one": ({**slurm, **torchrun, "TORCHELASTIC_RUN_ID": "none"},
                                       (5, 1, 8, "", "gpt", "99")),
            "Open MPI": ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0",
                          "OMPI_COMM_WORLD_SIZE": "4"}, (2, 0, 4, "", "", "")),
            "MPICH": ({"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1"},
                      (1, 1, 2, "", "", "")),
            "Kubernetes": ({"JOB_COMPLETION_INDEX": "6"}, (6, None, None, "", "", "")),
            "SageMaker": ({"SM_CURRENT_HOST": "algo-2", "SM_HOSTS": '["algo-1","algo-2"]',
                           "TRAINING_JOB_NAME": "bert-7"}, (1, None, 2, "algo-2", "bert-7", "")),
            "a broken list of hosts": ({"SM_CURRENT_HOST": "algo-2", "SM_HOSTS": "["},
                                       (None, None, None, "algo-2", "", "")),
            "labels of a pod": ({**slurm, "TRAINWATCH_LABEL_JOB": "bert", "TRAINWATCH_LABEL_RUN": "2"},
                                (3, 1, 4, "", "bert", "2")),
            "a rank that is none": ({"RANK": "-1", "SLURM_PROCID": "x"}, nothing),
        }
        for name, (environment, expected) in cases.items():
            with self.subTest(name):
                self.assertEqual(tuple(trainwatch.place(environment)), tuple(expected))

    def test_job_and_run_are_in_the_file(self):
        with unittest.mock.patch.dict(os.environ, {"SLURM_PROCID": "0", "SLURM_NTASKS": "2",
                                                   "SLURM_JOB_NAME": 'a "b"', "SLURM_JOB_ID": "7"}):
            watch = self.watch(rotate_seconds=0)
        for _ in range(2):
            with watch.step():
                pass
        watch.close()
        labels = [record["args"] for record in self.records() if record["name"] == "process_labels"]
        self.assertEqual(labels, 2 * [{"job": 'a "b"', "run": "7", "world_size": 2,
                                       "labels": 'job a "b", run 7, world size 2'}])

    def test_rank_and_host_from_the_surroundings(self):
        environment = dict(os.environ, RANK="12")
        script = ("import sys; sys.path.insert(0, sys.argv[1]); import trainwatch\n"
                  "watch = trainwatch.Watch(sys.argv[2])\n"
                  "with watch.step(): pass\n")  # and closes at exit
        subprocess.run([sys.executable, "-c", script, os.path.join(ROOT, "python"), self.out],
                       env=environment, check=True)
        path, = self.closed_files()
        node = os.path.basename(path).split("_")[1]
        host = os.uname().nodename.replace("_", "-").replace(".", "-")
        self.assertEqual(node, "12-" + host)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
