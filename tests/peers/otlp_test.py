"""What is sent to an OpenTelemetry collector is what the protocol's own definitions (opentelemetry-proto, from PyPI by
scripts/peers.sh) accept in its JSON encoding, without a member that they do not know."""

import json
import os
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


if __name__ == "__main__":
    harness.main()
