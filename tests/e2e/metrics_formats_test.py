# SPDX-License-Identifier: Apache-2.0
"""The formats of /metrics as their own readers see them: promtool and prometheus_client find every level of detail well
formed, and real Prometheus servers, one that asks for protobuf and one that does not, report percentiles within 5 % and
which step an exemplar was and which alert speaks of it."""

import gzip
import os
import random
import shutil
import subprocess
import time
import urllib.request

import harness
import live_job
import rich_job
from prometheus_server import Prometheus

LEVELS = ("low", "default", "full")
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
FEATURES = "--enable-feature=exemplar-storage,native-histograms"
STEPS = 2000
SPIKE_STEP, SPIKE_SECONDS = 1500, 5.0


def request(url, **headers):
    """The headers and the body of an answer."""
    wanted = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    with urllib.request.urlopen(wanted, timeout=harness.PATIENCE_SECONDS) as answer:
        return answer.headers, answer.read()


def distributions():
    """rank -> the seconds of its steps."""
    noise = random.Random(16)
    spiky = [0.072] * STEPS
    spiky[SPIKE_STEP] = SPIKE_SECONDS
    return [[0.072] * STEPS,
            spiky,
            [noise.uniform(0.05, 0.1) for _ in range(STEPS)],
            [noise.gauss(0.072, 0.003) for _ in range(STEPS)],
            [noise.lognormvariate(-2.6, 0.5) for _ in range(STEPS)],
            [0.3 if noise.random() < 0.1 else 0.07 for _ in range(STEPS)],
            [0.02 * noise.paretovariate(2) for _ in range(STEPS)]]


def write(directory, ranks):
    """A timeline of each rank; the steps ended just now."""
    for rank, steps in enumerate(ranks):
        begin_us = live_job.now_us() - int(sum(steps) * 1.1e6)
        at_us, lines = 0, [live_job.header(begin_us)]
        for number, seconds in enumerate(steps):
            lines.append(live_job.step(at_us, 1000, int(seconds * 1e6), number))
            at_us += int(seconds * 1e6)
        with open(os.path.join(directory, "%d-algo-1_pythontimeline.json.tmp" % rank), "wb") as file:
            file.write(b"".join(lines))


class MetricsFormatsTest(harness.JobTest):
    def test_every_level_in_every_format(self):
        import prometheus_client.openmetrics.parser as openmetrics
        rich_job.write(self.directory)
        sizes = []
        for level in LEVELS:
            with self.subTest(level), harness.Trainwatch(self.directory, "--metrics.cardinality=" + level) as trainwatch:
                trainwatch.wait_until_read()
                trainwatch.wait_for_metric("trainwatch_source_stuck{")
                headers, page = request(trainwatch.url + "/metrics")
                self.assertEqual(headers["Vary"], "Accept, Accept-Encoding")
                self.assert_clean(page.decode())
                headers, opened = request(trainwatch.url + "/metrics", Accept=OPEN_METRICS)
                self.assertEqual(headers["Content-Type"], OPEN_METRICS + "; charset=utf-8")
                families = list(openmetrics.text_string_to_metric_families(opened.decode()))
                self.assertEqual({family.name for family in families},
                                 {family.name for family in openmetrics.text_string_to_metric_families(opened.decode())
                                  if family.documentation})
                exemplars = [sample.exemplar for family in families for sample in family.samples if sample.exemplar]
                self.assertTrue(any("step" in each.labels for each in exemplars))
                self.assertTrue(any("alert_id" in each.labels for each in exemplars))
                self.assertTrue(all(each.timestamp for each in exemplars))
                headers, binary = request(trainwatch.url + "/metrics", Accept=PROTOBUF)
                self.assertIn("encoding=delimited", headers["Content-Type"])
                self.assertIn(b"trainwatch_steps_total", binary)
                sizes.append(page.count(b"\n"))
        self.assertEqual(sizes, sorted(sizes))

    def assert_clean(self, page):
        checked = subprocess.run(["promtool", "check", "metrics"], input=page, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual((checked.returncode, checked.stdout), (0, ""))

    def test_gzip(self):
        with harness.Trainwatch(self.directory, "--web.metrics-interval=1m") as trainwatch:
            for accept in ("text/plain", OPEN_METRICS, PROTOBUF):
                _, plain = request(trainwatch.url + "/metrics", Accept=accept)
                headers, small = request(trainwatch.url + "/metrics", Accept=accept, Accept_Encoding="deflate;q=1, gzip;q=0.5")
                self.assertEqual(headers["Content-Encoding"], "gzip")
                self.assertEqual(gzip.decompress(small), plain)
                self.assertLess(len(small), len(plain) / 3)
            headers, refused = request(trainwatch.url + "/metrics", Accept=PROTOBUF, Accept_Encoding="gzip;q=0, *")
            self.assertIsNone(headers["Content-Encoding"])
            self.assertEqual(refused, plain)

    def check(self, trainwatch, query, *arguments):
        """Whether a Prometheus reports the 95th percentiles of all ranks; returns it."""
        ranks = distributions()
        write(self.directory, ranks)
        trainwatch.wait_until_read()
        with Prometheus(trainwatch.url[len("http://"):], *arguments) as prometheus:
            harness.wait_for(lambda: prometheus.value("sum(trainwatch_steps_total)") == STEPS * len(ranks),
                             "Prometheus has all steps")

            def answered():
                """Of each rank; nothing while one is missing, as after a scrape that failed."""
                data = prometheus.ask("/api/v1/query", query=query)
                found = {int(series["metric"]["rank"]): float(series["value"][1]) for series in data["result"]} if data else {}
                return found if len(found) == len(ranks) else None
            answers = harness.wait_for(answered, "an answer for each rank")
            for rank, steps in enumerate(ranks):
                truth = sorted(steps)[int(0.95 * STEPS) - 1]
                print("%s: p95 of rank %d is %.5f, Prometheus says %.5f" % (" ".join(arguments), rank, truth, answers[rank]))
                self.assertLess(abs(answers[rank] / truth - 1), 0.05, (rank, truth, answers[rank]))
            self.check_exemplars(trainwatch, prometheus)

    def check_exemplars(self, trainwatch, prometheus):
        spike = next(alert for alert in trainwatch.json("/api/v1/alerts?after=0&parts=1")["alerts"]
                     if alert.get("step") == SPIKE_STEP)
        now = time.time()

        def found():
            exemplars = prometheus.ask("/api/v1/query_exemplars", query='{__name__=~"trainwatch_.+"}',
                                       start=now - 86400, end=now + 60)
            return [(series["seriesLabels"]["__name__"], each["labels"], float(each["value"]))
                    for series in exemplars or [] for each in series["exemplars"]]
        of_step = {"step": str(SPIKE_STEP), "alert_id": spike["id"]}
        harness.wait_for(lambda: any(labels == of_step and value == SPIKE_SECONDS for _, labels, value in found()),
                         "an exemplar of the slow step with its alert")
        ids = {alert["id"] for alert in trainwatch.json("/api/v1/alerts?after=0&parts=1")["alerts"]}
        harness.wait_for(lambda: any(name == "trainwatch_alerts_total" and labels.get("alert_id") in ids
                                     for name, labels, _ in found()), "an exemplar of the counter")

    def test_native_histograms(self):
        with harness.Trainwatch(self.directory) as trainwatch:
            self.check(trainwatch, "histogram_quantile(0.95, trainwatch_step_duration_seconds)", FEATURES)

    def test_fine_buckets(self):
        with harness.Trainwatch(self.directory, "--metrics.cardinality=full") as trainwatch:
            self.check(trainwatch, "histogram_quantile(0.95, trainwatch_step_duration_seconds_bucket)",
                       "--enable-feature=exemplar-storage")


if __name__ == "__main__":
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        harness.skip("the Debian package prometheus is not installed")
    try:
        import prometheus_client  # noqa: F401
    except ImportError:
        harness.skip("the Debian package python3-prometheus-client is not installed")
    harness.main()
