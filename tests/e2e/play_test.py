# SPDX-License-Identifier: Apache-2.0
"""scripts/play.py leaves the files it played, at any cut and interleaving, with their times or with those of now."""

import filecmp
import gzip
import os
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import play  # noqa: E402

JOB = os.path.join(ROOT, "tests", "data", "recorded-job")


def files_below(folder):
    return {os.path.relpath(os.path.join(where, name), folder)
            for where, _, names in os.walk(folder) for name in names}


class PlayTest(unittest.TestCase):
    def check(self, **options):
        with tempfile.TemporaryDirectory() as out:
            play.play(JOB, out, speed=0, **options)
            played = files_below(out)
            recorded = {path for path in files_below(JOB)
                        if path.split(os.sep)[0] in ("system", "framework", "profiler")}
            self.assertEqual(played, recorded)
            for path in played:
                self.assertTrue(filecmp.cmp(os.path.join(JOB, path), os.path.join(out, path),
                                            shallow=False), path)

    def test_in_order(self):
        self.check()

    def test_random_cuts(self):
        for seed in range(3):
            self.check(seed=seed, max_chunk=700)

    def test_a_job_that_is_moved_in_time_and_back_is_the_same(self):
        for path, content in play.read_files(JOB):
            if not path.endswith((".gz", ".py")):
                later = play.moved(path, content, 86400 * 7 + 5)
                self.assertNotEqual(later[0], path)
                self.assertEqual(play.moved(*later, -86400 * 7 - 5), (path, content))

    def test_times_of_profiler_traces(self):
        trace = b'{"baseTimeNanoseconds": 1795247833000000000, "traceEvents": [{"ts": 1795247833331126.5, "dur": 1795247833}, {"ts": 12}]}'
        moved = trace.replace(b"1795247833000", b"1795247836000").replace(b"1795247833331", b"1795247836331")
        self.assertEqual(play.moved("t.pt.trace.json", trace, 3), ("t.pt.trace.json", moved))
        name, content = play.moved("node.1795247833331.pt.trace.json.gz", gzip.compress(trace), 3)
        self.assertEqual((name, gzip.decompress(content)), ("node.1795247836331.pt.trace.json.gz", moved))

    def test_what_has_no_time_or_is_damaged_is_played_as_it_is(self):
        """And a host's name may look like a time."""
        recorded = 1795247833331126
        trace = b'{"traceEvents": [{"ph": "X", "ts": %d, "dur": 5}]}' % recorded
        files = {"job-1712345678-w-0_12.1795247833331.pt.trace.json": trace, "rank0.pt.trace.json": trace,
                 "cut.pt.trace.json.gz": gzip.compress(trace)[:40], "ckpt.bin.gz": b"\x1f\x8bno"}
        with tempfile.TemporaryDirectory() as scratch:
            out = os.path.join(scratch, "out")
            os.mkdir(os.path.join(scratch, "job"))
            for name, content in files.items():
                with open(os.path.join(scratch, "job", name), "wb") as file:
                    file.write(content)
            play.play(os.path.join(scratch, "job"), out, speed=0.5, as_recorded=False)
            played = sorted(files_below(out))
            self.assertEqual([name for name in played if not name.startswith("job-")], ["cut.pt.trace.json.gz", "rank0.pt.trace.json"])
            self.assertRegex(played[1], r"^job-1712345678-w-0_12\.\d{13}\.pt\.trace\.json$")
            with open(os.path.join(out, "rank0.pt.trace.json"), "rb") as file:
                moved = play.last_time(file.read())
            self.assertGreater(moved, recorded)
            self.assertLess(moved / 1e6, time.time() + 1)

    def test_by_default_the_job_ends_now(self):
        with tempfile.TemporaryDirectory() as out:
            before = time.time()
            subprocess.run([sys.executable, play.__file__, JOB, out, "--speed=0"], check=True)
            _, last = play.span(play.lanes_of(play.read_files(out)))
            self.assertGreater(last / 1e6, before - 2)
            self.assertLess(last / 1e6, time.time() + 1)

    def test_writes_come_in_the_order_of_time(self):
        steps = list(play.order(play.lanes_of(play.read_files(JOB)), None, 0))
        dues = [step[0] for step in steps]
        self.assertEqual(dues, sorted(dues))
        self.assertGreater(dues[-1] - dues[0], 60e6)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
