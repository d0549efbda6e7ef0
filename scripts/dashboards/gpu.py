"""Whether the GPUs are busy, why they are not, and whether the hardware is in order."""

from dashboards import panels as p
from dashboards import queries as q

RANK = "{{run}} {{rank}}"
DEVICE = "{{node}} {{device}}"
THROTTLE = "trainwatch_system_gpu_throttle_reasons{NODE}"

# Bits of nvmlClocksEventReasons, in NVML's order.
REASONS = (("power limit", (4,)), ("hardware slowdown", (8,)), ("thermal", (32, 64)), ("power brake", (128,)))


def held_back(bits):
    """GPUs for which one of the bits is set."""
    return "count(%s) or vector(0)" % " or ".join("floor(%s / %d) %% 2 == 1" % (THROTTLE, bit) for bit in bits)


def profiled(family, by):
    return "sum by (%s) (increase(trainwatch_%s{RANK}[$__rate_interval]))" % (by, family)


def device(family, matchers=""):
    return ("max by (node, device) (trainwatch_system_%s{NODE%s})" % (family, matchers), DEVICE)


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
           [("count((%s > 0) or (%s > 0)) or vector(0)" % (device("gpu_xid")[0], device("gpu_ecc_errors")[0]), "GPUs")],
           steps=[(1, p.BAD)], start=p.IDLE, width=4),
    p.row("Busy or idle"),
    p.heatmap("GPU utilisation", "A dark row is one GPU without work; a dark column is a moment at which all waited.",
              "percentunit", device("utilization_ratio", ', resource="gpu"'), high=1),
    p.timeseries("GPU busy in profiled steps", "Latest profiler cycle of each rank.", "percentunit",
                 [(q.of_ranks("max", "trainwatch_gpu_busy_ratio{RANK}"), RANK)], high=1, height=9),
    p.timeseries("GPU idle, by cause", "Seconds in profiler cycles. host_wait: nothing was launched; kernel_wait: gaps "
                 "between kernels that were launched in time.", "s",
                 [(profiled("gpu_idle_seconds_total", "cause"), "{{cause}}")], stack=True, bars=True),
    p.timeseries("GPU time, by kind", "Seconds in profiler cycles. Kinds overlap: communication beside computation is hidden.",
                 "s", [(profiled("gpu_time_seconds_total", "kind"), "{{kind}}")], bars=True, stack=True),
    p.row("Communication and launches"),
    p.timeseries("Communication hidden behind computation", "Share of the communication, latest profiler cycle.",
                 "percentunit", [(q.of_ranks("max", "trainwatch_comm_comp_overlap_ratio{RANK}"), RANK)], high=1),
    p.timeseries("Launch delay", "From the end of the launching call to the start of the GPU activity. Short delays and an "
                 "idle GPU mean that the host launches too slowly.", "s",
                 [(q.quantile(0.95, "kernel_launch_delay_seconds"), "p95"),
                  (q.quantile(0.5, "kernel_launch_delay_seconds"), "median")], exemplars=True),
    p.timeseries("Launch queue", "Longest queue of a stream, latest profiler cycle.", "none",
                 [(q.of_ranks("max", "trainwatch_gpu_queue_length_max{RANK}"), RANK)], decimals=0),
    p.timeseries("Copy bandwidth", "While copies or fills run, latest profiler cycle: pageable host memory shows as a few "
                 "GB/s.", "Bps", [("avg by (kind) (trainwatch_gpu_copy_bytes_per_second{RANK})", "{{kind}}")], log=True),
    p.row("Hardware"),
    p.timeseries("Clocks", "Of the multiprocessors and of the memory. A drop while the GPU is busy costs time.", "hertz",
                 [("max by (node, device, clock) (trainwatch_system_gpu_clock_hertz{NODE})",
                   "{{clock}} " + DEVICE)]),
    p.timeseries("Clocks held back, by reason", "GPUs. A power limit is normal under full load; the others are not.", "none",
                 [(held_back(bits), name) for name, bits in REASONS], bars=True, stack=True, decimals=0),
    p.timeseries("GPU memory", "In use.", "percentunit", [device("utilization_ratio", ', resource="gpu_memory"')], high=1,
                 steps=[(0.97, p.BAD)]),
    p.timeseries("Temperature", "Above some 85 °C clocks are reduced.", "celsius", [device("gpu_temperature_celsius")],
                 low=None),
    p.timeseries("Power", "A GPU far below its limit has little to do.", "watt", [device("gpu_power_watts")]),
    p.timeseries("Errors", "XID is the number of the last critical error, 0 for none; uncorrected memory errors are counted "
                 "since the driver was loaded.", "none",
                 [("%s > 0" % device("gpu_xid")[0], "XID " + DEVICE),
                  ("%s > 0" % device("gpu_ecc_errors")[0], "memory errors " + DEVICE)], bars=True, decimals=0),
]

DASHBOARD = p.dashboard("trainwatch-gpu", "GPU", "Whether the GPUs are busy, why they are not, and whether the hardware is in "
                        "order.", PANELS)
