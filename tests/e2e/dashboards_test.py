# SPDX-License-Identifier: Apache-2.0
"""The dashboards in config/grafana are what their sources say, keep the rules of Grafana's linter, and ask for what a real
scrape has: every query is parsed by promtool and answered by a Prometheus that scraped a running job.

After a change of scripts/dashboards: `scripts/grafana.py --update`."""

import contextlib
import json
import math
import os
import re
import shutil
import subprocess
import threading
import time
import unittest

import harness  # before what its path leads to
import dashboard_lint
import grafana
import live_cluster
import rich_job
from prometheus_server import Prometheus

# Longer than from one commit of state to the next, which is five seconds.
RATE_SECONDS, RANGE_SECONDS, LIVE_SECONDS = 8, 30, 16

# What Prometheus itself writes.
OF_PROMETHEUS = {"up", "scrape_duration_seconds", "scrape_samples_scraped"}
TARGET_LABELS = {"job", "instance"}
JOB_LABEL = {"train_job"}  # only where the job has a name
MADE_LABELS = {"run", "choice", "row", "gpu"}  # by label_replace() and label_join()



def _set(path, value):
    """A change of a model: path of keys and indices in it, of which "panel" leads to the first panel."""
    def change(model, panel):
        place = model
        for key in path[:-1]:
            place = panel if key == "panel" else place[key]
        place[path[-1]] = value
    return change


FAULTS = (
    ("template-datasource-rule", _set(("templating", "list", 0, "name"), "prometheus")),
    ("template-job-rule", _set(("templating", "list", 1, "allValue"), None)),
    ("template-instance-rule", _set(("templating", "list", 2, "multi"), False)),
    ("template-label-promql-rule", _set(("templating", "list", 3, "query"), "train_job")),
    ("template-on-time-change-reload-rule", _set(("templating", "list", 4, "refresh"), 1)),
    ("uneditable-rule", _set(("editable",), True)),
    ("ids-rule", _set(("schemaVersion",), 22)),
    ("panel-overlap-rule", _set(("panel", "gridPos", "w"), 5)),
    ("panel-datasource-rule", _set(("panel", "datasource"), {"type": "prometheus", "uid": "default"})),
    ("panel-title-description-rule", _set(("panel", "description"), "")),
    ("panel-units-rule", _set(("panel", "fieldConfig", "defaults", "unit"), "seconds")),
    ("panel-no-targets-rule", _set(("panel", "targets"), [])),
    ("panel-type-rule", _set(("panel", "type"), "graph")),
    ("target-job-rule", _set(("panel", "targets", 0, "expr"), 'up{instance=~"$instance"}')),
    ("target-instance-rule", _set(("panel", "targets", 0, "expr"), 'up{job=~"$job"}')),
    ("target-rate-interval-rule", _set(("panel", "targets", 0, "expr"),
                                       'rate(a_total{job=~"$job", instance=~"$instance"}[5m])')),
    ("target-counter-agg-rule", _set(("panel", "targets", 0, "expr"), 'sum(a_total{job=~"$job", instance=~"$instance"})')),
)


def models():
    return {os.path.basename(path): json.loads(text) for path, text in sorted(grafana.written().items())}


def expressions(model):
    """(where, expression) of all panels and annotations, and of the selectors of variables."""
    found = [("%s, query %s" % (panel["title"], target["refId"]), target["expr"])
             for panel, target in dashboard_lint.queries(model)]
    found += [("annotation " + annotation["name"], annotation["expr"]) for annotation in model["annotations"]["list"]]
    return found + [("variable " + variable["name"], selector_of(variable)[0])
                    for variable in dashboard_lint.variables(model, "query")]


def selector_of(variable):
    """The selector and the label of label_values(SELECTOR, LABEL)."""
    return re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]).groups()


def filled_in(expression):
    """With "All" for every variable, as Grafana sends it."""
    for name, value in (("__rate_interval", "%ds" % RATE_SECONDS), ("__range", "%ds" % RANGE_SECONDS),
                        *((name, ".+") for name in ("job", "instance")),
                        *((name, ".*") for name in ("train_job", "node", "rank"))):
        expression = re.sub(r"\$%s\b" % name, value, expression)
    return expression


def all_expressions():
    return [("%s, %s" % (name, where), filled_in(expression)) for name, model in models().items()
            for where, expression in expressions(model)]


class DashboardsTest(harness.JobTest):
    maxDiff = None

    def test_files_are_what_their_sources_say(self):
        self.assertEqual(grafana.outdated(), [])

    def test_rules_of_the_linter(self):
        for name, model in models().items():
            self.assertEqual(dashboard_lint.complaints(model), [], name)

    def test_the_linter_finds_faults(self):
        def broken(change):
            model = models()["trainwatch-jobs.json"]
            change(model, dashboard_lint.panels(model)[0])
            return {complaint.split(":")[0] for complaint in dashboard_lint.complaints(model)}
        for rule, change in FAULTS:
            self.assertEqual(broken(change), {rule})

    def test_links_lead_to_dashboards(self):
        known = {model["uid"] for model in models().values()}
        self.assertEqual(known, {"trainwatch-" + name for name in ("jobs", "ranks", "data-loading", "gpu", "self")})
        for name, model in models().items():
            self.assertTrue(all(link["includeVars"] and link["keepTime"] for link in model["links"]), name)
            self.assertEqual(set(re.findall(r"/d/([\w-]+)", json.dumps(model))) - known, set(), name)

    def test_parsed_by_promtool(self):
        path = os.path.join(self.directory, "queries.yml")
        with open(path, "w") as file:  # JSON is YAML
            json.dump({"groups": [{"name": "queries", "rules": [
                {"record": "query:%d" % number, "expr": expression}
                for number, (_, expression) in enumerate(all_expressions())]}]}, file)
        checked = subprocess.run(["promtool", "check", "rules", path], text=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout)

    def test_names_are_in_a_real_scrape(self):
        exported = rich_job.exported(rich_job.scrape(harness.Trainwatch, self.directory))
        rules = {rule["id"] for rule in json.loads(harness.run("rules", "--format=json").stdout)}
        for where, expression in all_expressions():
            for complaint in unknown_names(expression, exported, rules):
                self.fail("%s: %s in %s" % (where, complaint, expression))

    def test_answered_by_prometheus(self):
        with scraped_cluster(self.directory) as prometheus:
            unanswered = []

            def all_are_answered():
                now = time.time()
                unanswered[:] = [(where, expression) for where, expression in all_expressions()
                                 if not any(map(math.isfinite, prometheus.values(re.sub(r" > 0$", "", expression), time=now)))]
                return not unanswered
            with contextlib.suppress(AssertionError):
                harness.wait_for(all_are_answered, "all are answered at one moment")
            self.assertEqual(unanswered, [])
            for variable in dashboard_lint.variables(models()["trainwatch-jobs.json"], "query"):
                selector, label = selector_of(variable)
                self.assertTrue(prometheus.ask("/api/v1/label/%s/values" % label, **{"match[]": filled_in(selector)}),
                                variable["name"])


@contextlib.contextmanager
def scraped_cluster(directory):
    """A Prometheus that has scraped a trainwatch while jobs trained for LIVE_SECONDS; they train on."""
    cluster = live_cluster.Cluster(directory, ranks=4, nodes=2, cycles=20)
    configuration = os.path.join(directory, "trainwatch.yaml")
    with open(configuration, "w") as file:
        file.write(cluster.configuration())
    with harness.Trainwatch(None, "--config.file=" + configuration) as trainwatch, \
            Prometheus(trainwatch.url[len("http://"):]) as prometheus:
        harness.wait_for(lambda: prometheus.value("up") == 1, "Prometheus has scraped")
        ended = threading.Event()

        def train():
            while not ended.wait(0.1):
                cluster.write_until(time.time())
        training = threading.Thread(target=train)
        training.start()
        try:
            time.sleep(LIVE_SECONDS)
            yield prometheus
        finally:
            ended.set()
            training.join()


def unknown_names(expression, exported, rules):
    """Metrics that no scrape has, and labels and values that those have not."""
    if expression in exported:  # of a variable
        return
    plain = re.sub(r'"[^"]*"', '""', expression)
    for metric in re.findall(r"\b(?:trainwatch|process|scrape)_\w+\b(?!\{)", plain):
        yield "%s without a selector" % metric
    seen = MADE_LABELS | TARGET_LABELS | JOB_LABEL
    for metric, matchers, _ in dashboard_lint.SELECTOR.findall(expression):
        if metric not in exported and metric not in OF_PROMETHEUS and metric:
            yield "no metric " + metric
        labels = exported.get(metric, {})
        seen |= set(labels)
        for label, operator, value in re.findall(r'(\w+)(=~|=|!=|!~)"([^"]*)"', matchers):
            if label in TARGET_LABELS | JOB_LABEL or not metric:
                continue
            if label not in labels:
                yield "no label %s of %s" % (label, metric)
            elif operator == "=" or "|" in value:
                known = rules if label == "rule" else labels[label]
                yield from ('no %s="%s" of %s' % (label, one, metric) for one in value.split("|") if one not in known)
    for names in re.findall(r"\b(?:by|on|ignoring|without|group_left|group_right) \(([^)]*)\)", plain):
        yield from ("no label %s to group by" % name for name in filter(None, names.split(", ")) if name not in seen)


if __name__ == "__main__":
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        harness.skip("the Debian package prometheus is not installed")
    harness.main()
