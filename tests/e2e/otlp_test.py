# SPDX-License-Identifier: Apache-2.0
"""OTLP/HTTP: the metrics of /metrics and the alerts arrive at a collector, in its JSON encoding. The collector is a small one
of this test; tests/peers/otlp_test.py has the real protocol's definitions."""

import gzip
import json
import time

import harness
import rich_job
from harness import JOB, Trainwatch, wait_for
from local_server import Handler, LocalServer


class Collector(LocalServer):
    """Keeps what is posted, and answers as `reply` says: (status, headers, body)."""

    def __init__(self):
        self.requests = []  # (path, document, time.monotonic())
        self.reply = lambda path: (200, {}, b"{}")
        outer = self

        class Receiver(Handler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.body()
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                assert self.headers["Content-Type"] == "application/json", self.headers
                outer.requests.append((self.path, json.loads(body), time.monotonic()))
                status, headers, text = outer.reply(self.path)
                self.answer(status, text, **headers)

        super().__init__(Receiver)

    def of(self, path):
        return [document for at, document, _ in list(self.requests) if at == path]

    def metrics(self):
        """name -> labels -> the last data point."""
        found = {}
        for request in self.of("/v1/metrics"):
            for metric in each(request, "resourceMetrics", "scopeMetrics", "metrics"):
                kind = next(kind for kind in ("sum", "gauge", "histogram") if kind in metric)
                points = found.setdefault(metric["name"], {})
                for point in metric[kind]["dataPoints"]:
                    points[labels(point)] = {**point, "kind": kind}
        return found

    def logs(self):
        """[(attributes, record)] in order."""
        return [(dict(labels(record)), record) for request in self.of("/v1/logs")
                for record in each(request, "resourceLogs", "scopeLogs", "logRecords")]


def each(node, *path):
    for child in node[path[0]]:
        if len(path) == 1:
            yield child
        else:
            yield from each(child, *path[1:])


def labels(point):
    return tuple((each["key"], each["value"]["stringValue"]) for each in point["attributes"])


def configuration(path, collector, interval="1s"):
    """Writes it, and returns the flag that names it."""
    with open(path, "w") as file:
        file.write("receivers:\n  - {name: otel, type: otlp, url: '%s', interval: %s}\n" % (collector.url, interval))
    return "--config.file=" + path


class OtlpTest(harness.JobTest):
    def configuration(self, collector, interval="1s"):
        return configuration(self.state + ".yaml", collector, interval)

    def test_metrics_are_those_of_the_page(self):
        rich_job.write(self.directory)
        with Collector() as collector, Trainwatch(self.directory, self.configuration(collector)) as trainwatch:
            trainwatch.wait_until_read()
            wait_for(lambda: len(collector.of("/v1/metrics")) > 2, "metrics arrive")
            page = rich_job.exported(trainwatch.get("/metrics"))
            seen = len(collector.of("/v1/metrics"))
            wait_for(lambda: len(collector.of("/v1/metrics")) > seen + 1, "metrics arrive again")
            pushed = collector.metrics()
        of_page = {name for name in page if not name.endswith(("_bucket", "_sum", "_count"))}
        of_page |= {name[:-len("_count")] for name in page if name.endswith("_count")}
        self.assertLessEqual(of_page, set(pushed) | {"trainwatch_state_commit_seconds"})
        for name in ("trainwatch_steps_total", "trainwatch_run_state", "trainwatch_system_utilization_ratio"):
            for label, values in page[name].items():
                self.assertEqual({dict(point).get(label) for point in pushed[name]} - {None}, values, (name, label))
        for points in pushed.values():
            for point in points.values():
                if point["kind"] == "histogram":
                    self.assertEqual(sum(map(int, point["bucketCounts"])), int(point["count"]))
                    if point["bucketCounts"]:
                        self.assertEqual(len(point["bucketCounts"]), len(point["explicitBounds"]) + 1)
                    self.assertEqual(point["explicitBounds"], sorted(point["explicitBounds"]))
        self.assertEqual(collector.of("/v1/metrics")[0]["resourceMetrics"][0]["resource"]["attributes"][0],
                         {"key": "service.name", "value": {"stringValue": "trainwatch"}})

    def test_each_alert_once_with_its_end_also_after_a_restart(self):
        with Collector() as collector:
            for _ in range(2):
                with Trainwatch(JOB, self.configuration(collector), state=self.state) as trainwatch:
                    alerts = trainwatch.json("/api/v1/alerts")["alerts"]
                    ends = {alert["id"]: alert for alert in alerts if alert["state"] == "resolved"}
                    wait_for(lambda: {a["alert_id"] for a, _ in collector.logs() if a["state"] == "resolved"} >= set(ends),
                             "the end of every alert arrives")
            logs = collector.logs()
        keys = [attributes["idempotency_key"] for attributes, _ in logs]
        self.assertEqual(len(keys), len(set(keys)))
        for attributes, record in logs:
            if attributes["state"] == "resolved":
                self.assertEqual(record["body"]["stringValue"], ends[attributes["alert_id"]]["summary"])
                self.assertIn("/docs/rules/", attributes["runbook_url"])

    def test_a_collector_that_is_busy_is_asked_later(self):
        with Collector() as collector:
            collector.reply = lambda path: (503, {"Retry-After": "3"}, b"")
            with Trainwatch(JOB, self.configuration(collector)) as trainwatch:
                wait_for(lambda: len(collector.of("/v1/metrics")) > 1, "it is asked again")
                times = [at for path, _, at in collector.requests if path == "/v1/metrics"]
                self.assertGreaterEqual(times[1] - times[0], 2.9)
                collector.reply = lambda path: (200, {}, b'{"partialSuccess":{"rejectedDataPoints":"7","errorMessage":"no"}}')
                wait_for(lambda: trainwatch.metric("trainwatch_otlp_points_rejected_total") >= 7, "rejected points are counted")
                self.assertGreaterEqual(trainwatch.metric("trainwatch_otlp_requests_total"), 2)

    def test_a_short_job_leaves_its_last_metrics(self):
        with Collector() as collector:
            with Trainwatch(JOB, self.configuration(collector, interval="1h")) as trainwatch:
                steps = trainwatch.metric("trainwatch_steps_total")
                trainwatch.stop()
            points = collector.metrics()["trainwatch_steps_total"].values()
            self.assertEqual(sum(point["asDouble"] for point in points), steps)


if __name__ == "__main__":
    harness.main()
