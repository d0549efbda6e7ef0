"""A receiver of notifications that remembers what it was sent."""

import collections
import http.server
import json
import threading

Request = collections.namedtuple("Request", "path headers body")


class WebhookServer:
    """Answers POST with `status`, which a test may change; 0: it hangs up without an answer."""

    def __init__(self, port=0):
        self.requests = []
        self.status = 200
        self.headers = {}
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server.requests.append(Request(self.path, dict(self.headers), json.loads(body)))
                if server.status == 0:
                    self.close_connection = True
                    return
                self.send_response(server.status)
                for name, value in server.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                pass  # a client that was killed

        self._server = Server(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = "http://127.0.0.1:%d/hook" % self.port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def calls(self):
        """[(idempotency key, alert)] of generic webhooks, in their order, repetitions included."""
        return [(request.headers["Idempotency-Key"], request.body["alerts"][0]) for request in list(self.requests)]
