# SPDX-License-Identifier: Apache-2.0
"""The files of python/trainwatch: closed, rotated, kept apart by process, and never a disturbance of the training."""

import os
import shutil
import subprocess
import sys
import unittest

from hook_case import HookCase, read, ROOT
import timeline_files
import trainwatch


class HookFilesTest(HookCase):
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
        end = self.records()[-1]
        self.assertEqual((end["name"], end["args"]), ("process_end", {"how": "completed", "pid": os.getpid()}))
        base = self.records()[0]["args"]["start_time_since_epoch_in_micros"]
        self.assertEqual(int(stamp), base + end["ts"])
        self.assertGreaterEqual(int(stamp), span["ts"] + span["dur"])
        watch.close()
        with watch.step():
            pass
        self.assertEqual(len(self.records()), 8)

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
        self.assertEqual(len(self.closed_files()), 4)  # the first has but a begin
        self.assertEqual(timeline_files.steps(self.out), [0, 1, 2])

    def test_the_leftover_of_a_crash_is_closed_first(self):
        subprocess.run(self.program("watch = trainwatch.Watch(out, rank=3, node='gpu-box-example')\n"
                                    "for _ in range(2):\n"
                                    "    with watch.step(): pass\n"
                                    "os._exit(1)\n"))
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
        program = self.program("watch = trainwatch.Watch(out, rank=3, node='gpu-box-example')\n"
                               "with watch.step(): pass\n"
                               "print('open', flush=True); input()\n")
        with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
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

    def test_rest_closes_the_file_and_the_next_event_opens_another(self):
        watch = self.watch()
        for _ in range(2):
            with watch.step():
                pass
            watch.rest()
            self.assertEqual(timeline_files.open_files(self.out), [])
        watch.close()
        self.assertEqual(len(self.closed_files()), 3)  # the last has but the end
        self.assertEqual(timeline_files.steps(self.out), [0, 1])

    def test_rank_and_host_from_the_surroundings(self):
        environment = dict(os.environ, RANK="12")
        program = self.program("watch = trainwatch.Watch(out)\n"
                               "with watch.step(): pass\n")  # and closes at exit
        subprocess.run(program, env=environment, check=True)
        path, = self.closed_files()
        node = os.path.basename(path).split("_")[1]
        host = os.uname().nodename.replace("_", "-").replace(".", "-")
        self.assertEqual(node, "12-" + host)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
