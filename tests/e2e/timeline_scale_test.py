# SPDX-License-Identifier: Apache-2.0
"""A span of ten seconds out of a large job is served without reading the rest, and with 16 MiB. A long span takes
no more memory. The job has 100 MB; ctest -L long has one of 5 GB."""

import contextlib
import gzip
import http.client
import json
import os
import threading
import time
import urllib.request

import harness
import process_figures
import trace_schema

MEGABYTES = int(os.environ.get("TRAINWATCH_JOB_MB", "100"))
RANKS = 4
MOST_READ = 8_000_000  # bytes, for a span of ten seconds, which are 0.3 MB in the files
STEP_US = 50_000
PHASES = ("Step:ModeKeys.TRAIN", "Forward", "Backward(post-forward)", "DataLoaderIter")
START_US = 1_700_000_000_000_000
HEADER = "[\n" + "".join(
    '{"name": "process_name", "ph": "M", "pid": %d, "args": {"name": "%s", "start_time_since_epoch_in_micros": %d}},\n' %
    (pid, phase, START_US) for pid, phase in enumerate(PHASES))


def steps(first, count):
    """Four events of each step."""
    lines = []
    for step in range(first, first + count):
        at = step * STEP_US
        for pid, (begin, length) in enumerate(((0, 49000), (2000, 15000), (17000, 30000), (0, 2000))):
            lines.append('{"name": "%s", "pid": %d, "ph": "X", "ts": %d, "dur": %d, "args": {"pid": 7, "step_num": "%d"}},\n' %
                         (PHASES[pid], pid, at + begin, length, step))
    return "".join(lines)


class TimelineScaleTest(harness.JobTest):
    def write(self):
        folder = os.path.join(self.directory, "framework", "pevents", "2023111422")
        os.makedirs(folder)
        per_rank = MEGABYTES * 1_000_000 // RANKS
        block, count = 2000, 0
        for rank in range(RANKS):
            written, count = 0, 0
            with open(os.path.join(folder, "1700000000000000_%d-algo-1_pythontimeline.json" % rank), "w") as file:
                file.write(HEADER)
                while written < per_rank:
                    written += file.write(steps(count, block))
                    count += block
                file.write("{}\n]\n")
        return count

    def test_spans_of_a_large_job(self):
        count = self.write()
        with harness.Trainwatch(self.directory, patience=900) as trainwatch:
            trainwatch.wait_until_read()
            trainwatch.json("/api/v1/timeline?start=1&end=2")
            self.check_ten_seconds(trainwatch, count)
            self.check_long_span(trainwatch, count)
            self.check_stop(trainwatch)

    def check_ten_seconds(self, trainwatch, count):
        before = process_figures.resident_mib(trainwatch.pid)
        read, times, most = [], [], 0
        for place in (0.02, 0.3, 0.5, 0.8, 0.98):
            start = START_US + int(place * count * STEP_US)
            request = urllib.request.Request(
                trainwatch.url + "/api/v1/timeline?start=%d&end=%d" % (start, start + 10_000_000),
                headers={"Accept-Encoding": "gzip"})
            begun, before_it = time.monotonic(), process_figures.bytes_read(trainwatch.pid)
            with urllib.request.urlopen(request) as response:
                body = response.read()
            read.append(process_figures.bytes_read(trainwatch.pid) - before_it)
            times.append(time.monotonic() - begun)
            most = max(most, process_figures.resident_mib(trainwatch.pid) - before)
            events = json.loads(gzip.decompress(body))["traceEvents"]
            trace_schema.check(events)
            self.assertAlmostEqual(sum(e["ph"] == "X" for e in events), RANKS * 4 * 201, delta=RANKS * 4 * 2)
        print("%d MB: %s ms, %s KB read, %.1f MiB more" % (
            MEGABYTES, [round(s * 1000) for s in times], [round(size / 1000) for size in read], most), flush=True)
        self.assertLess(sorted(read)[len(read) // 2], MOST_READ)
        self.assertLess(most, 16)

    def check_long_span(self, trainwatch, count):
        """A quarter of the job, 200 MB at most, not compressed: it is sent from the disk, in pieces."""
        before, most, ended = process_figures.resident_mib(trainwatch.pid), [0], threading.Event()

        def watch():
            while not ended.wait(0.02):
                most[0] = max(most[0], process_figures.resident_mib(trainwatch.pid) - before)

        watching = threading.Thread(target=watch)
        watching.start()
        steps_of_span = min(count // 4, count * 200 // MEGABYTES)
        end = START_US + steps_of_span * STEP_US
        begun = time.monotonic()
        try:
            events, size = {}, 0
            with urllib.request.urlopen(trainwatch.url + "/api/v1/timeline?end=%d" % end, timeout=harness.PATIENCE_SECONDS) as response:
                self.assertGreater(int(response.headers["Content-Length"]), 8 << 20)
                for line in response:
                    size += len(line)
                    if b'"ph": "X"' in line:
                        name = json.loads(line.strip(b",\r\n"))["name"]
                        events[name] = events.get(name, 0) + 1
            self.assertEqual(size, int(response.headers["Content-Length"]))
        finally:
            ended.set()
            watching.join()
        print("%.0f MB in %.1f s, %.1f MiB more" % (size / 1e6, time.monotonic() - begun, most[0]), flush=True)
        for phase in PHASES:
            self.assertAlmostEqual(events[phase], RANKS * steps_of_span, delta=RANKS * 2)
        self.assertLess(most[0], 16)

    def check_stop(self, trainwatch):
        """The whole job is asked for, and nobody waits for it when the daemon is to end."""
        threads = "/proc/%d/task" % trainwatch.pid
        before = len(os.listdir(threads))

        answers = []

        def ask():
            with contextlib.suppress(OSError, http.client.HTTPException):
                answers.append(trainwatch.get("/api/v1/timeline"))

        asking = threading.Thread(target=ask)
        asking.start()
        harness.wait_for(lambda: len(os.listdir(threads)) > before, "it is being made")
        self.assertEqual(trainwatch.stop(), 0)
        asking.join()
        self.assertEqual(answers, [], "it was not made to its end")


if __name__ == "__main__":
    harness.main()
