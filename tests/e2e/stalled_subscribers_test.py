# SPDX-License-Identifier: Apache-2.0
"""Subscribers that stop reading, twenty at once (catalogue case 77), and one whose network is cut (case 83): they
are let go, cost next to nothing, and nobody else notices."""

import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
import unittest
import urllib.parse

try:
    import websockets
except ImportError:
    websockets = None

import harness
import spiky_job

STALLED, LIVE, ALERTS = 20, 5, 3000
MIB = 1 << 20
SMALL_BUFFER = 2304  # the least that the kernel gives

# Reads until it is ended, and answers pings.
READER = """
import asyncio, sys, websockets
async def read():
    async with websockets.connect(sys.argv[1], origin=sys.argv[2], ping_interval=None) as stream:
        async for text in stream:
            print(text, flush=True)
asyncio.run(read())
"""


def peak_resident(pid):
    with open("/proc/%d/status" % pid) as status:
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) * 1024


def last_alert(data):
    """The last sequence number in frames of a WebSocket, of which the last one may be incomplete; 0: none."""
    last, at = 0, 0
    while at + 10 < len(data):
        size, head = data[at + 1], 2
        if size > 125:
            head = 4 if size == 126 else 10
            size = int.from_bytes(data[at + 2:at + head], "big")
        text = data[at + head:at + head + size]
        at += head + size
        if data[at - size - head] == 0x81 and len(text) == size:
            last = json.loads(text).get("seq", last)
    return last


class StalledSubscriber:
    """Asks for everything from the beginning, and reads nothing but the first bytes of the answer."""

    def __init__(self, url):
        where = urllib.parse.urlsplit(url)
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
        self._socket.connect((where.hostname, where.port))
        self._socket.sendall(("GET /api/v1/stream?after=0 HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                              "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode())
        if self._socket.recv(12) != b"HTTP/1.1 101":
            raise AssertionError("no stream")

    def read_rest(self):
        """The sequence number of the last alert that came as a whole, after the connection was closed at the other end."""
        data = b""
        try:
            while part := self._socket.recv(MIB):
                data += part
        except ConnectionResetError:
            pass
        self._socket.close()
        return last_alert(data.split(b"\r\n\r\n", 1)[1])


class Network:
    """A network between this machine and a namespace, whose other end can be taken away."""

    HERE, THERE = "198.51.100.1", "198.51.100.2"

    def __init__(self, test):
        self._test = test
        name = secrets.token_hex(3)
        self._space, self._end = "tw-" + name, "tw%s" % name

    def _ip(self, *arguments):
        subprocess.run(["ip", *arguments], check=True)

    def __enter__(self):
        self._ip("netns", "add", self._space)
        self._test.addCleanup(self._ip, "netns", "delete", self._space)
        self._ip("link", "add", self._end, "type", "veth", "peer", "name", "there", "netns", self._space)
        self._ip("address", "add", self.HERE + "/30", "dev", self._end)
        self._ip("link", "set", self._end, "up")
        self._ip("-n", self._space, "address", "add", self.THERE + "/30", "dev", "there")
        self._ip("-n", self._space, "link", "set", "there", "up")
        return self

    def __exit__(self, *_):
        self._ip("link", "delete", self._end)

    def run(self, *command):
        process = subprocess.Popen(["ip", "netns", "exec", self._space, *command], stdout=subprocess.DEVNULL)
        self._test.addCleanup(process.wait)
        self._test.addCleanup(process.kill)

    def cut(self):
        """Nothing comes through any more, and nobody is notified."""
        self._ip("-n", self._space, "link", "set", "there", "down")


def can_cut_networks():
    """Whether network namespaces may be made and named here."""
    name = "tw-probe-" + secrets.token_hex(3)
    try:
        made = subprocess.run(["ip", "netns", "add", name], stderr=subprocess.DEVNULL, check=False).returncode == 0
    except FileNotFoundError:
        return False
    if made:
        subprocess.run(["ip", "netns", "delete", name], check=True)
    return made


class StalledSubscribersTest(harness.JobTest):
    def trainwatch(self, *arguments, **stream):
        config = os.path.join(os.path.dirname(self.directory), "trainwatch.yaml")
        with open(config, "w") as file:
            json.dump({"stream": stream}, file)
        return harness.Trainwatch(self.directory, *spiky_job.RULES, "--config.file=" + config, *arguments,
                                  state=self.state)

    def publish(self, trainwatch, listeners):
        """Writes a job; returns how many messages the live subscribers have then, each of them all."""
        spiky_job.SpikyJob(self.directory, ALERTS, seed=1).write_all()
        total = len(harness.replay(self.directory, *spiky_job.RULES))
        for one in listeners:
            harness.wait_for(lambda one=one: len(one.alerts()) >= total, "each has everything")
        return total

    def live(self, trainwatch):
        return [self.enterContext(harness.Listener(trainwatch.stream, "?after=0")) for _ in range(LIVE)]

    def test_nobody_waits_for_twenty(self):
        """How soon alerts are with many subscribers: scripts/bench.sh fan_out."""
        with self.trainwatch(stall_timeout="1h", lag_timeout="1h") as trainwatch:
            listeners = self.live(trainwatch)
            stalled = [StalledSubscriber(trainwatch.url) for _ in range(STALLED)]
            total = self.publish(trainwatch, listeners)
            self.assertEqual(trainwatch.metric("trainwatch_ws_subscribers"), LIVE + STALLED, "they are there all the time")
            self.assertEqual(trainwatch.stop(), 0)
            self.assertLess(max(one.read_rest() for one in stalled), total)

    def test_twenty_at_once(self):
        with self.trainwatch(stall_timeout="2s") as trainwatch:
            listeners = self.live(trainwatch)
            stalled = [StalledSubscriber(trainwatch.url) for _ in range(STALLED)]
            self.publish(trainwatch, listeners)
            peak = peak_resident(trainwatch.pid)
            harness.wait_for(lambda: 'disconnects_total{reason="slow"} %d\n' % STALLED in trainwatch.get("/metrics"),
                             "they are let go")
            self.assertEqual(trainwatch.metric("trainwatch_ws_subscribers"), LIVE)
            total = len(listeners[0].alerts())
            for one in stalled:
                last = one.read_rest()
                self.assertLess(last, total)
                with harness.Listener(trainwatch.stream, "?after=%d" % last) as again:
                    harness.wait_for(lambda: len(again.alerts()) == total - last, "it misses nothing")
                    self.assertEqual([alert["seq"] for alert in again.alerts()], list(range(last + 1, total + 1)))
        print("%d alerts, %d live and %d stalled: peak %d MiB" % (total, LIVE, STALLED, peak // MIB))
        self.assertLess(peak, 64 * MIB)

    @unittest.skipUnless(can_cut_networks(), "only root may make a network that can be cut")
    def test_one_whose_network_is_cut(self):
        with Network(self) as network, \
                self.trainwatch("--web.listen-address=%s:0" % network.HERE, "--web.insecure",
                                ping_interval="2s", heartbeat="1s") as trainwatch:
            network.run(sys.executable, "-c", READER, trainwatch.stream, trainwatch.url)
            subscribers = lambda: trainwatch.metric("trainwatch_ws_subscribers")  # noqa: E731
            harness.wait_for(lambda: subscribers() == 1, "it listens")
            until = time.monotonic() + 7  # longer than three pings without an answer
            harness.wait_for(lambda: time.monotonic() > until or subscribers() != 1, "pings are answered")
            self.assertEqual(subscribers(), 1)
            network.cut()
            harness.wait_for(lambda: subscribers() == 0, "it is let go")
            self.assertIn('trainwatch_ws_disconnects_total{reason="timeout"} 1\n', trainwatch.get("/metrics"))


if __name__ == "__main__":
    if websockets is None:
        harness.skip("python3-websockets is not installed")
    harness.main()
