# SPDX-License-Identifier: Apache-2.0
"""The process beside a training that _launch.py starts: it keeps the daemon and the sampler.

    _sidecar.py DIRECTORY LISTEN BINARY END_FILE [KEEP]

Its standard input is a pipe from the training. A line, or the end of the pipe however the training
ended, and this process waits until the daemon has read everything, prints a summary of the lost
time, and ends both. Without a line the training was killed, and this process says so in END_FILE
(JSON: what write_end() takes, or null). Daemon and sampler die with it, also if it is killed. Until
then it deletes the oldest of the files that were written since it began, so that KEEP bytes of them
are left, and says once if no step has been seen for a minute. It needs no other file.
"""

import ctypes
import fcntl
import glob
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from datetime import datetime, timezone
from typing import Any, Callable, Dict, List, NamedTuple, Optional

START_SECONDS = 20
LEAVE_SECONDS = 2  # from the end of the pipe to that of the process
DRAIN_SECONDS = 10
SNAPSHOT_SECONDS = 1.1  # the API's answers are up to a second old
PR_SET_PDEATHSIG = 1
LOG = "trainwatch.log"
ENDED = ("finished", "failed", "cancelled", "gone")
SEVERITIES = ("warning", "critical")
MOST_ALERTS = 10
KEEP = 512 << 20
KEEP_SECONDS = 10  # between two looks at what has been written
MOST_LOG = 8 << 20
WRITTEN_SECONDS = 120  # a minute of system metrics may still be
UNSEEN_SECONDS = 120
UNSEEN = (
    "no step of a training has been seen for %d s. Seen are loops of PyTorch, the Hugging Face Trainer, Lightning, Keras, and "
    "any loop that logs or prints its loss. Two lines show another one, of JAX or with a tf.function:" % UNSEEN_SECONDS,
    "    import trainwatch; watch = trainwatch.Watch()     # before the loop",
    "    with watch.step(): ...                            # around its body")


def say(text: str) -> None:
    try:
        sys.stderr.write("trainwatch: %s\n" % text)
        sys.stderr.flush()
    except (OSError, ValueError):  # nobody listens any more
        pass


def main() -> int:
    directory, listen, binary = sys.argv[1:4]
    end_file = json.loads(sys.argv[4])
    files = Files(directory, int(sys.argv[5]) if len(sys.argv) > 5 else KEEP)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the training
    trainer = os.getppid()
    state = tempfile.mkdtemp(prefix="trainwatch-")  # a local disk, which `directory` need not be
    children: List[subprocess.Popen] = []
    try:
        with open(os.path.join(directory, LOG), "ab") as log:
            at = log_size(log)
            daemon = start(daemon_command(binary, directory, listen, state), log)
            children.append(daemon)
            children.append(start([binary, "sample", "--out=" + directory, "--interval=500ms"], log))
            url = address(daemon, log.name, at)
            if url is None and daemon.poll() is not None:  # the port is taken, most likely
                at = log_size(log)
                daemon = start(daemon_command(binary, directory, "127.0.0.1:0", state), log)
                children[0] = daemon
                url = address(daemon, log.name, at)
        if url is None:
            say("does not watch, %s says why; the training runs on" % os.path.join(directory, LOG))
            return 1
        say("%s shows this training; its files are in %s" % (url, directory))
        said = wait_for_end(trainer, [Task(KEEP_SECONDS, files.delete_oldest), Task(UNSEEN_SECONDS, lambda: say_if_unseen(url))])
        files.delete_oldest()
        try:
            if not said and end_file and poll(lambda: os.getppid() != trainer, LEAVE_SECONDS):
                write_end(end_file, {"how": "unknown"})
            summarise(url, directory)
        except Exception as failure:
            say("has no summary: %s" % failure)
    except Exception as failure:
        say("does not watch: %s; the training runs on" % failure)
        return 1
    finally:
        stop(children)
        shutil.rmtree(state, ignore_errors=True)
    return 0


def log_size(log: Any) -> int:
    return os.fstat(log.fileno()).st_size


def daemon_command(binary: str, directory: str, listen: str, state: str) -> List[str]:
    return [binary, "run", "--watch=" + directory, "--web.listen-address=" + listen,
            "--storage.path=" + state]


def start(command: List[str], log: Any) -> subprocess.Popen:
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                            preexec_fn=die_with_parent)


def die_with_parent() -> None:
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    except (OSError, AttributeError):  # not Linux
        pass


def address(daemon: subprocess.Popen, log: str, at: int) -> Optional[str]:
    """Where it listens, as its log says from the position `at` on; None: it does not."""
    def found() -> Optional[str]:
        with open(log, "rb") as file:
            file.seek(at)
            text = file.read().decode(errors="replace")
        match = re.search(r"msg=listening address=\"?([^\s\"]+)", text)
        return "http://" + match.group(1) if match else None
    return poll(lambda: found() or (daemon.poll() is not None and ""), START_SECONDS) or None


def poll(question: Callable[[], Any], seconds: float) -> Any:
    """Asks until the answer is neither None nor False, for so long at most."""
    deadline = time.monotonic() + seconds
    while True:
        answer = question()
        if (answer is not None and answer is not False) or time.monotonic() > deadline:
            return answer
        time.sleep(0.05)


class Task:
    """Something to do again and again, unless it returns True."""

    def __init__(self, seconds: float, act: Callable[[], Any]) -> None:
        self._seconds, self._act = seconds, act
        self._next = time.monotonic() + seconds

    def tick(self) -> None:
        if time.monotonic() >= self._next:
            self._next = float("inf") if self._act() else time.monotonic() + self._seconds


class Written(NamedTuple):
    at: float
    size: int
    path: str


class Files:
    """What is written below the directory by trainwatch, from now on: no file that was there before, and
    none of the training, is ever deleted."""

    # Those that may be deleted, and those that are being written.
    OLD = ("framework/pevents/*/*_pythontimeline.json", "system/incremental/*/*.json", "logs/*.out.1", "logs/*.out")
    OPEN = ("framework/*.json.tmp", "framework/*.json", LOG)

    def __init__(self, directory: str, keep: int) -> None:
        self._directory, self._keep = directory, keep
        self._since = time.time() - 1  # clocks of files are coarse

    def delete_oldest(self) -> None:
        """Until no more is left than may be kept."""
        old = self._find(self.OLD)
        left = sum(file.size for file in old + self._find(self.OPEN))
        for file in sorted(old):
            if left <= self._keep:
                break
            if not is_written(file):
                left -= file.size
                remove(file)
        log = os.path.join(self._directory, LOG)
        if os.path.exists(log) and os.path.getsize(log) > MOST_LOG:
            os.truncate(log, 0)  # who writes to it appends

    def _find(self, patterns: Any) -> List[Written]:
        found = []
        for pattern in patterns:
            for path in glob.glob(os.path.join(glob.escape(self._directory), pattern)):
                try:
                    status = os.stat(path)
                except OSError:  # it has just been renamed
                    continue
                if status.st_mtime >= self._since:
                    found.append(Written(status.st_mtime, status.st_size, path))
        return found


def is_written(file: Written) -> bool:
    if file.path.endswith(".out"):  # whoever writes to it has locked it
        try:
            with open(file.path, "r+b") as log:
                fcntl.lockf(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        return False
    return "incremental" in file.path and file.at > time.time() - WRITTEN_SECONDS


def remove(file: Written) -> None:
    try:
        os.remove(file.path)
        if file.at < time.time() - 2 * 3600:  # no more comes into its folder, which is of an hour
            os.rmdir(os.path.dirname(file.path))
    except OSError:  # there are others
        pass


def say_if_unseen(url: str) -> bool:
    try:
        if all(run["step"] is None for run in fetch(url + "/api/v1/runs")["runs"]):
            for line in UNSEEN:
                say(line)
    except (OSError, ValueError):
        pass
    return True


def wait_for_end(trainer: int, tasks: List[Task]) -> bool:
    """True: the training has said that it ends. Until then it does the tasks."""
    while True:
        for task in tasks:
            task.tick()
        readable, _, _ = select.select([sys.stdin], [], [], 0.25)
        if readable:
            return bool(sys.stdin.readline())
        if os.getppid() != trainer:  # a fork of it holds the pipe
            return False


def write_end(end_file: Dict[str, Any], end: Dict[str, Any]) -> None:
    """Writes a timeline that has nothing but how its process ended, just now."""
    os.makedirs(os.path.dirname(end_file["path"]), exist_ok=True)
    record = {"name": "process_end", "ph": "i", "pid": 0, "s": "p",
              "ts": time.time_ns() // 1000 - end_file["began"], "args": dict({"pid": end_file["pid"]}, **end)}
    with open(end_file["path"], "w") as file:
        file.write(end_file["head"] + json.dumps(record) + "\n]")


def fetch(url: str) -> Dict[str, Any]:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return json.loads(answer.read().decode())


def ask(url: str) -> Dict[str, Any]:
    """Asks again while there is no answer: on a busy machine the daemon is the last that runs."""
    deadline = time.monotonic() + DRAIN_SECONDS
    while True:
        try:
            return fetch(url)
        except (OSError, ValueError):
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)


def summarise(url: str, directory: str) -> None:
    poll(lambda: is_read(url, directory), DRAIN_SECONDS)
    read = time.time()
    poll(lambda: unix_time(ask(url + "/api/v1/runs")["now"]) > read + SNAPSHOT_SECONDS, DRAIN_SECONDS)
    runs = ask(url + "/api/v1/runs")["runs"]
    alerts = ask(url + "/api/v1/alerts?limit=1000")["alerts"]
    for line in summary(runs, alerts):
        say(line)


def is_read(url: str, directory: str) -> bool:
    """All timelines and console logs were read to their end."""
    try:
        offsets = {file["path"]: file["offset"] for file in fetch(url + "/api/v1/status")["files"]}
        return all(offsets.get(path, 0) >= os.path.getsize(path) for path in written(directory))
    except (OSError, urllib.error.URLError, ValueError, KeyError):
        return False


def written(directory: str) -> List[str]:
    return [os.path.join(folder, name)
            for kind in ("framework", "logs")
            for folder, _, names in os.walk(os.path.join(os.path.abspath(directory), kind))
            for name in names]


def summary(runs: List[Dict[str, Any]], alerts: List[Dict[str, Any]]) -> List[str]:
    """What it cost, why, and what was reported, worst first."""
    if not runs:
        return ["no step of a training was seen"]
    lines = []
    for run in runs:
        lines.append(("%s: " % run["job"] if run["job"] else "") + headline(run))
        elapsed = run["elapsed_seconds"]
        lost = sorted(((seconds, cause) for cause, seconds in run["lost_seconds"].items()
                       if elapsed and seconds >= 0.001 * elapsed), reverse=True)
        if lost:
            lines.append("lost time: " + ", ".join(
                "%s %.1f s (%.1f %%)" % (cause, seconds, 100 * seconds / elapsed)
                for seconds, cause in lost))
    latest = {alert["id"]: alert for alert in alerts}.values()  # the last state of each
    spoken = [alert for alert in latest
              if alert["severity"] in SEVERITIES and alert["incident"] == alert["id"]]
    spoken.sort(key=lambda alert: -(alert.get("lost_seconds") or 0))
    for alert in spoken[:MOST_ALERTS]:
        rank = alert["subject"].get("ranks", alert["subject"].get("rank"))
        lines.append("%s%s: %s (%s)" % (alert["severity"], "" if rank is None else " on rank %s" % rank,
                                        alert["summary"], alert["cause"]["name"]))
    if len(spoken) > MOST_ALERTS:
        lines.append("and %d more alerts" % (len(spoken) - MOST_ALERTS))
    return lines


def headline(run: Dict[str, Any]) -> str:
    """The daemon's sentence, if it knows already that the run is over; without a word of the
    process about its end it waits half a minute for another file before it says so."""
    if run["state"] not in ENDED:
        lost = max(run["lost_seconds"].items(), key=lambda item: item[1], default=("", 0))[0]
        share = 100 * (run["lost_share"] or 0)
        return "ended at step %s after %s (rank%s %s); %s" % (
            format(run["step"], ","), duration(run["elapsed_seconds"]),
            "s" if re.search("[-,]", run["ranks"]) else "", run["ranks"],
            "%.0f %% of the time was lost, mostly %s" % (share, lost) if share >= 1
            else "less than 1 % of the time was lost")
    text, since = run["headline"]["text"], run["headline"].get("since")
    if not since:
        return text
    clock = datetime.fromtimestamp(unix_time(since), timezone.utc).strftime("%H:%M:%S UTC")
    return text.replace("{since}", clock).replace("{for}", duration(time.time() - unix_time(since)))


def unix_time(text: str) -> float:
    """Of RFC 3339 in UTC, to the microsecond."""
    moment = datetime.strptime(text.rstrip("Z")[:26], "%Y-%m-%dT%H:%M:%S.%f" if "." in text
                               else "%Y-%m-%dT%H:%M:%S")
    return moment.replace(tzinfo=timezone.utc).timestamp()


def duration(length: float) -> str:
    seconds = int(length)
    if seconds < 120:
        return "%d s" % seconds
    if seconds < 7200:
        return "%d min" % (seconds // 60)
    return "%d h %d min" % (seconds // 3600, seconds // 60 % 60)


def stop(children: List[subprocess.Popen]) -> None:
    for child in children:
        if child.poll() is None:
            child.terminate()
    for child in children:
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


if __name__ == "__main__":
    sys.exit(main())
