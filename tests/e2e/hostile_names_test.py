# SPDX-License-Identifier: Apache-2.0
"""Names that no client could print, and more ranks than there is room for (cases 64, 65 and 66).

A file name with the byte FF once made /metrics, the alerts and the stream invalid, after a restart too.
Ranks beyond the limit were once taken for one rank without a name, for which alerts were invented.
"""

import json
import os
import shutil
import subprocess

import harness

BAD_NODE = b"algo-1\xff\x1b[31m\nx"
START_US = 1795236000000000


def timeline(steps, seconds=0.1, slow_step=None):
    """A timeline of that many training steps; one of them may take twenty times as long."""
    events = [{"name": "process_name", "ph": "M", "pid": 0,
               "args": {"start_time_since_epoch_in_micros": START_US}},
              {"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "Step:ModeKeys.TRAIN"}}]
    at = 1000
    for step in range(steps):
        # Nothing is exactly as long as before; even and odd steps of a real job never are.
        duration = int(seconds * 1e6 * (1 + 0.01 * (step * 7 % 5))) * (20 if step == slow_step else 1)
        events.append({"name": "Step:ModeKeys.TRAIN", "pid": 0, "ph": "X", "ts": at, "dur": duration,
                       "args": {"step_num": str(step), "pid": 1}})
        at += duration + 500
    return "[\n" + ",\n".join(json.dumps(event) for event in events) + "\n]\n"


class HostileNamesTest(harness.JobTest):
    def write(self, name, text):
        folder = os.path.join(self.directory, "framework")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(os.fsencode(folder), os.fsencode(name)), "w") as file:
            file.write(text)

    def check_answers(self, trainwatch):
        """All that clients read is valid, and names the node."""
        metrics = trainwatch.get("/metrics")  # decoded as UTF-8
        self.assertIn("\\\\xff\\\\x1b[31m\\\\x0ax", metrics)
        if shutil.which("promtool"):
            checked = subprocess.run(["promtool", "check", "metrics"], input=metrics, text=True,
                                     capture_output=True, check=False)
            self.assertNotIn("error while linting", checked.stderr)
        for path in ("/api/v1/status", "/api/v1/runs", "/api/v1/alerts?state=firing"):
            trainwatch.json(path)
        alerts = trainwatch.json("/api/v1/alerts?after=0")["alerts"]
        nodes = {alert["subject"].get("node") for alert in alerts}
        self.assertIn("algo-1\\xff\\x1b[31m\\x0ax", nodes)
        for alert in alerts:
            self.assertTrue(json.dumps(alert).isascii())

    def test_a_node_with_any_bytes(self):
        self.write(b"%d_0-%s_pythontimeline.json" % (START_US, BAD_NODE), timeline(300, slow_step=250))
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            harness.wait_for(lambda: trainwatch.json("/api/v1/alerts?after=0")["alerts"], "an alert")
            self.check_answers(trainwatch)
            with harness.Listener(trainwatch.stream, "?after=0") as listener:
                harness.wait_for(listener.alerts, "the stream has the alert")
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            self.check_answers(trainwatch)

    def test_ranks_without_room_are_rejected_and_not_mixed(self):
        self.write("0_0-algo-1_pythontimeline.json", timeline(300, slow_step=250))
        alone = harness.final(harness.replay(self.directory))
        self.assertTrue(alone)
        for rank in range(1, 200):
            self.write("1_%d-algo-%d_pythontimeline.json" % (rank, rank), timeline(60, 0.1 + 0.05 * rank))
        config = self.state + ".yaml"
        with open(config, "w") as file:
            file.write("input: {max_subjects: 64}\n")
        done = harness.run("replay", "--config.file=" + config, self.directory)
        alerts = harness.final(json.loads(line) for line in done.stdout.splitlines())
        self.assertEqual({key: alerts.get(key) for key in alone}, alone)
        for alert in alerts.values():
            self.assertTrue(alert["subject"].get("node"), alert)
        self.assertIn("cardinality", done.stderr)


if __name__ == "__main__":
    harness.main()
