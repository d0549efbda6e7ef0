# SPDX-License-Identifier: Apache-2.0
"""However long a job is, trainwatch needs no more memory for it: a job of 2 nodes with 8 GPUs and 64 cores
each, streamed through as fast as it is read. TRAINWATCH_JOB_HOURS=10 is the whole test (some minutes); the
normal run is its first quarter of an hour."""
import collections
import os
import random
import sys
import time

import harness

HOURS = float(os.environ.get("TRAINWATCH_JOB_HOURS", "0.25"))
NODES = ["algo-1", "algo-2"]
GPUS, CORES = 8, 64
TICKS_PER_SECOND, STEPS_PER_SECOND = 2, 10
BEGIN = 1_700_000_040  # seconds; a full minute
MAX_RSS_KIB = 64 * 1024
MAX_GROWTH_KIB = 2 * 1024
MINUTES_AHEAD = 4  # of what was read

PHASES = {5: "Backward(post-forward)", 4: "Forward", 7: "Step:ModeKeys.TRAIN", 8: "DataLoaderWorker",
          2: "DataLoaderIter"}


def sample(kind, name, dimension, node):
    return ('{"Type":"%s","Name":"%s","Dimension":"%s","Value":%%.2f,"NodeId":"%s","Timestamp":%%.3f}\n'
            % (kind, name, dimension, node))


def tick_template(node):
    lines = [sample("i/o", name, "", node)
             for name in ("IOPS", "ReadThroughputInBytesPerSecond", "WriteThroughputInBytesPerSecond")]
    for core in range(CORES):
        lines.append(sample("cpu", "cpu%d" % core, "CPUUtilization", node))
        lines.append(sample("cpu", "cpu%d" % core, "I/OWaitPercentage", node))
    for gpu in range(GPUS):
        lines.append(sample("gpu", "gpu%d" % gpu, "GPUUtilization", node))
        lines.append(sample("gpu", "gpu%d" % gpu, "GPUMemoryUtilization", node))
    lines.append(sample("memory", "MemoryUsedPercent", "", node))
    return "".join(lines), len(lines)


# One step; %(t)d is its start and %(d)d its duration, both in microseconds.
STEP = "".join(",\n" + line for line in [
    '{"name":"_MultiProcessingDataLoaderIter::GetNext","pid":2,"ph":"X","ts":%(t)d,"dur":%(wait)d,'
    '"args":{"pid":%(process)d,"worker_id":%(worker)d,"step_num":"%(n)d"}}',
    '{"name":"_worker_loop","pid":8,"ph":"X","ts":%(t)d,"dur":%(load)d,"args":{"pid":%(loader)d,'
    '"worker_id":%(worker)d,"num_workers":4,"pin_memory":true}}',
    '{"name":"model","pid":4,"ph":"X","ts":%(forward)d,"dur":%(third)d,"args":{"step_num":"%(n)d"}}',
    '{"name":"model","pid":5,"ph":"X","ts":%(backward)d,"dur":%(third)d,"args":{"step_num":"%(n)d"}}',
    '{"name":"Step:ModeKeys.TRAIN","pid":7,"ph":"X","ts":%(t)d,"dur":%(d)d,"args":{"step_num":"%(n)d"}}'])


class LongJob:
    """Writes the job a minute at a time."""

    def __init__(self, directory):
        self.directory = directory
        self.random = random.Random(1)
        self.minute = 0
        self.ticks = {node: tick_template(node) for node in NODES}
        self.written = 0  # bytes
        self.ends = collections.deque()  # (bytes written by its end, files) of the minutes that are there

    def write_minute(self):
        files = []
        start = BEGIN + 60 * self.minute
        folder = "%s/system/incremental/%s" % (self.directory, hour_of(start))
        for node in NODES:
            files.append(self._write("%s/%d.%s.json" % (folder, start, node), self._system(node, start)))
        folder = "%s/framework/pevents/%s" % (self.directory, hour_of(start))
        for rank in range(len(NODES) * GPUS):
            name = "%d_%d-%s_pythontimeline.json" % ((start + 60) * 1_000_000, rank, NODES[rank // GPUS])
            files.append(self._write(folder + "/" + name, self._timeline(rank)))
        self.minute += 1
        self.ends.append((self.written, files))

    def drop_minute(self):
        for path in self.ends.popleft()[1]:
            os.remove(path)

    def _write(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.written += len(text)
        with open(path + ".part", "w") as file:
            file.write(text)
        os.rename(path + ".part", path)
        return path

    def _system(self, node, start):
        template, lines = self.ticks[node]
        pieces = []
        for tick in range(60 * TICKS_PER_SECOND):
            values = []
            for _ in range(lines):
                values += (self.random.random() * 60, start + tick / TICKS_PER_SECOND)
            pieces.append(template % tuple(values))
        return "".join(pieces)

    def _timeline(self, rank):
        pieces = ['[\n{"name":"process_name","ph":"M","pid":0,"args":{"start_time_since_epoch_in_micros":%d}}'
                  % (BEGIN * 1_000_000)]
        for pid, name in PHASES.items():
            pieces.append(',\n{"name":"process_name","ph":"M","pid":%d,"args":{"name":"%s"}}' % (pid, name))
        period = 1_000_000 // STEPS_PER_SECOND
        first = self.minute * 60 * STEPS_PER_SECOND
        for n in range(first, first + 60 * STEPS_PER_SECOND):
            duration = period - 4000 + self.random.randrange(3000)
            wait = 500 + self.random.randrange(400)
            if self.random.random() < 0.0005:
                wait += duration // 2
            t, third = n * period, (duration - wait) // 3
            pieces.append(STEP % {"t": t, "d": duration, "wait": wait, "load": duration // 2, "n": n,
                                  "third": third, "forward": t + wait, "backward": t + wait + third,
                                  "process": 900 + rank, "worker": n % 4, "loader": 1000 + n % 4})
        return "".join(pieces) + "\n]\n"


def hour_of(seconds):
    return time.strftime("%Y%m%d%H", time.gmtime(seconds))


class LongJobTest(harness.JobTest):
    def test_memory_does_not_grow(self):
        job = LongJob(self.directory)
        resident = []  # KiB, after each minute
        began = time.monotonic()
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            for _ in range(round(HOURS * 60)):
                job.write_minute()
                if len(job.ends) > MINUTES_AHEAD:
                    self.wait_until_read(trainwatch, job.ends[0][0])
                    job.drop_minute()
                resident.append(resident_kib(trainwatch.pid))
            self.wait_until_read(trainwatch, job.written)
            resident.append(resident_kib(trainwatch.pid))
            events = trainwatch.metric("trainwatch_events_total")
            rejected = trainwatch.metric("trainwatch_records_rejected_total")
            alerts = trainwatch.metric("trainwatch_alerts_total")
            steps = trainwatch.json("/api/v1/analyses/step_statistics")["training_phase"]
        after_an_hour = resident[min(60, len(resident) - 1)]
        print("%g h: %d events, %.1f GB, %d alerts in %d s; RSS %d KiB after an hour, %d at the end, %d at most"
              % (HOURS, events, job.written / 1e9, alerts, time.monotonic() - began, after_an_hour, resident[-1],
                 max(resident)))
        self.assertEqual(rejected, 0)
        all_steps = round(HOURS * 3600) * STEPS_PER_SECOND * len(NODES) * GPUS
        count = steps["columns"].index("count")
        self.assertEqual(sum(row[count] for row in steps["rows"]), all_steps)
        self.assertLess(max(resident), MAX_RSS_KIB)
        self.assertLess(abs(resident[-1] - after_an_hour), MAX_GROWTH_KIB)

    def wait_until_read(self, trainwatch, size):
        def read():
            return trainwatch.metric("trainwatch_input_bytes_total") >= size
        harness.wait_for(read, "%d bytes are read" % size)


def resident_kib(pid):
    with open("/proc/%d/status" % pid) as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


if __name__ == "__main__":
    harness.main()
