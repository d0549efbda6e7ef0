# SPDX-License-Identifier: Apache-2.0
"""The Kubernetes manifests and the chart: what they say fits together, and the real binary takes the sidecar's arguments and
answers its probes. tests/peers/kubernetes_test.py has helm and the schemas of Kubernetes."""

import json
import os
import re
import shutil
import subprocess
import unittest

try:
    import jsonschema
    import yaml
except ImportError:
    jsonschema = yaml = None

import harness

MANIFESTS = os.path.join(harness.ROOT, "config", "kubernetes")
CHART = os.path.join(harness.ROOT, "config", "helm", "trainwatch")
YAMLLINT = ("{extends: default, rules: {line-length: {max: 150}, document-start: disable, "
            "comments: {min-spaces-from-content: 1}, comments-indentation: disable}}")
# Values that the schema refuses.
BAD_VALUES = [
    {"sidecar": {"watch": "relative", "volume": "job", "port": 9797}},
    {"sidecar": {"watch": "/job", "volume": "job", "port": 0}},
    {"sidecar": {"watch": "/job", "volume": "job", "port": 9797, "settings": {"loglevel": "info"}}},
    {"job": {"enabled": True}},
    {"networkPolicy": {"enabled": True, "namespaces": []}},
    {"podMonitor": {"enabled": "yes"}},
    {"unknown": 1},
]


def read(path):
    with open(path) as file:
        return file.read()


def manifest(name):
    return yaml.safe_load(read(os.path.join(MANIFESTS, name)))


class KubernetesTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        self.template = manifest("job.yaml")["spec"]["template"]
        self.pod = self.template["spec"]
        self.sidecar, = self.pod["initContainers"]
        self.trainer, = self.pod["containers"]

    def probe(self, name):
        return self.sidecar[name]["httpGet"]["path"]

    @unittest.skipIf(shutil.which("yamllint") is None, "yamllint is not installed")
    def test_yamllint(self):
        done = subprocess.run(["yamllint", "-d", YAMLLINT, MANIFESTS, CHART + "/values.yaml", CHART + "/Chart.yaml"],
                              stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.stdout, "")

    def test_a_native_sidecar_that_may_do_nothing_else(self):
        self.assertEqual(self.sidecar["restartPolicy"], "Always")
        context = self.sidecar["securityContext"]
        self.assertEqual({name: context[name] for name in (
            "runAsNonRoot", "readOnlyRootFilesystem", "allowPrivilegeEscalation")},
            {"runAsNonRoot": True, "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False})
        self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
        self.assertIs(self.pod["automountServiceAccountToken"], False)

    def test_volumes(self):
        mounts = {mount["name"]: mount for mount in self.sidecar["volumeMounts"]}
        own = {mount["name"]: mount for mount in self.trainer["volumeMounts"]}
        self.assertTrue(mounts["job"]["readOnly"])
        self.assertFalse(own["job"].get("readOnly", False))
        self.assertEqual(mounts["job"]["mountPath"], own["job"]["mountPath"])
        self.assertNotIn("trainwatch", own)
        for volume in self.pod["volumes"]:
            self.assertIn("sizeLimit", volume["emptyDir"])

    def test_the_drain_ends_before_the_pod_is_killed(self):
        seconds = next(int(match.group(1)) for match in map(
            re.compile(r"--process\.drain-timeout=(\d+)s").fullmatch, self.sidecar["args"]) if match)
        self.assertLess(seconds + 5, self.pod["terminationGracePeriodSeconds"])

    def test_selectors_and_ports_meet(self):
        labels = self.template["metadata"]["labels"].items()
        monitor, policy = manifest("podmonitor.yaml")["spec"], manifest("networkpolicy.yaml")["spec"]
        self.assertLessEqual(monitor["selector"]["matchLabels"].items(), labels)
        self.assertLessEqual(policy["podSelector"]["matchLabels"].items(), labels)
        port, = self.sidecar["ports"]
        self.assertEqual(monitor["podMetricsEndpoints"][0]["port"], port["name"])
        self.assertEqual(policy["ingress"][1]["ports"][0]["port"], port["containerPort"])
        self.assertEqual(self.template["metadata"]["annotations"]["prometheus.io/port"], str(port["containerPort"]))

    def test_the_binary_takes_the_arguments_of_the_sidecar(self):
        """On loopback and a free port, watching a directory of this machine."""
        arguments = [argument for argument in self.sidecar["args"][1:]
                     if not argument.startswith(("--watch=", "--web.listen-address="))]
        self.assertEqual(len(arguments), len(self.sidecar["args"]) - 3)
        names = {variable["name"]: variable["valueFrom"]["fieldRef"]["fieldPath"] for variable in self.sidecar["env"]}
        env = {"TRAINWATCH_LABEL_JOB": "bert", "POD_NAME": "bert-0-x7k2p", "JOB_COMPLETION_INDEX": "0"}
        self.assertEqual(set(names), set(env) - {"JOB_COMPLETION_INDEX"})  # Kubernetes sets that
        with harness.Trainwatch(self.directory, *arguments, env=env) as trainwatch:
            for name in ("startupProbe", "readinessProbe", "livenessProbe"):
                trainwatch.get(self.probe(name))
            trainwatch.get(manifest("podmonitor.yaml")["spec"]["podMetricsEndpoints"][0]["path"])
            shutil.copytree(harness.JOB, self.directory, dirs_exist_ok=True)
            alerts = harness.wait_for(lambda: trainwatch.json("/api/v1/alerts?after=0")["alerts"], "alerts")
            self.assertEqual({alert["subject"]["job"] for alert in alerts}, {"bert"})
            self.assertEqual(trainwatch.stop(), 0)

    def test_values_of_the_chart(self):
        schema = json.loads(read(os.path.join(CHART, "values.schema.json")))
        jsonschema.Draft7Validator.check_schema(schema)
        values = yaml.safe_load(read(os.path.join(CHART, "values.yaml")))
        jsonschema.validate(values, schema)
        for bad in BAD_VALUES:
            with self.subTest(bad), self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate({**values, **bad}, schema)

    def test_the_chart_has_the_shipped_rules_and_dashboards(self):
        for folder, source in (("rules", "prometheus/rules"), ("dashboards", "grafana/dashboards")):
            ours = os.path.join(CHART, "files", folder)
            self.assertEqual(os.path.realpath(ours), os.path.join(harness.ROOT, "config", source))
            self.assertTrue(os.listdir(ours))

    def test_the_chart_is_of_this_version(self):
        chart = yaml.safe_load(read(os.path.join(CHART, "Chart.yaml")))
        self.assertIn(chart["appVersion"], harness.run("version").stdout)
        self.assertTrue(self.sidecar["image"].endswith(":" + chart["appVersion"]))


if __name__ == "__main__":
    if yaml is None:
        harness.skip("python3-yaml or python3-jsonschema is not installed")
    harness.main()
