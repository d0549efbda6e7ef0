# SPDX-License-Identifier: Apache-2.0
"""Whether the GPUs are busy, why they are not, and whether the hardware is in order."""

from dashboards import panels as p
from dashboards import queries as q

DEVICE = "{{node}} {{device}}"
THROTTLE = "trainwatch_system_gpu_throttle_reasons{NODE}"

# Bits of nvmlClocksEventReasons, in NVML's order.
REASONS = (("power limit", (4,)), ("hardware slowdown", (8,)), ("thermal", (32, 64)), ("power brake", (128,)))


def held_back(bits):
    """GPUs for which one of the bits is set."""
    return q.or_zero("count(%s)" % " or ".join("floor(%s / %d) %% 2 == 1" % (THROTTLE, bit) for bit in bits))


def made_up_of(family, by):
    """Shares of what was added to a family in profiler cycles."""
    grown = "rate(trainwatch_%s{RANK}[$__rate_interval])" % family
    return q.ratio("sum by (%s) (%s)" % (by, grown), "sum(%s)" % grown, " on () group_left ()")


def device(family, matchers=""):
    return ("max by (node, device) (trainwatch_system_%s{NODE%s})" % (family, matchers), DEVICE)


def extreme(aggregate, query):
    return ("%s(10, %s)" % (aggregate, query[0]), query[1])


PANELS = [
    p.stat("GPU busy", "Mean over the selected GPUs, as sampled on the nodes.", "percentunit",
           [('avg(trainwatch_system_utilization_ratio{NODE, resource="gpu"})', "busy")],
           steps=[(0.5, p.WARN), (0.8, p.GOOD)], start=p.BAD, width=4, decimals=0),
    p.stat("Busy in profiled steps", "Mean over ranks, latest profiler cycle.", "percentunit",
           [("avg(trainwatch_gpu_busy_ratio{RANK})", "busy")], steps=[(0.5, p.WARN), (0.8, p.GOOD)], start=p.BAD, width=4,
           decimals=0),
    p.stat("Communication hidden", "Share of the communication that overlaps computation, latest profiler cycle.",
           "percentunit", [("avg(trainwatch_comm_comp_overlap_ratio{RANK})", "hidden")], steps=[(0.5, p.GOOD)], start=p.WARN,
           width=4, decimals=0),
    p.stat("Hottest GPU", "Temperature.", "celsius",
           [("topk(1, %s)" % device("gpu_temperature_celsius")[0], DEVICE)], text="value_and_name",
           steps=[(80, p.WARN), (88, p.BAD)], width=4, graph="none"),
    p.stat("GPUs slowed down", "For heat, power brake or a hardware slowdown; a power limit alone is normal.", "none",
           [(held_back((8, 32, 64, 128)), "GPUs")], steps=[(1, p.BAD)], start=p.IDLE, width=4),
    p.stat("GPUs with errors", "A critical error (XID) or uncorrected memory errors.", "none",
           [(q.or_zero("count(%s > 0 or %s > 0)" % (device("gpu_xid")[0], device("gpu_ecc_errors")[0])), "GPUs")],
           steps=[(1, p.BAD)], start=p.IDLE, width=4),
    p.row("Busy or idle"),
    p.heatmap("GPU utilisation", "A dark row is one GPU without work; a dark column is a moment at which all waited.",
              "percentunit", ('max by (gpu) (label_join(trainwatch_system_utilization_ratio{NODE, resource="gpu"}, "gpu", " ",'
                              ' "node", "device"))', "{{gpu}}"), high=1),
    p.timeseries("GPU busy in profiled steps", "Latest profiler cycle of each rank.", "percentunit",
                 q.spread(q.of_ranks("max", "trainwatch_gpu_busy_ratio{RANK}")), high=1, height=9),
    p.timeseries("GPU idle, by cause", "Share of the profiled time, mean over ranks. host_wait: nothing was launched; "
                 "kernel_wait: gaps between kernels that were launched in time.", "percentunit",
                 [("%s * on () group_left () (1 - avg(trainwatch_gpu_busy_ratio{RANK}))"
                   % made_up_of("gpu_idle_seconds_total", "cause"), "{{cause}}")], stack=True, bars=True),
    p.timeseries("GPU time, by kind", "What the GPUs do in profiler cycles, as shares of the sum. Communication beside "
                 "computation is hidden: see below.", "percentunit",
                 [(made_up_of("gpu_time_seconds_total", "kind"), "{{kind}}")], bars=True, stack=True, high=1),
    p.row("Communication and launches"),
    p.timeseries("Communication hidden behind computation", "Share of the communication, latest profiler cycle.",
                 "percentunit", q.spread(q.of_ranks("max", "trainwatch_comm_comp_overlap_ratio{RANK}")), high=1),
    p.timeseries("Launch delay", "From the end of the launching call to the start of the GPU activity. Short delays and an "
                 "idle GPU mean that the host launches too slowly.", "s",
                 [(q.quantile(0.95, "kernel_launch_delay_seconds"), "p95"),
                  (q.quantile(0.5, "kernel_launch_delay_seconds"), "median")], exemplars=True),
    p.timeseries("Launch queue", "Longest queue of a stream, latest profiler cycle.", "none",
                 q.spread(q.of_ranks("max", "trainwatch_gpu_queue_length_max{RANK}")), decimals=0),
    p.timeseries("Copy bandwidth", "While copies or fills run, latest profiler cycle: pageable host memory shows as a few "
                 "GB/s.", "Bps", [("avg by (kind) (trainwatch_gpu_copy_bytes_per_second{RANK})", "{{kind}}")], log=True),
    p.row("Hardware"),
    p.timeseries("Clocks", "The ten lowest, of the multiprocessors (sm) and of the memory. A drop while the GPU is busy "
                 "costs time.", "hertz",
                 [extreme("bottomk", ('max by (node, device, clock) (trainwatch_system_gpu_clock_hertz{NODE, clock="%s"})'
                                      % clock, clock + " " + DEVICE)) for clock in ("sm", "memory")]),
    p.timeseries("Clocks held back, by reason", "GPUs. A power limit is normal under full load; the others are not.", "none",
                 [(held_back(bits), name) for name, bits in REASONS], bars=True, stack=True, decimals=0),
    p.timeseries("GPU memory", "In use, of the ten fullest.", "percentunit",
                 [extreme("topk", device("utilization_ratio", ', resource="gpu_memory"'))], high=1,
                 steps=[(0.97, p.BAD)]),
    p.timeseries("Temperature", "Of the ten hottest. Above some 85 °C clocks are reduced.", "celsius",
                 [extreme("topk", device("gpu_temperature_celsius"))], low=None),
    p.timeseries("Power", "Of the ten with the least. A GPU far below its limit has little to do.", "watt",
                 [extreme("bottomk", device("gpu_power_watts"))]),
    p.timeseries("Errors", "XID is the number of the last critical error, 0 for none; uncorrected memory errors are counted "
                 "since the driver was loaded.", "none",
                 [("%s > 0" % device("gpu_xid")[0], "XID " + DEVICE),
                  ("%s > 0" % device("gpu_ecc_errors")[0], "memory errors " + DEVICE)], bars=True, decimals=0),
]

DASHBOARD = p.dashboard("trainwatch-gpu", "GPU", "Whether the GPUs are busy, why they are not, and whether the hardware is in "
                        "order.", PANELS)
