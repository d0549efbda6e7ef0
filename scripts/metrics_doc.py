#!/usr/bin/env python3
"""Prints docs/metrics.md from a page of /metrics on standard input.

    curl -s http://127.0.0.1:9797/metrics | scripts/metrics_doc.py

tests/e2e/metrics_doc_test.py scrapes a job that shows every label; with --update it writes the page again.
"""

import re
import sys

INTRODUCTION = """\
# Metrics

Everything on `/metrics`, generated from the page itself (`scripts/metrics_doc.py`). Units are base units: seconds, bytes, ratios from 0 to 1.

Metrics about training also carry `train_job`, `node` and `rank`, each where it is known; the table lists only the labels beyond these.
A family holds at most 2,000 series; the rest is counted in `trainwatch_series_dropped_total`. A counter keeps its value across restarts
of trainwatch where it is about the job, and begins at 0 where it is about the process (HTTP, WebSocket, `process_*`).

Histograms end in `_bucket`, `_sum` and `_count`:

    histogram_quantile(0.95, sum by (rank, le) (rate(trainwatch_step_duration_seconds_bucket[5m])))
    rate(trainwatch_getnext_duration_seconds_sum[5m])        # share of the time that training waits for data
    sum by (rule, severity) (trainwatch_alert_active)        # what fires now
"""

# A family belongs to the first group whose pattern its name begins with.
GROUPS = (
    ("Training", "trainwatch_(run|step|steps|last_step|lost_gpu|getnext|batch_time|dataloader|training)_"),
    ("System", "trainwatch_(system|network|disk)_"),
    ("GPU activity, from profiler traces", "trainwatch_(gpu|comm_comp|data_wait|kernel_launch)_"),
    ("Rules and alerts", "trainwatch_(rule|alert|alerts|incident)_"),
    ("Input", "trainwatch_(input|events|file|files|read|records|source|watch)_"),
    ("Limits", "trainwatch_(limit|series_dropped)"),
    ("State", "trainwatch_(state|outbox|clock)_"),
    ("Clients", "trainwatch_(ws|http|tls|durable)_"),
    ("Build and configuration", "trainwatch_(build|config|log)_"),
    ("Process", "process_"),
)
COMMON = {"train_job", "node", "rank", "le"}


def families(page):
    """[(name, type, help, labels)] in the order of the page."""
    found, labels = [], {}
    for line in page.splitlines():
        if line.startswith("# HELP "):
            name, text = line[len("# HELP "):].split(" ", 1)
            found.append([name, "", text])
        elif line.startswith("# TYPE "):
            found[-1][1] = line.rsplit(" ", 1)[1]
        elif "{" in line:
            text = line[line.index("{"):line.rindex("}")]
            labels.setdefault(found[-1][0], set()).update(re.findall(r'[{,](\w+)="', text))
    return [(*family, sorted(labels.get(family[0], set()) - COMMON)) for family in found]


def markdown(page):
    left, out = families(page), [INTRODUCTION]
    for title, pattern in GROUPS:
        group = [family for family in left if re.match(pattern, family[0])]
        left = [family for family in left if family not in group]
        out.append("## %s\n" % title)
        out.append("| metric | type | labels | what it says |\n|---|---|---|---|")
        out += ["| `%s` | %s | %s | %s |" % (name, kind, ", ".join("`%s`" % label for label in labels),
                                             text.replace("|", "\\|"))
                for name, kind, text, labels in group]
        out.append("")
    if left:
        raise SystemExit("metrics_doc.py: no group for " + ", ".join(family[0] for family in left))
    return "\n".join(out)


if __name__ == "__main__":
    print(markdown(sys.stdin.read()), end="")
