#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/metrics.md from two pages of /metrics, one of each level of detail that differs in its families.

    scripts/metrics_doc.py PAGE LOW_PAGE

tests/e2e/metrics_doc_test.py scrapes a job that shows every label; with --update it writes the page again.
"""

import re
import sys

INTRODUCTION = """\
# Metrics

Everything on `/metrics`, generated from the page itself (`scripts/metrics_doc.py`). Units are base units: seconds, bytes, ratios from 0 to 1.

Metrics about training also carry `train_job`, `node` and `rank`, each where it is known; the table lists only the labels beyond these.
A counter keeps its value across restarts of trainwatch where it is about the job, and begins at 0 where it is about the process (HTTP,
WebSocket, `process_*`). What is about a run as a whole (`trainwatch_run_*`, `goodput`, `attempts`, `training_step`) has `train_job` only, and every
trainwatch that sees ranks of the job exports all of it: take `max by (train_job)`, never `sum`. The series of a job, node, rank or device disappear when trainwatch forgets it (`input.forget_after`).

## Formats

| a client that accepts | gets |
|---|---|
| anything else | text 0.0.4 |
| `application/openmetrics-text` | OpenMetrics 1.0, with exemplars |
| `application/vnd.google.protobuf` (`proto=io.prometheus.client.MetricFamily; encoding=delimited`) | protobuf, with exemplars and native histograms |

Each is compressed for who accepts gzip. Exemplars name the `step` of a slow observation and the alert about it (`alert_id`, see `/api/v1/alerts`;
while it is one of the last 1,024 that ended, and at most a day before the latest of its job); those of `trainwatch_alerts_total` name the latest alert. Prometheus asks for protobuf with
`--enable-feature=native-histograms`, and keeps exemplars with `--enable-feature=exemplar-storage`.

## Histograms

| | buckets | a 95th percentile is right within |
|---|---|---|
| native | 4.4 % wide (schema 4); twice as wide, and again, when a series has used up its 160 | 5 % |
| `metrics.cardinality: full` | the same bounds as classic buckets: some 300 lines for each series | 5 % |
| `default` | `trainwatch_step_duration_seconds` and `trainwatch_step_phase_seconds`: 25 % wide from 10 ms to 10 s; the others as `low` | 27 %; 150 % |
| `low` | 1-2.5-5 per decade | 150 % |

These are bounds for any distribution, also for one value.

    histogram_quantile(0.95, sum by (rank) (rate(trainwatch_step_duration_seconds[5m])))               # native
    histogram_quantile(0.95, sum by (rank, le) (rate(trainwatch_step_duration_seconds_bucket[5m])))    # classic
    rate(trainwatch_getnext_duration_seconds_sum[5m])        # share of the time that training waits for data
    sum by (rule, severity) (trainwatch_alert_active)        # what fires now

## Limits of the page

`metrics.cardinality` is `low`, `default` or `full`. `low` leaves out the families so marked below, and shows utilisation as the mean over the
devices of a node. `full` has the families of `default` with the buckets above: for the few ranks of one node.

A family has at most 2,000 series, and the page at most `metrics.max_series` lines (100,000), each bucket counted. Where there is more, every family
has fewer ranks and nodes: what they count is summed as `train_job="__other__"`, gauges are left out, and
`trainwatch_series_dropped_total` says how many series that concerns. The limit does not rise again before a restart, so that no sum falls.
"""

# A family belongs to the first group whose pattern its name begins with.
GROUPS = (
    ("Training", "trainwatch_(scalar$|(run|step|steps|last_step|lost_gpu|getnext|batch_time|dataloader|training|goodput|attempts)_)"),
    ("System", "trainwatch_(system|network|disk)_"),
    ("GPU activity, from profiler traces", "trainwatch_(gpu|comm_comp|data_wait|kernel_launch)_"),
    ("Rules and alerts", "trainwatch_(rule|alert|alerts|incident)_"),
    ("Input", "trainwatch_(input|events|file|files|read|records|source|watch)_"),
    ("Limits", "trainwatch_(limit|series_dropped)"),
    ("State", "trainwatch_(state|outbox|clock)_"),
    ("Notifications, where there are receivers", "trainwatch_(notification|notifications|otlp)_"),
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


def markdown(page, low_page):
    left, out = families(page), [INTRODUCTION]
    low = {family[0] for family in families(low_page)}
    for title, pattern in GROUPS:
        group = [family for family in left if re.match(pattern, family[0])]
        left = [family for family in left if family not in group]
        out.append("## %s\n" % title)
        out.append("| metric | type | labels | what it says |\n|---|---|---|---|")
        out += ["| `%s` | %s | %s | %s |" % (name, kind, ", ".join("`%s`" % label for label in labels),
                                             text.replace("|", "\\|") + ("" if name in low else " Not with `low`."))
                for name, kind, text, labels in group]
        out.append("")
    if left:
        raise SystemExit("metrics_doc.py: no group for " + ", ".join(family[0] for family in left))
    return "\n".join(out)


if __name__ == "__main__":
    print(markdown(*(open(path).read() for path in sys.argv[1:3])), end="")
