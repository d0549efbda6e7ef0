# SPDX-License-Identifier: Apache-2.0
"""TLS and login with the programs that users have: curl, openssl, Prometheus, Python's websockets, `trainwatch follow`
and Chromium; what is read again when it changes; and what clients that never finish a handshake or guess passwords do
to the others."""

import asyncio
import os
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
import unittest
import urllib.error

import browser
import certificates
import harness
from prometheus_server import Prometheus

BAD_CONFIGURATION = 78
USERS = "basic_auth_users: {alice: %s}\n" % certificates.SECRET
TLS = "tls_server_config: {cert_file: server.pem, key_file: server.key%s}\n"


class TlsTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        self.folder = os.path.join(os.path.dirname(self.directory), "web")
        os.mkdir(self.folder)
        self.authority = certificates.Authority(self.folder)
        self.authority.sign("server", "DNS:localhost,IP:127.0.0.1,IP:0.0.0.0")
        self.config = os.path.join(self.folder, "web.yml")

    def write(self, text):
        """Replaces the configuration as an editor does."""
        with open(self.config + ".new", "w") as file:
            file.write(text)
        os.replace(self.config + ".new", self.config)

    def trainwatch(self, text, *arguments, login="alice:secret", client=None):
        self.write(text)
        return harness.Trainwatch(self.directory, "--web.config.file=" + self.config, *arguments, login=login,
                                  context=self.authority.context(client) if "tls_server" in text else None)

    def curl(self, url, *arguments):
        """Status, head and body; status 0 without an answer."""
        done = subprocess.run(["curl", "--silent", "--include", "--max-time", str(harness.PATIENCE_SECONDS), "--cacert", self.authority.ca, *arguments,
                               url], capture_output=True, text=True)
        head, _, body = done.stdout.replace("\r", "").partition("\n\n")
        found = re.match(r"HTTP/1.1 (\d+)", head)
        return int(found.group(1)) if found else 0, head, body

    def handshake(self, trainwatch, *arguments):
        """What openssl s_client says of a handshake; empty if there was none."""
        done = subprocess.run(["openssl", "s_client", "-connect", trainwatch.address, "-CAfile", self.authority.ca,
                               "-verify_return_error", *arguments], input="", capture_output=True, text=True,
                              timeout=harness.PATIENCE_SECONDS)
        return done.stdout if done.returncode == 0 else ""

    def test_everything_needs_the_login(self):
        with self.trainwatch(TLS % "" + USERS) as trainwatch:
            for path in ("/", "/metrics", "/-/healthy", "/-/ready", "/api/v1/status", "/api/v1/alerts", "/docs/rules/stall",
                         "/api/v1/stream", "/nothing"):
                for arguments in ((), ("-u", "alice:wrong"), ("-u", "bob:secret"), ("-u", "alice:")):
                    status, head, body = self.curl(trainwatch.url + path, *arguments)
                    self.assertEqual(status, 401, (path, arguments))
                    self.assertIn('WWW-Authenticate: Basic realm="trainwatch"', head)
                    self.assertNotIn("alice", body)
                self.assertIn(self.curl(trainwatch.url + path, "-u", "alice:secret")[0], (200, 404, 426), path)
            self.assertEqual(self.curl(trainwatch.url + "/-/healthy", "-u", "alice:secret", "-H", "Host: evil.example")[0], 403)
            self.assertGreater(trainwatch.metric("trainwatch_http_logins_refused_total"), 10)
            status, _, body = self.curl(trainwatch.url.replace("https", "http") + "/metrics")
            self.assertEqual((status, "TLS" in body), (400, True))

    def test_login_without_tls(self):
        with self.trainwatch(USERS) as trainwatch:
            self.assertEqual(self.curl(trainwatch.url + "/metrics")[0], 401)
            self.assertEqual(self.curl(trainwatch.url + "/metrics", "-u", "alice:secret")[0], 200)

    def test_versions_ciphers_and_curves(self):
        rsa = self.authority.sign("rsa", "DNS:localhost", ("rsa:2048",))
        settings = (
            ("", (), ("-tls1_1", "-cipher", "ALL@SECLEVEL=0")),
            (", max_version: TLS12", ("-tls1_2",), ("-tls1_3",)),
            (", min_version: TLS13", ("-tls1_3",), ("-tls1_2",)),
            (", min_version: TLS10", ("-tls1", "-cipher", "ALL@SECLEVEL=0"), None),
            (", cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]", ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"),
             ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256")),
            (", cipher_suites: [TLS_AES_128_GCM_SHA256]", ("-tls1_3",), ("-tls1_2",)),
            (", curve_preferences: [CurveP384]", ("-groups", "P-384"), ("-groups", "X25519")),
        )
        with self.trainwatch(TLS % "" + USERS) as trainwatch:
            self.assertIn("ALPN protocol: http/1.1", self.handshake(trainwatch, "-alpn", "h2,http/1.1"))
            for more, works, fails in settings:
                self.write(TLS % more + USERS)
                harness.wait_for(lambda: self.handshake(trainwatch, *works) and (
                    fails is None or not self.handshake(trainwatch, *fails)), more)
            self.write(TLS.replace("server.", "rsa.") % ", max_version: TLS12, cipher_suites: [TLS_RSA_WITH_AES_128_GCM_SHA256]")
            harness.wait_for(lambda: "Cipher is AES128-GCM-SHA256" in self.handshake(
                trainwatch, "-cipher", "AES128-GCM-SHA256"), "a cipher of RSA with " + rsa[0])

    def test_client_certificates(self):
        outsiders = certificates.Authority(self.folder, "outsiders")
        known = self.authority.sign("client", "DNS:prometheus.example,IP:10.0.0.1,URI:spiffe://cluster/prometheus")
        other = self.authority.sign("other", "DNS:other.example")
        outsider = outsiders.sign("outsider", "DNS:prometheus.example")
        ca = ", client_ca_file: ca.pem"
        #                                                     none, known, other, outsider
        for more, allowed in ((", client_auth_type: RequestClientCert", (1, 1, 1, 1)),
                              (", client_auth_type: RequireAnyClientCert", (0, 1, 1, 1)),
                              (", client_auth_type: VerifyClientCertIfGiven" + ca, (1, 1, 1, 0)),
                              (", client_auth_type: RequireAndVerifyClientCert" + ca, (0, 1, 1, 0)),
                              (", client_auth_type: RequireAndVerifyClientCert, client_ca_file: /dev/null", (0, 0, 0, 0)),
                              *((", client_auth_type: RequireAndVerifyClientCert, client_allowed_sans: [%s]%s" % (san, ca),
                                 (0, 1, 0, 0)) for san in ("prometheus.example", "10.0.0.1", "'spiffe://cluster/prometheus'"))):
            self.write(TLS % more)
            # Not every configuration lets the test in, so nothing is asked at the start.
            with self.subTest(more), Unasked(self.directory, "--web.config.file=" + self.config) as address:
                found = tuple(int(self.curl("https://%s/-/healthy" % address, *(
                    ("--cert", pair[0], "--key", pair[1]) if pair else ()))[0] == 200) for pair in (None, known, other, outsider))
                self.assertEqual(found, allowed)

    def test_headers_and_rate(self):
        headers = ("http_server_config:\n  headers:\n    X-Frame-Options: sameorigin\n    Content-Security-Policy: ''\n"
                   "    Strict-Transport-Security: max-age=31536000\n")
        with self.trainwatch(TLS % "" + headers + USERS) as trainwatch:
            for arguments in (("-u", "alice:secret"), ()):
                _, head, _ = self.curl(trainwatch.url + "/metrics", *arguments)
                self.assertEqual(re.findall("(?mi)^X-Frame-Options: (.*)", head), ["sameorigin"])
                self.assertIn("Strict-Transport-Security: max-age=31536000", head)
                self.assertIn("X-Content-Type-Options: nosniff", head)
                self.assertNotIn("Content-Security-Policy", head)
            self.write(TLS % "" + "rate_limit: {interval: 1h, burst: 3}\n")
            harness.wait_for(lambda: self.curl(trainwatch.url + "/-/healthy")[0] == 429, "requests are limited")

    def test_read_again_when_something_changes(self):
        def serial():
            return ssl.get_server_certificate(tuple(trainwatch.address.split(":")))

        with self.trainwatch(TLS % "" + USERS) as trainwatch:
            first = serial()
            new = self.authority.sign("new", "DNS:localhost,IP:127.0.0.1")
            for name, path in zip(("server.pem", "server.key"), new):  # at any time they do not fit together
                os.replace(path, os.path.join(self.folder, name))
            harness.wait_for(lambda: serial() != first, "the new certificate is served")
            self.write(TLS % "" + USERS.replace("alice", "bob"))
            harness.wait_for(lambda: self.curl(trainwatch.url + "/metrics", "-u", "bob:secret")[0] == 200, "bob is let in")
            self.assertEqual(self.curl(trainwatch.url + "/metrics", "-u", "alice:secret")[0], 401)
            self.write("junk: 1\n")
            harness.wait_for(lambda: "web.yml:1: junk: unknown key" in trainwatch.log(), "the mistake is logged")
            harness.wait_for(lambda: "trainwatch_config_last_reload_successful 0" in self.curl(
                trainwatch.url + "/metrics", "-u", "bob:secret")[2], "the metric has it")
            self.write(TLS % "" + USERS)
            harness.wait_for(lambda: self.curl(trainwatch.url + "/metrics", "-u", "alice:secret")[0] == 200, "it is mended")
            harness.wait_for(lambda: trainwatch.metric("trainwatch_config_last_reload_successful"), "the metric has that, too")

    def test_a_file_that_is_being_written_lets_nobody_in(self):
        with self.trainwatch(USERS) as trainwatch:
            anonymous = lambda: self.curl(trainwatch.url + "/metrics")[0]
            for text in ("", USERS, "# users come later\n", USERS):
                self.write(text)
                until = time.monotonic() + 2
                while time.monotonic() < until:
                    self.assertEqual(anonymous(), 401, repr(text))
            self.write("")
            harness.wait_for(lambda: anonymous() == 200, "it was meant")

    def test_files_of_kubernetes(self):
        """A volume: names lead through ..data, which is replaced at once, to a folder that is new each time."""
        volume = os.path.join(self.folder, "volume")
        os.mkdir(volume)

        def publish(folder, users):
            os.mkdir(os.path.join(volume, folder))
            for name in ("server.pem", "server.key"):
                shutil.copy(os.path.join(self.folder, name), os.path.join(volume, folder))
            with open(os.path.join(volume, folder, "web.yml"), "w") as file:
                file.write(TLS % "" + users)
            os.symlink(folder, os.path.join(volume, "..new"))
            os.replace(os.path.join(volume, "..new"), os.path.join(volume, "..data"))

        publish("..1", USERS)
        for name in ("server.pem", "server.key", "web.yml"):
            os.symlink("..data/" + name, os.path.join(volume, name))
        with harness.Trainwatch(self.directory, "--web.config.file=" + os.path.join(volume, "web.yml"),
                                context=self.authority.context(), login="alice:secret") as trainwatch:
            self.authority.sign("server", "DNS:localhost,IP:127.0.0.1")
            publish("..2", USERS.replace("alice", "bob"))
            shutil.rmtree(os.path.join(volume, "..1"))
            harness.wait_for(lambda: self.curl(trainwatch.url + "/metrics", "-u", "bob:secret")[0] == 200, "the volume is read again")

    def test_beyond_loopback_only_with_a_login(self):
        for text, refused in ((TLS % "", True), (TLS % ", client_auth_type: RequestClientCert", True), (USERS, False),
                              (TLS % ", client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem", False),
                              (TLS % "" + USERS, False)):
            self.write(text)
            flags = ("--web.config.file=" + self.config, "--web.listen-address=0.0.0.0:0")
            if refused:
                done = harness.run("run", "--watch=" + self.directory, "--storage.path=" + self.state, *flags)
                self.assertEqual((done.returncode, "--web.insecure" in done.stderr), (BAD_CONFIGURATION, True))
                continue
            with Unasked(self.directory, *flags) as address:
                self.assertEqual(self.curl("http%s://127.0.0.1:%s/metrics" % ("s" * ("tls" in text), address.split(":")[1]))[0],
                                 401 if "users" in text else 0)
        # A change that would let everybody in is not made.
        with harness.Trainwatch(self.directory, *flags, context=self.authority.context(), login="alice:secret") as trainwatch:
            self.write(TLS % "")
            harness.wait_for(lambda: "without a login" in trainwatch.log(), "it is refused")
            self.assertEqual(self.curl(trainwatch.url.replace("0.0.0.0", "127.0.0.1") + "/metrics")[0], 401)

    def test_prometheus_scrapes(self):
        if shutil.which("prometheus") is None:
            self.skipTest("prometheus is not installed")
        more = ("\n    scheme: https\n    basic_auth: {username: alice, password: secret}"
                "\n    tls_config: {ca_file: %s, server_name: localhost}" % self.authority.ca)
        with self.trainwatch(TLS % "" + USERS) as trainwatch, \
                Prometheus(trainwatch.address, more=more) as prometheus:
            harness.wait_for(lambda: prometheus.value("up") == 1, "Prometheus scrapes")
            self.assertEqual(prometheus.value("count(trainwatch_build_info)"), 1)

    def test_websocket_and_follow(self):
        try:
            import websockets
        except ImportError:
            self.skipTest("python3-websockets is not installed")
        harness.play.play(harness.JOB, self.directory, speed=0)
        http_config = os.path.join(self.folder, "http.yml")
        with open(http_config, "w") as file:
            file.write("basic_auth: {username: alice, password: secret}\ntls_config: {ca_file: ca.pem}\n")
        with self.trainwatch(TLS % "" + USERS) as trainwatch:
            trainwatch.wait_until_read()
            alerts = harness.wait_for(lambda: trainwatch.json("/api/v1/alerts")["last_seq"], "alerts")

            async def connect(login):
                url = trainwatch.stream.replace("//", "//%s@" % login) + "?after=0"
                async with websockets.connect(url, ssl=self.authority.context()) as stream:
                    return [await asyncio.wait_for(stream.recv(), harness.PATIENCE_SECONDS) for _ in range(2)]

            self.assertIn('"op":"alert"', asyncio.run(connect("alice:secret"))[1])
            with self.assertRaises(websockets.InvalidStatusCode) as refused:
                asyncio.run(connect("alice:wrong"))
            self.assertEqual(refused.exception.status_code, 401)

            def follow(url, *arguments):
                process = subprocess.Popen([harness.binary(), "follow", url, "--after=0", *arguments], text=True,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                try:
                    return process.stdout.readline(), process
                finally:
                    process.terminate()
            line, process = follow(trainwatch.url, "--http.config.file=" + http_config)
            self.assertIn('"seq":', line)
            process.communicate()
            line, process = follow(trainwatch.url.replace("//", "//alice:wrong@"), "--http.config.file=" + http_config)
            self.assertIn("401: user or password", process.communicate()[1])
            with open(http_config, "w") as file:
                file.write("tls_config: {insecure_skip_verify: true}\n")
            line, process = follow(trainwatch.url.replace("//", "//alice:secret@"), "--http.config.file=" + http_config)
            self.assertIn('"seq":', line)
            process.communicate()
            with subprocess.Popen([harness.binary(), "follow", trainwatch.url.replace("//", "//alice:secret@")], text=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
                self.assertIn("certificate verify failed", process.stderr.readline())
                process.terminate()
        self.assertGreater(alerts, 0)

    def test_the_page_in_chromium(self):
        if not browser.is_available():
            self.skipTest("chromium or python3-websockets is not installed")
        with self.trainwatch(TLS % "" + USERS) as trainwatch, browser.Browser(
                trainwatch.url.replace("//", "//alice:secret@") + "/", "--ignore-certificate-errors"):
            harness.wait_for(lambda: trainwatch.metric("trainwatch_ws_subscribers") == 1, "the page has its stream")

    def test_handshakes_that_never_end_keep_nobody_out(self):
        """More than there are places: some say nothing, some stop after the first bytes of a ClientHello."""
        with self.trainwatch(TLS % "" + USERS) as trainwatch:
            host, port = trainwatch.address.split(":")
            held, worst = [], 0
            for number in range(600):
                held.append(socket.create_connection((host, int(port))))
                if number % 2:
                    held[-1].send(b"\x16\x03\x01\x02\x00\x01")
                if number % 20 == 0:
                    began = time.monotonic()
                    trainwatch.get("/metrics")
                    worst = max(worst, time.monotonic() - began)
            harness.wait_for(lambda: trainwatch.metric("trainwatch_http_connections") > 100, "they are held")
            open_now = trainwatch.metric("trainwatch_http_connections")
            print("600 handshakes held, %d connections open; worst scrape %.0f ms" % (open_now, 1e3 * worst))
            self.assertLessEqual(open_now, 260)
            for connection in held:
                connection.close()

    def test_guessing_neither_starves_scrapes_nor_new_logins(self):
        slow = "basic_auth_users: {alice: %s, bob: %s}\n" % (certificates.SLOW_SECRET, certificates.SLOW_SECRET)
        with self.trainwatch(TLS % "" + slow) as trainwatch:
            done, guesses = threading.Event(), []

            def guess(number):
                while not done.is_set():
                    try:
                        harness.fetch(trainwatch.url + "/", self.authority.context(), "alice:%d-%d" % (number, len(guesses)))
                    except (urllib.error.HTTPError, OSError) as refused:
                        guesses.append(getattr(refused, "code", 0))

            threads = [threading.Thread(target=guess, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            harness.wait_for(lambda: len(guesses) > 8, "passwords are guessed")
            meanwhile = []  # guesses that were answered while something else was waited for
            for _ in range(30):
                before = len(guesses)
                trainwatch.get("/metrics")
                meanwhile.append(len(guesses) - before)
                time.sleep(0.05)
            before = len(guesses)
            harness.fetch(trainwatch.url + "/metrics", self.authority.context(), "bob:secret")
            first = len(guesses) - before
            done.set()
            for thread in threads:
                thread.join()
            print("%d guesses; answered during a scrape: median %d, most %d; during the first login of another user: %d" % (
                len(guesses), sorted(meanwhile)[15], max(meanwhile), first))
            self.assertLess(sorted(meanwhile)[15], 2)
            self.assertLess(first, 20)
            self.assertNotIn(200, guesses)

    def test_memory_of_idle_connections(self):
        figures = {}
        for text in (USERS, TLS % "" + USERS):
            with self.trainwatch(text, "--web.max-connections=300") as trainwatch:
                host, port = trainwatch.address.split(":")
                context, held = self.authority.context(), []
                before = resident(trainwatch.pid)
                for _ in range(200):
                    connection = socket.create_connection((host, int(port)))
                    if "tls" in text:
                        connection = context.wrap_socket(connection, server_hostname="localhost")
                    connection.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    connection.recv(4096)
                    held.append(connection)
                figures["tls" in text] = (resident(trainwatch.pid) - before) / 200
                for connection in held:
                    connection.close()
        print("an idle connection: %.1f KiB, with TLS %.1f KiB" % (figures[False] / 1024, figures[True] / 1024))
        self.assertLess(figures[True], 160 << 10)


class Unasked(harness.Trainwatch):
    """Gives its address as soon as it listens."""

    def __enter__(self):
        try:
            return harness.wait_for(self._listening, "trainwatch listens")
        except BaseException:
            self.__exit__()
            raise


def resident(pid):
    with open("/proc/%d/smaps_rollup" % pid) as file:
        return 1024 * int(re.search(r"^Rss:\s+(\d+)", file.read(), re.M).group(1))


if __name__ == "__main__":
    for program in ("curl", "openssl"):
        if shutil.which(program) is None:
            harness.skip(program + " is not installed")
    harness.main()
