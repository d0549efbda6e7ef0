# SPDX-License-Identifier: Apache-2.0
"""A real Alertmanager, or two of them, on the other end of notification."""

import json
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

import alertmanager_server
import harness
import spiky_job
import webhook_server

CONFIG = """
route: {receiver: hook, group_by: [alertname, train_job, rank], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}
receivers: [{name: hook, webhook_configs: [{url: '%s', send_resolved: true}]}]
"""


class Alertmanager(alertmanager_server.Alertmanager):
    """With a webhook behind it."""

    def __init__(self, hook, address=None):
        super().__init__(CONFIG % hook, address)
        self.url = "http://" + self.address

    def __enter__(self):
        harness.wait_for(self._ready, "Alertmanager is ready")
        return self

    def _ready(self):
        try:
            with urllib.request.urlopen(self.url + "/-/ready", timeout=harness.PATIENCE_SECONDS):
                return True
        except (urllib.error.URLError, ConnectionError):
            return False

    def alerts(self):
        with urllib.request.urlopen(self.url + "/api/v2/alerts", timeout=harness.PATIENCE_SECONDS) as answer:
            return json.load(answer)

    def amtool(self, *arguments):
        return subprocess.run(["amtool", "--alertmanager.url=" + self.url, *arguments], check=True,
                              stdout=subprocess.PIPE, text=True).stdout


def receiver(name, url, resend="5s"):
    return {"name": name, "type": "alertmanager", "url": url, "resend": resend}


class AlertmanagerTest(harness.JobTest):
    def watch(self, entries, *arguments):
        file = tempfile.NamedTemporaryFile("w+", suffix=".yaml")
        file.write("receivers:\n" + "".join("  - %s\n" % json.dumps(entry) for entry in entries))
        file.flush()
        self.addCleanup(file.close)
        return harness.Trainwatch(self.directory, "--config.file=" + file.name, *spiky_job.RULES, *arguments,
                                  state=self.state)

    def notified(self, hook, status):
        return [alert for request in list(hook.requests) for alert in request.body["alerts"] if alert["status"] == status]

    def test_fires_is_sent_again_and_ends(self):
        with webhook_server.WebhookServer() as hook, Alertmanager(hook.url) as manager:
            with self.watch([receiver("am", manager.url)], "--set=getnext_outlier.recovery=3") as trainwatch:
                job = spiky_job.SpikyJob(self.directory, 4, 1, ranks=1)
                job.write_some(32)
                alert = harness.wait_for(lambda: next(iter(manager.alerts()), None), "Alertmanager has the alert")
                self.assertEqual(alert["labels"]["alertname"], "TrainwatchGetnextOutlier")
                self.assertEqual(alert["labels"]["rule"], "getnext_outlier")
                self.assertIn("GetnextOutlier", manager.amtool("alert", "query", "rule=getnext_outlier"))
                for name in alert["labels"].values():
                    self.assertNotRegex(name, r"\d\.\d", "no values in labels")
                self.assertTrue(alert["annotations"]["runbook_url"].startswith(trainwatch.url + "/docs/rules/"))
                harness.wait_for(lambda: self.notified(hook, "firing"), "Alertmanager notifies")
                ends = manager.alerts()[0]["endsAt"]  # by itself, unless it is sent again
                harness.wait_for(lambda: manager.alerts()[0]["endsAt"] > ends, "it is sent again before it ends")
                self.assertEqual(self.notified(hook, "resolved"), [])
                self.assertEqual(len(self.notified(hook, "firing")), 1)
                job.write_some(3)
                harness.wait_for(lambda: self.notified(hook, "resolved"), "the end arrives")
                harness.wait_for(lambda: not manager.alerts(), "none is active")

    def test_two_of_them_one_down_for_a_while(self):
        address = "127.0.0.1:%d" % harness.free_port()
        with webhook_server.WebhookServer() as hook, webhook_server.WebhookServer() as other, Alertmanager(hook.url) as manager:
            entries = [receiver("a", manager.url), receiver("b", "http://" + address)]
            with self.watch(entries, "--set=getnext_outlier.recovery=1000") as trainwatch:
                spiky_job.SpikyJob(self.directory, 40, 1).write_some(150)
                harness.wait_for(manager.alerts, "the one that is up has it")
                trainwatch.wait_for_metric('trainwatch_notifications_total{receiver="b",integration="alertmanager"} 0')
                with Alertmanager(other.url, address) as second:
                    harness.wait_for(second.alerts, "the other one, too, when it is up")
                    labels = lambda alerts: sorted(json.dumps(alert["labels"], sort_keys=True) for alert in alerts)
                    harness.wait_for(lambda: labels(manager.alerts()) == labels(second.alerts()), "both have the same")

    def test_a_restart_ends_what_ended_meanwhile(self):
        with webhook_server.WebhookServer() as hook, Alertmanager(hook.url) as manager:
            job = spiky_job.SpikyJob(self.directory, 4, 1, ranks=1)
            entries = [receiver("am", manager.url, "1m")]
            with self.watch(entries, "--set=getnext_outlier.recovery=3"):
                job.write_some(32)
                harness.wait_for(lambda: self.notified(hook, "firing"), "it fires")
            job.write_some(3)
            with self.watch(entries, "--set=getnext_outlier.recovery=3"):
                harness.wait_for(lambda: self.notified(hook, "resolved"), "its end arrives")
                harness.wait_for(lambda: not manager.alerts(), "none is active")


if __name__ == "__main__":
    if shutil.which("prometheus-alertmanager") is None:
        harness.skip("no prometheus-alertmanager")
    harness.main()
