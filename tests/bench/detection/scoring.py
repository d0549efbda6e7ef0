# SPDX-License-Identifier: Apache-2.0
"""Scores the alerts of a replayed job against its truth, as section 1 of the labels in README.md says."""

from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import datetime

MARGIN_STEPS, MARGIN_SECONDS = 110, 260.0
LOUD = ("warning", "critical")


def seconds(text):
    """RFC 3339 with up to nine digits -> float seconds."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(whole + "+00:00").timestamp() + (float("0." + fraction) if fraction else 0.0)


@dataclass
class AlertHistory:
    """All that was emitted of one alert, parts of another's incident left out by histories()."""

    id: str
    rule: str
    emissions: list = field(default_factory=list)   # (time of day, severity, cause, alert)

    def loud(self):
        """Whether it ever was a warning."""
        return any(severity in LOUD for _, severity, _, _ in self.emissions)

    def sampled(self):
        """Whether it is about samples of a machine: these know no ranks and no steps."""
        alert = self.emissions[-1][3]
        return alert.get("step") is None and "rank" not in alert.get("subject", {})

    def summary(self):
        return self.emissions[-1][3].get("summary", "")


def histories(alerts):
    """Emissions by alert. One that another alert speaks for, at the end, is not counted."""
    found, spoken_for = {}, set()
    for alert in alerts:
        identity = alert["id"]
        history = found.setdefault(identity, AlertHistory(identity, alert["rule"]))
        (spoken_for.add if alert.get("incident", identity) != identity else spoken_for.discard)(identity)
        cause = alert["cause"]["name"]
        if not history.emissions:
            history.emissions.append((seconds(alert["started_at"]), alert["severity"], cause, alert))
        if alert["state"] != "resolved":
            history.emissions.append((seconds(alert["updated_at"]), alert["severity"], cause, alert))
    return [history for identity, history in found.items() if identity not in spoken_for]


@dataclass
class Window:
    """When an alert belongs to an incident."""

    begin: float
    end: float
    sampled_end: float

    def holds(self, at, sampled):
        return self.begin <= at <= (self.sampled_end if sampled else self.end)


class Steps:
    """Times of day <-> iterations of one rank."""

    def __init__(self, begins):
        self.begins = begins

    def later(self, at, count):
        i = bisect_left(self.begins, at) + count
        return self.begins[i] if i < len(self.begins) else float("inf")

    def earlier(self, at, count):
        i = bisect_left(self.begins, at + 1e-4) - count
        return self.begins[i] if 0 <= i < len(self.begins) else at if i >= 0 else self.begins[0]

    def between(self, begin, end):
        return max(0, bisect_left(self.begins, end) - bisect_left(self.begins, begin + 1e-4))


@dataclass
class Found:
    """How one incident fared."""

    kind: str
    incident: object
    detected: bool = False
    right: bool = False
    wrong: bool = False
    delay: float = 0.0          # steps, or seconds of an incident in sampled metrics
    warnings: int = 0           # alerts that reached a warning and belong to it
    causes: tuple = ()
    rules: tuple = ()


@dataclass
class JobScore:
    name: str
    kind: str
    clean: bool
    steps: int
    found: list
    false: list                 # AlertHistory that belong to no incident
    alerts: int = 0             # of any severity
    hours: float = 0.0
    label: str = ""


def window(incident, steps):
    """No margin after a standstill between two attempts: what follows is the warm-up of the next."""
    if incident.standstill:
        return Window(incident.begin, incident.end, incident.end)
    end = steps.later(incident.end, MARGIN_STEPS)
    sampled_end = incident.end + MARGIN_SECONDS
    return Window(steps.earlier(incident.begin, 2) - 0.001, end, max(end, sampled_end) if end != float("inf") else end)


def score(job, alerts, kind):
    """Incidents with what was said about them, and the warnings that belong to none."""
    steps = Steps(job.begins())
    counted = histories(alerts)
    loud = [history for history in counted if history.loud()]
    owned, found = set(), []
    for incident in job.incidents:
        where = window(incident, steps)
        result = Found(kind, incident)
        first, causes, rules = None, [], []
        for history in loud:
            belonging = _belonging(incident, where, history)
            if not belonging:
                continue
            owned.add(history.id)
            warned = [e for e in belonging if e[1] in LOUD]
            if not warned:
                continue
            result.warnings += 1
            rules.append(history.rule)
            counts = _counting(incident, warned)
            if not counts:
                continue
            causes.append((counts[0][0], belonging[-1][2]))
            first = counts[0][0] if first is None else min(first, counts[0][0])
        if first is not None:
            _judge(result, incident, first, sorted(causes), steps)
        result.rules = tuple(rules)
        found.append(result)
    false = [history for history in loud if history.id not in owned]
    return JobScore(job.name, kind, job.clean, job.steps(), found, false, len(counted),
                    (steps.begins[-1] - steps.begins[0]) / 3600)


def _belonging(incident, where, history):
    """The emissions of an alert that belong to the incident."""
    if incident.steps_are_well and history.emissions[-1][3].get("step") is not None:
        return []
    belonging = [e for e in history.emissions if where.holds(e[0], incident.sampled or history.sampled())]
    if incident.standstill and all(e[1] != "critical" for e in belonging):
        return []
    return belonging


def _counting(incident, warned):
    """The emissions by which an incident counts as found."""
    if not incident.must_stand:
        return warned
    deadline = incident.end - 0.05 * (incident.end - incident.begin)
    return [e for e in warned if e[1] == "critical" and e[0] <= deadline]


def _judge(result, incident, first, causes, steps):
    result.detected = True
    result.causes = tuple(name for _, name in causes)
    result.right = result.causes[0] in incident.accepted
    result.wrong = any(name != "unattributed" and name not in incident.accepted for name in result.causes)
    since = incident.end if incident.single else incident.begin
    result.delay = max(0.0, first - since) if incident.in_seconds else steps.between(since, first)
