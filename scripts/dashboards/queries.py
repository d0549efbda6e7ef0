# SPDX-License-Identifier: Apache-2.0
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
STATES = ("finished", "cancelled", "starting", "running", "slow", "gone", "stalled", "failed")
SEVERITIES = ("info", "warning", "critical")


def promql(template):
    """The expression as Grafana gets it."""
    matchers = {level: ", ".join('%s=~"$%s"' % (name, name) for name in names) for level, names in _LEVELS.items()}
    return _LEVEL.sub(lambda found: "{" + matchers[found.group(1)], template)


def or_zero(count):
    """0 instead of nothing, but only where a trainwatch is seen: a monitor that is down must not look like a healthy job."""
    return "%s or 0 * count(trainwatch_build_info{SELF})" % count


def by_run(vector):
    """With the label `run`: the training job, or the trainwatch's address where the job has no name."""
    return ('label_replace(label_replace(%s, "run", "$1", "instance", "(.+)"), "run", "$1", "train_job", "(.+)")'
            % vector)


# What identifies a rank; `run` is added to results only, because label_replace() is dear for thousands of ranks.
RANK = "train_job, instance, rank"


def of_ranks(aggregate, vector, by=""):
    return "%s by (%s%s) (%s)" % (aggregate, RANK, by and ", " + by, vector)


def of_runs(aggregate, vector, by=""):
    """Aggregated for each run, in two steps."""
    by = by and ", " + by
    return "%s by (run%s) (%s)" % (aggregate, by, by_run("%s by (train_job, instance%s) (%s)" % (aggregate, by, vector)))


def mean_of_ranks(histogram, matchers="{RANK}"):
    """Mean of what a histogram observed, for each rank."""
    return ratio(*(of_ranks("sum", "rate(trainwatch_%s_%s%s[$__rate_interval])" % (histogram, part, matchers))
                   for part in ("sum", "count")))


def against_median(vector):
    """Of a vector by rank: with `run`, its share of that of the median rank of the run."""
    named = by_run(vector)
    return "%s / on (run) group_left () quantile by (run) (0.5, %s)" % (named, named)


def spread(vector, names=("highest", "median", "lowest")):
    """Queries for the highest, median and lowest rank of each run."""
    return [(form % by_run(vector), name + " {{run}}") for form, name in zip(
        ("max by (run) (%s)", "quantile by (run) (0.5, %s)", "min by (run) (%s)"), names)]


def rows(vector):
    """For a heatmap: a row for each rank, of very many those that are highest at each moment."""
    return padded("topk(64, %s)" % vector)


def padded(vector):
    """With `rank` as four digits, so that rows of a heatmap are in numerical order."""
    return 'label_replace(label_replace(%s, "rank", "000$1", "rank", "(.+)"), "rank", "$1", "rank", "0*(....+)")' % vector


def run_state():
    """Position in STATES, from 1, of what each run is doing."""
    return "max by (run) (%s)" % by_run(_states())


def run_state_with_choice():
    """Also with the label `choice`: the value of the variable for training jobs that selects the run."""
    choice = 'label_replace(label_replace(%s, "choice", ".*", "", ""), "choice", "$1", "train_job", "(.+)")'
    return "max by (run, choice) (%s)" % choice % by_run(_states())


def _states():
    return "(%s)" % _numbered("trainwatch_run_state", "state", STATES, "%d * %s")


def firing(matchers=""):
    """Alerts that fire, as the position in SEVERITIES from 1, the most severe first."""
    return "sort_desc((%s) > 0)" % _numbered("trainwatch_alert_active", "severity", SEVERITIES, "%d * (%s > bool 0)",
                                             matchers)


def _numbered(family, label, values, form, matchers=""):
    return " or ".join(form % (number, '%s{JOB%s, %s="%s"}' % (family, matchers, label, value))
                       for number, value in reversed(list(enumerate(values, 1))))


def quantile(share, histogram, matchers="{RANK}"):
    """Of a classic histogram of what takes time, over the selected ranks together; nothing where nothing was observed."""
    return ("histogram_quantile(%s, sum by (le) (rate(trainwatch_%s_bucket%s[$__rate_interval]))) > 0"
            % (share, histogram, matchers))


def quantile_by_run(share, histogram, matchers="{RANK}"):
    return ("histogram_quantile(%s, sum by (run, le) (%s)) > 0"
            % (share, by_run("sum by (train_job, instance, le) (rate(trainwatch_%s_bucket%s[$__rate_interval]))"
                             % (histogram, matchers))))


def ratio(numerator, denominator, matching=""):
    """Nothing, instead of NaN, where there is nothing to divide by."""
    return "%s /%s (%s > 0)" % (numerator, matching, denominator)


def mean(histogram, by, matchers="{RANK}"):
    rates = "sum by (%s) (rate(trainwatch_%s_%s%s[$__rate_interval]))"
    return ratio(*(rates % (by, histogram, part, matchers) for part in ("sum", "count")))


# The parts of wall time that are not lost.
_KEPT = "training|startup|restore|checkpoint|evaluation"

# The account is of the job: each trainwatch that sees some ranks of it has all of its wall time, so they are never summed.
# What is open may still move to another part; with what is booked it is the wall time, also while a run stands still.
_WALL = ("increase(trainwatch_run_seconds_total{JOB%s}[$__rate_interval])"
         " + delta(trainwatch_run_open_seconds{JOB%s}[$__rate_interval])")


def _by_instance(vector):
    return "sum by (train_job, instance) (%s)" % vector


def _wall_of_runs(parts=""):
    return "max by (run) (%s)" % by_run(_by_instance(_WALL % (parts, parts)))


def time_share(parts):
    """Of the wall time of all selected runs, by part. `parts`: a matcher of the label."""
    wanted = ', part=~"%s"' % parts if parts else ""
    seconds = "max by (run, part) (%s)" % by_run("sum by (train_job, instance, part) (%s)" % (_WALL % (wanted, wanted)))
    return ratio("sum by (part) (%s)" % seconds, "sum(%s)" % _wall_of_runs(), " on () group_left ()") + " > 0"


def lost_share_by_run():
    return ratio(_wall_of_runs(', part!~"%s"' % _KEPT), _wall_of_runs())


def lost_gpu_seconds(by=""):
    """Over the range of time that the dashboard shows, of what is booked."""
    by = by and ", " + by
    lost = 'increase(trainwatch_run_gpu_seconds_total{JOB, part!~"%s"}[$__range])' % _KEPT
    return "max by (run%s) (%s)" % (by, by_run("sum by (train_job, instance%s) (%s)" % (by, lost)))


def of_run(gauge):
    """A gauge of the job, which each trainwatch that sees it has."""
    return "max by (run) (%s)" % by_run("trainwatch_%s{JOB}" % gauge)


def own_work_of_nodes():
    """What the rank of each trainwatch does by itself that comes last with it, of an iteration."""
    return ratio(*("sum by (train_job, instance) (rate(trainwatch_run_own_%s_total{JOB}[$__rate_interval]))" % what
                   for what in ("seconds", "steps")))


# Prometheus' own series of targets that are trainwatches, also of those that are down now: a selector by job alone would
# find those of other exporters too.
OURS = " and on (job) group by (job) (last_over_time(trainwatch_build_info{SELF}[$__range]))"
