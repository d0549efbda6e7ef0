# SPDX-License-Identifier: Apache-2.0
"""A WebSocket client that sends any frames, allowed or not, over a plain socket."""

import base64
import random
import socket
import struct
import urllib.parse

import harness

CONTINUE, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
ACCEPTED = "accepted"


class Frame:
    """One frame of a client; `chop` is the size of the pieces in which it is sent, 0 for all at once."""

    def __init__(self, opcode, payload=b"", fin=True, rsv=0, chop=0):
        self.opcode, self.payload, self.fin, self.rsv, self.chop = opcode, payload, fin, rsv, chop

    def encoded(self, chance):
        mask = bytes(chance.randrange(256) for _ in range(4))
        size = len(self.payload)
        head = bytes([self.fin << 7 | self.rsv << 4 | self.opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += b"\xfe" + struct.pack(">H", size)
        else:
            head += b"\xff" + struct.pack(">Q", size)
        return head + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(self.payload))


class Client:
    def __init__(self, url, seed):
        address = urllib.parse.urlsplit(url)
        self._chance = random.Random(seed)
        self._socket = socket.create_connection((address.hostname, address.port), timeout=harness.PATIENCE_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""
        key = base64.b64encode(bytes(16)).decode()
        self._socket.sendall(("GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                              "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                              "Sec-WebSocket-Key: %s\r\n\r\n" % key).encode())
        while b"\r\n\r\n" not in self._received:
            self._fill()
        head, self._received = self._received.split(b"\r\n\r\n", 1)
        assert head.startswith(b"HTTP/1.1 101 "), head
        opcode, payload = self._frame()
        assert opcode == TEXT and b'"op":"hello"' in payload, payload

    def close(self):
        self._socket.close()

    def send_bytes(self, data):
        self._socket.sendall(data)

    def send(self, frames):
        """False if the server has closed before everything was sent."""
        try:
            for frame in frames:
                data = frame.encoded(self._chance)
                step = frame.chop or len(data)
                for start in range(0, len(data), step):
                    self.send_bytes(data[start:start + step])
        except OSError:
            return False
        return True

    def heard(self):
        """What the server says, up to the pong of "end" or the end of the connection."""
        out = []
        while True:
            frame = self._frame()
            if frame is None:
                return out + ["cut"]
            opcode, payload = frame
            if opcode == PONG and payload == b"end":
                return out
            if opcode == PONG:
                out.append(("pong", payload))
            elif opcode == CLOSE:
                out.append(("close", struct.unpack(">H", payload[:2])[0] if payload else 1005))
                return out
            elif opcode == TEXT and b'"op":"error"' in payload:
                out.append(ACCEPTED)
            elif opcode == TEXT and b'"op":"heartbeat"' in payload:
                continue
            else:
                out.append((opcode, payload))

    def rest(self):
        """Everything after a close: nothing, until the connection ends."""
        try:
            while self._fill():
                pass
        except ConnectionError:
            pass
        return self._received

    def _fill(self):
        part = self._socket.recv(65536)
        self._received += part
        return bool(part)

    def _take(self, size):
        while len(self._received) < size:
            if not self._fill():
                return None
        taken, self._received = self._received[:size], self._received[size:]
        return taken

    def _frame(self):
        try:
            head = self._take(2)
            if head is None:
                return None
            assert head[0] & 0x70 == 0 and head[1] & 0x80 == 0, "a server sets no RSV and no mask"
            size = head[1]
            if size == 126:
                size = struct.unpack(">H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8))[0]
            return head[0] & 15, self._take(size)
        except ConnectionError:
            return None
