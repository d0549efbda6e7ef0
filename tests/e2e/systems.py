# SPDX-License-Identifier: Apache-2.0
"""Other distributions in directories, for tests that run or install the program there.

They need root (or what mmdebstrap and mounts need) and the distribution's archive."""

import os
import shutil
import subprocess

DEBIAN = "http://deb.debian.org/debian"
UBUNTU = "http://archive.ubuntu.com/ubuntu"
ARCHIVES = {"bookworm": DEBIAN, "bullseye": DEBIAN, "trixie": DEBIAN,
            "bionic": UBUNTU, "focal": UBUNTU, "jammy": UBUNTU, "noble": UBUNTU}


def why_not():
    """Why no system can be made here; None if it can."""
    if os.geteuid() != 0:
        return "only root can make and enter another system"
    if shutil.which("mmdebstrap") is None:
        return "mmdebstrap is not installed"
    if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        return "mounting is not permitted"
    return None


def make(suite, root, variant="extract", include=("libc6", "libc-bin", "base-files", "netbase")):
    """A distribution in the directory `root`: with the default, hardly more than its C library."""
    # Not verified: only Debian's keys are on a Debian, and nothing of it leaves the test.
    source = "deb [trusted=yes] %s %s main" % (ARCHIVES[suite], suite)
    done = subprocess.run(["mmdebstrap", "--mode=root", "--variant=" + variant, "--include=" + ",".join(include), suite,
                           root, source], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError("mmdebstrap %s failed: %s" % (suite, done.stdout[-2000:]))
    for name, text in (("hosts", "127.0.0.1 localhost\n"), ("nsswitch.conf", "hosts: files dns\n")):
        with open(os.path.join(root, "etc", name), "w") as file:
            file.write(text)


def copy_sources(to):
    """What a fresh clone has, and what is not committed yet."""
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=here, check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split("\0")
    for path in filter(os.path.lexists, (os.path.join(here, name) for name in files if name)):
        copy = os.path.join(to, os.path.relpath(path, here))
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(path, copy, follow_symlinks=False)


def inside(root, *shared):
    """What to put before a command so that it runs in `root`, with /proc, /dev and the directories `shared` as here."""
    mounts = ["mount -t proc proc '%s/proc'" % root]
    for path in ("/dev", *shared):
        os.makedirs(root + path, exist_ok=True)
        mounts.append("mount --rbind '%s' '%s%s'" % (path, root, path))
    return ["unshare", "--mount", "sh", "-c", " && ".join(mounts) + " && exec chroot '%s' \"$@\"" % root, "sh"]
