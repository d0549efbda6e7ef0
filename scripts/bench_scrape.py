"""How long a scrape takes while trainwatch reads as fast as it can: a real daemon with a backlog of files, and an HTTP client that
keeps its connection. What bench.py runs as "scrape"."""

import http.client
import os
import sys
import tempfile
import time

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


def run_seconds(pid):
    """CPU time of the main thread, which answers."""
    with open("/proc/%d/task/%d/schedstat" % (pid, pid)) as file:
        return int(file.read().split()[0]) / 1e9


def value(text, metric):
    """The sum of a metric's series."""
    return sum(float(line.rsplit(b" ", 1)[1]) for line in text.splitlines() if line.split(b"{")[0].split(b" ")[0] == metric)


def measure(trainwatch, start, watched, name, encoding):
    """`start(folder, watched, arguments)` runs a daemon, which reads the backlog in `watched` from its beginning; see bench.py."""
    with tempfile.TemporaryDirectory() as folder:
        with start(trainwatch, folder, watched, ["--web.metrics-interval=0s", "--process.drain-timeout=0s"]) as (address, pid):
            time.sleep(1)
            connection = http.client.HTTPConnection(address, timeout=10)
            headers = {"Accept": TYPES[name], **({"Accept-Encoding": "gzip"} if encoding else {})}
            before = value(scrape(connection, {"Accept": TYPES["text"]})[1], b"trainwatch_input_bytes_total")
            seconds, body = [], b""
            began, ran = time.perf_counter(), run_seconds(pid)
            for _ in range(SCRAPES):
                time.sleep(PAUSE_SECONDS)
                took, body = scrape(connection, headers)
                seconds.append(took)
            ran, took = run_seconds(pid) - ran, time.perf_counter() - began
            _, text = scrape(connection, {"Accept": TYPES["text"]})
    read = value(text, b"trainwatch_input_bytes_total")
    if read >= BACKLOG_BYTES:
        sys.exit("bench: all of the backlog was read before the last scrape: raise BACKLOG_BYTES")
    seconds.sort()
    series = sum(1 for line in text.splitlines() if not line.startswith(b"#"))
    print("scrape %s%s: %d series, %d bytes, %d scrapes while %.0f MB/s are read: p50 %.2f ms, p99 %.2f ms, longest %.2f ms, "
          "CPU time %.2f ms" % (
        name, " gzip" if encoding else "", series, len(body), SCRAPES, (read - before) / took / 1e6, seconds[len(seconds) // 2] * 1e3,
        seconds[len(seconds) * 99 // 100] * 1e3, seconds[-1] * 1e3, ran / SCRAPES * 1e3), flush=True)


def run(trainwatch, start, scratch):
    with tempfile.TemporaryDirectory(dir=scratch) as watched:
        write_backlog(watched)
        for name in TYPES:
            measure(trainwatch, start, watched, name, encoding=False)
        measure(trainwatch, start, watched, "text", encoding=True)
