# SPDX-License-Identifier: Apache-2.0
"""Clients that hold connections keep nobody out (catalogue cases 76, 78 and 86): while they do their worst, a scrape
over loopback every 0.1 s always succeeds.

TRAINWATCH_LONG=1 holds 2,000 connections for a minute in each mode, else for a few seconds.
"""

import collections
import multiprocessing
import os
import resource
import select
import socket
import threading
import time
import unittest
import urllib.parse

import harness

LONG = bool(os.environ.get("TRAINWATCH_LONG"))
SECONDS = 60 if LONG else 1.2
CONNECTIONS = 2000
STORM, RENDER_SECONDS = 200, 0.25  # pages for each of eight clients; a page serves who asks so soon after
START = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"

# Mode -> what a client sends at once, and then again and again, a piece each half second.
MODES = {
    "idle": (b"", b""),
    "slow headers": (START, b"X-a: b\r\n"),
    "slow body": (b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n", b"x"),
    # 16 pages that are not read are more than the buffers of both kernels hold.
    "slow read": ((START + b"\r\n") * 16, b""),
}


def allow_descriptors(count):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, count)), hard))


class Holder:
    """Holds connections in one mode, and opens a new one a second after one is closed."""

    def __init__(self, address, mode, connections):
        self._address = address
        self._first, self._again = MODES[mode]
        self._slow_read = mode == "slow read"
        self._poll = select.epoll()
        self._open = {}
        self._closed = collections.deque()  # when each is to be opened again
        self.opened = 0
        for _ in range(connections):
            self._connect()

    def _connect(self):
        connection = socket.socket()
        if self._slow_read:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        connection.setblocking(False)
        connection.connect_ex(self._address)
        self._open[connection.fileno()] = (connection, [True])
        events = select.EPOLLOUT | select.EPOLLHUP | select.EPOLLERR
        self._poll.register(connection, events | (0 if self._slow_read else select.EPOLLIN | select.EPOLLRDHUP))
        self.opened += 1

    def _handle(self, number, event):
        connection, fresh = self._open[number]
        closed = event & (select.EPOLLHUP | select.EPOLLERR | select.EPOLLRDHUP)
        try:
            if not closed and fresh[0] and event & select.EPOLLOUT:
                fresh[0] = False
                self._poll.modify(connection, select.EPOLLHUP | select.EPOLLERR |
                                  (0 if self._slow_read else select.EPOLLIN | select.EPOLLRDHUP))
                if self._first:
                    connection.send(self._first)
            elif not closed and event & select.EPOLLIN:
                closed = not connection.recv(65536)
        except OSError:
            closed = True
        if closed:
            self._poll.unregister(connection)
            connection.close()
            del self._open[number]
            self._closed.append(time.monotonic() + 1)

    def hold(self, stop):
        again = time.monotonic() + 0.5
        while not stop.is_set():
            for number, event in self._poll.poll(0.05, 256):
                self._handle(number, event)
            while self._closed and time.monotonic() > self._closed[0]:
                self._closed.popleft()
                self._connect()
            if self._again and time.monotonic() > again:
                again = time.monotonic() + 0.5
                for connection, fresh in list(self._open.values()):
                    try:
                        if not fresh[0]:
                            connection.send(self._again)
                    except OSError:
                        pass

    def close(self):
        for connection, _ in self._open.values():
            connection.close()


def hold(address, mode, connections, ready, stop, opened):
    allow_descriptors(connections + 100)
    holder = Holder(address, mode, connections)
    ready.set()
    holder.hold(stop)
    holder.close()
    opened.value = holder.opened


def scrape(address, path="/metrics"):
    """Seconds until the whole page is there; fails if it does not come."""
    began = time.monotonic()
    with socket.create_connection(address, timeout=harness.PATIENCE_SECONDS) as connection:
        connection.sendall(("GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % path).encode())
        page = b""
        while True:
            part = connection.recv(1 << 20)
            if not part:
                break
            page += part
    if not page.startswith(b"HTTP/1.1 200 ") or len(page) < 100:
        raise AssertionError("%s: %r" % (path, page[:100]))
    return time.monotonic() - began


def scrape_for(address, seconds):
    """The times of one scrape each 0.1 s; None for one that failed."""
    times, until = [], time.monotonic() + seconds
    while time.monotonic() < until:
        following = time.monotonic() + 0.1
        try:
            times.append(scrape(address))
        except (OSError, AssertionError) as failure:
            print("a scrape failed:", failure)
            times.append(None)
        time.sleep(max(0, following - time.monotonic()))
    return times


def p99(times):
    return sorted(times)[int(len(times) * 0.99)]


class SlowClientsTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        harness.play.play(harness.JOB, self.directory, speed=0)

    def address(self, trainwatch):
        url = urllib.parse.urlsplit(trainwatch.url)
        return url.hostname, url.port

    def check(self, mode):
        with harness.Trainwatch(self.directory) as trainwatch:
            address = self.address(trainwatch)
            alone = scrape_for(address, 1)
            ready, stop = multiprocessing.Event(), multiprocessing.Event()
            opened = multiprocessing.Value("i", 0)
            holder = multiprocessing.Process(
                target=hold, args=(address, mode, CONNECTIONS, ready, stop, opened))
            holder.start()
            try:
                times = scrape_for(address, SECONDS)
                self.assertTrue(ready.wait(harness.PATIENCE_SECONDS))
                refused = lambda: trainwatch.metric("trainwatch_http_connections_refused_total")  # noqa: E731
                harness.wait_for(lambda: refused() > CONNECTIONS // 2, "most have been refused")
                times += scrape_for(address, SECONDS)
                for path in ("/-/healthy", "/-/ready"):
                    scrape(address, path)
                held = trainwatch.metric("trainwatch_http_connections")
            finally:
                stop.set()
                holder.join()
            self.assertNotIn(None, times)
            print("%s: %d connections opened, %d held; %d scrapes, p99 %.1f ms, worst %.1f ms (alone: %.1f ms)" % (
                mode, opened.value, held, len(times), 1e3 * p99(times), 1e3 * max(times), 1e3 * max(alone)))
            self.assertLessEqual(held, 260)

    def test_idle_connections(self):
        self.check("idle")

    def test_slow_headers(self):
        self.check("slow headers")

    def test_slow_body(self):
        self.check("slow body")

    def test_slow_read(self):
        self.check("slow read")

    def test_a_storm_of_scrapes_renders_few_pages(self):
        with harness.Trainwatch(self.directory) as trainwatch:
            address, pages, began = self.address(trainwatch), [], time.monotonic()
            name = b"trainwatch_http_requests_total{code_class=\"2xx\"} "

            def storm():
                with socket.create_connection(address) as connection:
                    for _ in range(STORM):
                        connection.sendall(START + b"\r\n")
                        answer = b""
                        while b"\r\n\r\n" not in answer:
                            answer += connection.recv(1 << 20)
                        head, body = answer.split(b"\r\n\r\n", 1)
                        length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
                        while len(body) < length:
                            body += connection.recv(1 << 20)
                        pages.append(body.split(name)[1].split(b"\n")[0])

            threads = [threading.Thread(target=storm) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            seconds = time.monotonic() - began
            print("%d pages read, %d rendered in %.1f s" % (len(pages), len(set(pages)), seconds))
            self.assertLessEqual(len(set(pages)), seconds / RENDER_SECONDS + 2)


if __name__ == "__main__":
    allow_descriptors(4096)
    harness.main()
