#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The last value of each series of system metrics, and how many values it had: json_lines.py [FILE]. The least that Python does with JSON
lines."""

import json
import sys

series = {}
for path in sys.argv[1:]:
    with open(path) as file:
        for line in file:
            record = json.loads(line)
            key = record["Type"], record["Name"], record["Dimension"], record["NodeId"]
            count, _ = series.get(key, (0, None))
            series[key] = count + 1, record["Value"]
print(json.dumps({"series": len(series), "lines": sum(count for count, _ in series.values())}))
