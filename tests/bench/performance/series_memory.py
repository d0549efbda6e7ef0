# SPDX-License-Identifier: Apache-2.0
"""The memory that `analyze` takes for a directory with the system metrics of 100 nodes, with all analyses of these, for a short job and for
one four times as long."""

import os

import inputs
import processes
from table import Figure
from throughput import folder_of

TICKS = (300, 1200)
ANALYSES = ("utilization_stats", "device_usage_stats", "metrics_histogram", "heatmap", "overall_system_usage")


def measure(_, trainwatch, bench, scratch):
    for ticks in TICKS:
        paths = inputs.metrics_of_fleet(scratch, ticks)

        def peak(analyses):
            return processes.measured([trainwatch, "analyze", folder_of(paths), "--what=" + analyses])[2]

        alone = sorted(((peak(name), name) for name in ANALYSES), reverse=True)
        yield Figure("peak memory, `analyze` of %d series, %d samples each" % (inputs.FLEET_SERIES, ticks), [peak(",".join(ANALYSES))], 64,
                     " MiB", at_least=False, note="%.1f GB; alone %s" % (sum(map(os.path.getsize, paths)) / 1e9, ", ".join(
                         "%s %.0f" % (name, mebibytes) for mebibytes, name in alone)))
