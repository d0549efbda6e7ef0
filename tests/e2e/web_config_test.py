# SPDX-License-Identifier: Apache-2.0
"""The web configuration file: what promtool accepts is accepted here, what it refuses is refused, by check-config and at
the start; and what newer versions of exporter-toolkit than Debian's know is read as their documentation says."""

import os
import shutil
import subprocess
import unittest

import certificates
import harness

BAD_CONFIGURATION = 78
HASH = "$2y$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u"
CERT = "tls_server_config: {cert_file: server.pem, key_file: server.key"
CIPHERS = [cipher % rest for cipher, all_of in (
    ("TLS_ECDHE_ECDSA_WITH_%s", ("AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256", "AES_128_CBC_SHA")),
    ("TLS_ECDHE_RSA_WITH_%s", ("AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256", "AES_256_CBC_SHA")),
    ("TLS_%s", ("AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256")),
    ("TLS_RSA_WITH_%s", ("AES_128_CBC_SHA", "AES_256_CBC_SHA", "AES_128_GCM_SHA256", "AES_256_GCM_SHA384")))
    for rest in all_of]

# Asked of both.
BOTH = [
    "", "# nothing\n", "tls_server_config:\n", "tls_server_config: {}\n", "http_server_config: ~\n",
    CERT + "}", CERT + ", client_auth_type: ''}", "tls_server_config: {cert_file: server.pem}",
    "tls_server_config: {key_file: server.key}", "tls_server_config: {cert_file: '', key_file: server.key}",
    "tls_server_config: {cert_file: '', key_file: '', client_auth_type: x}",
    "tls_server_config: {cert_file: missing, key_file: server.key}",
    "tls_server_config: {cert_file: server.pem, key_file: missing}",
    "tls_server_config: {cert_file: server.pem, key_file: other.key}",
    "tls_server_config: {cert_file: junk, key_file: server.key}",
    "tls_server_config: {cert_file: rsa.pem, key_file: rsa.key}",
    "tls_server_config: {cert_filse: server.pem}", "tls_server_config: [a]", "tls_server_config: text",
    "tls_server_config: {min_version: TLS13}", "tls_server_config: {min_version: TLS14}",
    *(CERT + ", client_auth_type: %s}" % auth for auth in (
        "NoClientCert", "RequestClientCert", "RequireClientCert", "RequireAnyClientCert", "VerifyClientCertIfGiven",
        "RequireAndVerifyClientCert", "requireandverifyclientcert", "Maybe")),
    *(CERT + ", client_ca_file: ca.pem%s}" % auth for auth in (
        "", ", client_auth_type: NoClientCert", ", client_auth_type: RequireAndVerifyClientCert",
        ", client_auth_type: VerifyClientCertIfGiven")),
    CERT + ", client_ca_file: missing, client_auth_type: RequireAndVerifyClientCert}",
    CERT + ", client_ca_file: junk, client_auth_type: RequireAndVerifyClientCert}",
    CERT + ", client_ca_file: /dev/null, client_auth_type: RequireAndVerifyClientCert}",
    *(CERT + ", min_version: %s}" % version for version in (
        "TLS10", "TLS11", "TLS12", "TLS13", "TLS111", "tls12", "SSL30", "''", "1.2", "~")),
    CERT + ", min_version: TLS13, max_version: TLS12}", CERT + ", max_version: TLS12}", CERT + ", max_version: X}",
    *(CERT + ", cipher_suites: [%s]}" % cipher for cipher in CIPHERS),
    CERT + ", cipher_suites: [%s]}" % ", ".join(CIPHERS), CERT + ", cipher_suites: []}",
    CERT + ", cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA2048]}", CERT + ", cipher_suites: TLS_AES_128_GCM_SHA256}",
    CERT + ", cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]}", CERT + ", cipher_suites: [[a]]}",
    CERT + ", curve_preferences: [CurveP256, CurveP384, CurveP521, X25519]}", CERT + ", curve_preferences: [CurveP257]}",
    CERT + ", curve_preferences: X25519}",
    *(CERT + ", prefer_server_cipher_suites: %s}" % value for value in ("true", "no", "On", "'true'", "maybe", "1", "[a]")),
    "http_server_config: {http2: true}", "http_server_config: {http2: false}", "http_server_config: {http2: maybe}",
    "http_server_config: {http3: true}", "http_server_config: {headers: {}}", "http_server_config: {headers: [a]}",
    *("http_server_config: {headers: {%s}}" % header for header in (
        "X-Frame-Options: deny", "X-Frame-Options: sameorigin", "X-Frame-Options: DENY", "X-Frame-Options: foo",
        "X-Frame-Options: ''", "X-Content-Type-Options: nosniff", "X-Content-Type-Options: sniff", "X-XSS-Protection: 1",
        "Strict-Transport-Security: max-age=31536000; includeSubDomains", "Content-Security-Policy: ''",
        "Content-Security-Policy: \"default-src 'self'\"", "Content-Type: foo", "x-frame-options: deny",
        "X-Frame-Options: deny, X-Frame-Options: deny")),
    "basic_auth_users:\n", "basic_auth_users: {}", "basic_auth_users: [a]", "basic_auth_users: text",
    "basic_auth_users: {alice: %s}" % HASH, "basic_auth_users: {alice: %s, bob: %s}" % (HASH, HASH),
    "basic_auth_users: {alice: %s, alice: %s}" % (HASH, HASH), "basic_auth_users: {john: doe}", "basic_auth_users: {john: }",
    *("basic_auth_users: {alice: '%s'}" % HASH.replace(*change) for change in (
        ("$2y", "$2a"), ("$2y", "$2b"), ("$2y", "$3y"), ("y$10", "y$03"), ("y$10", "y$32"), ("y$10", "y$31"),
        ("y$10", "y$04"), ("$2y", "2y"), ("sa2u", ""))),
    CERT + "}\nbasic_auth_users: {alice: %s}" % HASH,
    "unknown: 1", "tls_server_config: {}\ntls_server_config: {}", "- a", "text", "a: [", "\tx: 1", "tls_server_config: &a {}",
]

# What Debian's version does not know.
ACCEPTED = [
    "rate_limit: {interval: 1s, burst: 10}", "rate_limit: {interval: 0, burst: 0}", "rate_limit:\n",
    CERT + ", client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem, client_allowed_sans: [a, b]}",
    "tls_server_config: {cert: '%(cert)s', key: '%(key)s'}",
    "tls_server_config: {cert: '%(cert)s', key_file: server.key}",
    CERT + ", client_auth_type: RequireAndVerifyClientCert, client_ca: '%(ca)s'}",
]
REFUSED = [
    "rate_limit: {interval: soon, burst: 10}", "rate_limit: {interval: 1s, burst: many}", "rate_limit: {rate: 1}",
    CERT + ", client_allowed_sans: [a]}", CERT + ", client_ca: '%(ca)s'}",
    CERT + ", client_auth_type: RequestClientCert, client_allowed_sans: [a]}",
    "tls_server_config: {cert: junk, key_file: server.key}", "tls_server_config: {key: '%(key)s'}",
]


class WebConfigTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        self.folder = os.path.dirname(self.directory)
        authority = certificates.Authority(self.folder)
        authority.sign("server", "DNS:localhost")
        authority.sign("other", "DNS:localhost")
        authority.sign("rsa", "DNS:localhost", ("rsa:2048",))
        self.write("junk", "no PEM\n")
        self.pem = {}
        for name, file in (("cert", "server.pem"), ("key", "server.key"), ("ca", "ca.pem")):
            with open(authority.path(file)) as lines:
                self.pem[name] = lines.read().replace("\n", "\n\n  ")  # a folded scalar

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def ours(self, text):
        """Whether check-config accepts it, and what it says."""
        web = self.write("web.yml", text)
        done = harness.run("check-config", self.write("trainwatch.yaml", "web: {config.file: %s}\n" % web))
        self.assertIn(done.returncode, (0, BAD_CONFIGURATION), (text, done.stderr))
        if done.returncode != 0:
            self.assertIn("web.yml", done.stderr)
        return done.returncode == 0, done.stderr

    def test_promtool_is_of_the_same_opinion(self):
        if shutil.which("promtool") is None:
            self.skipTest("promtool is not installed")
        accepted = 0
        for text in BOTH:
            mine, why = self.ours(text)
            theirs = subprocess.run(["promtool", "check", "web-config", os.path.join(self.folder, "web.yml")],
                                    capture_output=True, text=True)
            self.assertEqual(mine, theirs.returncode == 0, "%s\ntrainwatch: %s\npromtool: %s%s" % (
                text, why, theirs.stdout, theirs.stderr))
            accepted += mine
        print("%d files: %d accepted by both, %d refused by both" % (len(BOTH), accepted, len(BOTH) - accepted))

    def test_newer_keys(self):
        for text in ACCEPTED:
            self.assertEqual(self.ours(text % self.pem if "%(" in text else text), (True, ""), text)
        for text in REFUSED:
            self.assertFalse(self.ours(text % self.pem if "%(" in text else text)[0], text)

    def test_a_start_is_refused(self):
        for web in (os.path.join(self.folder, "missing.yml"), self.write("web.yml", "tls_server_config:\n  cert: {}\n")):
            done = harness.run("run", "--watch=" + self.directory, "--storage.path=" + self.state, "--web.config.file=" + web)
            self.assertEqual(done.returncode, BAD_CONFIGURATION)
            self.assertIn(web, done.stderr)
        self.assertIn("web.yml:2: tls_server_config.cert: must be one value", done.stderr)


if __name__ == "__main__":
    if shutil.which("openssl") is None:
        harness.skip("openssl is not installed")
    harness.main()
