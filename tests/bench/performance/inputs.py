# SPDX-License-Identifier: Apache-2.0
"""What is measured with: files of known size, generated once below a scratch folder. Each function returns a list of paths that one
process reads at once."""

import gzip
import glob
import os
import random
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SUPPORT = os.path.join(ROOT, "tests", "support")
SHARED = os.path.join(os.path.dirname(ROOT), "shared", "data")
MEGABYTES = 200
FILES = 200  # of metrics_of_nodes
SHUFFLED_LINES = 1500  # ten ticks of the generator
FLEET_SERIES = 7600
RANKS = 4  # of real_jobs


def made(scratch, name, make):
    """The folder of an input or a program, made by make(folder) the first time."""
    folder = os.path.join(scratch, name)
    if not os.path.isdir(folder):
        print("bench: generating " + name, file=sys.stderr, flush=True)
        part = folder + ".part"
        shutil.rmtree(part, ignore_errors=True)
        os.makedirs(part)
        make(part)
        os.rename(part, folder)
    return folder


def files_below(folder):
    return sorted(os.path.join(where, name) for where, _, names in os.walk(folder) for name in names)


def _generate(script, *arguments):
    subprocess.run([sys.executable, os.path.join(SUPPORT, script), *arguments], check=True, stdout=subprocess.DEVNULL)


def _concatenate(folder, target):
    """All files below `folder`, in order, as one; then they are removed."""
    parts = files_below(folder)
    whole = os.path.join(folder, "whole")
    with open(whole, "wb") as out:
        for part in parts:
            with open(part, "rb") as file:
                shutil.copyfileobj(file, out)
            os.remove(part)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    os.rename(whole, target)


def metrics(scratch, megabytes=MEGABYTES):
    """System metrics of 8 GPUs and 32 cores in one file."""
    def make(folder):
        _generate("sagemaker_job_gen.py", "system", "--out", folder, "--lines", str(megabytes * 8700))
        _concatenate(folder, os.path.join(folder, "job", "system", "incremental", "1700000000.algo-1.json"))

    return files_below(made(scratch, "metrics-%d" % megabytes, make))


def metrics_of_nodes(scratch):
    """The same lines in FILES files, each of a node of its own."""
    def make(folder):
        os.makedirs(os.path.join(folder, "system", "incremental"))
        with open(metrics(scratch)[0], "rb") as file:
            for node in range(1, FILES + 1):
                lines = b"".join(file.readlines(MEGABYTES * 1_000_000 // FILES))
                path = os.path.join(folder, "system", "incremental", "1700000000.algo-%d.json" % node)
                with open(path, "wb") as out:
                    out.write(lines.replace(b"algo-1", b"algo-%d" % node))

    return files_below(made(scratch, "metrics-of-nodes", make))


def metrics_of_fleet(scratch, ticks):
    """7,600 series: 100 nodes of 8 GPUs and 26 cores, a file for each node and minute, two ticks a second."""
    def make(folder):
        _generate("sagemaker_job_gen.py", "system", "--out", folder, "--nodes", "100", "--cpus", "26", "--lines", str(ticks * FLEET_SERIES))

    return files_below(made(scratch, "metrics-of-fleet-%d" % ticks, make))


def shuffled_metrics(scratch):
    """The same lines; those of ten ticks lie in random order."""
    def make(folder):
        order = random.Random(1)
        target = os.path.join(folder, "system", "incremental", "1700000000.algo-1.json")
        os.makedirs(os.path.dirname(target))
        with open(metrics(scratch)[0], "rb") as file, open(target, "wb") as out:
            lines = file.readlines()
            for begin in range(0, len(lines), SHUFFLED_LINES):
                some = lines[begin:begin + SHUFFLED_LINES]
                order.shuffle(some)
                out.writelines(some)

    return files_below(made(scratch, "metrics-shuffled", make))


def kineto(scratch, megabytes=MEGABYTES):
    """One profiler cycle of PyTorch of 2024."""
    def make(folder):
        _generate("kineto_gen.py", "--out", folder, "--ranks", "1", "--steps", str(megabytes // 5), "--kernels-per-step", "3000",
                  "--format", "modern2024")
        for path in files_below(folder):
            if not path.endswith(".pt.trace.json"):
                os.remove(path)

    return files_below(made(scratch, "kineto-%d" % megabytes, make))


def kineto_gz(scratch):
    def make(folder):
        path = kineto(scratch)[0]
        with open(path, "rb") as file, gzip.open(os.path.join(folder, os.path.basename(path) + ".gz"), "wb", 6) as out:
            shutil.copyfileobj(file, out)

    return files_below(made(scratch, "kineto-gz", make))


def real_kineto(scratch):
    """A real trace of 2024, as that of many ranks. Empty without ../shared."""
    source = os.path.join(SHARED, "kineto", "rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz")
    if not os.path.exists(source):
        return []

    def make(folder):
        with gzip.open(source) as file:
            text = file.read()
        for copy in range(MEGABYTES * 1_000_000 // len(text)):
            job = os.path.join(folder, "job-%d" % copy)
            os.mkdir(job)
            with open(os.path.join(job, os.path.basename(source)[:-3]), "wb") as out:
                out.write(text)

    return files_below(made(scratch, "kineto-real", make))


def real_jobs(scratch):
    """Folders of jobs with RANKS ranks, whose traces are one real one of 2022 to 2024 each. Empty without ../shared."""
    names = ("df_index_resolver", "negative_queue_rank0", "rank-0.Apr_03_18_51_38.1102.pt.trace", "nccl_data")
    sources = [os.path.join(SHARED, "kineto", name + ".json.gz") for name in names]
    if not all(map(os.path.exists, sources)):
        return []

    def make(folder):
        for name, source in zip(names, sources):
            os.mkdir(os.path.join(folder, name))
            with gzip.open(source) as file:
                text = file.read()
            for rank in range(RANKS):
                with open(os.path.join(folder, name, "rank_%d.json" % rank), "wb") as out:
                    out.write(re.sub(rb'"rank": \d+', b'"rank": %d' % rank, text))

    folder = made(scratch, "kineto-jobs", make)
    return [os.path.join(folder, name) for name in names]


def job(scratch):
    """Ten minutes of a job in SageMaker's format: a rank with data loaders, and system metrics of 8 GPUs and 16 cores."""
    def make(folder):
        _generate("sagemaker_job_gen.py", "job", "--out", folder, "--scenario", "normal", "--seconds", "600", "--gpus", "8", "--cpus", "16")

    return files_below(made(scratch, "job", make))


def timelines(scratch, megabytes=MEGABYTES):
    """A growing timeline of a rank, as smdebug writes it for PyTorch."""
    def make(folder):
        _generate("sagemaker_job_gen.py", "timeline", "--out", folder, "--events", str(megabytes * 6900), "--max-bytes",
                  str(megabytes * 10_000_000), "--close-s", "1000000000")

    return files_below(made(scratch, "timelines-%d" % megabytes, make))


def timelines_of_ranks(scratch, ranks):
    """As many bytes as timelines(), in one timeline for each rank."""
    def make(folder):
        _generate("sagemaker_job_gen.py", "timeline", "--out", folder, "--events", str(MEGABYTES * 6900), "--ranks", str(ranks),
                  "--max-bytes", "1000000000", "--close-s", "1000000000")

    return files_below(made(scratch, "timelines-of-%d" % ranks, make))


def hook_timeline(scratch):
    """A timeline as trainwatch.Watch writes it: few spans a step, and the wait for a batch before its step."""
    spans = (("DataLoaderIter::GetNext", 1, 5_000), ("Forward", 2, 30_000), ("Backward", 3, 50_000), ("Optimizer", 4, 9_000))
    step_us, step_pid = 100_000, 5
    line = ',\n{"name": "%s", "pid": %d, "ph": "X", "ts": %d, "dur": %d, "args": {"pid": 900, "step_num": "%d"}}'

    def make(folder):
        random_numbers = random.Random(1)
        os.mkdir(os.path.join(folder, "framework"))
        with open(os.path.join(folder, "framework", "0-bench_pythontimeline.json.tmp"), "w") as out:
            out.write('[\n{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": 1700000000000000}}')
            for name, pid, _ in (("DataLoaderIter", 1, 0), *spans[1:], ("Step:ModeKeys.TRAIN", step_pid, 0)):
                out.write(',\n{"name": "process_name", "ph": "M", "pid": %d, "args": {"name": "%s"}}' % (pid, name))
            at = step = written = 0
            while written < MEGABYTES * 1_000_000:
                begin = at
                for name, pid, usual in spans:
                    took = usual + random_numbers.randrange(usual // 10)
                    written += out.write(line % (name, pid, at, took, step))
                    at += took
                    begin = at if pid == 1 else begin
                at = max(at, begin + step_us)
                written += out.write(line % ("Step:ModeKeys.TRAIN", step_pid, begin, at - begin, step))
                step += 1
            out.write("\n]")

    return files_below(made(scratch, "timelines-of-hook", make))


def tensorflow(scratch):
    """A trace of TensorFlow's profiler in one file, from the real one's events. Empty without ../shared."""
    found = sorted(glob.glob(os.path.join(SHARED, "sagemaker", "profiler", "resources", "tfprofiler_timeline_traces", "**",
                                          "*.trace.json.gz"), recursive=True))
    if not found:
        return []

    def make(folder):
        with gzip.open(found[0]) as file:
            text = file.read()
        head, events = text.split(b'"traceEvents":[', 1)
        events, tail = events.rsplit(b"]", 1)
        metadata = events[:events.index(b'"ph":"X"')].rsplit(b"{", 1)[0]
        spans = events[len(metadata):].removesuffix(b",{}")
        target = os.path.join(folder, os.path.relpath(found[0], os.path.dirname(found[0]).split("framework")[0])[:-3])
        os.makedirs(os.path.dirname(target))
        with open(target, "wb") as out:
            out.write(head + b'"traceEvents":[' + metadata + spans)
            for _ in range(MEGABYTES * 1_000_000 // len(spans)):
                out.write(b"," + spans)
            out.write(b",{}]" + tail)

    return files_below(made(scratch, "tensorflow", make))
