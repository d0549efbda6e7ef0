# SPDX-License-Identifier: Apache-2.0
"""SageMaker Profiler's rules as SageMaker evaluates them: windows of a minute over everything
that was seen so far, latched where SageMaker latches. Written from the description of their conditions, with
the standard library only; sagemaker_rules_test.py holds it to SageMaker's own results.

    job = Job(directory);  fired(job) -> {"BatchSize": [8, 9, ...], ...}
"""
import collections
import glob
import json
import math
import os

WINDOW_US = 60_000_000


def quantile(values, q):
    ordered = sorted(values)
    h = (len(ordered) - 1) * q
    low = ordered[int(h)]
    high = ordered[min(int(h) + 1, len(ordered) - 1)]
    return low + (high - low) * (h - int(h))


def mean(values):
    return math.fsum(values) / len(values)


def stddev(values):
    middle = mean(values)
    return math.sqrt(math.fsum((v - middle) ** 2 for v in values) / len(values))


def distance(a, b):
    """Jensen-Shannon distance of two lists of shares."""
    total = 0.0
    for p, q in zip(a, b):
        m = (p + q) / 2
        total += (p * math.log(p / m) if p else 0) + (q * math.log(q / m) if q else 0)
    return math.sqrt(max(total, 0) / 2)


class Job:
    """A generated job of one node, and the windows SageMaker cuts it into."""

    def __init__(self, directory):
        self.by_dimension = collections.defaultdict(lambda: collections.defaultdict(list))
        self.samples = []  # (time in us, type, name, dimension, value)
        self.spans = []    # (start us, end us, phase, name, args)
        files = glob.glob(os.path.join(directory, "system", "**", "*.json"), recursive=True)
        self.begin = min(int(os.path.basename(f).split(".")[0]) for f in files) * 1_000_000
        for file in sorted(files):
            with open(file) as lines:
                for line in lines:
                    s = json.loads(line)
                    self.samples.append((int(s["Timestamp"] * 1e6), s["Type"], s["Name"],
                                         s["Dimension"], s["Value"]))
        for file in sorted(glob.glob(os.path.join(directory, "framework", "pevents", "*", "*"))):
            with open(file) as text:
                self._read_timeline(json.load(text))
        self.end = max([s[0] for s in self.samples] + [s[1] for s in self.spans])
        self.windows = 1 + math.ceil((self.end - self.begin) / WINDOW_US)

    def _read_timeline(self, events):
        start, phases = 0, {}
        for e in events:
            if e["ph"] == "M":
                start = e["args"].get("start_time_since_epoch_in_micros", start)
                if e["name"] == "process_name" and "name" in e["args"]:
                    phases[e["pid"]] = e["args"]["name"]
            elif e["ph"] == "X":
                at = start + e["ts"]
                self.spans.append((at, at + e["dur"], phases[e["pid"]], e["name"], e["args"]))

    def series(self, dimension):
        if not self.by_dimension:
            for at, _, name, dim, value in self.samples:
                self.by_dimension[dim][name].append((at, value))
        return self.by_dimension[dimension]

    def window(self, number):
        return self.begin + number * WINDOW_US, self.begin + (number + 1) * WINDOW_US

    def until(self, number, series):
        end = self.window(number)[1]
        return [value for at, value in series if at <= end]


def snapshots(job, resource, limit, gpu_threshold=10):
    """(time, low GPU, core above the limit) of every snapshot, in order."""
    found = []
    for at, _, _, dimension, value in job.samples:
        if not found or abs(at - found[-1][0]) > 20_000:
            found.append([at, False, False])
        if dimension == "GPUUtilization" and value < gpu_threshold:
            found[-1][1] = True
        if dimension == resource and value > limit:
            found[-1][2] = True
    return found


def bottleneck(job, resource, limit, threshold=50, patience=1000):
    fired = []
    found = snapshots(job, resource, limit)
    for w in range(job.windows):
        seen = [s for s in found if s[0] <= job.window(w)[1]]
        both = sum(1 for s in seen if s[1] and s[2])
        if len(seen) > patience and 100 * both / len(seen) > threshold:
            fired.append(w)
    return fired


def latched(job, condition):
    for w in range(job.windows):
        if condition(w):
            return list(range(w, job.windows))
    return []


def low_gpu(job, window=500, patience=1000, p95=70, p5=10):
    def condition(w):
        for series in job.series("GPUUtilization").values():
            values = job.until(w, series)
            if len(values) <= patience:
                continue
            high, low = quantile(values[-window:], 0.95), quantile(values[-window:], 0.05)
            if high < p95 or (high > p95 and low < p5):
                return True
        return False
    return latched(job, condition)


def cpu_means(job):
    """(time, mean over the cores) of every sampling tick."""
    by_time = collections.defaultdict(list)
    for series in job.series("CPUUtilization").values():
        for at, value in series:
            by_time[at].append(value)
    return [(at, sum(values) / len(values)) for at, values in sorted(by_time.items())]


def batch_size(job, window=500, patience=1000, limit=70):
    cpu, memory = cpu_means(job), job.series("GPUMemoryUtilization")

    def condition(w):
        cpus = job.until(w, cpu)
        if len(cpus) <= max(window, patience) or quantile(cpus[-window:], 0.95) >= limit:
            return False
        for name, series in job.series("GPUUtilization").items():
            values, used = job.until(w, series), job.until(w, memory[name])
            if (len(values) > window and quantile(values[-window:], 0.95) < limit
                    and quantile(used[-window:], 0.95) < limit):
                return True
        return False
    return latched(job, condition)


def gpu_memory_increase(job, increase=5, window=10, patience=1000):
    def condition(w):
        for series in job.series("GPUMemoryUtilization").values():
            v = job.until(w, series)
            for n in range(patience + 1, len(v) + 1):
                if mean(v[n - window:n]) - mean(v[n - window - 1:n - 2]) > increase:
                    return True
        return False
    return latched(job, condition)


def histogram(values):
    """SageMaker's bins, which leave out what is above 98 %."""
    bins = [0] * 49
    for value in values:
        if value <= 98:
            bins[min(int(value // 2), 48)] += 1
    return bins


def load_distance(values_a, values_b):
    """SageMaker's distance: the mean is of counts, and only then made shares."""
    a, b = histogram(values_a), histogram(values_b)
    total = sum(a) + sum(b)
    divergence = 0.0
    for counts in (a, b):
        for mine, x, y in zip(counts, a, b):
            if mine:
                share = mine / sum(counts)
                divergence += share * math.log(share / ((x + y) / total))
    return math.sqrt(max(divergence, 0) / 2)


def load_balancing(job, threshold=0.5, patience=1000):
    gpus = list(job.series("GPUUtilization").values())

    def condition(w):
        values = [job.until(w, series) for series in gpus]
        return any(len(a) > patience and len(b) > patience and load_distance(a, b) > threshold
                   for i, a in enumerate(values) for b in values[i + 1:])
    return latched(job, condition)


def step_durations(job, phase):
    """Seconds of the steps of a mode, each once, in order."""
    return [(s[1] - s[0]) / 1e6 for s in job.spans if s[3] == phase]


def outliers(durations, deviations=3):
    limit = mean(durations) + deviations * stddev(durations)
    return sum(1 for d in durations if d > limit)


def windowed_durations(job, phase, last):
    """As SageMaker collects them: a step that crosses an edge of its windows twice."""
    steps = [s for s in job.spans if s[3] == phase]
    return [(s[1] - s[0]) / 1e6 for w in range(last + 1) for s in steps
            if s[1] >= job.window(w)[0] and s[0] <= job.window(w)[1]]


def step_outlier(job, n_outliers=10):
    phases = sorted({s[3] for s in job.spans if s[3].startswith("Step:ModeKeys")})

    def condition(w):
        every = [windowed_durations(job, phase, w) for phase in phases]
        return any(len(d) > 100 and outliers(d) > n_outliers for d in every)
    return latched(job, condition)


def max_initialization_time(job, minutes=20):
    steps = [s[0] for s in job.spans if "Step:ModeKeys" in s[3]]
    return [w for w in range(job.windows)
            if not any(at <= job.window(w)[1] for at in steps)
            and job.window(w)[0] - job.begin > minutes * 60e6]


def loader_processes(job, end=None):
    """The number of processes in each second with an event of data loading."""
    seconds = collections.defaultdict(set)
    for start, _, phase, _, args in job.spans:
        if phase in ("DataLoaderWorker", "DataLoaderIter") and (end is None or start <= end):
            seconds[start // 1_000_000].add(args["pid"])
    return [len(pids) for _, pids in sorted(seconds.items())]


def dataloader(job, lowest=70, highest=200):
    cores = len(job.series("CPUUtilization"))

    def condition(w):
        counts = loader_processes(job, job.window(w)[1])
        if not counts:
            return False
        median = int(quantile(counts, 0.5))
        return median < cores * lowest / 100 or median > cores * highest / 100
    return latched(job, condition)


def fired(job):
    return {
        "BatchSize": batch_size(job),
        "CPUBottleneck": bottleneck(job, "CPUUtilization", 90),
        "Dataloader": dataloader(job),
        "GPUMemoryIncrease": gpu_memory_increase(job),
        "IOBottleneck": bottleneck(job, "I/OWaitPercentage", 50),
        "LoadBalancing": load_balancing(job),
        "LowGPUUtilization": low_gpu(job),
        "MaxInitializationTime": max_initialization_time(job),
        "StepOutlier": step_outlier(job),
    }
