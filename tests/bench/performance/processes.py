# SPDX-License-Identifier: Apache-2.0
"""Programs under measurement: their CPU time, by thread, and their memory."""

import contextlib
import glob
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request


def memory(pid, field):
    """MiB of VmHWM (peak) or VmRSS (now); 0 once it has ended. (The kernel's figure at the end is at least this program's own,
    from before the exec.)"""
    with open("/proc/%d/status" % pid) as file:
        found = re.search(field + r":\s+(\d+) kB", file.read())
    return int(found.group(1)) / 1024 if found else 0


def measured(command, log=None):
    """Runs it; its output, its CPU seconds (those of its children too) and its own peak resident MiB. What it says on standard error goes
    to the end of the file `log`, if there is one."""
    with tempfile.TemporaryFile("w+") as output, open(log, "a") if log else contextlib.nullcontext() as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        resident = 0
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            resident = max(resident, memory(process.pid, "VmHWM"))
            time.sleep(0.005)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit("bench: %s failed" % " ".join(command))
        output.seek(0)
        return output.read(), usage.ru_utime + usage.ru_stime, resident


def thread_seconds(pid):
    """CPU time so far of each thread: (name, id) -> seconds."""
    seconds = {}
    for thread in glob.glob("/proc/%d/task/*" % pid):
        with contextlib.suppress(OSError), open(thread + "/schedstat") as file, open(thread + "/comm") as name:
            seconds[name.read().strip(), os.path.basename(thread)] = int(file.read().split()[0]) / 1e9
    return seconds


def percent_of_core(pid, work):
    """What each thread takes of a core while work() runs: name -> percent."""
    before, began = thread_seconds(pid), time.monotonic()
    work()
    took = time.monotonic() - began
    used = {}
    for thread, seconds in thread_seconds(pid).items():
        used[thread[0]] = used.get(thread[0], 0) + 100 * (seconds - before.get(thread, 0)) / took
    return used


def busiest(used):
    """The three busiest threads, in words."""
    return ", ".join("%s %.3f" % thread for thread in sorted(used.items(), key=lambda thread: -thread[1])[:3])


def seconds_of(pid, name):
    """CPU time so far of the threads of this name."""
    return sum(seconds for (thread, _), seconds in thread_seconds(pid).items() if thread == name)


class Daemon:
    """`trainwatch run` with its log and state in `folder`."""

    def __init__(self, trainwatch, folder, watched, *arguments):
        self._log = os.path.join(folder, "log")
        with open(self._log, "w") as log:
            self._process = subprocess.Popen([trainwatch, "run", "--watch=" + watched, "--storage.path=" + os.path.join(folder, "state"),
                                              "--web.listen-address=127.0.0.1:0", *arguments], stdout=subprocess.DEVNULL, stderr=log)
        self.pid = self._process.pid
        self.address = None

    def __enter__(self):
        while self.address is None:
            if self._process.poll() is not None:
                sys.exit("bench: trainwatch ended: see " + self._log)
            time.sleep(0.02)
            with open(self._log) as log:
                found = re.search(r'listening.*address="?([\d.]+:\d+)', log.read())
            self.address = found and found.group(1)
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()

    def get(self, path, **headers):
        request = urllib.request.Request("http://%s%s" % (self.address, path), headers=headers)
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.read()

    def metric(self, name):
        """The sum of its series."""
        found = re.findall(r"^%s(?:\{.*\})? (\S+)$" % name, self.get("/metrics").decode(), re.MULTILINE)
        return sum(float(value) for value in found)

    def wait_until_ready(self):
        """Until what was there at the start is read and judged. Exactly: the page of /metrics may be 250 ms old."""
        while True:
            with contextlib.suppress(urllib.error.HTTPError):
                return self.get("/-/ready")
            time.sleep(0.01)

    def wait_until_read(self, size):
        """Until so many bytes were read."""
        while self.metric("trainwatch_input_bytes_total") < size:
            time.sleep(0.2)
