# SPDX-License-Identifier: Apache-2.0
"""A state directory that is in use, of something else, of a later version, or damaged."""

import hashlib
import os
import random
import shutil
import sqlite3

try:
    import websockets  # noqa: F401
except ImportError:
    websockets = None

import harness
import judge
import spiky_job

IN_USE, BAD_CONFIG = 73, 78


def overwrite(path, offset, data):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def zeros(path):
    overwrite(path, 0, bytes(os.path.getsize(path)))


def noise(path):
    overwrite(path, 0, random.Random(1).randbytes(os.path.getsize(path)))


def noise_behind_the_head(path):
    overwrite(path, 4096, random.Random(1).randbytes(os.path.getsize(path) - 4096))


def half(path):
    os.truncate(path, os.path.getsize(path) // 2)


def fragment(path):
    os.truncate(path, 60)


DAMAGES = [zeros, noise, noise_behind_the_head, half, fragment]


class StateStoreTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        self.database = os.path.join(self.state, "state.db")
        self.job = spiky_job.SpikyJob(self.directory, 40, seed=1, ranks=2)

    def trainwatch(self):
        return harness.Trainwatch(self.directory, *spiky_job.RULES, state=self.state)

    def refused(self):
        """The exit code of a start that does not succeed, and what it says."""
        done = harness.run("run", "--watch=" + self.directory, "--storage.path=" + self.state,
                           "--web.listen-address=127.0.0.1:0")
        return done.returncode, done.stderr

    def contents(self):
        """File -> hash, of the whole directory but the lock, with what is below it."""
        found = {}
        for where, _, names in os.walk(self.state):
            for name in names:
                path = os.path.join(where, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.state)] = hashlib.sha256(file.read()).hexdigest()
        found.pop("state.db.lock", None)
        return found

    def test_a_second_instance_is_refused_and_the_first_goes_on(self):
        with self.trainwatch() as trainwatch:
            self.job.write_some(100)
            trainwatch.wait_until_read()
            code, said = self.refused()
            self.assertEqual(code, IN_USE, said)
            self.assertIn(self.state, said)
            self.job.write_all()
            trainwatch.wait_until_read()
            self.assertEqual(trainwatch.metric("trainwatch_state_degraded"), 0)
            self.assertEqual(trainwatch.stop(), 0)

    def test_that_is_removed_is_said_and_begun_anew(self):
        self.job.write_some(1000)
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
            shutil.rmtree(self.state)
            self.job.write_all()
            self.assertEqual(trainwatch.wait(), 1)
            self.assertIn("removed or replaced", trainwatch.log())
        expected = harness.final(harness.replay(self.directory, *spiky_job.RULES))
        with self.trainwatch() as trainwatch:
            harness.wait_for(lambda: harness.final(trainwatch.json("/api/v1/alerts?after=0")["alerts"]) == expected, "all alerts")

    def check_untouched(self, word):
        before = self.contents()
        code, said = self.refused()
        self.assertEqual(code, BAD_CONFIG, said)
        self.assertIn(word, said)
        self.assertEqual(self.contents(), before)

    def test_a_later_version_is_refused_and_not_touched(self):
        self.job.write_all()
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
        database = sqlite3.connect(self.database)
        database.execute("PRAGMA user_version = 99")
        database.close()
        self.check_untouched("99")

    def test_a_foreign_database_is_refused_and_not_touched(self):
        os.mkdir(self.state)
        database = sqlite3.connect(self.database)
        database.execute("CREATE TABLE addresses(name TEXT)")
        database.commit()
        database.close()
        self.check_untouched(self.database)

    def test_a_snapshot_of_yesterday_is_a_reset_for_who_is_ahead_of_it(self):
        """Case 72, a copied machine: its epoch is known and its numbers have gone back."""
        self.job.write_some(2000)
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
        snapshot = self.state + "-snapshot"
        shutil.copytree(self.state, snapshot)
        self.job.write_all()
        expected = harness.final(harness.replay(self.directory, *spiky_job.RULES))
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
            harness.wait_for(lambda: len(trainwatch.json("/api/v1/alerts?after=0")["alerts"]) >= len(expected), "all")
            page = trainwatch.json("/api/v1/alerts?after=0")
        with harness.Trainwatch(self.directory, *spiky_job.RULES, state=snapshot) as trainwatch:
            # Alerts of the rest are numbered anew as they come, so that the client asks for more than there will be.
            with harness.Listener(trainwatch.stream, "?after=%d&epoch=%s" % (page["last_seq"] + 1000, page["epoch"])) \
                    as listener:
                harness.wait_for(lambda: len(listener.frames) > 1, "an answer")
                self.assertEqual([frame["op"] for frame in listener.frames[:2]], ["hello", "reset"])
                harness.wait_for(lambda: harness.final(listener.alerts()) == expected, "all alerts")

    def test_a_damaged_file_is_set_aside(self):
        self.job.write_all()
        expected = harness.final(harness.replay(self.directory, *spiky_job.RULES))
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
        epoch, last = None, 0
        with self.trainwatch() as trainwatch:
            page = trainwatch.json("/api/v1/alerts?after=0")
            epoch, last = page["epoch"], page["last_seq"]
        for number, damage in enumerate(DAMAGES, 1):
            with self.subTest(damage=damage.__name__):
                damage(self.database)
                epoch, last = self.starts_anew(epoch, last, expected)
                self.assertEqual(len([name for name in os.listdir(self.state)
                                      if ".corrupt-" in name and "-wal" not in name]), number)

    def starts_anew(self, old_epoch, last, expected):
        """Its new epoch and last number."""
        with self.trainwatch() as trainwatch, harness.Listener(
                trainwatch.stream, "?after=%d&epoch=%s" % (last, old_epoch)) as listener:
            harness.wait_for(lambda: any(alert["rule"] == "_self/state_lost"
                                         for alert in listener.alerts()), "_self/state_lost")
            harness.wait_for(lambda: expected.items() <= harness.final(listener.alerts()).items(), "all alerts have ended")
            self.assertEqual(trainwatch.stop(), 0)
            listener.wait_closed()
        ops = [frame["op"] for frame in listener.frames]
        self.assertEqual(ops[:2], ["hello", "reset"])
        epoch = listener.frames[1]["epoch"]
        self.assertNotEqual(epoch, old_epoch)
        alerts = listener.alerts()
        self.assertEqual([alert["seq"] for alert in alerts], list(range(1, len(alerts) + 1)))
        own = [alert for alert in alerts if judge.is_about_itself(alert)]
        self.assertEqual([alert["rule"] for alert in own], ["_self/state_lost"])
        self.assertEqual(harness.final(alert for alert in alerts if alert not in own), expected)
        return epoch, len(alerts)


if __name__ == "__main__":
    if websockets is None:
        harness.skip("python3-websockets is not installed")
    harness.main()
