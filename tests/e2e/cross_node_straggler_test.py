# SPDX-License-Identifier: Apache-2.0
"""Two nodes, a trainwatch on each, a real Prometheus with the shipped rules and a real Alertmanager with the shipped routes:
one rank is slower than the others, and exactly that alert arrives, and resolves. Minutes are seconds here: each duration in
the shipped files is divided by 60."""

import contextlib
import glob
import os
import shutil
import tempfile
import threading
import time

import harness  # before what its path leads to
import live_cluster
from alertmanager_server import Alertmanager, Webhook
from prometheus_server import Prometheus, scaled

CONFIG = os.path.join(harness.ROOT, "config")
SPEED = 60
STRAGGLER = 2  # on the second node


def read(*path):
    with open(os.path.join(CONFIG, *path)) as file:
        return file.read()


class Job:
    """Four ranks on two nodes, whose timelines grow below `directory`/NODE until the end of the block."""

    def __init__(self, directory):
        begin = time.time()
        self.slow = True
        self._ranks = [live_cluster.Rank(os.path.join(directory, node), rank, node, begin)
                       for rank, node in enumerate(("node-a", "node-a", "node-b", "node-b"))]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _write(self):
        while not self._stop.wait(0.1):
            for rank in self._ranks:
                rank.write_until(time.time(), self._extra)

    def _extra(self, rank, _):
        """The straggler computes for longer, and the others wait for it in the communication."""
        return {} if not self.slow else {"Forward" if rank == STRAGGLER else "NcclManager": 0.05}


class CrossNodeStragglerTest(harness.JobTest):
    def trainwatch(self, node):
        config = os.path.join(self.directory, node + ".yaml")
        with open(config, "w") as file:
            file.write("watch: [{path: %s, job: llm}]\n" % os.path.join(self.directory, node))
        return harness.Trainwatch(None, "--config.file=" + config)

    def prometheus(self, targets, alertmanager):
        """With the shipped configuration."""
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder = shutil.copytree(os.path.join(CONFIG, "prometheus"), os.path.join(scratch.name, "prometheus"))
        for path in glob.glob(os.path.join(folder, "**", "*.yml"), recursive=True):
            with open(path) as file:
                text = scaled(file.read(), SPEED)
            with open(path, "w") as file:
                file.write(text.replace("'127.0.0.1:9797'", ", ".join(targets)).replace("127.0.0.1:9093", alertmanager))
        return Prometheus(None, "--rules.alert.resend-delay=500ms", config=os.path.join(folder, "prometheus.yml"))

    def test_exactly_that_alert_arrives_and_resolves(self):
        with contextlib.ExitStack() as stack:
            webhook = stack.enter_context(Webhook())
            job = stack.enter_context(Job(self.directory))
            watchers = [stack.enter_context(self.trainwatch(node)) for node in ("node-a", "node-b")]
            alertmanager = "127.0.0.1:%d" % harness.free_port()
            prometheus = stack.enter_context(
                self.prometheus([each.url[len("http://"):] for each in watchers], alertmanager))
            # Service discovery takes five seconds: on a slow machine, no trainwatch is seen for the scaled ten minutes.
            harness.wait_for(lambda: prometheus.value("sum(up)") == len(watchers), "Prometheus has scraped both")
            stack.enter_context(Alertmanager(
                scaled(read("alertmanager", "alertmanager.yml"), SPEED).replace("127.0.0.1:9080", webhook.address),
                alertmanager))

            began = time.monotonic()
            harness.wait_for(webhook.alerts, "an alert arrives")
            print("the alert arrived after %.1f s" % (time.monotonic() - began))
            job.slow = False
            recovered = time.monotonic()
            harness.wait_for(lambda: webhook.alerts()[-1][1]["status"] == "resolved", "it resolves")
            print("and resolved %.1f s after the rank had recovered" % (time.monotonic() - recovered))

            self.assertEqual({path for path, _ in webhook.alerts()}, {"/training"})
            for _, alert in webhook.alerts():
                self.assertEqual(alert["labels"], {
                    "alertname": "TrainwatchCrossRankStraggler", "severity": "warning", "train_job": "llm",
                    "node": "node-b", "rank": str(STRAGGLER), "phase": "forward"})
            firing = webhook.alerts()[0][1]
            self.assertEqual(firing["annotations"]["summary"], "Rank 2 of llm is a straggler in forward")
            self.assertRegex(firing["annotations"]["description"], r"On node-b, forward takes 2\.[0-9]+ times as long")
            self.assertEqual(prometheus.values('ALERTS{alertstate="firing"}'), [])

    def test_durations_are_scaled_and_names_are_not(self):
        self.assertEqual(scaled("x:mean5m[5m] offset 90m for: 30s long: 3d 127.0.0.1 0.05 ratio_rate1h", SPEED),
                         "x:mean5m[5000ms] offset 90000ms for: 500ms long: 4320000ms 127.0.0.1 0.05 ratio_rate1h")


if __name__ == "__main__":
    for program in ("prometheus", "prometheus-alertmanager"):
        if shutil.which(program) is None:
            harness.skip("the Debian package %s is not installed" % program)
    harness.main()
