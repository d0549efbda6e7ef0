# SPDX-License-Identifier: Apache-2.0
"""Whether training waits for its data, on which ranks, and what the host is busy with."""

from dashboards import panels as p
from dashboards import queries as q

NAME = "{{run}} {{rank}}"
WAITS = q.of_ranks("sum", "rate(trainwatch_getnext_duration_seconds_sum{RANK}[$__rate_interval])")
RULES = ', rule=~"input_bound|getnext_outlier|cpu_bottleneck|io_bottleneck|dataloader|batch_size"'


def utilization(aggregate, resource):
    return ('%s by (node) (trainwatch_system_utilization_ratio{NODE, resource="%s"})' % (aggregate, resource),
            "%s {{node}}" % {"avg": "mean", "max": "busiest"}[aggregate])


PANELS = [
    p.stat("Waiting for data", "Share of the time of the selected ranks that the training loop waits for its next batch.",
           "percentunit", [("avg(%s)" % WAITS, "waiting")], steps=[(0.06, p.WARN), (0.3, p.BAD)], width=5, decimals=1),
    p.stat("Batch wait, p95", "One batch in twenty takes longer.", "s", [(q.quantile(0.95, "getnext_duration_seconds"), "p95")],
           start=p.IDLE, width=4),
    p.stat("Ranks that wait", "Ranks that spend more than 6 % of their time waiting for data, where input_bound warns.", "none",
           [(q.or_zero("count(%s > 0.06)" % WAITS), "ranks")], steps=[(1, p.WARN)], start=p.IDLE, width=4),
    p.stat("Worst rank", "The rank that waits longest. If it is alone, look at its node.", "percentunit",
           [("topk(1, %s)" % q.by_run(WAITS), "rank " + NAME)], text="value_and_name", steps=[(0.06, p.WARN)], start=p.IDLE, width=6,
           graph="none"),
    p.stat("Workers per rank", "Data-loading workers that were seen.", "none",
           [("avg(trainwatch_dataloader_workers{RANK})", "workers")], start=p.IDLE, width=5, decimals=0, graph="none"),
    p.row("Waiting"),
    p.timeseries("Wait for a batch", "Time the training loop waits for each batch.", "s",
                 [(q.quantile(share, "getnext_duration_seconds"), name)
                  for share, name in ((0.99, "p99"), (0.95, "p95"), (0.5, "median"))], exemplars=True, log=True),
    p.timeseries("Share of time waiting, worst ranks", "The five ranks that wait most, at each moment.", "percentunit",
                 [(q.by_run("topk(5, %s)" % WAITS), NAME)], steps=[(0.06, p.WARN)]),
    p.heatmap("Waiting for data, by rank", "Share of the time. A bright row is one rank or its node; a bright column is the "
              "storage that all of them share. Brightest from 30 % on.", "percentunit", (q.rows(q.by_run(WAITS)), NAME), high=0.3),
    p.heatmap("Distribution of waits", "How many batches were waited for how long. A second band far above the first is a "
              "loader that runs dry now and then.", "short",
              ("sum by (le) (increase(trainwatch_getnext_duration_seconds_bucket{RANK}[$__rate_interval]))", "{{le}}"),
              buckets=True, row_unit="s"),
    p.timeseries("Batch time", "From the start of a batch to the start of the next: step, wait and what lies between.", "s",
                 [(q.quantile(0.95, "batch_time_seconds"), "p95"), (q.quantile(0.5, "batch_time_seconds"), "median")],
                 exemplars=True, log=True),
    p.timeseries("Time spent on input and host", "Share of the wall time of the selected runs, by part.", "percentunit",
                 [(q.time_share("input_wait|io_wait|cpu_saturation|host_pause|checkpoint"), "{{part}}")],
                 stack=True, bars=True),
    p.row("Loader"),
    p.timeseries("Workers", "Data-loading workers that were seen, of the ranks with most and fewest.", "none",
                 q.spread(q.of_ranks("sum", "trainwatch_dataloader_workers{RANK}"), ("most", "median", "fewest")), decimals=0,
                 width=8),
    p.timeseries("Data wait in profiled steps", "Share of the steps of the latest profiler cycle, where traces are written.",
                 "percentunit", q.spread(q.of_ranks("max", "trainwatch_data_wait_ratio{RANK}")), width=8),
    p.timeseries("Alerts about input", "What fires, by rule.", "none",
                 [("sum by (rule, severity) (trainwatch_alert_active{JOB%s}) > 0" % RULES, "{{rule}} ({{severity}})")],
                 bars=True, stack=True, decimals=0, width=8),
    p.row("Host"),
    p.timeseries("CPU", "Mean over the cores of a node, and its busiest core: a loader with one process saturates one core.",
                 "percentunit", [utilization("avg", "cpu"), utilization("max", "cpu")], high=1, width=8),
    p.timeseries("Waiting for storage", "Time that cores are idle while I/O is outstanding (iowait).", "percentunit",
                 [utilization("avg", "io_wait"), utilization("max", "io_wait")], high=1, width=8),
    p.timeseries("Memory", "In use on the node, and of the cgroup's limit.", "percentunit",
                 [('max by (node) (trainwatch_system_utilization_ratio{NODE, resource="memory"})', "node {{node}}"),
                  ("max by (node) (trainwatch_system_cgroup_memory_ratio{NODE})", "cgroup {{node}}")], high=1, width=8,
                 steps=[(0.95, p.BAD)]),
    p.timeseries("Disk", "Throughput of the node, and of the cgroup where one is limited.", "Bps",
                 [("sum by (node, direction) (trainwatch_disk_bytes_per_second{NODE})", "{{direction}} {{node}}"),
                  ("sum by (node, direction) (trainwatch_system_cgroup_io_bytes_per_second{NODE})",
                   "cgroup {{direction}} {{node}}")], width=8),
    p.timeseries("Disk operations", "Per second, on the node.", "iops",
                 [("sum by (node) (trainwatch_disk_operations_per_second{NODE})", "{{node}}")], width=8),
    p.timeseries("Network", "Throughput, by direction.", "Bps",
                 [("sum by (node, direction) (trainwatch_network_bytes_per_second{NODE})", "{{direction}} {{node}}")], width=8),
    p.timeseries("Pressure, some tasks wait", "Share of the time in which at least one task waited for the resource (PSI).",
                 "percentunit", [("max by (node, resource) (trainwatch_system_pressure_some_ratio{NODE})",
                                  "{{resource}} {{node}}")], high=1, width=8),
    p.timeseries("Pressure, all tasks wait", "Share of the time in which nothing ran for want of the resource (PSI).",
                 "percentunit", [("max by (node, resource) (trainwatch_system_pressure_full_ratio{NODE})",
                                  "{{resource}} {{node}}")], high=1, width=8),
    p.timeseries("CPU quota used up", "Share of the scheduling periods in which the cgroup was throttled.", "percentunit",
                 [("max by (node) (trainwatch_system_cgroup_throttled_ratio{NODE})", "{{node}}")], high=1, width=8,
                 steps=[(0.05, p.WARN)]),
]

DASHBOARD = p.dashboard("trainwatch-data-loading", "Data loading", "Whether training waits for its data, on which ranks, "
                        "and what the host is busy with.", PANELS)
