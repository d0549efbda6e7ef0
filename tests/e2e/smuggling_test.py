# SPDX-License-Identifier: Apache-2.0
"""Requests whose end two programs could see in different places (catalogue case 79): each is refused, and nothing
behind it is answered."""

import re
import socket
import urllib.parse

import harness

HEAD = b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n"
HIDDEN = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
# What stands where a proxy and we could disagree, as the lines of a request.
LENGTHS = [b"3", b"+3", b"-3", b"0x3", b"3, 3", b"3,4", b"3 3", b"03", b"3\t", b"1e1", b"", b"3;a", b"\xb3", b"18446744073709551619",
           b"99999999999999999999999999"]
CODINGS = [b"chunked", b"Chunked", b" chunked", b"\tchunked", b"chunked ", b"chunked, identity", b"identity, chunked",
           b"gzip, chunked", b"chunked, chunked", b"xchunked", b'"chunked"', b"chunked;q=1", b"\x0bchunked", b"chun\rked",
           b"identity", b"", b"deflate", b"chunked\x00"]
LINES = [b"Content-Length: 3\r\n" + CHUNKED, CHUNKED + b"Content-Length: 3\r\n", b"Content-Length: 3\r\nContent-Length: 0\r\n",
         b"Content-Length: 0\r\nContent-Length: 3\r\n", b"Content-Length: 3\r\nContent-Length: 3\r\n", CHUNKED + CHUNKED,
         b"Transfer-Encoding : chunked\r\n", b"Content-Length : 3\r\n", b"Transfer-Encoding\t: chunked\r\n",
         b" Transfer-Encoding: chunked\r\n", b"X: a\r\n Transfer-Encoding: chunked\r\n", b"X: a\r\n\tContent-Length: 3\r\n",
         b"X: a\nTransfer-Encoding: chunked\r\n", b"X: a\rTransfer-Encoding: chunked\r\n", b"X: a\r\n\nContent-Length: 3\r\n",
         b"Transfer-Encoding\r\n", b"Transfer\x00-Encoding: chunked\r\n", b"Host: localhost\r\n", b"X: \x00\r\n"]


def requests():
    for value in LENGTHS:
        yield HEAD + b"Content-Length: " + value + b"\r\n\r\nabc"
    for value in CODINGS:
        yield HEAD + b"Transfer-Encoding: " + value + b"\r\n\r\n0\r\n\r\n"
    for lines in LINES:
        yield HEAD + lines + b"\r\n0\r\n\r\n"
    for version in (b"HTTP/1.0", b"HTTP/1.1 ", b"HTTP/1.2", b"HTTP/2.0", b"http/1.1", b""):
        yield b"GET /-/healthy " + version + b"\r\nHost: localhost\r\n" + CHUNKED + b"\r\n0\r\n\r\n"
    for method in (b"POST", b"PUT", b"PATCH"):
        yield method + HEAD[3:] + b"Content-Length: 3\r\n\r\nabc"


class SmugglingTest(harness.JobTest):
    def answer(self, address, request):
        """Everything that comes until the connection is closed."""
        with socket.create_connection(address, timeout=harness.PATIENCE_SECONDS) as connection:
            connection.sendall(request + HIDDEN)
            heard = b""
            try:
                while piece := connection.recv(1 << 16):
                    heard += piece
            except ConnectionResetError:
                pass  # more was sent than was read
            return heard

    def test_each_is_refused_and_ends_the_connection(self):
        count = 0
        with harness.Trainwatch(self.directory) as trainwatch:
            url = urllib.parse.urlsplit(trainwatch.url)
            for request in requests():
                count += 1
                with self.subTest(request=request):
                    statuses = re.findall(rb"^HTTP/1\.[01] (\d+)", self.answer((url.hostname, url.port), request), re.M)
                    self.assertEqual(len(statuses), 1)
                    self.assertIn(statuses[0], (b"400", b"405", b"505"))
            trainwatch.get("/-/healthy")
        print("%d requests" % count)
        self.assertGreaterEqual(count, 60)


if __name__ == "__main__":
    harness.main()
