# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus that scrapes what a test runs."""

import json
import os
import re
import subprocess
import tempfile
import urllib.error
import urllib.parse

import harness

CONFIG = """
global: {scrape_interval: 500ms, scrape_timeout: 500ms}
scrape_configs:
  - job_name: trainwatch
    static_configs: [{targets: ['%s']}]%s
"""

MILLISECONDS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
DURATION = re.compile(r"(?<![\w:.])(\d+)([smhd])(?!\w)")


def scaled(text, speed):
    """A file of rules or configuration in which each duration is divided by `speed`, so that a test need not wait."""
    return DURATION.sub(lambda found: "%dms" % (int(found.group(1)) * MILLISECONDS[found.group(2)] / speed), text)


class Prometheus:
    """The Debian package's server on a free port, with its data in a temporary directory. It scrapes `target`, with
    `more` lines in that part of the configuration, or does as the file `config` says."""

    def __init__(self, target=None, *arguments, config=None, more=""):
        self._scratch = tempfile.TemporaryDirectory()
        if config is None:
            config = os.path.join(self._scratch.name, "prometheus.yml")
            with open(config, "w") as file:
                file.write(CONFIG % (target, more))
        self._log = open(os.path.join(self._scratch.name, "log"), "w")
        address = "127.0.0.1:%d" % harness.free_port()
        self.url = "http://" + address
        self._process = subprocess.Popen(
            ["prometheus", "--config.file=" + config, "--web.listen-address=" + address,
             "--storage.tsdb.path=" + os.path.join(self._scratch.name, "data"), *arguments], stderr=self._log)
        self.pid = self._process.pid

    def __enter__(self):
        return self

    def data_bytes(self):
        """What it has on disk."""
        return sum(os.path.getsize(os.path.join(folder, name))
                   for folder, _, names in os.walk(os.path.join(self._scratch.name, "data")) for name in names)

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        self._log.close()
        self._scratch.cleanup()

    def ask(self, path, **parameters):
        """`data` of an answer of the HTTP API; None: it does not answer yet."""
        try:
            answer = harness.fetch(self.url + path + "?" + urllib.parse.urlencode(parameters))
        except (urllib.error.URLError, ConnectionError):
            return None
        return json.loads(answer)["data"]

    def values(self, query, **at):
        """Of each series, now, or at a `time`."""
        data = self.ask("/api/v1/query", query=query, **at)
        return [float(series["value"][1]) for series in data["result"]] if data else []

    def value(self, query):
        """Of a query that gives one number; None: not yet."""
        return next(iter(self.values(query)), None)
