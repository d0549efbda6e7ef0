# SPDX-License-Identifier: Apache-2.0
"""Clients of `trainwatch run` that misbehave; each fault opens what it needs and returns what ends it."""

import socket
import urllib.parse
import urllib.request

import harness

UPGRADE = (b"GET /api/v1/stream?after=0 HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")


class FaultyClients:
    def __init__(self, url):
        self._url = url
        address = urllib.parse.urlsplit(url)
        self._address = (address.hostname, address.port)

    def _connect(self, receive_buffer=None):
        client = socket.socket()
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.settimeout(harness.PATIENCE_SECONDS)
        client.connect(self._address)
        return client

    def stall(self, _):  # catalogue 77
        """Subscribers that ask for everything and read nothing."""
        clients = [self._connect(receive_buffer=1) for _ in range(5)]
        for client in clients:
            client.sendall(UPGRADE)
        return lambda: [client.close() for client in clients]

    def come_and_go(self, dice):  # catalogue 83
        for _ in range(5):
            client = self._connect()
            client.sendall(UPGRADE[:dice.randrange(len(UPGRADE) + 1)])
            client.close()

    def half_a_request(self, dice):  # catalogue 78
        clients = [self._connect() for _ in range(20)]
        for client in clients:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHo"[:dice.randrange(25)])
        return lambda: [client.close() for client in clients]

    def do_not_read_the_page(self, _):  # catalogue 78
        clients = [self._connect(receive_buffer=1) for _ in range(5)]
        for client in clients:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 16)
        return lambda: [client.close() for client in clients]

    def talk_nonsense(self, dice):  # catalogue 79, 82
        client = self._connect()
        client.sendall(dice.choice([b"", UPGRADE]) + dice.randbytes(300))
        client.close()

    def read_everything(self, _):  # catalogue 86
        for path in ("/metrics", "/api/v1/status", "/api/v1/alerts?after=0", "/", "/api/v1/runs"):
            with urllib.request.urlopen(self._url + path, timeout=harness.PATIENCE_SECONDS) as answer:
                answer.read()

    FAULTS = (stall, come_and_go, half_a_request, do_not_read_the_page, talk_nonsense, read_everything)
