"""The page at / in a real browser shows the version, what is watched, and the alerts."""

import shutil
import subprocess
import tempfile
import unittest

import harness


def dom(url):
    """The document of a page after its scripts have run for a while."""
    with tempfile.TemporaryDirectory() as profile:
        return subprocess.run(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
             "--user-data-dir=" + profile, "--timeout=3000", "--dump-dom", url],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60).stdout


class PageTest(unittest.TestCase):
    def test_the_page_shows_the_alerts(self):
        with tempfile.TemporaryDirectory() as directory, harness.Trainwatch(directory) as trainwatch:
            harness.play.play(harness.JOB, directory, speed=0)
            trainwatch.wait_until_read()
            harness.wait_for(lambda: trainwatch.json("/api/v1/alerts")["alerts"], "an alert")
            page = dom(trainwatch.url + "/")
            version = trainwatch.json("/api/v1/status")["version"]
        self.assertIn(version, page)
        self.assertIn("getnext_outlier", page)
        self.assertIn("step %d" % harness.truth()["stall"]["step"], page)
        self.assertIn(directory, page)
        self.assertIn('href="/metrics"', page)


if __name__ == "__main__":
    if shutil.which("chromium") is None:
        harness.skip("chromium is not installed")
    harness.main()
