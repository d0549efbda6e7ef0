# SPDX-License-Identifier: Apache-2.0
"""Notification by webhooks: every alert begins and ends once, whatever happens to trainwatch or to the receiver."""

import json
import os
import random
import signal
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import harness
import spiky_job
import webhook_server

KILLS = int(os.environ.get("TRAINWATCH_KILLS", "40"))


def written(text):
    file = tempfile.NamedTemporaryFile("w+", suffix=".yaml")
    file.write(text)
    file.flush()
    return file


def receivers(*entries):
    return "receivers:\n" + "".join("  - %s\n" % json.dumps(entry) for entry in entries)


def hook(server, name="oncall", **more):
    return {"name": name, "type": "webhook", "url": server.url, **more}


class NotifyTest(harness.JobTest):
    def watch(self, config, *arguments):
        file = written(config)
        self.addCleanup(file.close)
        self.config = file.name
        return harness.Trainwatch(self.directory, "--config.file=" + file.name, *spiky_job.RULES, *arguments,
                                  state=self.state)

    def keys(self):
        """What is to arrive: the begin of each alert of a replay, and its end if it has one."""
        alerts = harness.replay(self.directory, *spiky_job.RULES)
        return {"%s-%s" % (alert["id"], "firing-" + alert["severity"] if alert["state"] == "firing" else "resolved")
                for alert in alerts if alert["incident"] == alert["id"]}

    def change(self, trainwatch, method, path, body=None, **headers):
        request = urllib.request.Request(trainwatch.url + path, method=method, data=body and json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json", **headers})
        try:
            with urllib.request.urlopen(request, timeout=harness.PATIENCE_SECONDS) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    def test_each_alert_begins_and_ends_once_in_spite_of_kills(self):
        numbers = random.Random(int(os.environ.get("TRAINWATCH_SEED", "1")))
        port = harness.free_port()
        job = spiky_job.SpikyJob(self.directory, KILLS * 8, 1)
        with webhook_server.WebhookServer() as server, tempfile.NamedTemporaryFile("w+") as log:
            config = written(receivers(hook(server)))
            self.addCleanup(config.close)
            start = lambda: spiky_job.start(self.directory, self.state, port, log, "--config.file=" + config.name)
            for _ in range(KILLS):
                process = start()
                until = time.monotonic() + numbers.uniform(0, 0.25)
                while time.monotonic() < until:
                    job.write_some(numbers.randint(1, 20))
                    server.status = numbers.choice([200] * 8 + [503, 0])
                    time.sleep(0.005)
                self.assertIsNone(process.poll())
                process.kill()
                process.wait()
            job.write_all()
            server.status = 200
            process = start()
            self.addCleanup(lambda: process.poll() is None and process.kill())
            wanted = self.keys()
            harness.wait_for(lambda: wanted <= {key for key, _ in server.calls()}, "all have arrived")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(harness.PATIENCE_SECONDS), 0)
            calls = server.calls()
        ended = set()
        for key, alert in calls:
            self.assertFalse(alert["state"] == "firing" and alert["id"] in ended, "it begins after its end")
            if alert["state"] == "resolved":
                ended.add(alert["id"])
        first = {}
        for key, alert in calls:
            first.setdefault(key, (len(first), alert))
        self.assertEqual(set(first), wanted, "nothing else")
        for key, (order, alert) in first.items():
            self.assertEqual(alert["state"], key.split("-")[1])
            if alert["state"] == "resolved":
                self.assertLess(min(first[other][0] for other in first if other.startswith(alert["id"])), order)
        print("%d kills, %d notifications, %d further tries" % (KILLS, len(first), len(calls) - len(first)))

    def test_what_a_receiver_missed_is_sent_when_it_is_back_and_holds_nobody_up(self):
        with webhook_server.WebhookServer() as up, webhook_server.WebhookServer() as down:
            down.status = 503
            down.headers = {"Retry-After": "1"}
            with self.watch(receivers(hook(up, "up"), hook(down, "down"))) as trainwatch:
                spiky_job.SpikyJob(self.directory, 12, 1).write_all()
                count = len(self.keys())
                harness.wait_for(lambda: len(up.calls()) == count, "the one that is up has all")
                harness.wait_for(down.calls, "the other one is tried")
                self.assertEqual(len({key for key, _ in down.calls()}), 1, "one after the other")
                trainwatch.wait_for_metric('trainwatch_notification_backlog{receiver="up",integration="webhook"} 0')
                down.status = 200
                harness.wait_for(lambda: len({key for key, _ in down.calls()}) == count, "the other one has all, too")
                self.assertGreater(trainwatch.metric("trainwatch_notifications_failed_total"), 0)

    def test_refused_notifications_are_dropped_counted_and_an_alert(self):
        with webhook_server.WebhookServer() as server:
            server.status = 400
            with self.watch(receivers(hook(server))) as trainwatch:
                spiky_job.SpikyJob(self.directory, 4, 1).write_all()
                count = len(self.keys())
                harness.wait_for(lambda: trainwatch.metric("trainwatch_notifications_refused_total") >= count, "all refused")
                harness.wait_for(lambda: "_self/notification_refused" in
                                 {alert["rule"] for alert in trainwatch.json("/api/v1/alerts?state=firing")["alerts"]}, "it says so")
                about_jobs = [alert for _, alert in server.calls() if not alert["rule"].startswith("_self/")]
                self.assertEqual(len(about_jobs), count, "each was sent once")

    def test_what_may_pass_is_kept(self):
        with webhook_server.WebhookServer() as server:
            server.status = 401  # a token that has expired
            with self.watch(receivers(hook(server))) as trainwatch:
                spiky_job.SpikyJob(self.directory, 4, 1).write_all()
                count = len(self.keys())
                harness.wait_for(lambda: len(server.calls()) == 1, "it is tried")
                server.status = 404  # a service that is being deployed
                harness.wait_for(lambda: len(server.calls()) == 2, "it is tried again")
                server.status = 200
                harness.wait_for(lambda: len({key for key, _ in server.calls()}) == count, "all have arrived")
                self.assertEqual(trainwatch.metric("trainwatch_notifications_refused_total"), 0)

    def test_a_new_receiver_hears_what_fires_and_slack_has_its_own_words(self):
        rules = ["--set=getnext_outlier.recovery=1000"]  # alerts stay
        with webhook_server.WebhookServer() as chat, webhook_server.WebhookServer() as late:
            slack = {"name": "chat", "type": "slack", "url": chat.url}
            with self.watch(receivers(slack), *rules) as trainwatch:
                spiky_job.SpikyJob(self.directory, 4, 1).write_some(150)
                harness.wait_for(lambda: chat.requests, "Slack is notified")
                message = chat.requests[0].body
                self.assertRegex(message["text"], r"^\[(INFO|WARNING|CRITICAL)\] getnext_outlier on ")
                self.assertIn("/docs/rules/getnext_outlier", message["attachments"][0]["title_link"])
                with open(self.config, "w") as file:
                    file.write(receivers(slack, hook(late, "late")))
                trainwatch.signal(signal.SIGHUP)
                harness.wait_for(lambda: late.requests, "the new one is notified")
                firing = trainwatch.json("/api/v1/alerts?state=firing")["alerts"]
                harness.wait_for(lambda: {alert["id"] for _, alert in late.calls()} == {alert["id"] for alert in firing},
                                 "of what fires")
                harness.wait_for(lambda: len(chat.requests) == len(firing), "Slack has the same")
                before = len(chat.requests)
                with open(self.config, "w") as file:
                    file.write(receivers(hook(late, "late")))
                trainwatch.signal(signal.SIGHUP)
                harness.wait_for(lambda: "receiver=\"chat\"" not in trainwatch.get("/metrics"), "one is gone")
                self.assertEqual(len(chat.requests), before)

    def test_silences(self):
        with webhook_server.WebhookServer() as server:
            config = receivers(hook(server)) + "silences: [{job: no-such-job}]\n"
            jobs = spiky_job.SpikyJob(self.directory, 4, 1).ranks
            notified = lambda: {alert["subject"]["job"] for _, alert in server.calls()}  # noqa: E731
            with self.watch(config, "--web.enable-admin-api", "--set=getnext_outlier.recovery=1000") as trainwatch:
                status, silence = self.change(trainwatch, "POST", "/api/v1/silences",
                                              {"rule": "getnext_outlier", "subject": {"rank": 0}, "duration": "1h", "comment": "moving"})
                self.assertEqual(status, 201, silence)
                listed = trainwatch.json("/api/v1/silences")["silences"]
                self.assertEqual([each.get("comment") for each in listed], ["", "moving"])
                jobs[0].write(150)
                harness.wait_for(lambda: trainwatch.json("/api/v1/alerts?state=firing")["alerts"], "an alert fires")
                jobs[1].write(150)
                harness.wait_for(lambda: "job-1" in notified(), "what comes after it is sent")
                self.assertNotIn("job-0", notified(), "it is silenced")
            with self.watch(config, "--web.enable-admin-api", "--set=getnext_outlier.recovery=1000") as trainwatch:
                jobs[2].write(150)
                harness.wait_for(lambda: "job-2" in notified(), "what comes after it is sent")
                self.assertNotIn("job-0", notified(), "the silence survives a restart")
                status, _ = self.change(trainwatch, "DELETE", "/api/v1/silences/" + silence["id"])
                self.assertEqual(status, 200)
                harness.wait_for(lambda: "job-0" in notified(), "it is sent when the silence ends")

    def test_who_may_set_silences(self):
        body = {"rule": "getnext_outlier", "duration": "1h"}
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            status, answer = self.change(trainwatch, "POST", "/api/v1/silences", body)
            self.assertEqual(status, 403)
            self.assertIn("web.enable_admin_api", answer["error"])
            self.assertEqual(trainwatch.json("/api/v1/silences"), {"silences": []})
        with harness.Trainwatch(self.directory, "--web.enable-admin-api", state=self.state) as trainwatch:
            ask = lambda **headers: self.change(trainwatch, "POST", "/api/v1/silences", body, **headers)[0]
            self.assertEqual(ask(Origin="http://evil.example"), 403)
            self.assertEqual(ask(Host="evil.example"), 403)
            self.assertEqual(ask(**{"Content-Type": "text/plain"}), 415)
            self.assertEqual(ask(**{"Content-Type": "application/json; charset=utf-8"}), 201)
            self.assertEqual(ask(Origin=trainwatch.url), 201)
            self.assertEqual(self.change(trainwatch, "POST", "/api/v1/silences", {"comment": "x" * 20000})[0], 413)
            self.assertEqual(self.change(trainwatch, "PUT", "/api/v1/silences", body)[0], 400)

    def test_bad_receivers_are_bad_configuration(self):
        for text, error in [("receivers: [{name: a, url: 'ftp://x'}]", "must begin with http"),
                            ("receivers: [{name: a}]", "needs either url or url_file"),
                            ("receivers: [{url: 'http://x'}]", "name is missing"),
                            ("receivers: [{name: a, url: 'http://x'}, {name: a, url: 'http://x'}]", "another one has"),
                            ("receivers: [{name: a, url: 'http://x', sevrity: info}]", "unknown key"),
                            ("silences: [{comment: all}]", "would match every alert")]:
            with written(text) as file:
                done = harness.run("check-config", file.name)
            self.assertEqual(done.returncode, 78, text)
            self.assertIn(error, done.stderr)


if __name__ == "__main__":
    harness.main()
