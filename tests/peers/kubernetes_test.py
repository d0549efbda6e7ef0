# SPDX-License-Identifier: Apache-2.0
"""The chart by the real helm, which is compiled from Go's module proxy once (minutes); what it renders, and the manifests, by the
schemas of Kubernetes (kubernetes-validate of PyPI, scripts/peers.sh)."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness  # noqa: E402
import kubernetes_test  # noqa: E402

HELM = "helm.sh/helm/v3/cmd/helm@v3.16.4"
VERSIONS = ["1.29", "1.31", "1.33"]
JOB = ["--set=job.enabled=true", "--set=job.image=registry.example/bert:1", "--set=job.completions=2"]
TEMPLATE = ["template", "watch", "--kube-version=1.33.0"]  # a helm from the module proxy assumes 1.20
VALIDATE = """
import json, sys
import kubernetes_validate
for document in json.load(sys.stdin):
    for version in sys.argv[1:]:
        kubernetes_validate.validate(document, version, strict=True)
"""
POD = """
apiVersion: v1
kind: Pod
metadata:
  name: bert
  labels: {{- include "trainwatch.podLabels" . | nindent 4 }}
spec:
  initContainers: {{- include "trainwatch.sidecar" (dict "values" .Values.trainwatch "version" "0.2.0") | nindent 4 }}
  containers: [{name: trainer, image: bert, volumeMounts: [{name: job, mountPath: /data}]}]
  volumes:
    - {name: job, emptyDir: {}}
    {{- include "trainwatch.volumes" (dict "values" .Values.trainwatch) | nindent 4 }}
"""
# Of the Prometheus operator, which Kubernetes has no schema of.
OPERATORS = ("PodMonitor", "PrometheusRule")


def cached_helm():
    """Its path; None: it cannot be had."""
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "trainwatch-peers", "go")
    path = os.path.join(cache, "helm")
    if not os.path.exists(path) and shutil.which("go"):
        subprocess.run(["go", "install", HELM], env=dict(os.environ, GOBIN=cache), check=False)
    return path if os.path.exists(path) else None


def schemas():
    done = subprocess.run([os.path.join(harness.ROOT, "scripts", "peers.sh"), "kubernetes"], stdout=subprocess.PIPE,
                          text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


class KubernetesTest(unittest.TestCase):
    def helm(self, *arguments):
        done = subprocess.run([HELM_PATH, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def render(self, *arguments):
        text = self.helm(*TEMPLATE, kubernetes_test.CHART, *arguments)
        return [document for document in kubernetes_test.yaml.safe_load_all(text) if document]

    def validate(self, documents):
        known = [document for document in documents if document["kind"] not in OPERATORS]
        done = subprocess.run([SCHEMAS, "-c", VALIDATE, *VERSIONS], input=json.dumps(known), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])

    def test_the_manifests(self):
        self.validate([kubernetes_test.manifest(os.path.basename(path))
                       for path in glob.glob(kubernetes_test.MANIFESTS + "/*.yaml")])

    def test_helm_lint(self):
        for arguments in ([], JOB, ["--set=web.configSecret=web"]):
            self.helm("lint", "--strict", kubernetes_test.CHART, *arguments)

    def test_what_helm_renders(self):
        for arguments in ([], JOB, JOB + ["--set=web.configSecret=web"], JOB + ["--set-string=sidecar.settings.log\\.format=json"]):
            documents = self.render(*arguments)
            self.validate(documents)
            kinds = sorted({document["kind"] for document in documents})
            self.assertEqual(kinds, sorted(["ConfigMap", "NetworkPolicy", *OPERATORS] + (["Job"] if arguments else [])))

    def test_bad_values_are_refused(self):
        for bad in kubernetes_test.BAD_VALUES:
            with self.subTest(bad), tempfile.NamedTemporaryFile("w", suffix=".yaml") as values:
                json.dump(bad, values)
                values.flush()
                done = subprocess.run([HELM_PATH, *TEMPLATE, kubernetes_test.CHART, "-f", values.name],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
                self.assertIn("values don't meet the specifications of the schema", done.stderr)

    def test_its_sidecar_is_that_of_the_manifest(self):
        job, = (document for document in self.render(*JOB) if document["kind"] == "Job")
        pod = job["spec"]["template"]["spec"]
        ours = kubernetes_test.manifest("job.yaml")["spec"]["template"]["spec"]
        sidecar, = pod["initContainers"]
        expected, = ours["initContainers"]
        sidecar.pop("imagePullPolicy")
        self.assertEqual(sorted(sidecar.pop("args")), sorted(expected.pop("args")))
        self.assertEqual(sidecar, expected)
        self.assertEqual(pod["securityContext"], ours["securityContext"])

    def test_a_chart_that_depends_on_it(self):
        """As docs/kubernetes.md shows."""
        with tempfile.TemporaryDirectory() as chart:
            os.makedirs(chart + "/templates")
            shutil.copytree(kubernetes_test.CHART, chart + "/charts/trainwatch")
            for name, text in (("Chart.yaml", "apiVersion: v2\nname: bert\nversion: 1.0.0\n"), ("templates/pod.yaml", POD)):
                with open(os.path.join(chart, name), "w") as file:
                    file.write(text)
            text = self.helm(*TEMPLATE, chart, "--set=trainwatch.sidecar.watch=/data")
        documents = [document for document in kubernetes_test.yaml.safe_load_all(text) if document]
        self.validate(documents)
        pod, = (document for document in documents if document["kind"] == "Pod")
        self.assertEqual(pod["metadata"]["labels"], {"trainwatch": "enabled"})
        self.assertIn("--watch=/data", pod["spec"]["initContainers"][0]["args"])
        self.assertEqual([volume["name"] for volume in pod["spec"]["volumes"]], ["job", "trainwatch"])

    def test_a_package_has_the_rules_and_dashboards(self):
        """helm follows the links when it packs."""
        with tempfile.TemporaryDirectory() as scratch:
            self.helm("package", kubernetes_test.CHART, "--destination", scratch)
            packed, = glob.glob(scratch + "/*.tgz")
            documents = [document for document in kubernetes_test.yaml.safe_load_all(
                self.helm(*TEMPLATE, packed)) if document]
        shipped = os.path.join(harness.ROOT, "config")
        rules = {document["metadata"]["name"]: document["spec"] for document in documents
                 if document["kind"] == "PrometheusRule"}
        for path in glob.glob(shipped + "/prometheus/rules/*.rules.yml"):
            name = "watch-" + os.path.basename(path)[:-len(".rules.yml")]
            self.assertEqual(rules.pop(name), kubernetes_test.yaml.safe_load(kubernetes_test.read(path)))
        self.assertEqual(rules, {})
        boards = {}
        for document in documents:
            if document["kind"] == "ConfigMap":
                boards.update(document["data"])
        for path in glob.glob(shipped + "/grafana/dashboards/*.json"):
            self.assertEqual(boards.pop(os.path.basename(path)), kubernetes_test.read(path))
        self.assertEqual(boards, {})


if __name__ == "__main__":
    if kubernetes_test.yaml is None:
        harness.skip("python3-yaml or python3-jsonschema is not installed")
    HELM_PATH, SCHEMAS = cached_helm(), schemas()
    if HELM_PATH is None:
        harness.skip("no helm: go is not installed, or its module proxy does not answer")
    if SCHEMAS is None:
        harness.skip("kubernetes-validate cannot be installed")
    harness.main()
