# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: the tests of tests/e2e/page, run by node; those of NAME.test.mjs alone if a NAME follows
the binary. TRAINWATCH_LONG=1 measures frames for longer;
TRAINWATCH_SLOWEST_MS=300 finds what does not wait for an answer of the server."""

import os
import shutil
import subprocess
import sys
import urllib.request

import harness

FOLDER = os.path.join(harness.ROOT, "tests", "e2e")


def has_page():
    """Whether the program was built with the page."""
    with harness.tempfile.TemporaryDirectory() as directory, harness.Trainwatch(directory) as trainwatch:
        with urllib.request.urlopen(trainwatch.url + "/", timeout=harness.PATIENCE_SECONDS) as answer:
            return b"/assets/" in answer.read()


def require():
    """Ends the test if there is no page, or no browser to show it."""
    for program in ("node", "chromium"):
        if shutil.which(program) is None:
            harness.skip(program + " is not installed")
    if not os.path.isdir(os.path.join(FOLDER, "node_modules", "playwright-core")):
        harness.skip("npm ci --prefix tests/e2e was not run (scripts/test.sh does)")
    if not has_page():
        harness.skip("trainwatch was built without the page")


def main():
    require()
    tests = sorted(os.path.join(FOLDER, "page", name) for name in os.listdir(os.path.join(FOLDER, "page"))
                   if name.endswith(".test.mjs") and name.split(".")[0] in (sys.argv[2:] or [name.split(".")[0]]))
    environment = dict(os.environ, TRAINWATCH_BINARY=os.path.abspath(harness.binary()))
    return subprocess.run(["node", "--test", "--test-concurrency=1", "--test-reporter=spec", *tests],
                          env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
