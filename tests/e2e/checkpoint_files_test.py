# SPDX-License-Identifier: Apache-2.0
"""Checkpoint files below the watched directory explain pauses that the timeline does not name."""

import json
import os

import harness

START = 1_700_000_000.0
STEP = 0.2
PAUSES = {253: 4.0, 407: 90.0}  # seconds after the step; the second is long enough for a stall


def timeline(directory):
    """Writes steps with two long pauses; returns the end of each pause by step."""
    os.makedirs(os.path.join(directory, "framework", "pevents", "2023111422"))
    path = os.path.join(directory, "framework", "pevents", "2023111422", "1700000000000000_0-algo-1_pythontimeline.json")
    lines = [{"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "Step:ModeKeys.TRAIN"}},
             {"name": "process_sort_index", "ph": "M", "pid": 0, "args": {"sort_index": 0}}]
    now, ends = 0.0, {}
    for step in range(500):
        lines.append({"name": "Step:ModeKeys.TRAIN", "ph": "X", "pid": 0, "ts": round(now * 1e6), "dur": round(STEP * 1e6),
                      "args": {"step_num": str(step)}})
        now += STEP + PAUSES.get(step, 0)
        if step in PAUSES:
            ends[step] = START + now
    start = {"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": round(START * 1e6)}}
    with open(path, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(line) for line in [start] + lines) + "\n]")
    return ends


def checkpoint(path, written_at):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(b"weights")
    os.utime(path, (written_at, written_at))


class CheckpointFilesTest(harness.JobTest):
    def alerts(self):
        return [(a["rule"], a["step"], a["severity"], a["cause"]["name"])
                for a in harness.final(harness.replay(self.directory)).values()]

    def test_without_the_files_nobody_knows(self):
        timeline(self.directory)
        self.assertEqual(self.alerts(), [("step_spike", 254, "warning", "host_pause"),
                                         ("stall", 407, "info", "host_pause")])

    def test_with_the_files(self):
        for step, end in timeline(self.directory).items():
            checkpoint(os.path.join(self.directory, "checkpoints", "step_%d.pt" % step), end - 0.05)
        self.assertEqual(self.alerts(), [("step_spike", 254, "warning", "checkpoint"),
                                         ("step_spike", 408, "warning", "checkpoint")])

    def test_files_of_another_time_or_name_explain_nothing(self):
        for step, end in timeline(self.directory).items():
            checkpoint(os.path.join(self.directory, "checkpoints", "step_%d.pt" % step), end - 100)
            checkpoint(os.path.join(self.directory, "log_%d.csv" % step), end - 0.05)
        self.assertEqual([cause for _, _, _, cause in self.alerts()], ["host_pause", "host_pause"])


if __name__ == "__main__":
    harness.main()
