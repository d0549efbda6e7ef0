# SPDX-License-Identifier: Apache-2.0
"""Everything below config/prometheus and config/alertmanager is accepted by promtool and amtool, each alert has a case in
which it fires and one in which it does not (tests/prometheus) and a section in docs/prometheus-rules.md, and each metric,
label and value that a rule reads is in a real scrape."""

import glob
import os
import re
import shutil
import subprocess
import tempfile

import harness
import promql
import rich_job
import yaml

CONFIG = os.path.join(harness.ROOT, "config", "prometheus")
RULES = sorted(glob.glob(os.path.join(CONFIG, "rules", "*.rules.yml")))
CASES = sorted(glob.glob(os.path.join(harness.ROOT, "tests", "prometheus", "*_test.yml")))
ALERTMANAGER = os.path.join(harness.ROOT, "config", "alertmanager", "alertmanager.yml")
RUNBOOK = os.path.join(harness.ROOT, "docs", "prometheus-rules.md")

# Values that no job can show on request, by label.
UNSEEN = {"mode": {"predict"}, "reason": {"duplicate"}}
TARGET = {"job", "instance"}


def rules():
    for path in RULES:
        with open(path) as file:
            for group in yaml.safe_load(file)["groups"]:
                yield from group["rules"]


def alerts():
    return [rule for rule in rules() if "alert" in rule]


class PrometheusRulesTest(harness.JobTest):
    def succeeds(self, *command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_rules_are_clean(self):
        self.assertEqual(len(RULES), 5)
        self.succeeds("promtool", "check", "rules", "--lint=all", "--lint-fatal", *RULES)

    def test_cases_hold(self):
        self.succeeds("promtool", "test", "rules", *CASES)

    def test_configurations_are_accepted(self):
        with tempfile.TemporaryDirectory() as scratch:
            copy = shutil.copytree(CONFIG, os.path.join(scratch, "prometheus"))
            for path in glob.glob(os.path.join(copy, "*.yml")):
                with open(path) as file:
                    text = file.read()
                with open(path, "w") as file:  # Debian's Prometheus is built without Kubernetes
                    file.write(text.replace("kubernetes_sd_configs: [{role: pod}]", "file_sd_configs: [{files: [pods.json]}]"))
                self.succeeds("promtool", "check", "config", path)
        self.succeeds("amtool", "check-config", ALERTMANAGER)

    def test_routes(self):
        for receiver, *labels in (
                ("on-call", "alertname=TrainwatchAlert", "severity=critical", "train_job=j"),
                ("training", "alertname=TrainwatchCrossRankStraggler", "severity=warning", "train_job=j"),
                ("digest", "alertname=TrainwatchAlert", "severity=info", "train_job=j"),
                ("default", "alertname=NodeDown", "severity=critical")):
            self.succeeds("amtool", "config", "routes", "test", "--config.file=" + ALERTMANAGER,
                          "--verify.receivers=" + receiver, *labels)
        monitor = [path for path in RULES if "monitor" in path]
        with open(monitor[0]) as file:
            for rule in yaml.safe_load(file)["groups"][0]["rules"]:
                self.succeeds("amtool", "config", "routes", "test", "--config.file=" + ALERTMANAGER,
                              "--verify.receivers=monitoring", "alertname=" + rule["alert"])

    def test_alerts_are_complete(self):
        with open(RUNBOOK) as file:
            runbook = file.read()
        sections = set(re.findall(r"^### (Trainwatch\w+)$", runbook, re.M))
        self.assertEqual(sections, {rule["alert"] for rule in alerts()})
        for rule in alerts():
            self.assertEqual(set(rule["annotations"]), {"summary", "description", "runbook_url"}, rule["alert"])
            if rule["alert"] != "TrainwatchAlert":  # the severity is the series', the runbook the daemon's
                self.assertIn(rule["labels"]["severity"], ("info", "warning", "critical"))
                self.assertEqual(rule["annotations"]["runbook_url"], "/docs/prometheus-rules#" + rule["alert"].lower())

    def test_alerts_fire_and_stay_quiet_in_some_case(self):
        fires, quiet = set(), set()
        for path in CASES:
            with open(path) as file:
                content = yaml.safe_load(file)
            tested = {rule["alert"] for rule in alerts() if any(
                rule in group["rules"] for name in content["rule_files"]
                for group in self.groups(os.path.join(os.path.dirname(path), name)))}
            for case in content["tests"]:
                for expected in case.get("alert_rule_test", ()):
                    (fires if expected.get("exp_alerts") else quiet).add(expected["alertname"])
                # In each input of these cases, an instance b is not in trouble, and its labels are expected of no alert.
                quiet |= {expected["alertname"] for expected in case.get("alert_rule_test", ())
                          if any('instance="b:9797"' in each["series"] for each in case["input_series"])}
                if any(each["expr"].startswith("ALERTS") and not each.get("exp_samples")
                       for each in case.get("promql_expr_test", ())):
                    quiet |= tested
        names = {rule["alert"] for rule in alerts()}
        self.assertEqual(names - fires, set())
        self.assertEqual(names - quiet, set())

    def groups(self, path):
        with open(path) as file:
            return yaml.safe_load(file)["groups"]

    def test_what_rules_read_is_exported(self):
        exported = rich_job.exported(rich_job.scrape(harness.Trainwatch, self.directory))
        recorded = {rule["record"] for rule in rules() if "record" in rule}
        every_label = TARGET.union(*exported.values())
        for rule in rules():
            self.assertLessEqual(promql.labels(rule["expr"]), every_label, rule["expr"])
            for metric, matchers in promql.selectors(rule["expr"]):
                if metric == "up" or metric in recorded:
                    continue
                self.assertIn(metric, exported)
                for label, operator, value in matchers:
                    if label in TARGET:
                        continue
                    self.assertIn(label, exported[metric], metric)
                    if value and operator in ("=", "=~", "!=", "!~"):
                        unknown = set(value.split("|")) - exported[metric][label] - UNSEEN.get(label, set())
                        self.assertEqual(unknown, set(), (metric, label))

    def test_promql_reader(self):
        self.assertEqual(
            promql.selectors('sum by (a, b) (rate(x_total{c=~"d|e",f!=""}[5m])) / on (a) group_left () (y:z:w offset 5m > 0.1)'),
            [("x_total", [("c", "=~", "d|e"), ("f", "!=", "")]), ("y:z:w", [])])
        self.assertEqual(promql.labels("sum by (a, b) (x) / on (c) group_left () y"), {"a", "b", "c"})


if __name__ == "__main__":
    for program in ("promtool", "amtool"):
        if shutil.which(program) is None:
            harness.skip("%s is not installed (Debian: prometheus, prometheus-alertmanager)" % program)
    harness.main()
