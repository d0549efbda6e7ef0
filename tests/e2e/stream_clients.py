# SPDX-License-Identifier: Apache-2.0
"""Many subscribers in one thread, over plain sockets: cheap enough to measure with a hundred of them."""

import re
import select
import socket
import struct
import time
import urllib.parse

import harness

SEQ = re.compile(rb'"seq":(\d+)')
READ_BYTES = 1 << 18
TEXT, CLOSE = 1, 8


class Subscriber:
    """One subscriber from the first alert on; with `receive_buffer` the kernel keeps no more for it."""

    def __init__(self, url, receive_buffer=None):
        self.seqs = []      # of the alerts received
        self.received = []  # when, by time.monotonic()
        self._receive_buffer = receive_buffer
        self._connect(url, 0)

    def connect_again(self, url):
        """Goes on behind the last alert that it has."""
        self.socket.close()
        self._connect(url, self.seqs[-1] if self.seqs else 0)

    def _connect(self, url, after):
        address = urllib.parse.urlsplit(url)
        self.socket = socket.socket()
        if self._receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._receive_buffer)
        self.socket.settimeout(harness.PATIENCE_SECONDS)
        self.socket.connect((address.hostname, address.port))
        self.socket.sendall((
            "GET /api/v1/stream?parts=1&after=%d HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n" % after).encode())
        self.socket.setblocking(False)
        self._data, self._upgraded, self.closed = b"", False, False

    def read(self):
        """Takes what is there; the texts of new alerts."""
        try:
            data = self.socket.recv(READ_BYTES)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        now = time.monotonic()
        self.closed = not data
        self._data += data
        if not self._upgraded:
            head, found, rest = self._data.partition(b"\r\n\r\n")
            if not found:
                return []
            assert head.startswith(b"HTTP/1.1 101 "), head
            self._upgraded, self._data = True, rest
        alerts = []
        for text in self._frames():
            if b'"op":"alert"' in text[:40]:
                alerts.append(text)
                self.seqs.append(int(SEQ.search(text).group(1)))
                self.received.append(now)
        return alerts

    def _frames(self):
        data, at = self._data, 0
        while len(data) - at >= 2:
            opcode, size, start = data[at] & 15, data[at + 1], at + 2
            if size == 126 and len(data) >= start + 2:
                size, start = struct.unpack_from(">H", data, start)[0], start + 2
            elif size == 127 and len(data) >= start + 8:
                size, start = struct.unpack_from(">Q", data, start)[0], start + 8
            elif size >= 126:
                break
            if len(data) < start + size:
                break
            at = start + size
            if opcode == TEXT:
                yield data[start:at]
            elif opcode == CLOSE:
                self.closed = True
        self._data = data[at:]


class Crowd:
    """Reads `count` subscribers; the first one's alerts are kept as text. Who is disconnected goes on where it was."""

    def __init__(self, url, count):
        self._url = url
        self.subscribers = [Subscriber(url) for _ in range(count)]
        self.texts = []
        self.disconnected = 0
        self._poll = select.epoll()
        self._by_number = {}
        for each in self.subscribers:
            self._watch(each)

    def _watch(self, subscriber):
        self._by_number[subscriber.socket.fileno()] = subscriber
        self._poll.register(subscriber.socket, select.EPOLLIN)

    def _connect_again(self, subscriber):
        self._poll.unregister(subscriber.socket)
        del self._by_number[subscriber.socket.fileno()]
        subscriber.connect_again(self._url)
        self._watch(subscriber)
        self.disconnected += 1

    def read(self, seconds):
        """What arrives within the next `seconds`, at the latest when something has."""
        for number, _ in self._poll.poll(seconds):
            subscriber = self._by_number[number]
            alerts = subscriber.read()
            if subscriber is self.subscribers[0]:
                self.texts += alerts
            if subscriber.closed:
                self._connect_again(subscriber)

    def has_all(self, last):
        return all(each.seqs and each.seqs[-1] >= last for each in self.subscribers)

    def close(self):
        for each in self.subscribers:
            each.socket.close()


class StalledCrowd:
    """Subscribers that shut their receive buffers and never read. Who is disconnected comes again a second later."""

    def __init__(self, url, count):
        self._url = url
        self._poll = select.epoll()
        self._open, self._due = {}, []
        self.disconnected = 0
        for _ in range(count):
            self._connect()

    def _connect(self):
        subscriber = Subscriber(self._url, receive_buffer=1)
        self._open[subscriber.socket.fileno()] = subscriber
        self._poll.register(subscriber.socket, select.EPOLLRDHUP)

    def look(self):
        for number, _ in self._poll.poll(0):
            self._poll.unregister(number)
            self._open.pop(number).socket.close()
            self.disconnected += 1
            self._due.append(time.monotonic() + 1)
        while self._due and self._due[0] < time.monotonic():
            self._due.pop(0)
            self._connect()

    def close(self):
        for subscriber in self._open.values():
            subscriber.socket.close()
