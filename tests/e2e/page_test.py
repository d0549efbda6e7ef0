"""The page at / in a real browser shows the version, what is watched, and the alerts as they come."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

try:
    import websockets
except ImportError:
    websockets = None

import harness


class Browser:
    """Chromium showing one page, asked through its debugging protocol."""

    def __init__(self, url):
        self._url = url
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._log = os.path.join(self._profile.name, "log")
        with open(self._log, "w") as log:
            self._process = subprocess.Popen(
                ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--remote-debugging-port=0", "--user-data-dir=" + self._profile.name, url],
                stdout=subprocess.DEVNULL, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        self._profile.cleanup()

    def dom(self):
        """The document as it is now; empty while there is none."""
        with open(self._log) as log:
            address = re.search(r"DevTools listening on ws://([\d.:]+)/", log.read())
        if address is None:
            return ""
        pages = json.loads(harness.fetch("http://%s/json" % address.group(1)))
        page = [page for page in pages if page["url"] == self._url]
        return asyncio.run(self._outer_html(page[0]["webSocketDebuggerUrl"])) if page else ""

    async def _outer_html(self, debugger):
        async with websockets.connect(debugger, max_size=None) as chromium:
            await chromium.send(json.dumps({
                "id": 1, "method": "Runtime.evaluate",
                "params": {"expression": "document.documentElement.outerHTML"}}))
            return json.loads(await chromium.recv())["result"]["result"].get("value", "")


class PageTest(unittest.TestCase):
    def test_the_page_shows_the_alerts(self):
        with tempfile.TemporaryDirectory() as directory, \
                harness.Trainwatch(directory) as trainwatch, \
                Browser(trainwatch.url + "/") as browser:
            status = trainwatch.json("/api/v1/status")
            harness.wait_for(lambda: status["version"] in browser.dom(), "the page is connected")
            self.assertNotIn("getnext_outlier</span>", browser.dom())
            harness.play.play(harness.JOB, directory, speed=0)
            harness.wait_for(lambda: "getnext_outlier</span>" in browser.dom(), "an alert comes")
            page = harness.wait_for(lambda: directory in browser.dom() and browser.dom(),
                                    "the page says what is watched")
        self.assertIn("step %d" % harness.truth()["stall"]["step"], page)
        self.assertIn('href="/metrics"', page)


if __name__ == "__main__":
    if shutil.which("chromium") is None or websockets is None:
        harness.skip("chromium or python3-websockets is not installed")
    harness.main()
