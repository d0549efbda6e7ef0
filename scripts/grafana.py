#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares config/grafana/dashboards with the sources in scripts/dashboards.

    scripts/grafana.py             exit code 1 and the names of the files that differ
    scripts/grafana.py --update    writes them
"""

import json
import os
import sys

from dashboards import data_loading, gpu, jobs, monitor, ranks

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "config", "grafana", "dashboards")


def written():
    """Path -> text of every dashboard."""
    return {os.path.join(FOLDER, name + ".json"): json.dumps(model, indent=1, ensure_ascii=False) + "\n"
            for name, model in (module.DASHBOARD for module in (jobs, ranks, data_loading, gpu, monitor))}


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return None


def outdated():
    """Files that differ, are missing, or have no source."""
    wanted = written()
    there = {os.path.join(FOLDER, name) for name in os.listdir(FOLDER)} if os.path.isdir(FOLDER) else set()
    return sorted({path for path, text in wanted.items() if read(path) != text} | (there - set(wanted)))


def update():
    os.makedirs(FOLDER, exist_ok=True)
    for path, text in written().items():
        with open(path, "w") as file:
            file.write(text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    elif sys.argv[1:]:
        sys.exit(__doc__)
    different = outdated()
    for path in different:
        print("differs from its source: " + os.path.relpath(path), file=sys.stderr)
    sys.exit(1 if different else 0)
