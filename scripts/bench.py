#!/usr/bin/env python3
"""What bench.sh runs: bench.py TRAINWATCH DECODE_BENCH SCRATCH [metrics|kineto|latency|scrape|idle]

metrics, kineto  the CPU time of `trainwatch replay` on 200 MB, and that of a plain simdjson on-demand
                 pass which reads the same fields and does nothing else (decode_bench, before and
                 after the replays), and their ratio
latency          the time from appending a slow step to a growing timeline until a WebSocket client
                 on this machine holds the alert
scrape           how long GET /metrics takes in each format while trainwatch reads as fast as it can, and the CPU time of
                 the thread that answers; not among those that run without a name
idle             the share of a core that trainwatch takes beside 100 and 1,000 timelines that have stopped growing; by name only
"""

import asyncio
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import bench_idle
import bench_scrape

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUPPORT = os.path.join(ROOT, "tests", "support")
MEGABYTES = 200
ROUNDS = 5
ALERTS = 200
WARM_UP_STEPS = 30


def say(text):
    print(text, file=sys.stderr, flush=True)


def concatenate(target, folder):
    with open(target + ".part", "wb") as out:
        for where, folders, names in os.walk(folder):
            folders.sort()
            for name in sorted(names):
                with open(os.path.join(where, name), "rb") as file:
                    out.write(file.read())
    os.rename(target + ".part", target)


def system_metrics(scratch):
    target = os.path.join(scratch, "system", "incremental", "1700000000.algo-1.json")
    if not os.path.exists(target):
        say("bench: generating %d MB of system metrics" % MEGABYTES)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=scratch) as parts:
            subprocess.run([sys.executable, os.path.join(SUPPORT, "sagemaker_job_gen.py"), "system",
                            "--out", parts, "--lines", str(MEGABYTES * 8700)],
                           check=True, stdout=subprocess.DEVNULL)
            concatenate(target, parts)
    return target


def kineto_trace(scratch):
    folder = os.path.join(scratch, "kineto")
    if not os.path.isdir(folder):
        say("bench: generating a Kineto trace of %d MB" % MEGABYTES)
        subprocess.run([sys.executable, os.path.join(SUPPORT, "kineto_gen.py"), "--out",
                        folder + ".part", "--ranks", "1", "--steps", str(MEGABYTES // 5),
                        "--kernels-per-step", "3000"], check=True, stdout=subprocess.DEVNULL)
        os.rename(folder + ".part", folder)
    return next(os.path.join(folder, name) for name in os.listdir(folder)
                if name.endswith(".pt.trace.json"))


def peak_resident(pid):
    """MiB so far; 0 once it has ended. (The kernel's figure at the end is at least this program's
    own, from before the exec.)"""
    with open("/proc/%d/status" % pid) as file:
        found = re.search(r"VmHWM:\s+(\d+) kB", file.read())
    return int(found.group(1)) / 1024 if found else 0


def measured(command):
    """Runs it; its output, its CPU seconds and its peak resident MiB."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output)
        resident = 0
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            resident = max(resident, peak_resident(process.pid))
            time.sleep(0.005)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit("bench: %s failed" % " ".join(command))
        output.seek(0)
        return output.read(), usage.ru_utime + usage.ru_stime, resident


def plain_pass(decode_bench, path):
    output, _, _ = measured([decode_bench, path])
    return float(re.search(r"simdjson_cpu_seconds=([0-9.]+)", output).group(1))


def throughput(name, path, trainwatch, decode_bench):
    size = os.path.getsize(path)
    passes = [plain_pass(decode_bench, path)]
    replays, peak = [], 0
    for _ in range(ROUNDS):
        _, seconds, resident = measured([trainwatch, "replay", path])
        replays.append(seconds)
        peak = max(peak, resident)
    passes.append(plain_pass(decode_bench, path))
    replay, plain = statistics.median(replays), statistics.median(passes)
    print("%s: %.0f MB; replay %.3f ns/byte (%.2f GB/s), plain simdjson pass %.3f ns/byte "
          "(%.2f GB/s), share of the limit %.2f; peak RSS %.1f MiB" % (
              name, size / 1e6, replay / size * 1e9, size / replay / 1e9, plain / size * 1e9,
              size / plain / 1e9, plain / replay, peak), flush=True)


class Timeline:
    """A growing timeline of one rank, with even steps of 0.1 s."""

    def __init__(self, folder, rank):
        self._path = os.path.join(folder, "framework",
                                  "%d-bench_pythontimeline.json.tmp" % rank)
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        self._file = open(self._path, "ab", buffering=0)
        self._at, self._step = 0, 0
        base = {"start_time_since_epoch_in_micros": 1700000000000000}
        self._lines = [{"name": "process_name", "ph": "M", "pid": 0, "args": base},
                       {"name": "process_name", "ph": "M", "pid": 1,
                        "args": {"name": "Step:ModeKeys.TRAIN"}}]
        self._file.write(b"[\n")
        for _ in range(WARM_UP_STEPS):
            self.step(100000)

    def step(self, duration):
        self._lines.append({"name": "Step:ModeKeys.TRAIN", "ph": "X", "pid": 1, "ts": self._at,
                            "dur": duration, "args": {"pid": 1, "step_num": str(self._step)}})
        self._at += duration
        self._step += 1
        self._file.write("".join(json.dumps(line) + ",\n" for line in self._lines).encode())
        self._lines = []


async def alert_of(stream, rank):
    async for text in stream:
        frame = json.loads(text)
        if frame["op"] == "alert" and frame["subject"].get("rank") == rank:
            return time.perf_counter()
    raise RuntimeError("trainwatch closed the stream")


async def latencies(folder, address):
    import websockets
    timelines = [Timeline(folder, rank) for rank in range(ALERTS)]
    seconds = []
    async with websockets.connect("ws://%s/api/v1/stream" % address) as stream:
        await asyncio.sleep(2)  # all of the even steps are read
        for rank, timeline in enumerate(timelines):
            await asyncio.sleep(0.01 + 0.0007 * (rank % 50))  # no fixed phase to any poll
            began = time.perf_counter()
            timeline.step(1000000)
            seconds.append(await asyncio.wait_for(alert_of(stream, rank), 10) - began)
    return sorted(seconds)


@contextlib.contextmanager
def daemon(trainwatch, folder, watched, arguments=()):
    """Runs trainwatch with its log and state in `folder`; its address and pid."""
    log_path = os.path.join(folder, "log")
    with open(log_path, "w") as log:
        process = subprocess.Popen([trainwatch, "run", "--watch=" + watched,
                                    "--storage.path=" + os.path.join(folder, "state"),
                                    "--web.listen-address=127.0.0.1:0", *arguments],
                                   stdout=subprocess.DEVNULL, stderr=log)
    try:
        address = None
        while address is None and process.poll() is None:
            time.sleep(0.05)
            with open(log_path) as log:
                found = re.search(r'listening.*address="?([\d.]+:\d+)', log.read())
            address = found and found.group(1)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait()


def latency(trainwatch, scratch):
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        watched = os.path.join(folder, "job")
        os.mkdir(watched)
        with daemon(trainwatch, folder, watched) as (address, _):
            seconds = asyncio.run(latencies(watched, address))
    print("latency: append to WebSocket alert, %d alerts, %d growing files: p50 %.2f ms, "
          "p99 %.2f ms" % (ALERTS, ALERTS, seconds[len(seconds) // 2] * 1e3,
                           seconds[len(seconds) * 99 // 100] * 1e3), flush=True)


def main():
    trainwatch, decode_bench, scratch = sys.argv[1:4]
    wanted = sys.argv[4:] or ["metrics", "kineto", "latency"]
    os.makedirs(scratch, exist_ok=True)
    for name in wanted:
        if name == "metrics":
            throughput(name, system_metrics(scratch), trainwatch, decode_bench)
        elif name == "kineto":
            throughput(name, kineto_trace(scratch), trainwatch, decode_bench)
        elif name == "latency":
            latency(trainwatch, scratch)
        elif name == "scrape":
            bench_scrape.run(trainwatch, daemon, scratch)
        elif name == "idle":
            bench_idle.run(trainwatch, daemon, Timeline, scratch)
        else:
            sys.exit("bench: no benchmark is named " + name)


if __name__ == "__main__":
    main()
