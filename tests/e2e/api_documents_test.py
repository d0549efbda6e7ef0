# SPDX-License-Identifier: Apache-2.0
"""The documents of the API are served, valid, complete, and true of a running trainwatch.

All tests that use harness.py check what they receive against them as well (api_schema.py). Their own tools, from npm, are
run by tests/e2e/api_documents.mjs."""

import glob
import json
import os
import re
import shutil
import subprocess
import unittest
import urllib.error

import api_schema
import harness
from harness import JOB, ROOT, Listener, Trainwatch, wait_for

TOOLS = os.path.join(ROOT, "tests", "e2e", "node_modules", "@asyncapi", "parser")


def routes():
    """The paths that the server knows; one that ends in '/' covers what is below it."""
    paths = {}
    for name in glob.glob(os.path.join(ROOT, "daemon", "net", "*.h")):
        with open(name) as file:
            paths.update(re.findall(r'constexpr std::string_view (k\w+) = "(/[^"]*)"', file.read()))
    with open(os.path.join(ROOT, "daemon", "net", "http_routes.cc")) as file:
        text = file.read()
    paths.update(re.findall(r'constexpr std::string_view (k\w+) = "(/[^"]*)"', text))
    table = text[text.index("constexpr Route kRoutes[]"):]
    table = table[:table.index("};")]
    return [path or paths[name] for path, name in re.findall(r'\{(?:"([^"]*)"|(k\w+)), \w+', table)]


class Documents(unittest.TestCase):
    @unittest.skipUnless(shutil.which("node") and os.path.exists(TOOLS), "npm's tools are not installed")
    def test_their_own_tools_accept_them(self):
        done = subprocess.run(["node", os.path.join(ROOT, "tests", "e2e", "api_documents.mjs"), api_schema.DOCUMENTS],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_every_route_is_documented(self):
        documented = list(api_schema.document("openapi.yaml")["paths"])
        documented += [channel["address"] for channel in api_schema.document("asyncapi.yaml")["channels"].values()]
        for route in routes():
            if route == "/icon.svg" or route == "/assets/":
                continue  # of the page
            with self.subTest(route):
                self.assertTrue(any(path.startswith(route) if route.endswith("/") and len(route) > 1 else path == route
                                    for path in documented))

    def test_every_cause_is_documented(self):
        schemas = api_schema.document("openapi.yaml")["components"]["schemas"]
        with open(os.path.join(ROOT, "include", "trainwatch", "verdict.h")) as file:
            names = re.search(r"to_string\(CauseName.*?\{(.*?)\};", file.read(), re.S).group(1)
        self.assertLessEqual(set(re.findall(r'"(\w+)"', names)), set(schemas["CauseName"]["enum"]))


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.trainwatch = Trainwatch(JOB).__enter__()
        cls.addClassCleanup(cls.trainwatch.__exit__)
        cls.alert = cls.trainwatch.json("/api/v1/alerts")["alerts"][0]

    def test_the_documents_are_served(self):
        for name in ("openapi.yaml", "asyncapi.yaml"):
            with open(os.path.join(api_schema.DOCUMENTS, name)) as file:
                self.assertEqual(self.trainwatch.get("/api/v1/" + name), file.read())

    def test_every_path_answers_as_documented(self):
        for _, path, operation in api_schema.operations():
            if any(p.get("required") and p["in"] == "query" for p in operation.get("parameters", [])):
                continue  # tensors_test.py
            path = path.replace("{id}", self.alert["id"])
            path = path.replace("{name}", "step_statistics" if "analyses" in path else "step_spike")
            path = path.replace("{page}", "prometheus").replace("{document}", "openapi.yaml")
            choices = [p for p in operation.get("parameters", []) if "enum" in p["schema"]]
            for query in [""] + ["?%s=%s" % (p["name"], value) for p in choices for value in p["schema"]["enum"]]:
                with self.subTest(path + query):
                    self.trainwatch.get(path + query)

    def test_the_other_form_of_steps(self):
        steps = self.trainwatch.json("/api/v1/steps?last=3")
        self.assertEqual(len(steps["rows"]), 3)
        self.assertTrue(all(len(row) == len(steps["columns"]) for row in steps["rows"]))

    def test_every_refusal_names_the_parameter(self):
        for path in ("alerts", "steps", "heatmap", "histogram", "scalars", "annotations", "timeline", "tensors", "tensors/value",
                     "analyses/step_statistics"):
            with self.subTest(path), self.assertRaises(urllib.error.HTTPError) as refused:
                self.trainwatch.get("/api/v1/%s?colour=red" % path)
            self.assertEqual(refused.exception.code, 400)
            self.assertIn("'colour'", json.loads(refused.exception.read())["error"])

    def test_a_rule_that_does_not_exist(self):
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.trainwatch.get("/api/v1/alerts?rule=step_spike,setp_spike")
        self.assertEqual(json.loads(refused.exception.read())["error"], "there is no rule 'setp_spike'")
        with Listener(self.trainwatch.stream) as listener:
            listener.send({"op": "subscribe", "rules": ["setp_spike"]})
            wait_for(lambda: any(frame["op"] == "error" for frame in listener.frames), "the subscription is refused")
        self.assertIn({"op": "error", "message": "there is no rule 'setp_spike'"}, listener.frames)

    def test_next_leads_through_the_log(self):
        whole = self.trainwatch.json("/api/v1/alerts?parts=1")
        self.assertEqual(whole["next"], whole["last_seq"])
        seen, after = [], 0
        while after < whole["last_seq"]:
            page = self.trainwatch.json("/api/v1/alerts?parts=1&limit=2&after=%d" % after)
            self.assertGreater(page["next"], after)
            seen, after = seen + page["alerts"], page["next"]
        self.assertEqual(seen, whole["alerts"])
        self.assertEqual(self.trainwatch.json("/api/v1/alerts?after=1000000")["next"], whole["last_seq"])

    def test_messages(self):
        with Listener(self.trainwatch.stream, "?after=0&streams=alerts,steps,status") as listener:
            for op in ("hello", "alert", "status", "heartbeat"):
                wait_for(lambda: any(frame["op"] == op for frame in listener.frames), "the stream has sent " + op)


class Checker(unittest.TestCase):
    """It notices what is not documented."""

    def test_a_member_too_many_and_one_too_few(self):
        body = {"now": "2026-11-21T07:57:49Z", "monitor": "", "runs": []}
        check = lambda value: api_schema.check_response(  # noqa: E731
            "http://host/api/v1/runs", 200, "application/json", json.dumps(value).encode())
        check(body)
        for wrong in ({**body, "more": 1}, {"now": body["now"], "runs": []}, {**body, "monitor": None}):
            with self.subTest(wrong), self.assertRaises(AssertionError):
                check(wrong)

    def test_a_message(self):
        api_schema.check_message({"op": "gap", "from": 1, "to": 2})
        for wrong in ({"op": "gap", "from": 1}, {"op": "gab"}, {"op": "reset", "epoch": "e", "more": 1}):
            with self.subTest(wrong), self.assertRaises(AssertionError):
                api_schema.check_message(wrong)


if __name__ == "__main__":
    if not api_schema.available():
        harness.skip("python3-jsonschema or python3-yaml is not installed")
    harness.main()
