# SPDX-License-Identifier: Apache-2.0
"""System metrics of the machine on which a job runs, one JSON line per value, in SageMaker's format.

How busy a GPU is follows from the simulated timeline of its rank; an Effect adds what an incident does to cores,
memory or clocks.
"""

import os
import time
from dataclasses import dataclass, field

INTERVAL = 0.5
FULL_CLOCK, MEMORY_CLOCK = 1410, 1215


@dataclass
class Effect:
    """What is different on the machine while an incident lasts."""

    incident: object
    series: str            # cpu, iowait, gpu_scale, gpu_spins, memory, gpu_memory, clock
    devices: list          # cores or GPUs
    amount: float = 0.0
    throttle: int = 0      # NVML's reason bits, with `clock`


@dataclass
class Machine:
    cpus: int
    gpus: int
    before: float          # seconds of samples before the job's first process
    after: float           # and after its last iteration
    clocks: bool = False   # the series that `trainwatch sample` adds
    memory: float = 35.0
    gpu_memory: float = 70.0
    settles: float = 0.0   # page cache: percent that the memory grows at the beginning
    base_load: list = field(default_factory=list)   # percent of each core
    silences: list = field(default_factory=list)    # (begin, end): the machine itself stood still
    effects: list = field(default_factory=list)


def build_machine(random, gpus, after=None):
    cpus = random.choice((4, 4, 8))
    return Machine(cpus, gpus, random.uniform(5, 60), random.uniform(1, 5) if after is None else after,
                   random.random() < 0.5, random.uniform(20, 50), random.uniform(40, 92),
                   random.choice((0.0, random.uniform(5, 25))),
                   [random.uniform(60, 85)] + [random.uniform(10, 60) for _ in range(cpus - 1)])


def busy_intervals(job, rank):
    """When the GPU of a rank works or waits inside a collective."""
    intervals = []
    for attempt in job.attempts:
        for it in attempt.ranks[rank]:
            if it.pause:
                intervals.append((it.step_begin, it.paused_at))
                intervals.append((it.backward_begin, it.optimizer_end))
            else:
                intervals.append((it.step_begin, it.optimizer_end))
    return intervals


class Utilization:
    """The busy share of each sampling interval, asked in order of time."""

    def __init__(self, intervals):
        self.intervals, self.at = intervals, 0

    def share(self, begin, end):
        intervals, count = self.intervals, len(self.intervals)
        while self.at < count and intervals[self.at][1] <= begin:
            self.at += 1
        busy, i = 0.0, self.at
        while i < count and intervals[i][0] < end:
            busy += min(end, intervals[i][1]) - max(begin, intervals[i][0])
            i += 1
        return busy / (end - begin)


class SampleFiles:
    """One file per full minute."""

    def __init__(self, root, node):
        self.root, self.node, self.minute, self.file = root, node, None, None

    def write(self, at, text):
        minute = int(at) // 60 * 60
        if minute != self.minute:
            self.close()
            folder = os.path.join(self.root, "system", "incremental", time.strftime("%Y%m%d%H", time.gmtime(minute)))
            os.makedirs(folder, exist_ok=True)
            self.file = open(os.path.join(folder, "%d.%s.json" % (minute, self.node)), "w")
            self.minute = minute
        self.file.write(text)

    def close(self):
        if self.file:
            self.file.close()


def clamp(value):
    return 0.0 if value < 0 else 100.0 if value > 100 else value


def write_samples(random, job, root, node="algo-1"):
    """The samples of the whole job, from before its start to after its end."""
    machine = job.system
    utilization = [Utilization(busy_intervals(job, gpu)) for gpu in range(machine.gpus)]
    files = SampleFiles(root, node)
    begin, end = job.start - machine.before, job.end + machine.after
    for tick in range(int((end - begin) / INTERVAL)):
        at = begin + tick * INTERVAL
        if any(stop <= at < resume for stop, resume in machine.silences):
            continue
        active = [effect for effect in machine.effects if effect.incident.begin <= at <= effect.incident.end]
        files.write(at, "".join(_sample(random, machine, node, at, begin, active, utilization)))
    files.close()


def _line(kind, name, dimension, value, node, at):
    return '{"Type":"%s","Name":"%s","Dimension":"%s","Value":%.2f,"NodeId":"%s","Timestamp":%.6f}\n' % (
        kind, name, dimension, value, node, at)


def _sample(random, machine, node, at, begin, active, utilization):
    gauss = random.gauss
    saturated = {core: effect.amount for effect in active if effect.series == "cpu" for core in effect.devices}
    waiting = {core: effect.amount for effect in active if effect.series == "iowait" for core in effect.devices}
    reads = 8e7 if waiting else 4e6
    yield _line("i/o", "IOPS", "", random.random() * 900, node, at + 0.00899)
    yield _line("i/o", "ReadThroughputInBytesPerSecond", "", random.random() * reads, node, at + 0.00899)
    yield _line("i/o", "WriteThroughputInBytesPerSecond", "", random.random() * 1e6, node, at + 0.00899)
    for core in range(machine.cpus):
        load = saturated.get(core, machine.base_load[core])
        wait = waiting.get(core, 1.0)
        load = gauss(load, 0.5 if core in saturated else 6) if core not in waiting else gauss(20, 5)
        yield _line("cpu", "cpu%d" % core, "CPUUtilization", clamp(load), node, at + 0.00909)
        yield _line("cpu", "cpu%d" % core, "I/OWaitPercentage", clamp(gauss(wait, 5 if core in waiting else 0.7)),
                    node, at + 0.00909)
    memory = machine.memory + machine.settles * min(1.0, (at - begin) / 180)
    yield _line("memory", "MemoryUsedPercent", "", clamp(memory + _growth(active, "memory", at) + gauss(0, 0.2)),
                node, at + 0.009163)
    for gpu in range(machine.gpus):
        yield from _gpu_sample(random, machine, node, at, gpu, active, utilization[gpu].share(at - INTERVAL, at))


def _growth(active, series, at):
    return sum(effect.amount * (at - effect.incident.begin) / (effect.incident.end - effect.incident.begin)
               for effect in active if effect.series == series)


def _gpu_sample(random, machine, node, at, gpu, active, share):
    own = [effect for effect in active if gpu in effect.devices]
    if any(effect.series == "gpu_spins" for effect in own):
        share = 1.0
    scale = min((effect.amount for effect in own if effect.series == "gpu_scale"), default=0.97)
    used = clamp(share * 100 * scale + (random.gauss(0, 1.5) if share else 0))
    at += 0.0115
    name = "gpu%d" % gpu
    yield _line("gpu", name, "GPUUtilization", used, node, at)
    yield _line("gpu", name, "GPUMemoryUtilization", clamp(machine.gpu_memory + _growth(own, "gpu_memory", at)), node, at)
    if not machine.clocks:
        return
    slow = next((effect for effect in own if effect.series == "clock"), None)
    busy = share > 0.02
    clock = (slow.amount if slow else FULL_CLOCK) if busy else 1080
    yield _line("gpu", name, "GPUSmClock", clock + random.choice((0, 0, 0, -15)), node, at)
    yield _line("gpu", name, "GPUMemoryClock", MEMORY_CLOCK, node, at)
    yield _line("gpu", name, "GPUThrottleReasons", slow.throttle if slow else 0 if busy else 1, node, at)
    yield _line("gpu", name, "GPUTemperature", random.gauss((87 if slow and slow.throttle != 4 else 66) if busy else 41, 1),
                node, at)
    yield _line("gpu", name, "GPUPower", random.gauss((250 if slow else 340) * share + 70, 6), node, at)
