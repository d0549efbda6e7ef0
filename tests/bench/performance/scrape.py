# SPDX-License-Identifier: Apache-2.0
"""How long a scrape takes while trainwatch reads as fast as it can: a daemon with a backlog of files, and an HTTP client that keeps its
connection."""

import http.client
import os
import sys
import tempfile
import time

import processes
from table import Figure

RANKS, CORES, SCRAPES = 8, 24, 400
BACKLOG_BYTES = 4_000_000_000
PAUSE_SECONDS = 0.01  # between two scrapes; every one is rendered anew
TYPES = {"text": "text/plain;version=0.0.4", "openmetrics": "application/openmetrics-text;version=1.0.0",
         "protobuf": "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"}
BEGIN = 1_700_000_000


def write_backlog(directory):
    """Steps and system metrics of a job, a second of the job at a time, BACKLOG_BYTES in all. Written before: a writer would take one
    of the cores, and the scrapes would wait for it too."""
    os.makedirs(os.path.join(directory, "framework"))
    files = [open(os.path.join(directory, "framework", "%d-bench_pythontimeline.json.tmp" % rank), "ab", buffering=0)
             for rank in range(RANKS)]
    header = '[\n{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": %d000000}},\n' % BEGIN
    for pid, phase in enumerate(("Step:ModeKeys.TRAIN", "Forward", "Backward", "Optimizer"), 1):
        header += '{"name": "process_name", "ph": "M", "pid": %d, "args": {"name": "%s"}},\n' % (pid, phase)
    for file in files:
        file.write(header.encode())
    system = open(os.path.join(directory, "%d.bench.json" % BEGIN), "ab", buffering=0)
    lines = [("cpu", "cpu%d" % core, name) for core in range(CORES) for name in ("CPUUtilization", "I/OWaitPercentage")]
    sample = "".join('{"Type":"%s","Name":"%s","Dimension":"%s","Value":12.5,"NodeId":"bench","Timestamp":@.5}\n' % line
                     for line in lines).encode()
    written = second = 0
    while written < BACKLOG_BYTES:
        system.write(sample.replace(b"@", b"%d" % (BEGIN + second)))
        steps = "".join(step(second * 1_000_000 + at, second * 10 + at // 100_000) for at in range(0, 1_000_000, 100_000))
        for file in files:
            file.write(steps.encode())
        written += len(sample) + RANKS * len(steps)
        second += 1
    for file in (*files, system):
        os.fsync(file.fileno())  # the disk is idle while scrapes are measured
        file.close()


def step(at, number):
    """A step with its phases."""
    spans = ((2, 100, 30_000), (3, 31_000, 40_000), (4, 72_000, 10_000), (1, 0, 90_000 + number % 7 * 1000))
    return "".join('{"name": "s", "ph": "X", "pid": %d, "ts": %d, "dur": %d, "args": {"pid": 1, "step_num": "%d"}},\n'
                   % (pid, at + begin, lasts, number) for pid, begin, lasts in spans)


def scrape(connection, headers):
    """Seconds, and the body."""
    began = time.perf_counter()
    connection.request("GET", "/metrics", headers=headers)
    body = connection.getresponse().read()
    return time.perf_counter() - began, body


def series_of(text):
    return sum(1 for line in text.splitlines() if not line.startswith(b"#"))


def scrapes(trainwatch, watched, name, gzip):
    """Seconds of each, in order of their length; CPU seconds of each; bytes, series and MB/s."""
    with tempfile.TemporaryDirectory() as folder, processes.Daemon(
            trainwatch, folder, watched, "--web.metrics-interval=0s", "--process.drain-timeout=0s") as daemon:
        time.sleep(1)
        connection = http.client.HTTPConnection(daemon.address, timeout=10)
        headers = {"Accept": TYPES[name], **({"Accept-Encoding": "gzip"} if gzip else {})}
        before = daemon.metric("trainwatch_input_bytes_total")
        seconds, body = [], b""
        began, ran = time.perf_counter(), processes.seconds_of(daemon.pid, "trainwatch")
        for _ in range(SCRAPES):
            time.sleep(PAUSE_SECONDS)
            took, body = scrape(connection, headers)
            seconds.append(took)
        ran, took = processes.seconds_of(daemon.pid, "trainwatch") - ran, time.perf_counter() - began
        read = daemon.metric("trainwatch_input_bytes_total")
        series = series_of(scrape(connection, {"Accept": TYPES["text"]})[1])
    if read >= BACKLOG_BYTES:
        sys.exit("bench: all of the backlog was read before the last scrape: raise BACKLOG_BYTES")
    return sorted(seconds), ran / SCRAPES, len(body), series, (read - before) / took / 1e6


def measure(_, trainwatch, bench, scratch):
    with tempfile.TemporaryDirectory(dir=scratch) as watched:
        write_backlog(watched)
        for name, gzip in (*((name, False) for name in TYPES), ("text", True)):
            seconds, ran, size, series, rate = scrapes(trainwatch, watched, name, gzip)
            title = "/metrics, %s%s" % (name, ", gzip" if gzip else "")
            yield Figure(title + ", p99 of %d while reading" % SCRAPES, [seconds[SCRAPES * 99 // 100] * 1e3], 3, " ms", at_least=False,
                         note="%d series, %d bytes, median %.2f ms, longest %.2f ms, %.0f MB/s are read" % (
                             series, size, seconds[SCRAPES // 2] * 1e3, seconds[-1] * 1e3, rate))
            yield Figure(title + ", CPU time", [ran * 1e3], 1, " ms", at_least=False)
