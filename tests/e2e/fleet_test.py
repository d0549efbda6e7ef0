# SPDX-License-Identifier: Apache-2.0
"""Thousands of ranks in one job, one of them slow: what a real Prometheus with the shipped rules pays for the pages of all
nodes, and that it finds that rank. The pages are made of those of a real trainwatch beside eight ranks.

TRAINWATCH_FLEET=full: 1,250 nodes, 10,000 ranks, in real time."""

import asyncio
import glob
import json
import os
import re
import shutil
import tempfile
import threading
import time

import harness  # before what its path leads to
import fleet_pages
import live_cluster
from prometheus_server import Prometheus, scaled

FULL = os.environ.get("TRAINWATCH_FLEET") == "full"
NODES, SPEED = (1250, 1) if FULL else (10, 60)
RANKS, CORES = 8, 96  # of a node
RECORDED_SECONDS = 10
PATIENCE = 1800 if FULL else harness.PATIENCE_SECONDS
CONFIG = os.path.join(harness.ROOT, "config", "prometheus")
SLOW = ("trainwatch_step_phase_seconds_sum", 'rank="3"', 'phase="forward"')


class FleetTest(harness.JobTest):
    def record(self):
        """Two pages of a trainwatch beside a node, RECORDED_SECONDS of training apart."""
        live_cluster.GPUS_PER_NODE, live_cluster.CORES_PER_NODE = RANKS, CORES
        cluster = live_cluster.Cluster(self.directory, RANKS, 1, cycles=0, fault=lambda *_: {})
        job = os.path.join(self.directory, "pretrain")
        config = os.path.join(self.directory, "trainwatch.yaml")
        with open(config, "w") as file:
            file.write("watch: [{path: %s, job: llm}]\n" % job)
        pages, begin = [], time.time()
        with harness.Trainwatch(None, "--config.file=" + config) as trainwatch:
            trainwatch.directory = job
            for until in (RECORDED_SECONDS, 2 * RECORDED_SECONDS):
                live_cluster.record_traces(job, until, RANKS)
                cluster.write_until(begin + until)
                steps = cluster.steps() + RANKS * live_cluster.TRACED_STEPS
                harness.wait_for(lambda: trainwatch.metric("trainwatch_steps_total") >= steps, "all steps are counted")
                pages.append(trainwatch.get("/metrics"))
        return pages

    def run_prometheus(self, address, fleet, configuration):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder = shutil.copytree(CONFIG, os.path.join(scratch.name, "prometheus"))
        os.mkdir(os.path.join(folder, "targets"))
        with open(os.path.join(folder, "targets", "fleet.json"), "w") as file:
            json.dump(fleet.targets(address), file)
        for path in glob.glob(os.path.join(folder, "**", "*.yml"), recursive=True):
            with open(path) as file:
                text = file.read()
            text = re.sub(r"^    (static|http)_sd_configs:\n(      .*\n)+", "    file_sd_configs: [{files: [targets/*.json]}]\n", text,
                          flags=re.M)
            text = re.sub(r"^    static_configs:\n      - targets: \['127.0.0.1:9797'\]\n", "", text, flags=re.M)
            text = re.sub(r"^    relabel_configs:\n(      .*\n)+", "", text, flags=re.M)
            text = re.sub(r"^(remote_write|alerting):\n(?:[ #].*\n)+", "", text, flags=re.M)
            text = re.sub(r"(scrape|evaluation)_interval: \w+", r"\1_interval: 60s", text) if FULL else text
            with open(path, "w") as file:
                file.write(scaled(text, SPEED))
        return Prometheus(None, config=os.path.join(folder, configuration))

    def measure(self, prometheus, what):
        own = dict(re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", harness.fetch(prometheus.url + "/metrics"), re.M))
        groups = {re.search(r";(\S+)\"", key).group(1): float(value) for key, value in own.items()
                  if key.startswith("prometheus_rule_group_last_duration_seconds{")}
        samples = sum(float(value) for key, value in own.items()
                      if key.startswith("prometheus_tsdb_head_samples_appended_total"))
        print("%s: %d ranks, %d samples a page; %.0f series, %.0f MiB resident, %.1f us of CPU a sample of %.0f; rules %s" % (
            what, NODES * RANKS, self.samples, float(own["prometheus_tsdb_head_series"]),
            float(own["process_resident_memory_bytes"]) / 2**20,
            float(own["process_cpu_seconds_total"]) / samples * 1e6, samples,
            ", ".join("%s %.2f s" % each for each in sorted(groups.items()))))
        return sum(float(value) for key, value in own.items() if key.startswith("prometheus_rule_group_iterations_missed_total"))

    def watch(self, configuration, pages):
        fleet = fleet_pages.Fleet(pages, RECORDED_SECONDS, NODES, RANKS, SLOW)
        self.samples = fleet.samples
        with Server(fleet) as server, self.run_prometheus(server.address, fleet, configuration) as prometheus:
            firing = 'ALERTS{alertname!="TrainwatchAlert",alertstate="firing"}'
            try:
                harness.wait_for(lambda: prometheus.values('ALERTS{alertname=~".*Straggler",alertstate="firing"}'),
                                 "the straggler is found", PATIENCE)
            finally:
                missed = self.measure(prometheus, configuration)
            found = [series["metric"] for series in prometheus.ask("/api/v1/query", query=firing)["result"]]
            harness.wait_for(lambda: prometheus.values("sum(up)") == [NODES], "all are scraped")
        rank = fleet.slow_node * RANKS + 3
        self.assertEqual(found, [{"__name__": "ALERTS", "alertname": "TrainwatchCrossRankStraggler", "alertstate": "firing",
                                  "severity": "warning", "train_job": "llm", "node": "node-%d" % fleet.slow_node,
                                  "rank": str(rank), "phase": "forward"}])
        if FULL:
            self.assertEqual(missed, 0, "rules took longer than the time between two evaluations")

    def test_straggler_is_found(self):
        pages = self.record()
        for configuration in os.environ.get("TRAINWATCH_FLEET_CONFIG", "fleet.yml").split(","):
            self.watch(configuration, pages)


class Server:
    """Serves a fleet from a thread."""

    def __init__(self, fleet):
        self._fleet = fleet
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self):
        self._thread.start()
        server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._fleet.serve, "127.0.0.1", 0, backlog=4096), self._loop).result()
        self.address = "127.0.0.1:%d" % server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


if __name__ == "__main__":
    if shutil.which("prometheus") is None:
        harness.skip("the Debian package prometheus is not installed")
    harness.main()
