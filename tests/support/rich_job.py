# SPDX-License-Identifier: Apache-2.0
"""A job with every kind of input, and what trainwatch exports of it: for tests that compare names of metrics and labels,
in documents, rules and dashboards, with a real scrape.

    page = rich_job.scrape(harness.Trainwatch, directory)
    rich_job.exported(page)["trainwatch_steps_total"]["mode"]  # {"train", "eval"}
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SUPPORT = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(os.path.dirname(SUPPORT), "data", "recorded-job")
BEGIN_US = 1_700_000_000_000_000

# Series that `trainwatch sample` writes and SageMaker does not.
SAMPLED = ([("gpu", "gpu0", name) for name in ("GPUSmClock", "GPUMemoryClock", "GPUThrottleReasons", "GPUTemperature",
                                               "GPUPower", "GPUEccErrors", "GPUXid")]
           + [("pressure", resource + "Pressure" + kind, "") for resource in ("CPU", "IO", "Memory")
              for kind in ("Some", "Full")]
           + [("cgroup", name, "") for name in ("CPUThrottledPercent", "MemoryUsedPercent",
                                                "ReadThroughputInBytesPerSecond",
                                                "WriteThroughputInBytesPerSecond")])

# Of the timeline of a distributed job: (phase, name, microseconds), after which comes the step itself.
PHASES = (("DataLoaderIter", "DataLoaderIter::GetNext", 5_000), ("Forward", "Forward", 30_000),
          ("Backward", "Backward", 40_000), ("NcclManager", "allreduce", 10_000), ("Optimizer", "Optimizer", 4_000),
          ("Checkpoint", "Checkpoint", 1_000))


def write(directory):
    """The files, below `directory`: a job without a name, and some with one, of which one has failed."""
    _write_samples(directory)
    _generate("sagemaker_job_gen.py", "job", "--out", directory, "--seconds", "20")
    _generate("kineto_gen.py", "--out", directory, "--scenario", "comm_bound", "--ranks", "2", "--steps", "4")
    shutil.copytree(RECORDED, os.path.join(directory, "recorded"),  # has alerts
                    ignore=shutil.ignore_patterns("*.py"))
    shutil.copytree(os.path.join(os.path.dirname(RECORDED), "recorded-logs", "torch_summary"), os.path.join(directory, "logged"))
    _write_failed_log(os.path.join(directory, "failed"))
    for rank in range(2):
        _write_timeline(os.path.join(directory, "distributed"), rank)


def scrape(trainwatch, directory):
    """Writes the job and returns metrics() of it."""
    write(directory)
    return metrics(trainwatch, directory)


def metrics(trainwatch, directory, *arguments):
    """Has all of the job read by the class `trainwatch` of the harness, and returns /metrics. There is a receiver of alerts, at an
    address where nobody answers."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        json.dump({"receivers": [{"name": "webhook", "type": "webhook", "url": "http://127.0.0.1:9/"}]}, config)
        config.flush()
        with trainwatch(directory, "--config.file=" + config.name, *arguments) as running:
            running.wait_until_read()
            running.wait_for_metric("trainwatch_source_stuck{")
            return running.get("/metrics")


def exported(page):
    """Of the text format of Prometheus: sample name -> label -> the set of its values."""
    found = {}
    for line in page.splitlines():
        sample = re.match(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ", line)
        if sample:
            labels = found.setdefault(sample.group(1), {})
            for name, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', sample.group(2) or ""):
                labels.setdefault(name, set()).add(value)
    return found


def _generate(script, *arguments):
    subprocess.run([sys.executable, os.path.join(SUPPORT, script), *arguments], check=True, stdout=subprocess.DEVNULL)


def _write_samples(directory):
    with open(os.path.join(directory, "1700000000.sampled.json"), "w") as file:
        for kind, name, dimension in SAMPLED:
            file.write(json.dumps({"Type": kind, "Name": name, "Dimension": dimension, "Value": 1,
                                   "NodeId": "sampled", "Timestamp": 1700000000.5}) + "\n")


def _write_failed_log(directory):
    os.mkdir(directory)
    with open(os.path.join(directory, "console.log"), "w") as file:
        for step in range(1, 21):
            file.write(" [2026-09-21 14:13:%02d] iteration %8d/     100 | elapsed time per iteration (ms): 2000.0 | "
                       "learning rate: 6.0E-05 | lm loss: 9.5E+00 | grad norm: 1.5 |\n" % (2 * step, step))
        file.write("Traceback (most recent call last):\n"
                   '  File "/job/train.py", line 88, in <module>\n'
                   "    main()\n"
                   "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.\n")


def _write_timeline(directory, rank):
    """Steps with every phase that is measured; every fifth of them evaluates. Rank 1 waits for its input."""
    folder = os.path.join(directory, "framework", "pevents", "2023111422")
    os.makedirs(folder, exist_ok=True)
    modes = ("Step:ModeKeys.TRAIN", "Step:ModeKeys.EVAL")
    pids = {phase: number for number, phase in enumerate((*modes, *(phase for phase, _, _ in PHASES)), 1)}
    lines = [{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": BEGIN_US}}]
    lines += [{"name": "process_name", "ph": "M", "pid": pid, "args": {"name": phase}} for phase, pid in pids.items()]
    at = 0
    for step in range(50):
        arguments, begin = {"pid": 1, "step_num": str(step)}, at
        for phase, name, took in PHASES:
            took += 20_000 * rank * (phase == "DataLoaderIter")
            lines.append({"name": name, "pid": pids[phase], "ph": "X", "ts": at, "dur": took, "args": arguments})
            at += took
        mode = modes[step % 5 == 4]
        lines.append({"name": mode, "pid": pids[mode], "ph": "X", "ts": begin, "dur": at - begin, "args": arguments})
        at += 1_000
    path = os.path.join(folder, "%d_%d-node-%d_pythontimeline.json" % (BEGIN_US + at, rank, rank))
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(map(json.dumps, lines)) + "\n]\n")
