# SPDX-License-Identifier: Apache-2.0
"""What the tests of `python -m trainwatch run` share: starting a training, and what is left of it."""

import os
import re
import signal
import subprocess
import sys
import textwrap

import harness

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(harness.ROOT, "python")


def processes(word):
    """The ids of the processes with this word in their command line."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                if word.encode() in file.read():
                    found.append(int(name))
        except OSError:  # it has ended
            pass
    return found


def programs(directory):
    """The training, the daemon and the sampler: those below this folder that are not the sidecar, nor a child of it before its exec,
    and not what passes on its output."""
    return set(processes(directory)) - set(processes("_sidecar.py")) - set(processes("_tee.py"))


class LaunchCase(harness.JobTest):
    def setUp(self):
        super().setUp()
        self.out = os.path.join(self.directory, "watched")
        self.options = ["--watch-dir=" + self.out, "--listen=127.0.0.1:0"]

    def sidecar_log(self):
        path = os.path.join(self.out, "trainwatch.log")
        if not os.path.exists(path):
            return "no log"
        with open(path) as log:
            return log.read()

    def script(self, text, name="train.py"):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(textwrap.dedent(text))
        return path

    def start(self, *arguments, launch=True, **environment):
        known = {name: value for name, value in os.environ.items() if not name.endswith("RANK")}
        path = os.pathsep.join([PACKAGE, os.path.join(HERE, "fakes")])
        command = [sys.executable, *(["-m", "trainwatch", "run", *self.options] if launch else []), *arguments]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.directory,
            env={**known, "PYTHONPATH": path, "TRAINWATCH_BINARY": os.path.abspath(harness.binary()), **environment})
        self.addCleanup(self.kill_what_is_left)
        return process

    def kill_what_is_left(self):
        for one in processes(self.out):
            try:
                os.kill(one, signal.SIGKILL)
            except ProcessLookupError:  # it ended just now
                pass

    def run_it(self, *arguments, **options):
        """Exit code, standard output and error of a training, and what of the latter is trainwatch's."""
        process = self.start(*arguments, **options)
        out, err = process.communicate("typed\n", timeout=harness.PATIENCE_SECONDS)
        ours = [line[len("trainwatch: "):] for line in err.splitlines() if line.startswith("trainwatch: ")]
        return process.returncode, out, "".join(re.sub("trainwatch: .*\n", "", err)), ours
