"""The page at / in a real browser shows the version, what is watched, and the alerts as they come."""

import tempfile
import unittest

import browser
import harness


class PageTest(unittest.TestCase):
    def test_the_page_shows_the_alerts(self):
        with tempfile.TemporaryDirectory() as directory, \
                harness.Trainwatch(directory) as trainwatch, \
                browser.Browser(trainwatch.url + "/") as shown:
            status = trainwatch.json("/api/v1/status")
            harness.wait_for(lambda: status["version"] in shown.dom(), "the page is connected")
            self.assertNotIn("getnext_outlier</span>", shown.dom())
            harness.play.play(harness.JOB, directory, speed=0)
            harness.wait_for(lambda: "getnext_outlier</span>" in shown.dom(), "an alert comes")
            page = harness.wait_for(lambda: directory in shown.dom() and shown.dom(),
                                    "the page says what is watched")
        self.assertIn("step %d" % harness.truth()["stall"]["step"], page)
        self.assertIn('href="/metrics"', page)


if __name__ == "__main__":
    browser.require()
    harness.main()
