# SPDX-License-Identifier: Apache-2.0
"""The least that reads trainwatch's WebSocket stream: a client that costs little beside what it measures."""

import os
import socket
import struct


class StreamClient:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(("GET /api/v1/stream HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n" % address).encode())
        self._bytes = b""
        while b"\r\n\r\n" not in self._bytes:
            self._fill()
        head, self._bytes = self._bytes.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(head.decode())

    def _fill(self):
        more = self.socket.recv(1 << 16)
        if not more:
            raise RuntimeError("trainwatch closed the stream")
        self._bytes += more

    def _take(self, size):
        while len(self._bytes) < size:
            self._fill()
        taken, self._bytes = self._bytes[:size], self._bytes[size:]
        return taken

    def frame(self):
        """The next text; pings are answered."""
        while True:
            first, size = self._take(2)
            if size == 126:
                size, = struct.unpack(">H", self._take(2))
            elif size == 127:
                size, = struct.unpack(">Q", self._take(8))
            payload = self._take(size)
            if first & 15 == 1:
                return payload
            if first & 15 == 9:
                mask = os.urandom(4)
                self.socket.sendall(bytes((0x8A, 0x80 | size)) + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))

    def close(self):
        self.socket.close()
