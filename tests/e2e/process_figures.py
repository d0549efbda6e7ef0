# SPDX-License-Identifier: Apache-2.0
"""What /proc says of a running process."""

import os


def _status(pid, key):
    with open("/proc/%d/status" % pid) as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key + ":"))


def resident_mib(pid):
    return _status(pid, "VmRSS") / 1024


def peak_resident_mib(pid):
    return _status(pid, "VmHWM") / 1024


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
