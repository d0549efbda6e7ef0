# SPDX-License-Identifier: Apache-2.0
"""What is sent to an OpenTelemetry collector is what the protocol's own definitions (opentelemetry-proto, from PyPI by
scripts/peers.sh) accept in its JSON encoding, without a member that they do not know; and a real collector, built from
the Go proxy once, takes it."""

import json
import os
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), os.path.join(HERE, "..", "support")]

import harness  # noqa: E402
import otlp_test  # noqa: E402
import rich_job  # noqa: E402
from harness import Trainwatch, wait_for  # noqa: E402

READER = """
import json, sys
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
kinds = {"/v1/metrics": ExportMetricsServiceRequest, "/v1/logs": ExportLogsServiceRequest}
points = records = 0
for path, document in json.load(sys.stdin):
    request = json_format.ParseDict(document, kinds[path]())
    for resource in getattr(request, "resource_metrics", ()):
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                points += len(getattr(metric, metric.WhichOneof("data")).data_points)
    for resource in getattr(request, "resource_logs", ()):
        for scope in resource.scope_logs:
            records += len(scope.log_records)
print(points, records)
"""


class OtlpPeerTest(harness.JobTest):
    def test_the_protocols_own_definitions(self):
        done = subprocess.run([os.path.join(harness.ROOT, "scripts", "peers.sh"), "opentelemetry"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise unittest.SkipTest("no opentelemetry-proto from PyPI: " + done.stderr.strip())
        rich_job.write(self.directory)
        with otlp_test.Collector() as collector:
            with Trainwatch(self.directory, otlp_test.configuration(self.state + ".yaml", collector)) as trainwatch:
                trainwatch.wait_until_read()
                wait_for(lambda: collector.logs() and len(collector.of("/v1/metrics")) > 2, "metrics and alerts arrive")
            sent = [(path, document) for path, document, _ in collector.requests]
        read = subprocess.run([done.stdout.strip(), "-c", READER], input=json.dumps(sent), stdout=subprocess.PIPE,
                              text=True, check=True)
        points, records = map(int, read.stdout.split())
        self.assertGreater(points, 1000)
        self.assertEqual(records, len(collector.logs()))


BUILDER = "go.opentelemetry.io/collector/cmd/builder@v0.150.0"
CONFIG = """
receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:%d"}}}}
exporters: {debug: {verbosity: detailed}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    metrics: {receivers: [otlp], exporters: [debug]}
    logs: {receivers: [otlp], exporters: [debug]}
"""


def collector():
    """The path of a real one; built once, in some minutes."""
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "trainwatch-peers", "otelcol")
    program = os.path.join(cache, "otelcol")
    if os.path.exists(program):
        return program
    if shutil.which("go") is None:
        raise unittest.SkipTest("go is not installed")
    os.makedirs(cache, exist_ok=True)
    manifest = os.path.join(HERE, "otelcol", "manifest.yaml")
    for command in (["go", "install", BUILDER], [os.path.join(cache, "builder"), "--config=" + manifest]):
        done = subprocess.run(command, cwd=cache, env={**os.environ, "GOBIN": cache}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise unittest.SkipTest("no collector from the Go proxy: " + done.stdout[-500:])
    os.rename(os.path.join(cache, "build", "otelcol"), program)
    return program


class RealCollectorTest(harness.JobTest):
    def test_it_takes_metrics_and_alerts(self):
        program, port = collector(), harness.free_port()
        config, log = self.state + ".otelcol.yaml", self.state + ".otelcol.log"
        with open(config, "w") as file:
            file.write(CONFIG % port)
        with open(log, "w") as out:
            running = subprocess.Popen([program, "--config=" + config], stdout=out, stderr=out)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)

        def taken(text):
            with open(log) as file:
                return text in file.read()
        wait_for(lambda: taken("Everything is ready"), "the collector listens")
        with open(self.state + ".yaml", "w") as file:
            file.write("receivers:\n  - {name: otel, type: otlp, url: 'http://127.0.0.1:%d', interval: 1s}\n" % port)
        with Trainwatch(harness.JOB, "--config.file=" + self.state + ".yaml") as trainwatch:
            for text in ("Name: trainwatch_steps_total", "Name: trainwatch_step_duration_seconds", "EventName: trainwatch.alert",
                         "alert_id: Str", "state: Str(resolved)"):
                wait_for(lambda: taken(text), text + " arrives")
            self.assertEqual(trainwatch.metric("trainwatch_otlp_points_rejected_total"), 0)
            self.assertEqual(trainwatch.metric("trainwatch_notifications_refused_total"), 0)


if __name__ == "__main__":
    harness.main()
