"""PromQL for the dashboards.

In an expression, the first word in the braces of a selector says which variables apply to it, by the labels that its
family carries: {SELF} a trainwatch, {JOB} also the training job, {NODE} also the node, {RANK} also the rank. A label
that is absent matches "All".
"""

import re

_LEVELS = {"SELF": ("job", "instance"), "JOB": ("job", "instance", "train_job"),
           "NODE": ("job", "instance", "train_job", "node"), "RANK": ("job", "instance", "train_job", "node", "rank")}
_LEVEL = re.compile(r"\{(%s)\b" % "|".join(_LEVELS))

# Ascending: of several trainwatches that watch one run, the worst state counts.
STATES = ("finished", "starting", "running", "slow", "gone", "stalled")
SEVERITIES = ("info", "warning", "critical")


def promql(template):
    """The expression as Grafana gets it."""
    matchers = {level: ", ".join('%s=~"$%s"' % (name, name) for name in names) for level, names in _LEVELS.items()}
    return _LEVEL.sub(lambda found: "{" + matchers[found.group(1)], template)


def by_run(vector):
    """With the label `run`: the training job, or the trainwatch's address where the job has no name."""
    return ('label_replace(label_replace(%s, "run", "$1", "instance", "(.+)"), "run", "$1", "train_job", "(.+)")'
            % vector)


def of_ranks(aggregate, vector, by=""):
    return "%s by (run, rank%s) (%s)" % (aggregate, by and ", " + by, by_run(vector))


def mean_of_ranks(histogram, matchers="{RANK}"):
    """Mean of what a histogram observed, for each rank."""
    return " / ".join(of_ranks("sum", "rate(trainwatch_%s_%s%s[$__rate_interval])" % (histogram, part, matchers))
                      for part in ("sum", "count"))


def padded(vector):
    """With `rank` as four digits, so that rows of a heatmap are in numerical order."""
    return 'label_replace(label_replace(%s, "rank", "000$1", "rank", "(.+)"), "rank", "$1", "rank", "0*(....+)")' % vector


def run_state():
    """Position in STATES, from 1, of what each run is doing."""
    return "max by (run) (%s)" % by_run("(%s)" % _numbered("trainwatch_run_state", "state", STATES, "%d * %s"))


def firing(matchers=""):
    """Alerts that fire, as the position in SEVERITIES from 1, the most severe first."""
    return "sort_desc((%s) > 0)" % _numbered("trainwatch_alert_active", "severity", SEVERITIES, "%d * (%s > bool 0)",
                                             matchers)


def _numbered(family, label, values, form, matchers=""):
    return " or ".join(form % (number, '%s{JOB%s, %s="%s"}' % (family, matchers, label, value))
                       for number, value in reversed(list(enumerate(values, 1))))


def quantile(share, histogram, matchers="{RANK}", by=""):
    """Of a classic histogram, over the selected ranks together or for each value of the labels `by`."""
    labels = ", ".join(filter(None, ("le", by)))
    return ("histogram_quantile(%s, sum by (%s) (rate(trainwatch_%s_bucket%s[$__rate_interval])))"
            % (share, labels, histogram, matchers))


def mean(histogram, by, matchers="{RANK}"):
    rates = "sum by (%s) (rate(trainwatch_%s_%s%s[$__rate_interval]))"
    return " / ".join(rates % (by, histogram, part, matchers) for part in ("sum", "count"))


_LOST = "rate(trainwatch_lost_gpu_seconds_total{RANK}[$__rate_interval])"
_LOSERS = "count by (train_job, instance, node, rank) (%s)" % _LOST


def lost_share(by, causes=".*"):
    """Lost GPU time by the label `by`, as a share of the time of all selected ranks."""
    return ('sum by (%s) (%s) / scalar(count(%s))'
            % (by, _LOST.replace("{RANK", '{RANK, cause=~"%s"' % causes if causes != ".*" else "{RANK"), _LOSERS))


def lost_share_by_run():
    return "sum by (run) (%s) / count by (run) (%s)" % (by_run(_LOST), by_run(_LOSERS))


def lost_share_of_ranks():
    """A rank loses so many GPU seconds in each second."""
    return of_ranks("sum", _LOST)


def lost_seconds(by):
    """Over the range of time that the dashboard shows."""
    return "sort_desc(sum by (%s) (increase(trainwatch_lost_gpu_seconds_total{RANK}[$__range])) > 0)" % by
