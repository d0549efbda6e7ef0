# SPDX-License-Identifier: Apache-2.0
"""A receiver of notifications that remembers what it was sent."""

import collections
import json

from local_server import Handler, LocalServer

Request = collections.namedtuple("Request", "path headers body")


class WebhookServer(LocalServer):
    """Answers POST with `status`, which a test may change; 0: it hangs up without an answer."""

    def __init__(self, port=0):
        self.requests = []
        self.status = 200
        self.headers = {}
        server = self

        class Receiver(Handler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                server.requests.append(Request(self.path, dict(self.headers), json.loads(self.body())))
                if server.status == 0:
                    self.close_connection = True
                    return
                self.answer(server.status, **server.headers)

        super().__init__(Receiver, port)
        self.url += "/hook"

    def calls(self):
        """[(idempotency key, alert)] of generic webhooks, in their order, repetitions included."""
        return [(request.headers["Idempotency-Key"], request.body["alerts"][0]) for request in list(self.requests)]
