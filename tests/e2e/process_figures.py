# SPDX-License-Identifier: Apache-2.0
"""What /proc says of a running process, and the most memory that a command took."""

import os
import subprocess
import sys

# A small process that starts the command: what the kernel counts of a child begins with what its parent has.
_WAITER = """import os, sys
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(pid, 0)
os.write(int(sys.argv[1]), b"%d" % used.ru_maxrss)
sys.exit(min(1, status))"""


def _status(pid, key):
    with open("/proc/%d/status" % pid) as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key + ":"))


def resident_mib(pid):
    return _status(pid, "VmRSS") / 1024


def peak_resident_mib(pid):
    return _status(pid, "VmHWM") / 1024


def peak_own_mib(pid):
    """Without the pages of files, which the kernel takes back before it kills anybody."""
    return (_status(pid, "VmHWM") - _status(pid, "RssFile")) / 1024


def run_and_peak(command, **options):
    """Runs it to its end with these options of subprocess.run: whether it succeeded, and the most MiB that it had resident."""
    reader, writer = os.pipe()
    done = subprocess.run([sys.executable, "-I", "-S", "-c", _WAITER, str(writer), *command], pass_fds=[writer], check=False, **options)
    os.close(writer)
    with os.fdopen(reader) as peak:
        return done.returncode == 0, int(peak.read()) / 1024


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bytes_read(pid):
    """By system calls, from files, pipes and sockets."""
    with open("/proc/%d/io" % pid) as io:
        return int(next(line for line in io if line.startswith("rchar:")).split()[1])


def descriptors(pid):
    """Number -> what it is open on."""
    found = {}
    for name in os.listdir("/proc/%d/fd" % pid):
        try:
            found[int(name)] = os.readlink("/proc/%d/fd/%s" % (pid, name))
        except OSError:  # closed meanwhile
            pass
    return found


def slope(samples):
    """Of a line through pairs of (x, y), by least squares, and its standard error."""
    count = len(samples)
    mean_x = sum(x for x, _ in samples) / count
    mean_y = sum(y for _, y in samples) / count
    spread = sum((x - mean_x) ** 2 for x, _ in samples)
    rise = sum((x - mean_x) * (y - mean_y) for x, y in samples) / spread
    rest = sum((y - mean_y - rise * (x - mean_x)) ** 2 for x, y in samples)
    return rise, (rest / max(1, count - 2) / spread) ** 0.5
