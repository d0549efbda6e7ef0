# SPDX-License-Identifier: Apache-2.0
"""Did a client receive all that a replay gives, each once and in order?"""

import collections
import http.client
import json
import urllib.error

import harness


class Client:
    """Keeps the last sequence number it has, as docs/websocket.md asks of clients. It may continue at
    another address with what an earlier one has."""

    def __init__(self, url, earlier=None):
        self._url = url
        self.alerts = list(earlier.alerts) if earlier else []
        self.epoch = earlier.epoch if earlier else None

    def poll(self):
        """Takes what is new. False if there is no complete answer."""
        last = self.alerts[-1]["seq"] if self.alerts else 0
        try:
            page = json.loads(harness.fetch("%s/api/v1/alerts?after=%d" % (self._url, last)))
        except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError):
            return False
        if self.epoch not in (None, page["epoch"]):
            raise AssertionError("another epoch")
        self.epoch = page["epoch"]
        if page["first_seq"] > last + 1:
            raise AssertionError("a gap after %d" % last)
        self.alerts += page["alerts"]
        return True

    def has_all(self, replayed):
        """True if it knows the final state of each alert of the replay."""
        last = {alert["id"]: alert["state"] for alert in replayed}
        states = {alert["id"]: alert["state"] for alert in self.alerts}
        return all(states.get(id) == state for id, state in last.items())

    def catch_up(self):
        """Polls until there is nothing new. False: nobody answers."""
        while True:
            before = len(self.alerts)
            if not self.poll():
                return False
            if len(self.alerts) == before:
                return True

    def poll_until_all(self, replayed):
        """Polls until it has all; judge() says what is missing."""
        try:
            harness.wait_for(lambda: self.catch_up() and self.has_all(replayed), "all alerts")
        except AssertionError as error:
            print(error)


def order_by_subject(alerts):
    """Rank or GPU -> ids in the order in which they first came."""
    order = collections.defaultdict(dict)
    for alert in alerts:
        order[json.dumps(alert["subject"])].setdefault(alert["id"])
    return {subject: list(ids) for subject, ids in order.items()}


def before_the_end(replayed):
    """What a replay says, as far as a live run says it while nothing shows that the job is over."""
    return [alert for alert in replayed if alert["ended_because"] != "run_ended"]


def is_about_itself(alert):
    return alert["rule"].startswith("_self/")


def judge(delivered, replayed):
    """What is wrong with alerts that have a number, counted. Only a live run has alerts about trainwatch itself."""
    seqs = [alert["seq"] for alert in delivered]
    delivered = [alert for alert in delivered if not is_about_itself(alert)]
    final, expected = harness.final(delivered), harness.final(replayed)
    copies = collections.Counter(
        json.dumps({k: v for k, v in alert.items() if k not in ("seq", "epoch")}, sort_keys=True)
        for alert in delivered)
    for id in [id for id in final if final[id] != expected.get(id)][:3]:
        print("said %s\nwant %s" % (json.dumps(final[id], sort_keys=True), json.dumps(expected.get(id), sort_keys=True)))
    return {"lost": len(expected.keys() - final.keys()),
            "wrong": sum(final[id] != expected.get(id) for id in final),
            "duplicated": sum(count - 1 for count in copies.values()),
            "out of order": int(order_by_subject(delivered) != order_by_subject(replayed)) +
            int(seqs != list(range(1, len(seqs) + 1)))}
