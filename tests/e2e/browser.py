# SPDX-License-Identifier: Apache-2.0
"""Chromium, asked through its debugging protocol."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import tempfile

try:
    import websockets
except ImportError:
    websockets = None

import harness


def is_available():
    return shutil.which("chromium") is not None and websockets is not None


def require():
    """Ends the test if there is no browser here."""
    if not is_available():
        harness.skip("chromium or python3-websockets is not installed")


class Browser:
    """Shows one page; stopped at the end of the block."""

    def __init__(self, url, *flags):
        self._url = re.sub("//[^/]*@", "//", url)  # without the login
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._log = os.path.join(self._profile.name, "log")
        with open(self._log, "w") as log:
            self._process = subprocess.Popen(
                ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--remote-debugging-port=0", "--user-data-dir=" + self._profile.name, *flags, url],
                stdout=subprocess.DEVNULL, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        self._profile.cleanup()

    def evaluate(self, expression):
        """The value of an expression of JavaScript, for a promise the one that it gives; None while there is no page, or
        if it was loaded meanwhile."""
        with open(self._log) as log:
            address = re.search(r"DevTools listening on ws://([\d.:]+)/", log.read())
        if address is None:
            return None
        pages = json.loads(harness.fetch("http://%s/json" % address.group(1)))
        page = [page for page in pages if page["url"] == self._url]
        return asyncio.run(self._evaluate(page[0]["webSocketDebuggerUrl"], expression)) if page else None

    async def _evaluate(self, debugger, expression):
        async with websockets.connect(debugger, max_size=None) as chromium:
            await chromium.send(json.dumps({
                "id": 1, "method": "Runtime.evaluate",
                "params": {"expression": expression, "awaitPromise": True, "returnByValue": True}}))
            answer = json.loads(await chromium.recv())
            return answer["result"]["result"].get("value") if "result" in answer else None
