# SPDX-License-Identifier: Apache-2.0
"""A real Alertmanager, and a receiver of what it sends."""

import json
import os
import subprocess
import tempfile

import harness
from local_server import Handler, LocalServer


class Alertmanager:
    """The Debian package's server with the configuration `text` at `address`, HOST:PORT; by default on a free port."""

    def __init__(self, text, address=None):
        self._scratch = tempfile.TemporaryDirectory()
        config = os.path.join(self._scratch.name, "alertmanager.yml")
        with open(config, "w") as file:
            file.write(text)
        self._log = open(os.path.join(self._scratch.name, "log"), "w")
        self.address = address or "127.0.0.1:%d" % harness.free_port()
        self._process = subprocess.Popen(
            ["prometheus-alertmanager", "--config.file=" + config, "--web.listen-address=" + self.address,
             "--cluster.listen-address=", "--storage.path=" + os.path.join(self._scratch.name, "data")], stderr=self._log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        self._log.close()
        self._scratch.cleanup()


class Webhook(LocalServer):
    """Receives the messages of webhook_configs: `messages` has (path, message)."""

    def __init__(self):
        self.messages = []
        outer = self

        class Receiver(Handler):
            def do_POST(self):
                outer.messages.append((self.path, json.loads(self.body())))
                self.answer()

        super().__init__(Receiver)

    def alerts(self):
        """(path, alert) of each message, in the order of arrival."""
        return [(path, alert) for path, message in self.messages for alert in message["alerts"]]
