# SPDX-License-Identifier: Apache-2.0
"""A growing timeline of one rank, with even steps of 0.1 s, written as smdebug does."""

import json
import os

WARM_UP_STEPS = 80  # more than rules need to know what is usual
STEP_US = 100_000


class GrowingTimeline:
    def __init__(self, folder, rank, base_us=1_700_000_000_000_000, first_step=0):
        self._path = os.path.join(folder, "framework", "%d-bench_pythontimeline.json.tmp" % rank)
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        self._file = open(self._path, "ab", buffering=0)
        self._at, self._step = 0, first_step
        self._lines = [{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": base_us}},
                       {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Step:ModeKeys.TRAIN"}}]
        self._file.write(b"[\n")
        for _ in range(WARM_UP_STEPS):
            self.step()

    def step(self, duration=STEP_US):
        """Returns how many bytes were written."""
        self._lines.append({"name": "Step:ModeKeys.TRAIN", "ph": "X", "pid": 1, "ts": self._at, "dur": duration,
                            "args": {"pid": 1, "step_num": str(self._step)}})
        self._at += duration
        self._step += 1
        text = "".join(json.dumps(line) + ",\n" for line in self._lines).encode()
        self._lines = []
        return self._file.write(text)

    def close(self):
        self._file.close()
