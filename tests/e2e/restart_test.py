# SPDX-License-Identifier: Apache-2.0
"""Stopped and started again on the same state, trainwatch goes on as if it had not been away."""


try:
    import websockets  # noqa: F401
except ImportError:
    websockets = None

import harness
import judge
import spiky_job

SPIKES = 120


class RestartTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        self.job = spiky_job.SpikyJob(self.directory, SPIKES, seed=1, ranks=2)

    def trainwatch(self):
        return harness.Trainwatch(self.directory, *spiky_job.RULES, state=self.state)

    def firing(self, client):
        states = {alert["id"]: alert["state"] for alert in client.alerts}
        return {id for id, state in states.items() if state == "firing"}

    def write_until_firing(self, trainwatch, client):
        """Writes about half of the job, to a moment when an alert is firing, and waits until that is published."""
        for _ in range(10):
            self.job.write_some(40)

        def more():
            self.job.write_some(1)
            trainwatch.wait_until_read()
            return trainwatch.metric("trainwatch_alert_active") > 0
        harness.wait_for(more, "an alert is firing")
        harness.wait_for(lambda: client.poll() and self.firing(client), "it is published")

    def test_no_alert_comes_twice(self):
        with self.trainwatch() as trainwatch:
            client = judge.Client(trainwatch.url)
            self.write_until_firing(trainwatch, client)
            trainwatch.wait_until_read()
            client.poll()
            firing, received = self.firing(client), list(client.alerts)
            self.assertEqual(trainwatch.stop(), 0)
        with self.trainwatch() as trainwatch:
            status = trainwatch.json("/api/v1/status")
            self.assertEqual(sum(rule["firing"] for rule in status["rules"]), len(firing))
            self.assertEqual(trainwatch.metric("trainwatch_alert_active"), len(firing))
            all_again = judge.Client(trainwatch.url)
            all_again.poll()
            self.assertEqual(all_again.alerts, received)  # from the store, and nothing since
            self.job.write_all()
            client = judge.Client(trainwatch.url, client)
            trainwatch.wait_until_read()
            self.assertEqual(trainwatch.stop(), 0)
        with self.trainwatch() as trainwatch:
            client = judge.Client(trainwatch.url, client)
            replayed = harness.replay(self.directory, *spiky_job.RULES)
            client.poll_until_all(replayed)
        found = judge.judge(client.alerts, replayed)
        print("%d messages over two restarts: %s" % (len(client.alerts), found))
        self.assertGreater(len(client.alerts), 2 * SPIKES * 0.7)
        self.assertEqual(set(found.values()), {0}, found)

    def test_a_stream_goes_on_without_a_gap(self):
        self.job.write_some(200)
        with self.trainwatch() as trainwatch, \
                harness.Listener(trainwatch.stream, "?after=0") as before:
            trainwatch.wait_until_read()
            self.assertEqual(trainwatch.stop(), 0)
            before.wait_closed()
        self.job.write_all()
        last = before.alerts()[-1]
        with self.trainwatch() as trainwatch, harness.Listener(
                trainwatch.stream, "?after=%d&epoch=%s" % (last["seq"], last["epoch"])) as after:
            trainwatch.wait_until_read()
            self.assertEqual(trainwatch.stop(), 0)
            after.wait_closed()
        self.assertEqual({frame["op"] for frame in after.frames} - {"heartbeat", "status"},
                         {"hello", "alert"})
        self.assertEqual(after.frames[0]["epoch"], before.frames[0]["epoch"])
        found = judge.judge(before.alerts() + after.alerts(),
                            harness.replay(self.directory, *spiky_job.RULES))
        self.assertEqual(set(found.values()), {0}, found)

    def test_a_named_subscriber_goes_on_behind_its_ack(self):
        self.job.write_some(400)
        with self.trainwatch() as trainwatch, harness.Listener(
                trainwatch.stream, "?name=pager&after=0") as pager:
            harness.wait_for(lambda: len(pager.alerts()) >= 10, "ten alerts")
            pager.send({"op": "ack", "seq": 4})
            trainwatch.wait_until_read()
            self.assertEqual(trainwatch.stop(), 0)  # with an ack that is not stored yet
            pager.wait_closed()
        with self.trainwatch() as trainwatch, harness.Listener(
                trainwatch.stream, "?name=pager") as again:
            count = len(pager.alerts()) - 4
            harness.wait_for(lambda: len(again.alerts()) >= count, "what was not acknowledged")
            self.assertEqual(again.alerts(), pager.alerts()[4:])


if __name__ == "__main__":
    if websockets is None:
        harness.skip("python3-websockets is not installed")
    harness.main()
