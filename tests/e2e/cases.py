# SPDX-License-Identifier: Apache-2.0
"""What is wanted of the files of one case, what trainwatch says of them, and the difference in sentences.

`Case` is data: a member that is None is not asked about. No critical alert that a case does not want may come, in a replay
or live, so a control needs no more than its name."""

import dataclasses
import json
import math
import os
import re
import urllib.error
import urllib.parse
import urllib.request

import harness

ENVIRONMENT = {**os.environ, "TZ": "UTC"}  # most logs say no zone


@dataclasses.dataclass(frozen=True)
class Alert:
    """`step` is of the alert, `since` what it says of a change of level, each a number or a range; `says` are patterns in its
    sentence, `evidence` in all of it; `last` are the last finite value and its step, which may be None: any."""
    rule: object  # a name, several, or None for any
    severity: object = None
    step: object = None
    since: object = None
    says: tuple = ()
    evidence: tuple = ()
    last: object = None

    def complaints(self, alert):
        if self.severity and alert["severity"] not in names(self.severity):
            yield "severity %s" % alert["severity"]
        if self.step is not None and not within(alert["step"], self.step):
            yield "step %s" % alert["step"]
        since = alert["evidence"].get("since_step")
        if self.since is not None and not within(since, self.since):
            yield "since step %s" % since
        for pattern in self.says:
            if not re.search(pattern, alert["summary"]):
                yield "says %r, without /%s/" % (alert["summary"], pattern)
        for pattern in self.evidence:
            if not re.search(pattern, json.dumps(alert)):
                yield "/%s/ is nowhere in it" % pattern
        if self.last is not None:
            found = alert["evidence"].get("last_finite"), alert["evidence"].get("last_finite_step")
            if not (close(found[0], self.last[0], 1e-4) and self.last[1] in (None, found[1])):
                yield "last finite %s at %s" % found


@dataclasses.dataclass(frozen=True)
class Points:
    """A series of scalars: its kind or tag, how many points, the first and the last step, values at steps. Of several
    series that match, one has to be as wanted."""
    kind: str = "loss"
    tag: object = None
    count: object = None
    first: object = None
    last: object = None
    at: dict = dataclasses.field(default_factory=dict)
    ends: tuple = ()  # the first and the last value
    first_bad: object = None  # the index of the first value that is not finite
    rising: bool = True  # steps never go back

    def complaints(self, series):
        points = series["points"]
        if self.count is not None and not within(len(points), self.count):
            yield "%d points" % len(points)
        if not points:
            return
        for name, wanted, point in (("first", self.first, points[0]), ("last", self.last, points[-1])):
            if wanted is not None and not within(point[0], wanted):
                yield "%s step %s" % (name, point[0])
        by_step = {point[0]: point[2] for point in points}
        for step, wanted in self.at.items():
            if not same(by_step.get(step), wanted):
                yield "%s at step %s" % (by_step.get(step), step)
        bad = next((index for index, point in enumerate(points) if isinstance(point[2], str)), None)
        if self.first_bad is not None and bad != self.first_bad:
            yield "the first value that is not finite is number %s" % bad
        steps = [point[0] for point in points if point[0] is not None]
        if self.rising and steps != sorted(steps):
            yield "steps go back"
        for wanted, point in zip(self.ends, (points[0], points[-1])):
            if not same(point[2], wanted):
                yield "%s at an end, step %s" % (point[2], point[0])

    def search(self, all_series):
        found = [series for series in all_series if (re.fullmatch(self.tag, series["tag"]) if self.tag else series["kind"] == self.kind)]
        what = self.tag or self.kind
        if self.tag and self.kind:
            found = [series for series in found if series["kind"] == self.kind]
        if not found:
            return ["no series of %s" % what]
        said = min((list(self.complaints(series)) for series in found), key=len)
        return ["%s: %s, wanted %s" % (what, each, self.wanted()) for each in said]

    def wanted(self):
        return ", ".join("%s=%s" % (name, value) for name, value in dataclasses.asdict(self).items() if value not in (None, {}, (), "loss", True))


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    make: object = None      # writes the files, or more of them, into a directory
    touch: object = None     # when they were last written, Unix time
    nothing: bool = False    # there is nothing to read
    readable: object = True  # each file has records; None: either
    run: object = True       # whether there is a run; None: either
    records: object = None   # as `trainwatch formats` counts them
    points: tuple = (Points(),)
    step: object = None      # of the run, its latest
    first_step: object = None
    total: object = None
    pace: object = None      # seconds per step at the end, which a daemon may take to be later; of several one
    alerts: tuple = ()
    may: tuple = ()          # rules whose alerts may be critical, and need not come
    quiet: bool = False      # no alert at all
    state: tuple = ()
    end: dict = None         # members of the end
    headline: tuple = ()     # patterns
    never: tuple = ("failed",)  # states
    more: object = None      # a function of what was seen, gives complaints


def names(value):
    return (value,) if isinstance(value, str) else value


def within(found, wanted):
    """`wanted` is a number, or the least and the most."""
    if found is None:
        return False
    low, high = wanted if isinstance(wanted, tuple) else (wanted, wanted)
    return low <= found <= high


def close(found, wanted, relative=0.02):
    return isinstance(found, (int, float)) and math.isclose(found, wanted, rel_tol=relative, abs_tol=1e-9)


def same(found, wanted):
    """Values as the API has them: "NaN" and "+Inf" are texts."""
    return found == wanted if isinstance(wanted, str) or wanted is None else close(found, wanted, 1e-4)


class Seen:
    """What the commands print of a directory. Empty where a command fails; the exit codes are there."""

    def __init__(self, directory, live=None):
        self.directory, self.live = directory, live
        self.files = sorted(os.path.join(folder, name) for folder, _, found in os.walk(directory) for name in found)
        self.formats, self.formats_code = self._lines("formats", "--format=json", *self.files)
        alerts, self.replay_code = self._lines("replay", "--format=json", directory)
        self.alerts = list(harness.final(alerts).values())
        self.runs, self.runs_code = self._lines("runs", "--format=json", directory)

    def _lines(self, *arguments):
        done = self.command(*arguments)
        if done.returncode < 0:
            raise AssertionError("%s ended by signal %d: %s" % (arguments[0], -done.returncode, done.stderr))
        return [json.loads(line) for line in done.stdout.splitlines()], done.returncode

    def command(self, *arguments):
        return harness.run(*arguments, env=ENVIRONMENT)

    def read(self):
        """Of `formats`: the entries of files that give something."""
        return [entry for entry in self.formats if "skipped" not in entry and "format" in entry]


class Live:
    """What one daemon says of all cases, each a directory below the one that it watches."""

    def __init__(self, root, trainwatch):
        self.root = root
        self._all_read(trainwatch)
        self.runs = trainwatch.json("/api/v1/runs")["runs"]
        self.alerts = trainwatch.json("/api/v1/alerts?state=firing")["alerts"] + trainwatch.json("/api/v1/alerts?state=resolved")["alerts"]
        self.metrics = trainwatch.get("/metrics")
        jobs = {run["job"] for run in self.runs} | {os.path.relpath(folder, root) for folder, _, _ in os.walk(root)}
        self.series, self.undocumented = [], []
        for job in sorted(jobs):
            try:
                self.series += self._series(trainwatch, job)
            except urllib.error.HTTPError:
                pass  # nothing of that name is known

    def _series(self, trainwatch, job):
        """What is not as the document of the API says is a complaint about this job, not the end of all."""
        path = "/api/v1/scalars?last=1000&job=" + urllib.parse.quote(job, safe="")
        try:
            return trainwatch.json(path)["series"]
        except AssertionError as error:
            self.undocumented.append((job, "scalars: " + str(error).splitlines()[0][:200]))
            with urllib.request.urlopen(trainwatch.url + path, timeout=harness.PATIENCE_SECONDS) as answer:
                return json.load(answer)["series"]

    def _all_read(self, trainwatch):
        """All that it opens is read, and nothing comes any more."""
        state = {"before": None, "same": 0}

        def settled():
            status = trainwatch.json("/api/v1/status")
            now = [(file["path"], file["offset"], file["records"]) for file in status["files"]]
            unread = any(file["offset"] < file["size"] for file in status["files"])
            state["same"] = 0 if unread or now != state["before"] else state["same"] + 1
            state["before"] = now
            return status["ready"] and state["same"] > 50
        harness.wait_for(settled, "all cases are read")

    def of(self, name):
        """What concerns one case."""
        def mine(job):
            return job == name or (job or "").startswith(name + "/")
        view = object.__new__(Live)
        view.root = self.root
        view.runs = [run for run in self.runs if mine(run["job"])]
        view.alerts = [alert for alert in self.alerts if mine(alert["subject"].get("job"))]
        view.undocumented = [(job, complaint) for job, complaint in self.undocumented if mine(job)]
        view.series = [series for series in self.series if mine(series["job"])]
        view.metrics = "\n".join(line for line in self.metrics.splitlines() if re.search(r'job="%s["/]' % re.escape(name), line))
        return view


def judge(case, seen):
    """What is not as wanted, in sentences; nothing if all is right."""
    if case.nothing:
        yield from judge_nothing(seen)
    else:
        yield from judge_reading(case, seen)
        yield from judge_runs(case, seen)
    yield from judge_alerts(case, seen.alerts, "replay")
    if seen.live:
        yield from judge_alerts(case, seen.live.alerts, "live", wanted=False)
        yield from (complaint for _, complaint in seen.live.undocumented)
    if case.more:
        yield from case.more(seen)


def judge_nothing(seen):
    read = [entry for entry in seen.read() if entry.get("records")]
    if read:
        yield "read as " + ", ".join("%s (%s records)" % (entry.get("declared", entry["format"]), entry["records"]) for entry in read)
    for name, code in (("formats", seen.formats_code), ("replay", seen.replay_code)):
        if code != 1:
            yield "%s exits with %d" % (name, code)
    if seen.runs or seen.alerts:
        yield "%d runs, %d alerts of nothing" % (len(seen.runs), len(seen.alerts))


def judge_reading(case, seen):
    if case.readable is not None and seen.formats_code != (0 if case.readable else 1):
        yield "formats exits with %d" % seen.formats_code
    skipped = [entry for entry in seen.formats if "skipped" in entry]
    if case.readable and skipped:
        yield "skipped: " + skipped[0]["skipped"]
    if case.records is not None and not within(sum(entry["records"] for entry in seen.read()), case.records):
        yield "%s records, wanted %s" % ([entry["records"] for entry in seen.read()], case.records)
    for points in case.points if seen.live else ():
        yield from points.search(seen.live.series)


def judge_runs(case, seen):
    for where, runs in (("runs", seen.runs), *([("live", seen.live.runs)] if seen.live else [])):
        if case.run is True and not runs:
            yield "%s: no run" % where
        if case.run is False and runs:
            yield "%s: a run" % where
        for run in runs:
            for complaint in judge_run(case, run, where):
                yield "%s: %s" % (where, complaint)


def judge_run(case, run, where):
    life = run["life"]
    for name, found, wanted in (("step", run["step"], case.step), ("total steps", life["total_steps"], case.total),
                                ("first step", run["attempts"][0]["first_step"], case.first_step)):
        if wanted is not None and not within(found, wanted):
            yield "%s %s, wanted %s" % (name, found, wanted)
    paces = case.pace if isinstance(case.pace, tuple) else (case.pace,)
    if case.pace is not None and where == "runs" and not any(close(run["seconds_per_step"], pace, 0.05) for pace in paces):
        yield "%s s per step, wanted %s" % (run["seconds_per_step"], case.pace)
    if case.state and run["state"] not in case.state or not case.state and run["state"] in case.never:
        yield "it is %s, wanted %s" % (run["state"], " or ".join(case.state) or "no " + " or ".join(case.never))
    for name, wanted in (case.end or {}).items():
        found = (run["end"] or {}).get(name)
        if found != wanted:
            yield "end: %s %s, wanted %s" % (name, found, wanted)
    for pattern in case.headline:
        if not re.search(pattern, run["headline"]["text"]):
            yield "%r, without /%s/" % (run["headline"]["text"], pattern)


def judge_alerts(case, alerts, where, wanted=True):
    if case.quiet:
        for alert in alerts:
            yield "%s: an alert: %s: %s" % (where, alert["rule"], alert["summary"])
        return
    rules = set(case.may) | {rule for each in case.alerts for rule in (names(each.rule) if each.rule else ())}
    anything = any(each.rule is None for each in case.alerts)
    for alert in alerts:
        if alert["severity"] == "critical" and alert["rule"] not in rules and not anything:
            yield "%s: a critical %s: %s" % (where, alert["rule"], alert["summary"])
    for each in case.alerts if wanted else ():
        candidates = [alert for alert in alerts if each.rule is None or alert["rule"] in names(each.rule)]
        if not candidates:
            yield "%s: no %s" % (where, " or ".join(names(each.rule)) if each.rule else "alert that says /%s/" % "/".join(each.says))
            continue
        for complaint in min((list(each.complaints(alert)) for alert in candidates), key=len):
            yield "%s: %s: %s, wanted %s" % (where, each.rule or "alert", complaint,
                                             {name: value for name, value in dataclasses.asdict(each).items()
                                              if value not in (None, ()) and name != "rule"})
