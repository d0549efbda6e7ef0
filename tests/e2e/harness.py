# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: a running trainwatch, a WebSocket listener, waiting with a limit.

Every test is `python3 NAME_test.py BINARY`; exit code 77 says "skipped".
"""

import asyncio
import collections
import base64
import io
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JOB = os.path.join(ROOT, "tests", "data", "recorded-job")
# How long a test waits for what must come: so long that only what never comes fails, on a busy machine, too.
PATIENCE_SECONDS = 120
CHECKED_FRAMES = 100  # of each kind, by each listener

sys.path[:0] = [os.path.join(ROOT, "scripts"), os.path.join(ROOT, "tests", "support")]
import api_schema  # noqa: E402
import play  # noqa: E402,F401


def binary():
    return sys.argv[1]


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def main():
    unittest.main(module="__main__", argv=sys.argv[:1])


def can_trace():
    """Whether there is a strace that is allowed to trace."""
    return shutil.which("strace") is not None and subprocess.run(
        ["strace", "-o", os.devnull, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def truth():
    with open(JOB + ".truth.json") as file:
        return json.load(file)


def free_port():
    """Below those that the kernel gives to clients, so that it stays free until a server has it."""
    while True:
        port = random.SystemRandom().randrange(10_000, 30_000)
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def wait_for(question, what, seconds=PATIENCE_SECONDS):
    """Asks until the answer is true, and returns it."""
    deadline = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError("not within %d s: %s" % (seconds, what))
        time.sleep(0.02)


def fetch(url, context=None, login=None):
    """The body; that and errors are as the documents of the API say. `context` is of TLS, `login` is user:password."""
    request = urllib.request.Request(url)
    if login is not None:
        request.add_header("Authorization", "Basic " + base64.b64encode(login.encode()).decode())
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS, context=context) as answer:
            body = answer.read()
            api_schema.check_response(url, answer.status, answer.headers["Content-Type"] or "", body)
            return body.decode()
    except urllib.error.HTTPError as refused:
        body = refused.read()
        api_schema.check_response(url, refused.code, refused.headers["Content-Type"] or "", body)
        raise urllib.error.HTTPError(url, refused.code, refused.msg, refused.headers, io.BytesIO(body)) from None


def run(*arguments, **options):
    """Runs a trainwatch command to its end."""
    return subprocess.run([binary(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=PATIENCE_SECONDS, **options)


def replay(*arguments, **options):
    """The alerts that `trainwatch replay` prints, in its order."""
    done = run("replay", *arguments, **options)
    if done.returncode != 0:
        raise AssertionError("replay failed: " + done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def final(alerts):
    """id -> the last that was said of it, without what only a live stream has."""
    return {alert["id"]: {key: value for key, value in alert.items()
                          if key not in ("op", "seq", "epoch")} for alert in alerts}


class Ended(AssertionError):
    """Instead of being ready, trainwatch ended; the arguments are its exit code and its log."""


class JobTest(unittest.TestCase):
    """A test with a directory for a job and one for the state of whoever watches it."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = os.path.join(scratch.name, "job")
        self.state = os.path.join(scratch.name, "state")
        os.mkdir(self.directory)


class Trainwatch:
    """`trainwatch run` on a free port, watching `directory`, or what its configuration says (None).

    It is stopped at the end of the block, keeps its state in `state`, which stays, and is run by the command `prefix`.
    With a web configuration file, `context` is of TLS and `login` is user:password."""

    def __init__(self, directory, *arguments, env=None, state=None, prefix=(), patience=PATIENCE_SECONDS, context=None,
                 login=None):
        self.directory = directory
        self._context, self._login = context, login
        self._patience = patience
        self._log = tempfile.NamedTemporaryFile("w+", suffix=".log")
        self._state = tempfile.TemporaryDirectory(prefix="trainwatch-state-")
        self._process = subprocess.Popen(
            [*prefix, binary(), "run", *(["--watch=" + directory] if directory else []), "--web.listen-address=127.0.0.1:0",
             "--storage.path=" + (state or self._state.name), *arguments],
            stdout=subprocess.DEVNULL, stderr=self._log, env=dict(os.environ, **(env or {})))
        self.pid = self._process.pid  # of `prefix`, where there is one

    def __enter__(self):
        try:
            address = wait_for(self._listening, "trainwatch listens")
            self.address = address
            self.url = ("https://" if self._context else "http://") + address
            self.stream = "%s://%s/api/v1/stream" % ("wss" if self._context else "ws", address)
            wait_for(self._ready, "trainwatch is ready", self._patience)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self.stop()
        self._log.close()
        self._state.cleanup()

    def log(self):
        with open(self._log.name) as file:
            return file.read()

    def alive(self):
        return self._process.poll() is None

    def get(self, path):
        return fetch(self.url + path, self._context, self._login)

    def json(self, path):
        return json.loads(self.get(path))

    def metric(self, name):
        """Sum of all series of one metric."""
        found = re.findall(r"^%s(?:\{.*\})? (\S+)" % re.escape(name), self.get("/metrics"), re.M)
        return sum(map(float, found))

    def wait_for_metric(self, text):
        """Returns when /metrics has this text."""
        wait_for(lambda: text in self.get("/metrics"), text + " on /metrics")

    def wait_until_read(self, but=()):
        """Returns when every byte below the watched directory was read, but for the files at some paths."""
        on_disk = {}
        for folder, _, names in os.walk(self.directory):
            for name in names:
                path = os.path.join(folder, name)
                if path not in but:
                    on_disk[path] = os.path.getsize(path)

        def all_read():
            files = {file["path"]: file["offset"] for file in self.json("/api/v1/status")["files"]}
            return all(files.get(path, 0) == size for path, size in on_disk.items())
        wait_for(all_read, "all of %d files are read" % len(on_disk))

    def signal(self, number):
        self._process.send_signal(number)

    def stop(self):
        """Asks it to end, and returns the exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self, seconds=PATIENCE_SECONDS):
        """Waits until it has ended, and returns the exit code."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        if code in (-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS):
            print("ended with %d: %s" % (code, self.log()[-4000:]), file=sys.stderr)
        return code

    def _listening(self):
        if self._process.poll() is not None:
            raise Ended(self._process.returncode, self.log())
        found = re.search(r"listening.*address=\"?([\d.]+:\d+)", self.log())
        return found and found.group(1)

    def _ready(self):
        try:
            return self.get("/-/ready") is not None
        except urllib.error.HTTPError:
            return False


class Listener:
    """A client of the stream (python3-websockets) that collects frames in a thread."""

    def __init__(self, url, query=""):
        import websockets
        self._websockets = websockets
        self._url = url + query
        self.frames = []
        self.close_code = None
        self._stop = None
        self._connected = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._listen()))

    def __enter__(self):
        self._thread.start()
        if not self._connected.wait(PATIENCE_SECONDS):
            raise AssertionError("no connection to " + self._url)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        checked = collections.Counter()
        for frame in self.frames:  # not when they arrive: that would slow down who measures
            checked[frame["op"]] += 1
            if checked[frame["op"]] <= CHECKED_FRAMES:
                api_schema.check_message(frame)

    def alerts(self):
        return [frame for frame in self.frames if frame["op"] == "alert"]

    def send(self, message):
        asyncio.run_coroutine_threadsafe(
            self._stream.send(json.dumps(message)), self._loop).result(PATIENCE_SECONDS)

    def wait_closed(self):
        wait_for(lambda: self.close_code is not None, "the stream is closed")

    async def _listen(self):
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with self._websockets.connect(
                self._url, subprotocols=["trainwatch.v1.json"], max_size=None) as stream:
            self._stream = stream
            reading = asyncio.ensure_future(self._read(stream))
            stopping = asyncio.ensure_future(self._stop.wait())
            await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
            for task in (reading, stopping):
                task.cancel()
            if reading.done() and not reading.cancelled():
                self.close_code = stream.close_code
        await self._stop.wait()

    async def _read(self, stream):
        async for text in stream:
            self.frames.append(json.loads(text))
            if self.frames[-1]["op"] == "hello":
                self._connected.set()
