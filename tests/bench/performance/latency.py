# SPDX-License-Identifier: Apache-2.0
"""The time from appending a slow step to a growing timeline until a WebSocket client on this machine holds the alert, as a multiple of
the floor: waking up, reading, one durable commit and one send (tests/bench/alert_floor.cc)."""

import contextlib
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import processes
from growing_timeline import GrowingTimeline
from stream_client import StreamClient
from table import Figure

ROUNDS = 5
ALERTS = 40  # of a round
BEGIN_US = 1_700_000_000_000_000
APART_US = 100_000_000
SLOW_US = 1_000_000
LONGEST_SECONDS = 10  # heartbeats come more often
FILES = {20: 1.5, 1000: 2.0}  # number -> target for the median


def _pause(number):
    time.sleep(0.01 + 0.0007 * (number % 50))  # no fixed phase to any poll


def floor(program, folder):
    """Seconds of ALERTS appends."""
    path = os.path.join(folder, "floor")
    seconds = []
    with open(path, "ab", buffering=0) as file:
        process = subprocess.Popen([program, path, path + ".db"], stdout=subprocess.PIPE)
        with socket.create_connection(("127.0.0.1", int(process.stdout.readline()))) as client:
            for number in range(ALERTS):
                _pause(number)
                began = time.perf_counter()
                file.write(b"x" * 200)
                client.recv(1)
                seconds.append(time.perf_counter() - began)
        process.kill()
        process.wait()
    os.remove(path + ".db")
    return seconds


def alone(folder, ranks):
    """Timelines that have neither times nor steps in common, so that what is slow in two of them is not one incident."""
    return [GrowingTimeline(folder, rank, BEGIN_US + rank * APART_US, first_step=1000 * rank) for rank in range(ranks)]


def is_alert(frame, rank):
    wanted = (b'"op":"alert"', b'"state":"firing"', b'"rank":%d' % rank)
    return all(part in frame for part in wanted)


def alerts(client, timelines, numbers):
    """Seconds of one alert for each of the numbers."""
    seconds = []
    for number in numbers:
        timeline = timelines[number % len(timelines)]
        # The alert before is over, and no rhythm shows.
        for _ in range(101 + number * 7 % 37 if number >= len(timelines) else 0):
            timeline.step()
        _pause(number)
        began = time.perf_counter()
        timeline.step(SLOW_US)
        while not is_alert(client.frame(), number % len(timelines)):
            if time.perf_counter() - began > LONGEST_SECONDS:
                sys.exit("bench: no alert of rank %d" % (number % len(timelines)))
        seconds.append(time.perf_counter() - began)
    return seconds


def measure(_, trainwatch, bench, scratch):
    program = os.path.join(os.path.dirname(bench), "alert_floor")
    for files, target in FILES.items():
        with tempfile.TemporaryDirectory(dir=scratch) as folder, contextlib.ExitStack() as stack:
            watched = os.path.join(folder, "job")
            os.mkdir(watched)
            timelines = alone(watched, files)
            daemon = stack.enter_context(processes.Daemon(trainwatch, folder, watched))
            client = stack.enter_context(contextlib.closing(StreamClient(daemon.address)))
            time.sleep(2)  # all of the even steps are read
            medians, highs, typical = [], [], []
            for round_number in range(ROUNDS):
                limits = floor(program, folder)
                seconds = alerts(client, timelines, range(round_number * ALERTS, (round_number + 1) * ALERTS))
                medians.append(statistics.median(seconds) / statistics.median(limits))
                highs.append(sorted(seconds)[-2] / sorted(limits)[-2])
                typical.append((statistics.median(seconds), statistics.median(limits)))
            now, limit = sorted(typical)[ROUNDS // 2]
            name = "append to alert, %d files, times the floor" % files
            yield Figure(name, medians, target, at_least=False, note="%.2f ms, floor %.2f ms" % (now * 1e3, limit * 1e3))
            yield Figure(name + ", slowest but one of %d" % ALERTS, highs, 3.0, at_least=False)
