# SPDX-License-Identifier: Apache-2.0
"""A large job, as its writers wrote it: thousands of ranks, one of which becomes slow, or thousands of nodes,
one of which has a broken GPU. The alerts are about these alone, and memory stays bounded, in `replay` and in
`run` with a scrape. TRAINWATCH_SCALE=full for 10,000 ranks, whose windows are all full, and 4,000 nodes."""

import os
import random
import re
import subprocess

import harness

FULL = os.environ.get("TRAINWATCH_SCALE") == "full"
RANKS, STEPS = (10_000, 450) if FULL else (1_000, 100)
NODES, SECONDS, CORES = (4_000, 8, 18) if FULL else (400, 8, 18)
BOUND_MIB = 256 if FULL else 110  # at any moment, while each reply of a scrape has 16 MB
PATIENCE = 400 if FULL else 60
BEGIN = 1_795_236_000


def write_ranks(directory):
    """PyTorch's timelines; in the rank in the middle, the last third of the steps takes twice as long."""
    folder = os.path.join(directory, "framework", "pevents", "2026112200")
    os.makedirs(folder)
    noise = random.Random(1)
    for rank in range(RANKS):
        name = "%d_%d-algo-%d_pythontimeline.json" % (BEGIN * 1_000_000, rank, rank // 8 + 1)
        with open(os.path.join(folder, name), "w") as file:
            file.write("".join(timeline(noise, rank == RANKS // 2)))


def timeline(noise, slow):
    yield '[\n{"name": "process_name", "ph": "M", "pid": 0, ' \
          '"args": {"start_time_since_epoch_in_micros": %d}},\n' % (BEGIN * 1_000_000)
    for number, name in enumerate(["Step:ModeKeys.TRAIN", "Forward", "DataLoaderIter"]):
        yield '{"name": "process_name", "ph": "M", "pid": %d, "args": {"name": "%s"}},\n' % (number, name)
    at = 1000
    for step in range(STEPS):
        took = int(100_000 * (1 + noise.gauss(0, 0.01))) * (2 if slow and step >= STEPS * 2 // 3 else 1)
        yield '{"name": "DataLoaderIter::GetNext", "pid": 2, "ph": "X", "ts": %d, "dur": 2000, ' \
              '"args": {"pid": 1, "worker_id": 0}},\n' % (at + 100)
        yield '{"name": "net", "pid": 1, "ph": "X", "ts": %d, "dur": %d, "args": {"step_num": "%d", "pid": 1}},\n' \
              % (at + 3000, took // 2, step)
        yield '{"name": "Step:ModeKeys.TRAIN", "pid": 0, "ph": "X", "ts": %d, "dur": %d, ' \
              '"args": {"step_num": "%d", "pid": 1}},\n' % (at, took, step)
        at += took + 500
    yield "{}\n]\n"


def write_nodes(directory):
    """System metrics: cores, and on each node a GPU; that of the node in the middle reports an error."""
    folder = os.path.join(directory, "system", "incremental", "2026112200")
    os.makedirs(folder)
    noise = random.Random(1)
    for node in range(NODES):
        name = "algo-%d" % (node + 1)
        with open(os.path.join(folder, "%d.%s.json" % (BEGIN, name)), "w") as file:
            for second in range(SECONDS):
                values = [("cpu", "cpu%d" % core, "CPUUtilization", 20 + noise.random())
                          for core in range(CORES)]
                broken = node == NODES // 2 and second >= SECONDS // 2
                values.append(("gpu", "gpu0", "GPUUtilization", 90 + noise.random()))
                values.append(("gpu", "gpu0", "GPUXid", 79 if broken else 0))
                for kind, device, dimension, value in values:
                    file.write('{"Type":"%s","Name":"%s","Dimension":"%s","Value":%.2f,"NodeId":"%s",'
                               '"Timestamp":%.1f}\n' % (kind, device, dimension, value, name, BEGIN + second))


class ScaleTest(harness.JobTest):
    def peak_of_replay(self):
        """The alerts, and the most memory that it had."""
        done = subprocess.run(
            ["/usr/bin/time", "-f", "peak %M", harness.binary(), "replay", self.directory],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=True)
        return done.stdout, int(re.search(r"^peak (\d+)", done.stderr, re.M).group(1)) / 1024

    def memory(self, trainwatch, key):
        with open("/proc/%d/status" % trainwatch.pid) as file:
            return next(int(line.split()[1]) for line in file if line.startswith(key + ":")) / 1024

    def check(self, what, rule, subject):
        size = sum(os.path.getsize(os.path.join(folder, name))
                   for folder, _, names in os.walk(self.directory) for name in names)
        out, peak = self.peak_of_replay()
        self.assertIn(rule, out)
        for line in out.splitlines():
            self.assertIn(subject, line)
        with harness.Trainwatch(self.directory, state=self.state, patience=PATIENCE) as trainwatch:
            harness.wait_for(lambda: trainwatch.metric("trainwatch_input_bytes_total") >= size,
                             "all is read", PATIENCE)
            alerts = trainwatch.json("/api/v1/alerts?after=0")["alerts"]
            self.assertEqual({alert["rule"] for alert in alerts if not alert["rule"].startswith("_self/")},
                             {rule})
            limits = trainwatch.json("/api/v1/status")["limits"]
            for name in ("files_dropped", "subjects_dropped", "symbols_dropped"):
                self.assertEqual(limits[name], 0, name)
            most, now = self.memory(trainwatch, "VmHWM"), self.memory(trainwatch, "VmRSS")
            self.assertEqual(trainwatch.stop(), 0)
        print("%s: replay %.0f MiB, run %.0f MiB (at most %.0f)" % (what, peak, now, most))
        self.assertLess(peak, BOUND_MIB)
        self.assertLess(most, BOUND_MIB)

    def test_ranks(self):  # catalogue 66
        write_ranks(self.directory)
        self.check("ranks", "throughput_regression", '"rank":%d' % (RANKS // 2))

    def test_nodes(self):  # catalogue 66
        write_nodes(self.directory)
        self.check("nodes", "gpu_error", '"node":"algo-%d"' % (NODES // 2 + 1))


if __name__ == "__main__":
    harness.main()
