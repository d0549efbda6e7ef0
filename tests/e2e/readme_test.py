"""What README.md says of the rules is what the binary says."""

import os
import re
import unittest

import harness


class ReadmeTest(unittest.TestCase):
    def test_the_table_of_rules(self):
        with open(os.path.join(harness.ROOT, "README.md")) as file:
            readme = file.read()
        found = re.search(r"<!-- trainwatch rules --format=markdown -->\n(.*?)<!-- end -->", readme,
                          re.DOTALL)
        self.assertTrue(found, "README.md has no generated table of rules")
        printed = harness.run("rules", "--format=markdown").stdout
        self.assertEqual(found.group(1).strip(), printed.strip())

    def test_no_link_leads_nowhere(self):
        for name in ("README.md", "CONTRIBUTING.md"):
            with open(os.path.join(harness.ROOT, name)) as file:
                for target in re.findall(r"\]\((?!https?:)([^)#]+)", file.read()):
                    self.assertTrue(os.path.exists(os.path.join(harness.ROOT, target)),
                                    name + " links to " + target)


if __name__ == "__main__":
    harness.main()
