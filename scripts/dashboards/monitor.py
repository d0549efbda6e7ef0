# SPDX-License-Identifier: Apache-2.0
"""Whether trainwatch itself sees everything: lag, rejects, state, limits, and what it costs."""

from dashboards import panels as p
from dashboards import queries as q

SOURCE = "{{source}} {{instance}}"


PROCESS = " and on (job, instance) trainwatch_build_info{SELF}"


def events(family, by="instance", matchers=""):
    """How many in each interval, and nothing where there are none."""
    return "sum by (%s) (increase(trainwatch_%s{SELF%s}[$__rate_interval])) > 0" % (by, family, matchers)


PANELS = [
    p.stat("Scraped", "Instances that Prometheus reaches, of those it knows.", "percentunit", [("avg(up{SELF}%s)" % q.OURS, "up")],
           steps=[(1, p.GOOD)], start=p.BAD, width=3, decimals=0),
    p.stat("Lag", "How long the oldest unread bytes have been waiting, the worst source. Alerts are late by so much.", "s",
           [("max(trainwatch_source_lag_seconds{SELF})", "lag")], steps=[(5, p.WARN), (60, p.BAD)], width=3),
    p.stat("Rejected records", "In the time that the dashboard shows.", "none",
           [("sum(increase(trainwatch_records_rejected_total{SELF}[$__range]))", "rejected")], steps=[(1, p.WARN)],
           start=p.IDLE, width=3, decimals=0, graph="none"),
    p.stat("Bytes lost", "Truncated before they were read, in the time that the dashboard shows.", "bytes",
           [("sum(increase(trainwatch_file_bytes_lost_total{SELF}[$__range]))", "lost")], steps=[(1, p.BAD)], start=p.IDLE,
           width=3, graph="none"),
    p.stat("State not stored", "Instances that cannot store state and alerts: a full or broken disk.", "none",
           [("sum(trainwatch_state_degraded{SELF})", "degraded")], steps=[(1, p.BAD)], start=p.IDLE, width=3),
    p.stat("Paths missing", "Watched paths that do not exist: a typing error, or a mount that is not there.", "none",
           [("sum(trainwatch_watch_roots_missing{SELF})", "missing")], steps=[(1, p.BAD)], start=p.IDLE, width=3),
    p.stat("Limits hit", "Caps that were reached, in the time that the dashboard shows.", "none",
           [("sum(increase(trainwatch_limit_hits_total{SELF}[$__range]))", "hits")], steps=[(1, p.WARN)], start=p.IDLE,
           width=3, decimals=0, graph="none"),
    p.stat("Bad configuration", "Instances whose last reload failed and that run with the old settings.", "none",
           [(q.or_zero("count(trainwatch_config_last_reload_successful{SELF} == 0)"), "instances")], steps=[(1, p.WARN)],
           start=p.IDLE, width=3),
    p.row("Input"),
    p.timeseries("Lag in seconds", "How long the oldest unread bytes have been waiting.", "s",
                 [("max by (source, instance) (trainwatch_source_lag_seconds{SELF})", SOURCE)], steps=[(60, p.WARN)], width=8),
    p.timeseries("Lag in bytes", "Written but not yet read.", "bytes",
                 [("max by (source, instance) (trainwatch_source_lag_bytes{SELF})", SOURCE)], width=8),
    p.timeseries("Read", "Bytes per second.", "Bps",
                 [("sum by (source, instance) (rate(trainwatch_input_bytes_total{SELF}[$__rate_interval]))", SOURCE)], width=8),
    p.timeseries("Records", "Decoded per second.", "rps",
                 [("sum by (source, instance) (rate(trainwatch_events_total{SELF}[$__rate_interval]))", SOURCE)], width=8),
    p.timeseries("Rejected records, by reason", "Each is named in /api/v1/status.", "none",
                 [(events("records_rejected_total", "reason, instance"), "{{reason}} {{instance}}")], bars=True, stack=True,
                 width=8),
    p.timeseries("Files with trouble", "Unreadable; ending in the middle of a record; skipped below a watched path.", "none",
                 [("sum by (instance) (trainwatch_source_unreadable_files{SELF}) > 0", "unreadable {{instance}}"),
                  ("sum by (instance) (trainwatch_source_stuck{SELF}) > 0", "stuck {{instance}}"),
                  ("sum by (reason, instance) (trainwatch_files_skipped{SELF}) > 0", "skipped: {{reason}} {{instance}}"),
                  ("sum by (reason, instance) (trainwatch_watch_degraded{SELF}) > 0", "polling: {{reason}} {{instance}}")],
                 decimals=0, width=8),
    p.timeseries("Files", "Being watched.", "none",
                 [("sum by (source, instance) (trainwatch_files_tracked{SELF})", SOURCE)], decimals=0, width=8),
    p.timeseries("New and truncated files", "A rewritten file counts again.", "none",
                 [(events("file_generations_total"), "new {{instance}}"),
                  (events("file_truncations_total"), "truncated {{instance}}")], bars=True, decimals=0, width=8),
    p.timeseries("Bytes skipped, lost and not read", "Skipped bytes are part of no record; lost ones were truncated too "
                 "early; errors are failed reads.", "none",
                 [(events("input_skipped_bytes_total"), "skipped bytes {{instance}}"),
                  (events("file_bytes_lost_total"), "lost bytes {{instance}}"),
                  (events("read_errors_total"), "read errors {{instance}}")], bars=True, width=8),
    p.row("State and limits"),
    p.timeseries("Commits", "Time to make state and alerts durable. Alerts wait for it.", "s",
                 [(q.quantile(share, "state_commit_seconds", "{SELF}"), name)
                  for share, name in ((0.99, "p99"), (0.95, "p95"), (0.5, "median"))], exemplars=True, width=8),
    p.timeseries("Failed commits", "Each is retried; meanwhile alerts are provisional.", "none",
                 [(events("state_commit_failures_total"), "{{instance}}")], bars=True, decimals=0, width=8),
    p.timeseries("Alerts kept", "Stored for clients to resume from.", "none",
                 [("sum by (instance) (trainwatch_outbox_depth{SELF})", "{{instance}}")], decimals=0, width=8),
    p.timeseries("Limits hit", "By limit; trainwatch_limit has its value.", "none",
                 [(events("limit_hits_total", "name, instance"), "{{name}} {{instance}}"),
                  (events("series_dropped_total"), "series dropped {{instance}}"),
                  (events("log_lines_dropped_total", "reason, instance"), "log lines: {{reason}} {{instance}}")], bars=True,
                 decimals=0, width=8),
    p.timeseries("Rules that lack input", "Subjects for which a rule abstains.", "none",
                 [("sum by (rule) (trainwatch_rule_abstaining{SELF}) > 0", "{{rule}}")], decimals=0, width=8),
    p.timeseries("Rules that warm up", "Subjects of which a rule has seen too little to decide.", "none",
                 [("sum by (rule) (trainwatch_rule_warming{SELF}) > 0", "{{rule}}")], decimals=0, width=8),
    p.row("Clients"),
    p.timeseries("HTTP requests", "Answered per second, by status class.", "reqps",
                 [("sum by (code_class) (rate(trainwatch_http_requests_total{SELF}[$__rate_interval])) > 0", "{{code_class}}")],
                 stack=True, width=8),
    p.timeseries("WebSocket clients", "Connected now, and closed connections by reason.", "none",
                 [("sum(trainwatch_ws_subscribers{SELF})", "connected"),
                  (events("ws_disconnects_total", "reason"), "closed: {{reason}}")], decimals=0, width=8),
    p.timeseries("Scrape", "How long Prometheus took to read /metrics.", "s",
                 [("max by (instance) (scrape_duration_seconds{SELF}%s)" % q.OURS, "{{instance}}")], width=8),
    p.row("Process"),
    p.timeseries("Memory", "Resident. It does not grow with the length of a job.", "bytes",
                 [("max by (instance) (process_resident_memory_bytes{SELF}%s)" % PROCESS,
                   "{{instance}}")], width=8),
    p.timeseries("CPU", "Cores in use.", "percentunit",
                 [("sum by (instance) (rate(process_cpu_seconds_total{SELF}[$__rate_interval])%s)" % PROCESS, "{{instance}}")], width=8),
    p.timeseries("Series", "Scraped from each instance.", "none",
                 [("max by (instance) (scrape_samples_scraped{SELF}%s)" % q.OURS, "{{instance}}")], decimals=0, width=8),
    p.timeseries("Open files", "Of those that the process may open.", "percentunit",
                 [("max by (instance) (process_open_fds{SELF} / process_max_fds{SELF}%s)" % PROCESS, "{{instance}}")], high=1, width=8),
    p.timeseries("Clock jumps", "The host's clock was set by more than 2 s.", "none",
                 [(events("clock_jump_total", "direction, instance"), "{{direction}} {{instance}}")], bars=True, decimals=0,
                 width=8),
    p.timeseries("Traces of incidents", "Made, failed, or dropped because too many waited.", "none",
                 [(events("incident_traces_total", "result, instance"), "{{result}} {{instance}}")], bars=True, decimals=0,
                 width=8),
    p.table("Instances", "Version, and since when each process runs.", "none",
            [{"expr": "max by (instance, job, version, revision) (trainwatch_build_info{SELF})", "legendFormat": ""},
             {"expr": "max by (instance, job) ((time() - process_start_time_seconds{SELF})%s)" % PROCESS, "legendFormat": ""}],
            hide=("Value #A",), order=("instance", "job", "version", "revision", "Value #B"), height=6,
            overrides=[p.override("instance", displayName="Instance", links=[
                {"title": "trainwatch's page", "url": "${scheme}://${__value.raw}/", "targetBlank": True}]),
                p.override("job", displayName="Job"), p.override("version", displayName="Version"),
                p.override("revision", displayName="Revision"),
                p.override("Value #B", displayName="Running for", unit="s")]),
]

DASHBOARD = p.dashboard("trainwatch-self", "trainwatch itself", "Whether trainwatch sees everything, and what it costs.",
                        PANELS)
