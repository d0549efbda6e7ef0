# SPDX-License-Identifier: Apache-2.0
"""As a systemd service: readiness, watchdog, and SIGHUP, which keeps the old configuration when the
new one is wrong."""

import os
import signal
import socket
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

import harness


class Manager:
    """The part of systemd that listens on $NOTIFY_SOCKET."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "notify")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.path)
        self._socket.setblocking(False)
        self.heard = []

    def said(self, word):
        try:
            while True:
                self.heard += self._socket.recv(4096).decode().split("\n")
        except BlockingIOError:
            pass
        return word in self.heard

    def close(self):
        self._socket.close()


class ReloadTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.config = os.path.join(scratch.name, "trainwatch.yaml")
        self.watched = os.path.join(scratch.name, "job")
        os.mkdir(self.watched)
        self.manager = Manager(scratch.name)
        self.addCleanup(self.manager.close)

    def write(self, text):
        with open(self.config, "w") as file:
            file.write(text)

    def factor(self, trainwatch):
        rules = {rule["rule"]: rule for rule in trainwatch.json("/api/v1/status")["rules"]}
        return rules["getnext_outlier"]["params"]["factor"]

    def reload(self, trainwatch, successful):
        trainwatch.signal(signal.SIGHUP)
        harness.wait_for(
            lambda: trainwatch.metric("trainwatch_config_last_reload_successful") == successful,
            "the reload is reported")

    def test_reload(self):
        self.write("rules:\n  getnext_outlier:\n    factor: 3\n")
        with harness.Trainwatch(self.watched, "--config.file=" + self.config) as trainwatch:
            self.assertEqual(self.factor(trainwatch), 3)
            self.write("rules:\n  getnext_outlier:\n    factor: much\n")
            self.reload(trainwatch, successful=0)
            self.assertEqual(self.factor(trainwatch), 3)
            self.assertIn(self.config + ":3", trainwatch.log())
            self.write("rules:\n  getnext_outlier:\n    factor: 5\n")
            self.reload(trainwatch, successful=1)
            harness.wait_for(lambda: self.factor(trainwatch) == 5, "the new factor holds")
            self.assertEqual(trainwatch.stop(), 0)

    def post(self, trainwatch, **headers):
        """The status of POST /-/reload, and what it says."""
        request = urllib.request.Request(trainwatch.url + "/-/reload", method="POST", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=harness.PATIENCE_SECONDS) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def test_over_http(self):
        self.write("rules:\n  getnext_outlier:\n    factor: 3\n")
        with harness.Trainwatch(self.watched, "--config.file=" + self.config, "--web.enable-lifecycle") as trainwatch:
            self.write("rules:\n  getnext_outlier:\n    factor: 5\n")
            self.assertEqual(self.post(trainwatch, Origin="http://elsewhere.example")[0], 403)
            self.assertEqual(self.post(trainwatch), (200, "reloaded\n"))
            harness.wait_for(lambda: self.factor(trainwatch) == 5, "the new factor holds")
            self.write("rules:\n  getnext_outlier:\n    factor: much\n")
            status, text = self.post(trainwatch)
            self.assertEqual(status, 500)
            self.assertIn(self.config + ":3", text)
            with self.assertRaises(urllib.error.HTTPError) as refused:
                trainwatch.get("/-/reload")
            self.assertEqual(refused.exception.code, 405)

    def test_over_http_only_where_it_is_allowed(self):
        self.write("rules:\n  getnext_outlier:\n    factor: 3\n")
        with harness.Trainwatch(self.watched, "--config.file=" + self.config) as trainwatch:
            status, text = self.post(trainwatch)
            self.assertEqual(status, 403)
            self.assertIn("web.enable_lifecycle", text)

    def test_a_start_reads_the_file_once(self):
        os.mkfifo(self.config)  # gives its text to one reader; a second would wait for ever

        def write_once():
            self.write("rules:\n  getnext_outlier:\n    factor: 3\n")
        writer = threading.Thread(target=write_once, daemon=True)
        writer.start()
        with harness.Trainwatch(self.watched, "--config.file=" + self.config) as trainwatch:
            self.assertEqual(self.factor(trainwatch), 3)
            self.assertEqual(trainwatch.stop(), 0)

    def test_service(self):
        with harness.Trainwatch(self.watched, env={
                "NOTIFY_SOCKET": self.manager.path, "WATCHDOG_USEC": "400000"}) as trainwatch:
            harness.wait_for(lambda: self.manager.said("READY=1"), "READY=1")
            harness.wait_for(lambda: self.manager.said("WATCHDOG=1"), "WATCHDOG=1")
            trainwatch.signal(signal.SIGHUP)
            harness.wait_for(lambda: self.manager.said("RELOADING=1"), "RELOADING=1")
            self.assertEqual(trainwatch.stop(), 0)
            self.assertTrue(self.manager.said("STOPPING=1"))


if __name__ == "__main__":
    harness.main()
