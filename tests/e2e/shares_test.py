# SPDX-License-Identifier: Apache-2.0
"""One job, or one file, with more names, nodes or series than all tables hold: another job gives the alerts that it
gives alone, whenever it comes and wherever it lies, and an alert names the file."""

import json
import os

import harness
import judge
import live_job

START_US = 1_795_247_833_000_000
STEPS, SLOW_STEP, LOST_US = 600, 400, 30_000_000
# More than there is room for.
NAMES, NODES, SERIES = 300_000, 80_000, 300_000


def bomb_of_names(path):
    """A timeline whose events all have names of their own."""
    with open(path + "0_0-algo-1_pythontimeline.json", "wb") as file:
        file.write(live_job.header(START_US))
        for number in range(NAMES):
            file.write(b',\n{"name": "event-%d", "pid": 1, "ph": "X", "ts": %d, "dur": 5}' % (number, number * 10))
        file.write(b"\n]")


def samples(path, count, **members):
    with open(path + "bomb.json", "w") as file:
        for number in range(count):
            sample = {"Type": "cpu", "Name": "cpu0", "Dimension": "CPUUtilization", "Value": 50, "NodeId": "algo-1",
                      "Timestamp": START_US / 1e6 + number // 1000}
            sample.update((key, value % number) for key, value in members.items())
            file.write(json.dumps(sample) + "\n")


def bomb_of_nodes(path):
    samples(path, NODES, NodeId="node-%d")


def bomb_of_series(path):
    samples(path, SERIES, Name="cpu%d")


class SharesTest(harness.JobTest):
    def write_good_job(self, folder):
        """A job with one step of 30 s; its folder may have files of others."""
        rank = live_job.Rank(START_US, 1)
        os.makedirs(os.path.join(self.directory, folder, "framework"), exist_ok=True)
        with open(os.path.join(self.directory, folder, "framework", "1_7-algo-2_pythontimeline.json"), "wb") as file:
            file.write(live_job.header(START_US))
            file.write(b"".join(rank.next_step(LOST_US if n == SLOW_STEP else 0) for n in range(STEPS)))

    def alone(self, folder):
        """What is said of a job in that folder if there is nothing else."""
        self.write_good_job(folder)
        expected = self.of_rank(harness.replay(self.directory))
        self.assertTrue(expected)
        os.remove(os.path.join(self.directory, folder, "framework", "1_7-algo-2_pythontimeline.json"))
        return expected

    def of_rank(self, alerts, folder=""):
        """The alerts about the good job, by their ids."""
        found = [alert for alert in alerts if alert["subject"].get("rank") == 7 and folder in alert["subject"].get("job", "")]
        return {id: (alert["rule"], alert["value"], alert["started_at"]) for id, alert in harness.final(found).items()}

    def names(self, alerts, file_name):
        return any(alert["rule"] == "_self/no_room" and os.path.join("bomb", "framework", file_name) in alert["summary"]
                   for alert in alerts)

    def check(self, bomb, file_name):
        places = ["beside", "later", "bomb"]  # the last one is the folder of the bomb
        expected = {folder: self.alone(folder) for folder in places}
        os.makedirs(os.path.join(self.directory, "bomb", "framework"), exist_ok=True)
        bomb(os.path.join(self.directory, "bomb", "framework", ""))
        self.write_good_job("beside")
        client = None
        for folder in ["beside", "bomb", "later"]:  # the last two come with a restart each
            self.write_good_job(folder)
            with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
                trainwatch.wait_until_read()
                client = judge.Client(trainwatch.url, client)
                harness.wait_for(lambda: client.catch_up() and expected[folder].keys() <= self.of_rank(client.alerts).keys(),
                                 "alerts about the job in " + folder)
                harness.wait_for(lambda: client.catch_up() and self.names(client.alerts, file_name), "an alert that names the file")
        replayed = self.of_rank(harness.replay(self.directory))
        for folder in places:
            self.assertEqual({id: replayed.get(id) for id in expected[folder]}, expected[folder])

    def test_names(self):
        self.check(bomb_of_names, "0_0-algo-1_pythontimeline.json")

    def test_nodes(self):
        self.check(bomb_of_nodes, "bomb.json")

    def test_series(self):
        self.check(bomb_of_series, "bomb.json")


if __name__ == "__main__":
    harness.main()
