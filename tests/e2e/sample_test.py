# SPDX-License-Identifier: Apache-2.0
"""`trainwatch sample` as a user runs it: real files, a GPU library found at run time (a fake one
that is built here), and a clean end on SIGTERM and when the watched process ends."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import harness

KEYS = ["Type", "Name", "Dimension", "Value", "NodeId", "Timestamp"]
FAKE_NVML = """
typedef struct { unsigned int gpu, memory; } utilization;
typedef struct { unsigned long long total, free, used; } memory;
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned int* n) { *n = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int i, void** d) { *d = (void*)(long)(i + 1); return 0; }
int nvmlDeviceGetUtilizationRates(void* d, utilization* u) { u->gpu = 40 + (long)d; return 0; }
int nvmlDeviceGetClockInfo(void* d, int kind, unsigned int* c) { *c = kind == 1 ? 1410 : 1593; return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void* d, unsigned long long* r) { *r = 4; return 0; }
int nvmlDeviceGetTemperature(void* d, int sensor, unsigned int* t) { *t = 60; return 0; }
int nvmlDeviceGetPowerUsage(void* d, unsigned int* p) { *p = 312500; return 0; }
int nvmlDeviceGetMemoryInfo(void* d, memory* m) { m->total = 1000; m->used = 123; return 0; }
"""


def lines_of(directory, node):
    files = sorted((directory / "system/incremental").rglob(f"*.{node}.json"))
    assert files, "no file was written"
    for file in files:
        assert int(file.name.split(".")[0]) % 60 == 0
        assert file.parent.name == time.strftime("%Y%m%d%H", time.gmtime(int(file.name[:10])))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def ends_on_sigterm(binary, directory):
    sampler = subprocess.Popen([binary, "sample", f"--out={directory}", "--interval=20ms",
                                "--node=algo-1"], stderr=subprocess.PIPE, text=True)
    harness.wait_for(lambda: list(directory.rglob("*.json")), "a file")
    sampler.send_signal(signal.SIGTERM)
    _, err = sampler.communicate(timeout=harness.PATIENCE_SECONDS)
    assert sampler.returncode == 0, err
    lines = lines_of(directory, "algo-1")
    assert all(list(line) == KEYS and line["NodeId"] == "algo-1" for line in lines)
    seen = {(line["Type"], line["Dimension"]) for line in lines}
    assert {("cpu", "CPUUtilization"), ("cpu", "I/OWaitPercentage"), ("memory", "")} <= seen, seen
    assert all(0 <= line["Value"] <= 100 for line in lines if line["Type"] in ("cpu", "memory"))


def finds_gpus(binary, directory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        print("no C compiler: the fake GPU library is left out")
        return
    library = directory / "lib"
    library.mkdir(parents=True)
    (library / "nvml.c").write_text(FAKE_NVML)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library / "libnvidia-ml.so.1",
                    library / "nvml.c"], check=True)
    subprocess.run([binary, "sample", f"--out={directory}", "--interval=20ms", "--duration=100ms",
                    "--node=n"], check=True, env={**os.environ, "LD_LIBRARY_PATH": str(library)})
    gpus = {(line["Name"], line["Dimension"]): line["Value"]
            for line in lines_of(directory, "n") if line["Type"] == "gpu"}
    health = {"GPUMemoryUtilization": 12.3, "GPUSmClock": 1410, "GPUMemoryClock": 1593, "GPUThrottleReasons": 4,
              "GPUTemperature": 60, "GPUPower": 312.5}
    expected = {(gpu, name): value for gpu in ("gpu0", "gpu1") for name, value in health.items()}
    assert gpus == {**expected, ("gpu0", "GPUUtilization"): 41, ("gpu1", "GPUUtilization"): 42}, gpus


def ends_with_the_job(binary, directory):
    job = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    sampler = subprocess.Popen([binary, "sample", f"--out={directory}", "--interval=20ms",
                                f"--pid={job.pid}"], stderr=subprocess.DEVNULL)
    harness.wait_for(lambda: list(directory.rglob("*.json")), "a file")
    assert sampler.poll() is None
    job.stdin.close()
    job.wait()
    assert sampler.wait(timeout=harness.PATIENCE_SECONDS) == 0


def main(binary):
    with tempfile.TemporaryDirectory() as directory:
        for check in (ends_on_sigterm, finds_gpus, ends_with_the_job):
            check(binary, pathlib.Path(directory) / check.__name__)
            print(check.__name__, "ok")
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
