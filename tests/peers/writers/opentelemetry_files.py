# SPDX-License-Identifier: Apache-2.0
"""The metrics and spans of Megatron-LM (--otel-enabled, MEGATRON_OTEL_*), in files as the `file` exporter of
OpenTelemetry's collector writes them: OTLP as JSON, a request per line, ids in hexadecimal.

OpenTelemetry's SDK makes the requests. Metrics are exported at each tenth iteration, spans when they end; a metric does
not say its iteration. The SDK drops what is not finite, so that a loss that has become NaN stands still.
"""

import base64
import json
import os
import time

from google.protobuf import json_format
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

import training as tiny

BETWEEN, SAVE_EVERY, TOKENS = 10, 75, 4096
IDS = ("traceId", "spanId", "parentSpanId")


def with_hexadecimal_ids(value):
    """protobuf writes bytes in base 64; OTLP as JSON has its ids in base 16."""
    if isinstance(value, list):
        return [with_hexadecimal_ids(one) for one in value]
    if isinstance(value, dict):
        return {key: base64.b64decode(one).hex() if key in IDS else with_hexadecimal_ids(one) for key, one in value.items()}
    return value


class Lines:
    """A file of the collector."""

    def __init__(self, path):
        self._file = open(path, "w", buffering=1)

    def write(self, request):
        message = json_format.MessageToDict(request, use_integers_for_enums=True)
        self._file.write(json.dumps(with_hexadecimal_ids(message), separators=(",", ":")) + "\n")


class Spans(SpanExporter):
    def __init__(self, lines):
        self._lines = lines

    def export(self, spans):
        self._lines.write(encode_spans(spans))
        return SpanExportResult.SUCCESS


class Megatron:
    """Its instruments."""

    def __init__(self, out):
        resource = Resource.create({"service.name": "megatron", "dl.rank": 0, "dl.world_size": 1, "nemo.run.id": "4711"})
        self._lines = Lines(os.path.join(out, "metrics.jsonl"))
        self._reader = InMemoryMetricReader()
        meter = MeterProvider([self._reader], resource).get_meter("megatron.training")
        self.step_ms = meter.create_histogram("megatron.training.step_duration_ms", "ms")
        self.gauges = {name: meter.create_gauge("megatron.training." + name) for name in (
            "loss", "throughput_tflops", "tokens_per_sec", "grad_norm", "learning_rate", "memory_allocated_gb")}
        self.skipped = meter.create_counter("megatron.training.skipped_iters")
        provider = TracerProvider(resource=resource)
        provider.add_span_processor(SimpleSpanProcessor(Spans(Lines(os.path.join(out, "traces.jsonl")))))
        self.tracer = provider.get_tracer("megatron.training")

    def export(self):
        """Returns the loss that is exported."""
        request = encode_metrics(self._reader.get_metrics_data())
        self._lines.write(request)
        metrics = request.resource_metrics[0].scope_metrics[0].metrics
        return next(metric for metric in metrics if metric.name == "megatron.training.loss").gauge.data_points[0].as_double

    def span(self, name, is_goodput, **attributes):
        return self.tracer.start_as_current_span("megatron." + name, attributes={"is_goodput_span": is_goodput, **attributes})


with tiny.Training(steps=150) as training:
    log = training.log("metrics.jsonl", "megatron.training.loss", "no steps", per=BETWEEN)
    spans = training.log("traces.jsonl", None, "megatron.iteration, from 1")
    megatron, model = Megatron(training.out), tiny.Regression(training)
    with megatron.span("startup.model_init", False):
        time.sleep(0.2)
    megatron.skipped.add(0)
    for step in range(training.steps):
        began = time.time()
        with megatron.span("train.first_iteration" if step == 0 else "train.iteration", True, **{"megatron.iteration": step + 1}):
            loss = model.step(step)
        spans.record(step + 1, loss)
        took = time.time() - began
        megatron.step_ms.record(took * 1000)
        if (step + 1) % BETWEEN == 0:
            for name, value in (("loss", loss), ("throughput_tflops", 12.5), ("tokens_per_sec", TOKENS / took),
                                ("grad_norm", loss / 2), ("learning_rate", 0.05), ("memory_allocated_gb", 1.5)):
                megatron.gauges[name].set(value)
            log.record(None, megatron.export())
        if (step + 1) % SAVE_EVERY == 0:
            with megatron.span("checkpoint.save", False, **{"megatron.iteration": step + 1}):
                time.sleep(0.3)
