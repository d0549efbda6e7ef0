# SPDX-License-Identifier: Apache-2.0
"""python/trainwatch records what a training does, in SageMaker's timeline format."""

import gc
import json
import os
import sys
import threading
import types
import unittest
import unittest.mock

from hook_case import HookCase, read
import trainwatch


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


class HookTest(HookCase):
    def test_pauses_of_the_garbage_collector_are_recorded(self):
        watch = self.watch()
        timeline = watch._timeline
        for length, generation in ((5000, 2), (200, 0)):  # microseconds; the second is too short
            with unittest.mock.patch.object(timeline, "now", side_effect=[timeline.now(), timeline.now() + length]):
                timeline.on_collection("start", {})
                timeline.on_collection("stop", {"generation": generation})
        with watch.step():
            pass
        watch.close()
        pauses = self.spans("GarbageCollection")
        self.assertEqual([span["args"]["generation"] for span in pauses], [2])
        self.assertGreaterEqual(pauses[0]["dur"], 5000)
        self.assertNotIn(timeline.on_collection, gc.callbacks)

    def test_compilations_are_recorded(self):
        handler = types.SimpleNamespace(start=[], end=[])
        handler.register_start_callback, handler.register_end_callback = handler.start.append, handler.end.append
        module = types.SimpleNamespace(callback_handler=handler)
        watch = self.watch()
        timeline = watch._timeline
        with unittest.mock.patch.dict("sys.modules", {"torch._dynamo.callback": module}):
            for arguments in ((), ("CallbackArgs",)):  # of torch before and since 2.7
                with watch.step():
                    (started,), (ended,) = handler.start, handler.end
                    with unittest.mock.patch.object(timeline, "now", side_effect=[timeline.now(), timeline.now() + 5000]):
                        started(*arguments)
                        ended(*arguments)
        watch.close()
        self.assertEqual([(span["name"], span["dur"] >= 5000) for span in self.spans("Compilation")],
                         [("torch.compile", True)] * 2)

    def test_a_clock_that_is_set_by_seconds_is_no_pause(self):
        watch = self.watch()
        timeline = watch._timeline
        for forth, follows in ((2_000_000_000, False), (30_000_000, True), (3600_000_000_000, True)):
            timeline._set_clock()
            before = timeline._offset_ns
            real = trainwatch.time.time_ns
            with unittest.mock.patch.object(trainwatch.time, "time_ns", side_effect=lambda forth=forth, real=real: real() + forth):
                timeline._set_clock()
            self.assertEqual(timeline._offset_ns - before > forth / 2, follows, forth)
            timeline._offset_ns = before
        watch.close()

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
        labels, begin, forward, step = records[2], records[5], records[8], records[9]
        pid = os.getpid()
        self.assertEqual(records, [
            {"name": "process_name", "ph": "M", "pid": 0, "args": {}},
            {"name": "process_sort_index", "ph": "M", "pid": 0, "args": {"sort_index": 0}},
            {"name": "process_labels", "ph": "M", "pid": 0, "args": {
                "process_id": pid, "process_start_in_micros": labels["args"]["process_start_in_micros"], "labels": ""}},
            {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Step:ModeKeys.TRAIN"}},
            {"name": "process_sort_index", "ph": "M", "pid": 1, "args": {"sort_index": 1}},
            {"name": "begin", "pid": 1, "ph": "i", "s": "t", "ts": begin["ts"], "args": {"step_num": "0"}},
            {"name": "process_name", "ph": "M", "pid": 2, "args": {"name": "Forward"}},
            {"name": "process_sort_index", "ph": "M", "pid": 2, "args": {"sort_index": 2}},
            {"name": "Forward", "pid": 2, "ph": "X", "ts": forward["ts"], "dur": forward["dur"],
             "args": {"pid": pid, "step_num": "0"}},
            {"name": "Step:ModeKeys.TRAIN", "pid": 1, "ph": "X", "ts": step["ts"],
             "dur": step["dur"], "args": {"pid": pid, "step_num": "0"}}])
        self.assertLessEqual(step["ts"], begin["ts"])
        self.assertLessEqual(begin["ts"], forward["ts"])
        self.assertAlmostEqual(base / 1e6, os.stat(self.open_file()).st_mtime, delta=60)

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
                         ["DataLoaderIterInitialize", "DataLoaderIter", "Forward", "Step:ModeKeys.TRAIN"],
                         "the step that raised has not ended")
        after = self.spans("Step:ModeKeys.TRAIN")[0]
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

    def test_spans_without_a_block(self):
        watch = self.watch()
        began = watch.now()
        watch.record("Checkpoint", began, began + 5)
        watch.record("Step:ModeKeys.TRAIN", began, step=17)
        watch.close()
        checkpoint, step = self.spans()
        self.assertEqual((checkpoint["ts"], checkpoint["dur"]), (began, 5))
        self.assertEqual(step["args"]["step_num"], "17")

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
        for one in labels:
            self.assertEqual(one.pop("process_id"), os.getpid())
            del one["process_start_in_micros"]  # python_ends_test.py
        self.assertEqual(labels, 3 * [{"job": 'a "b"', "run": "7", "world_size": 2,
                                       "labels": 'job a "b", run 7, world size 2'}])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
