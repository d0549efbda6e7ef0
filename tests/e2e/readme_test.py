# SPDX-License-Identifier: Apache-2.0
"""What the documents and config/trainwatch.yaml say is what the binary says. `readme_test.py BINARY --update` writes their
generated parts again."""

import json
import os
import re
import sys
import unittest

import harness

ONLY_LIVE = ("seq", "epoch")
MOST_BYTES = 10000  # of README.md: the rest belongs into docs/


def read(name):
    with open(os.path.join(harness.ROOT, name)) as file:
        return file.read()


def without_sentences(alert):
    """What does not depend on the wording."""
    kept = {key: value for key, value in alert.items() if key not in (*ONLY_LIVE, "summary", "next")}
    return dict(kept, cause={key: value for key, value in alert["cause"].items() if key != "explanation"})


class ReadmeTest(unittest.TestCase):
    maxDiff = None

    def check_generated(self, name, pattern, form):
        """The group of `pattern` in a file is what `trainwatch rules` prints in that form."""
        text, printed = read(name), harness.run("rules", "--format=" + form).stdout
        found = re.search(pattern, text, re.DOTALL)
        self.assertTrue(found, name + " has no generated rules")
        if "--update" in sys.argv:
            with open(os.path.join(harness.ROOT, name), "w") as file:
                file.write(text[:found.start(1)] + printed + text[found.end(1):])
        else:
            self.assertEqual(found.group(1), printed)

    def test_the_readme_is_short(self):
        self.assertLessEqual(len(read("README.md").encode()), MOST_BYTES)

    def test_the_table_of_rules(self):
        self.check_generated("docs/rules/README.md", "<!-- trainwatch rules --format=markdown -->\n(.*?)<!-- end -->", "markdown")

    def test_the_rules_of_the_configuration(self):
        self.check_generated("config/trainwatch.yaml", "`trainwatch rules --format=yaml`.\n\n(.*)$", "yaml")

    def test_the_example_of_an_alert(self):
        shown = json.loads(re.search(r'```json\n(\{"id":.*?)```', read("docs/alerts.md"), re.DOTALL).group(1))
        said = next(alert for alert in harness.replay(harness.JOB) if alert["id"] == shown["id"])
        self.assertEqual([key for key in shown if key not in ONLY_LIVE], list(said))
        self.assertEqual(list(shown["cause"]), list(said["cause"]))
        self.assertEqual(without_sentences(shown), without_sentences(said))
        for key in ONLY_LIVE:
            self.assertIn(key, shown)


if __name__ == "__main__":
    harness.main()
