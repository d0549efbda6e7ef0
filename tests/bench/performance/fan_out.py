# SPDX-License-Identifier: Apache-2.0
"""Alerts to many WebSocket subscribers: the CPU time of the thread that sends for each delivery, as a share of a bare send()
(tests/bench/fan_out_floor.cc), and how long the last of the subscribers waits."""

import os
import resource
import selectors
import socket
import subprocess
import sys
import tempfile
import time

import processes
from latency import LONGEST_SECONDS, SLOW_US, alone, is_alert
from stream_client import StreamClient
from table import Figure

FRAMES = 100
PAUSE_SECONDS = 0.02
ROUNDS = 3
SUBSCRIBERS = (100, 1000)


class Sinks:
    """Sockets that are read as they come."""

    def __init__(self, sockets):
        self._selector = selectors.DefaultSelector()
        for one in sockets:
            one.setblocking(False)
            self._selector.register(one, selectors.EVENT_READ)
        self.bytes = 0

    def read(self, seconds, until=None):
        """For so long, or until the last of so many bytes has come; the time when that was."""
        ends = time.perf_counter() + seconds
        came = 0.0
        while (left := ends - time.perf_counter()) > 0 and (until is None or self.bytes < until):
            for key, _ in self._selector.select(left):
                more = key.fileobj.recv(1 << 16)
                if not more:
                    raise RuntimeError("a subscriber was closed")
                self.bytes += len(more)
                came = time.perf_counter()
        return came


def floor(program, count, size):
    """CPU seconds of a delivery."""
    process = subprocess.Popen([program, str(count), str(FRAMES), str(size)], stdout=subprocess.PIPE, text=True)
    port = int(process.stdout.readline())
    sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
    Sinks(sockets).read(60, count * FRAMES * size)
    seconds = float(process.stdout.readline())
    for one in sockets:
        one.close()
    process.wait()
    return seconds / count / FRAMES


def deliveries(trainwatch, scratch, count):
    """CPU seconds of a delivery, bytes of a frame, and for each frame how long the last subscriber waited after the first."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        watched = os.path.join(folder, "job")
        os.mkdir(watched)
        timelines = alone(watched, FRAMES)
        with processes.Daemon(trainwatch, folder, watched, "--stream.max-subscribers=%d" % (count + 50)) as daemon:
            time.sleep(2)
            first = StreamClient(daemon.address)
            clients = [StreamClient(daemon.address) for _ in range(count - 1)]
            sinks = Sinks([client.socket for client in clients])
            sinks.read(1.5)
            waits, sizes, seconds = [], [], 0.0
            for rank, timeline in enumerate(timelines):
                sinks.read(0.001)
                before, ran = sinks.bytes, processes.seconds_of(daemon.pid, "trainwatch")
                stepped = time.perf_counter()
                timeline.step(SLOW_US)
                while not is_alert(frame := first.frame(), rank):
                    if time.perf_counter() - stepped > LONGEST_SECONDS:
                        sys.exit("bench: no alert of rank %d" % rank)
                began = time.perf_counter()
                size = len(frame) + (4 if len(frame) > 125 else 2)
                came = sinks.read(5, before + size * (count - 1))
                waits.append(max(came - began, 0))
                sizes.append(size)
                seconds += processes.seconds_of(daemon.pid, "trainwatch") - ran
                time.sleep(PAUSE_SECONDS)
            for client in (first, *clients):
                client.close()
    waits.sort()
    return seconds / count / FRAMES, sum(sizes) // FRAMES, waits[FRAMES * 99 // 100 - 1]


def measure(_, trainwatch, bench, scratch):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    program = os.path.join(os.path.dirname(bench), "fan_out_floor")
    for count in SUBSCRIBERS:
        shares, longest, costs = [], [], []
        for _ in range(ROUNDS):
            seconds, size, wait = deliveries(trainwatch, scratch, count)
            limit = floor(program, count, size)
            shares.append(limit / seconds)
            longest.append(wait * 1e3)
            costs.append(seconds * 1e6)
        yield Figure("alerts to %d subscribers, share of a bare send" % count, shares, 0.8,
                     note="%.1f us of CPU time for each delivery of %d bytes" % (sorted(costs)[ROUNDS // 2], size))
        yield Figure("the last of %d subscribers after the first, p99" % count, longest, 20, " ms", at_least=False)
