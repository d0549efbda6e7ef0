# SPDX-License-Identifier: Apache-2.0
"""What the tests of python/trainwatch share: a folder for a watch to write to, and what it wrote there."""

import gc
import json
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = os.path.join(ROOT, "python")
sys.path.insert(0, PYTHON)
import timeline_files  # noqa: E402
import trainwatch  # noqa: E402


def read(path):
    with open(path) as file:
        return file.read()


class HookCase(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.out = directory.name
        gc.disable()  # on a busy machine a collection may take so long that it is recorded
        self.addCleanup(gc.enable)

    def watch(self, **options):
        watch = trainwatch.Watch(self.out, rank=3, node="gpu_box.example", **options)
        self.addCleanup(watch.close)
        return watch

    def program(self, text):
        """The arguments of a process that runs `text`, which has trainwatch and the folder as `out`."""
        begin = "import os, sys; sys.path.insert(0, sys.argv[1]); import trainwatch; out = sys.argv[2]\n"
        return [sys.executable, "-c", begin + text, PYTHON, self.out]

    def open_file(self, node="3-gpu-box-example"):
        return os.path.join(self.out, "framework", node + "_pythontimeline.json.tmp")

    def closed_files(self):
        return timeline_files.closed_files(self.out)

    def records(self):
        return [record for path in self.closed_files() for record in json.loads(read(path))]

    def spans(self, phase=None):
        return timeline_files.spans(self.out, phase)
