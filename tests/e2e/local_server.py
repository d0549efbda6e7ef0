# SPDX-License-Identifier: Apache-2.0
"""HTTP servers of tests, on this machine."""

import http.server
import sys
import threading


class Quiet:
    """Of a request handler: logs nothing."""

    def log_message(self, *_):
        pass


class Handler(Quiet, http.server.BaseHTTPRequestHandler):
    """Answers without a line in the output of the test."""

    def answer(self, status=200, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers["Content-Length"]))


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # of a client that was killed
            super().handle_error(request, client_address)


class LocalServer:
    """Serves with a class of handlers while the block lasts; on a free port, unless another is wanted."""

    def __init__(self, handler, port=0):
        self._server = _Server(("127.0.0.1", port), handler)
        self.port = self._server.server_port
        self.address = "127.0.0.1:%d" % self.port
        self.url = "http://" + self.address
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
