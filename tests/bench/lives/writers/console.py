# SPDX-License-Identifier: Apache-2.0
"""A log that grows by lines, as `slurm-N.out` or `train.log`, whose last write is what the job says."""

import json
import os
import time


def docker(t, text):
    return json.dumps({"log": text + "\n", "stream": "stderr", "time": nanoseconds(t)})


def kubelet(t, text):
    return "%s stderr F %s" % (nanoseconds(t), text)


def nanoseconds(t):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(t)) + ".%09dZ" % (t % 1 * 1e9)


WRAPS = {"4f0c-json.log": docker, "0.log": kubelet}   # by the names of the files that those write


class Log:
    def __init__(self, folder, name):
        os.makedirs(folder, exist_ok=True)
        self.path, self.text, self.last = os.path.join(folder, name), [], 0.0
        self.wrap = WRAPS.get(name.rpartition("/")[2], lambda t, text: text)

    def line(self, t, text):
        self.text.append(self.wrap(t, text) + "\n")
        self.last = max(self.last, t)

    def raw(self, t, text):
        self.text.append(text)
        self.last = max(self.last, t)

    def end(self, attempt, job):
        """What is printed about the end of an attempt; its last line is its last evidence."""
        lines = attempt.end.lines(attempt.ended - 0.5, job) if attempt.end else []
        lines = [(after, job.prefix + text if job.prefix else text) for after, text in lines]
        for after, text in lines:
            self.line(min(attempt.ended, attempt.ended - 0.5 + after), text)
        self.last = max(self.last, attempt.ended)

    def close(self):
        with open(self.path, "w", encoding="utf-8", newline="") as file:
            file.write("".join(self.text))
        os.utime(self.path, (self.last, self.last))


def name_of(job, rng):
    return "slurm-%s.out" % job.number if job.number else rng.choice(("train.out", "stdout.log", "run.out"))


def stamp(t, fraction="", mark="."):
    """Local time as loggers print it; the tests run in UTC."""
    text = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(t))
    return text + (mark + fraction % (t % 1 * 10 ** int(fraction[2])) if fraction else "")


def figure(job, number):
    """A loss that falls."""
    return 2.0 + 4.0 / (1 + number / 50.0) + job.rng.uniform(0, 0.02)
