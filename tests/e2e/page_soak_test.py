# SPDX-License-Identifier: Apache-2.0
"""The page stays open beside a job of 100 steps a second, on 8 ranks with 64 cores and 8 GPUs: it holds no more for
it; how soon frames come is printed. TRAINWATCH_SOAK_MINUTES=30 is the whole test; the normal run is half a minute."""

import json
import os
import random
import subprocess
import threading

import harness
import live_job
import page_test

MINUTES = float(os.environ.get("TRAINWATCH_SOAK_MINUTES", "0.5"))
WHOLE = MINUTES >= 10
STEP_US = 10_000
RANKS, CORES, GPUS = 8, 64, 8
SLOW_FROM_US, SLOW_TO_US, LOST_US = 5_000_000, 15_000_000, 300_000  # between slow steps, and what each loses
MOST_GROWTH = 0.1        # of the heap, from a sixth of the time on


class Job:
    """Written as time passes, by a thread; ended by close()."""

    def __init__(self, directory):
        begin = live_job.now_us()
        self._ranks = [live_job.Rank(begin, number, STEP_US) for number in range(RANKS)]
        self._random = random.Random(1)
        self._slow_at = begin + SLOW_TO_US
        self._writers = [live_job.RotatedTimeline(directory, "%d-algo-1" % number, rank)
                         for number, rank in enumerate(self._ranks)]
        seconds = begin // 1_000_000
        self._writers.append(live_job.MinuteFiles(directory, "algo-1", live_job.Node("algo-1", seconds, CORES, GPUS), seconds))
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self._ended.wait(0.1):
            now_us = live_job.now_us()
            if now_us >= self._slow_at:
                self._slow_at += self._random.randrange(SLOW_FROM_US, SLOW_TO_US)
                for rank in self._ranks:
                    rank.lose(LOST_US)
            for writer in self._writers:
                writer.write_until(now_us)

    def close(self):
        self._ended.set()
        self._thread.join()


def p99(frames):
    """Milliseconds, of how many frames took each number of them."""
    left = 0.99 * sum(frames)
    for milliseconds, count in enumerate(frames):
        left -= count
        if left <= 0:
            return milliseconds
    return len(frames)


class PageSoakTest(harness.JobTest):
    def test_it_holds_no_more_for_a_long_job(self):
        with harness.Trainwatch(self.directory) as trainwatch:
            job = Job(self.directory)
            self.addCleanup(job.close)
            harness.wait_for(lambda: trainwatch.json("/api/v1/runs")["runs"], "the run is known")
            harness.wait_for(lambda: trainwatch.json("/api/v1/heatmap?what=utilization")["rows"], "metrics are there")
            samples = self.watch(trainwatch.url)
            step = lambda: trainwatch.json("/api/v1/runs")["runs"][0]["step"]  # noqa: E731
            harness.wait_for(lambda: step() > 0.9 * MINUTES * 60 * 1_000_000 / STEP_US, "the job has run for that long")
            last = step()
        late = samples[len(samples) // 6 - 1:]
        heaps, nodes = [each["heap"] for each in late], [each["nodes"] for each in late]
        frames = [sum(counts) for counts in zip(*(each["frames"] for each in samples))]
        longest = max(milliseconds for milliseconds, count in enumerate(frames) if count)
        print("%.1f minutes, %d steps, %d frames: p99 %d ms, longest %d ms" % (
            MINUTES, last, sum(frames), p99(frames), longest))
        print("heap %.2f to %.2f MiB, %.2f at the end; %d to %d nodes" % (
            min(heaps) / 2**20, max(heaps) / 2**20, heaps[-1] / 2**20, min(nodes), max(nodes)))
        self.assertEqual(samples[-1]["errors"], [])
        if WHOLE:
            self.assertLessEqual(max(heaps), (1 + MOST_GROWTH) * heaps[0])
            self.assertLessEqual(max(nodes), (1 + MOST_GROWTH) * nodes[0])

    def watch(self, url):
        with subprocess.Popen(["node", os.path.join(page_test.FOLDER, "page", "soak.mjs"), url, str(MINUTES)],
                              stdout=subprocess.PIPE, text=True) as looking:
            samples = []
            for line in looking.stdout:
                each = json.loads(line)
                samples.append(each)
                print("minute %4.1f: heap %.2f MiB, %d nodes, %d listeners, %d alerts shown, step %s, p99 of frames %d ms" % (
                    each["minute"], each["heap"] / 2**20, each["nodes"], each["listeners"], each["alerts"], each["step"],
                    p99(each["frames"])), flush=True)
        self.assertEqual(looking.returncode, 0)
        return samples


if __name__ == "__main__":
    page_test.require()
    harness.main()
