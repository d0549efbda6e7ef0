# SPDX-License-Identifier: Apache-2.0
"""Case 81 with a real browser: pages of other sites, and a name that somebody points at this machine, get nothing."""

import browser
import harness
from local_server import Handler, LocalServer

EVIL = "evil.example"
LOADED = "document.readyState == 'complete' && location.href"
OPEN = """new Promise(done => {
  const stream = new WebSocket("ws://%s/api/v1/stream");
  stream.onmessage = message => done(JSON.parse(message.data).op);
  stream.onerror = () => done("refused");
})"""
FETCH = """fetch("http://%s/api/v1/status").then(
  answer => answer.text().then(text => [answer.status, text.includes("version")]), () => "refused")"""


class EmptyPage(Handler):
    def do_GET(self):
        self.answer(200, b"<p>A page of another site", **{"Content-Type": "text/html"})


class CrossSiteTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        self.trainwatch = self.enterContext(harness.Trainwatch(self.directory))
        self.host = self.trainwatch.url.removeprefix("http://")

    def site(self):
        """Another site on this machine."""
        return self.enterContext(LocalServer(EmptyPage)).url + "/"

    def ask(self, page, host, *flags):
        """What a script on this page gets from the stream and from the API of a host."""
        with browser.Browser(page, "--no-proxy-server", *flags) as shown:
            harness.wait_for(lambda: shown.evaluate(LOADED) == page, "a page")
            return [harness.wait_for(lambda: shown.evaluate(script % host), "an answer") for script in (OPEN, FETCH)]

    def test_its_own_page_is_served(self):
        self.assertEqual(self.ask(self.trainwatch.url + "/", self.host), ["hello", [200, True]])

    def test_a_page_of_another_site_is_not(self):
        self.assertEqual(self.ask(self.site(), self.host), ["refused", "refused"])

    def test_nor_is_a_name_that_was_pointed_here(self):
        host = "%s:%s" % (EVIL, self.host.split(":")[1])
        rebound = "--host-resolver-rules=MAP %s 127.0.0.1" % EVIL
        self.assertEqual(self.ask("http://%s/" % host, host, rebound), ["refused", [403, False]])


if __name__ == "__main__":
    browser.require()
    harness.main()
