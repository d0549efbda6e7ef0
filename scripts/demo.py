#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parts of demo.sh and measure_install.sh that talk to trainwatch.

    demo.py port PREFERRED           prints a free TCP port
    demo.py ready URL                waits until trainwatch is ready
    demo.py page URL                 whether it has the page: it can be built without
    demo.py alert URL                waits until the page is served and has an alert to show
    demo.py show                     prints the alerts on standard input for a person to read
    demo.py verdict URL TRUTH.json   compares what it reported with what happened
"""

import json
import socket
import sys
import time
import urllib.error
import urllib.request

PATIENCE_SECONDS = 10


def port(preferred):
    for number in (int(preferred), 0):
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", number))
            except OSError:
                continue
            print(listener.getsockname()[1])
            return True
    return False


def fetch(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.read()


def poll(question):
    """Asks until the answer is not None. None: it never came."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        answer = question()
        if answer is not None:
            return answer
        time.sleep(0.1)
    return None


def ready(url):
    def ask():
        try:
            return fetch(url + "/-/ready")
        except (urllib.error.URLError, OSError):
            return None
    return poll(ask) is not None


def page(url):
    return b"/assets/" in fetch(url + "/")


def alert(url):
    fetch(url + "/")
    return poll(lambda: json.loads(fetch(url + "/api/v1/alerts?after=0"))["alerts"] or None) is not None


def show():
    for line in sys.stdin:
        alert = json.loads(line)
        print("  %-8s %-8s %s: %s" % (alert["state"], alert["severity"], alert["rule"],
                                      alert["summary"]), flush=True)
    return True


def all_read(url):
    status = json.loads(fetch(url + "/api/v1/status"))
    return True if all(source["lag_bytes"] == 0 for source in status["sources"]) else None


def verdict(url, truth_path):
    with open(truth_path) as file:
        truth = json.load(file)
    poll(lambda: all_read(url))
    stall = truth["stall"]

    def of_the_stall():
        alerts = json.loads(fetch(url + "/api/v1/alerts?limit=1000"))["alerts"]
        latest = {alert["id"]: alert for alert in alerts}.values()
        serious = [alert for alert in latest if alert["severity"] != "info"]
        return serious if any(a["step"] == stall["step"] for a in serious) else None
    alerts = poll(of_the_stall) or []
    others = [alert for alert in alerts if alert["step"] != stall["step"]]
    print("demo: what happened: step %d took %.1f s instead of %.2f s, its batch came late" % (
        stall["step"], stall["step_seconds"], truth["step_seconds"]["median"]))
    if not alerts:
        print("demo: FAILED, trainwatch did not report it")
        return False
    print("demo: trainwatch reported it (%s)%s" % (
        ", ".join(sorted(a["rule"] for a in alerts if a not in others)),
        " and nothing else that costs time" if not others else
        ", and also: " + ", ".join(a["summary"] for a in others)))
    return not others


if __name__ == "__main__":
    command = {"port": port, "ready": ready, "page": page, "alert": alert, "show": show,
               "verdict": verdict}.get("".join(sys.argv[1:2]))
    if command is None:
        sys.exit(__doc__)
    sys.exit(0 if command(*sys.argv[2:]) else 1)
