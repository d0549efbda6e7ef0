# SPDX-License-Identifier: Apache-2.0
"""Which job is slow, stalled, failed or finished, what that costs, and what fires."""

from dashboards import panels as p
from dashboards import queries as q

STATE_WORDS = p.words(("finished", p.OVER), ("cancelled", p.OVER), ("starting", p.NOTE), ("running", p.GOOD),
                      ("slow", p.WARN), ("gone", "purple"), ("stalled", p.BAD), ("failed", "dark-red"))
SEVERITY_WORDS = p.words(("info", p.NOTE), ("warning", p.WARN), ("critical", p.BAD))
STEPS = q.of_runs("avg", 'rate(trainwatch_steps_total{RANK, mode="train"}[$__rate_interval])')
SINCE_LAST_STEP = "time() - " + q.of_runs("max", 'trainwatch_last_step_timestamp_seconds{RANK, mode="train"}')
ADDRESS = "${scheme}://${__data.fields.instance}"


def runs_that_are(state):
    return q.or_zero("count(max by (run) (%s) == 1)" % q.by_run('trainwatch_run_state{JOB, state="%s"}' % state))


def firing(severity):
    return q.or_zero('sum(trainwatch_alert_active{JOB, severity="%s"})' % severity)


def step_time(share):
    return q.quantile_by_run(share, "step_duration_seconds", '{RANK, mode="train"}')


def logged(tag, tag_not=""):
    """Of each run and tag that matches, without regard to case."""
    without = ', tag!~"(?i)%s"' % tag_not if tag_not else ""
    return q.of_runs("avg", 'trainwatch_scalar{JOB, tag=~"(?i)%s"%s}' % (tag, without), "tag")


ALIVE = "max by (run) (%s) == 1" % q.by_run('trainwatch_run_state{JOB, state=~"starting|running|slow|stalled"}')
BLIND = q.or_zero('count((up{SELF}%s) == 0 or max by (job, instance) (trainwatch_source_lag_seconds{SELF}) > 60'
                  ' or trainwatch_state_degraded{SELF} == 1)' % q.OURS)


RUNS_TABLE = p.table(
    "Runs", "One row for each run, the worst state first. A run is a training job, or the address of the trainwatch that "
    "watches it where the job has no name. The rate is that of the training loop, not a sum over ranks. Goodput is "
    "new steps at the clean pace, of all the wall time of the run.", "none",
    [{"expr": q.run_state_with_choice(), "legendFormat": ""},
     {"expr": STEPS, "legendFormat": ""},
     {"expr": step_time(0.5), "legendFormat": ""},
     {"expr": step_time(0.95), "legendFormat": ""},
     {"expr": SINCE_LAST_STEP, "legendFormat": ""},
     {"expr": q.lost_share_by_run(), "legendFormat": ""},
     {"expr": q.of_run("goodput_ratio"), "legendFormat": ""},
     {"expr": q.of_run("training_step"), "legendFormat": ""},
     {"expr": "max by (run) (%s)" % q.by_run("increase(trainwatch_attempts_total{JOB}[$__range])"), "legendFormat": ""},
     {"expr": "sum by (run) (%s) > 0" % q.by_run('trainwatch_alert_active{JOB, severity=~"warning|critical"}'),
      "legendFormat": ""}],
    order=("run", *("Value #" + letter for letter in "ABCDEFGHIJ")), sort="State",
    overrides=[
        p.override("run", displayName="Run", links=[
            {"title": "Ranks of this run", "url": "/d/trainwatch-ranks?${__url_time_range}&${datasource:queryparam}"
             "&${job:queryparam}&${instance:queryparam}&var-train_job=${__data.fields.choice}"}]),
        p.override("choice", custom_hidden=True, custom_hideFrom_viz=True),  # before and from Grafana 12.2
        p.override("Value #A", displayName="State", mappings=STATE_WORDS,
                   custom_cellOptions={"type": "color-background", "mode": "basic"}),
        p.override("Value #B", displayName="Steps/s", unit="none", decimals=2),
        p.override("Value #C", displayName="Step, median", unit="s"),
        p.override("Value #D", displayName="Step, p95", unit="s"),
        p.override("Value #E", displayName="Since last step", unit="s"),
        p.override("Value #F", displayName="Time lost, now", unit="percentunit", decimals=1,
                   thresholds=p.thresholds((0.05, p.WARN), (0.3, p.BAD), start=p.IDLE),
                   custom_cellOptions={"type": "color-text"}),
        p.override("Value #G", displayName="Goodput", unit="percentunit", decimals=1),
        p.override("Value #H", displayName="Step", unit="none", decimals=0),
        p.override("Value #I", displayName="Restarts", unit="none", decimals=0,
                   thresholds=p.thresholds((1, p.WARN), start=p.IDLE), custom_cellOptions={"type": "color-text"}),
        p.override("Value #J", displayName="Alerts", unit="none",
                   thresholds=p.thresholds((1, p.WARN), start=p.IDLE), custom_cellOptions={"type": "color-text"})])

ALERTS_TABLE = p.table(
    "What fires", "Alerts that fire now, the most severe first. The rule opens its page: what it means and what to do. The "
    "instance opens trainwatch's own page with the cause and the numbers.", "none",
    [{"expr": q.firing(), "legendFormat": ""}],
    hide=("job", "severity"), order=("Value", "rule", "train_job", "node", "rank", "instance"), sort="Severity",
    no_value="nothing fires",
    overrides=[
        p.override("Value", displayName="Severity", mappings=SEVERITY_WORDS, custom_width=110,
                   custom_cellOptions={"type": "color-background", "mode": "basic"}),
        p.override("rule", displayName="Rule", links=[
            {"title": "What it means and what to do", "url": ADDRESS + "/docs/rules/${__value.raw}", "targetBlank": True}]),
        p.override("train_job", displayName="Training job"),
        p.override("node", displayName="Node"),
        p.override("rank", displayName="Rank", custom_width=80),
        p.override("instance", displayName="Instance", links=[
            {"title": "trainwatch's page", "url": ADDRESS + "/", "targetBlank": True}])])

PANELS = [
    p.stat("Stalled", "Runs without a step for far longer than usual.", "none", [(runs_that_are("stalled"), "stalled")],
           steps=[(1, p.BAD)], start=p.IDLE, width=3),
    p.stat("Failed", "Runs that ended by a failure, and have not begun again.", "none", [(runs_that_are("failed"), "failed")],
           steps=[(1, p.BAD)], start=p.IDLE, width=3),
    p.stat("Slow", "Runs that lose training time now.", "none", [(runs_that_are("slow"), "slow")],
           steps=[(1, p.WARN)], start=p.IDLE, width=2),
    p.stat("Running", "Runs that train as usual.", "none", [(runs_that_are("running"), "running")],
           start=p.GOOD, width=2),
    p.stat("Gone", "Runs whose process disappeared without an end.", "none", [(runs_that_are("gone"), "gone")],
           steps=[(1, "purple")], start=p.IDLE, width=2),
    p.stat("Critical alerts", "What has stopped or ruined the training.", "none", [(firing("critical"), "critical")],
           steps=[(1, p.BAD)], start=p.IDLE, width=3),
    p.stat("Warnings", "What costs training time now.", "none", [(firing("warning"), "warnings")],
           steps=[(1, p.WARN)], start=p.IDLE, width=3),
    p.stat("Monitors blind", "Instances of trainwatch that Prometheus cannot reach, that lag by more than a minute, or that "
           "cannot store alerts: what they watch may be worse than it looks.", "none", [(BLIND, "blind")],
           steps=[(1, p.BAD)], start=p.IDLE, width=3,
           links=[p.link("trainwatch itself", "/d/trainwatch-self")]),
    p.stat("GPU time lost", "Over the time that the dashboard shows, as far as it is booked: wall time lost, times the ranks.", "s",
           [("sum(%s)" % q.lost_gpu_seconds(), "lost")], start=p.IDLE, width=3, graph="none"),
    p.state_timeline("What each run was doing", "The worst state that any trainwatch reports for the run.",
                     [(q.run_state(), "{{run}}")], STATE_WORDS, height=6, legend=False),
    RUNS_TABLE,
    ALERTS_TABLE,
    p.row("Pace"),
    p.timeseries("Steps per second", "Training steps per second of the loop: the mean over ranks, not their sum.", "none",
                 [(STEPS, "{{run}}")], decimals=2),
    p.timeseries("Step time", "Half of the training steps take less than the median, one in twenty longer than p95.", "s",
                 [(step_time(0.95), "p95 {{run}}"), (step_time(0.5), "median {{run}}")], exemplars=True,
                 log=True),
    p.row("Where the time goes"),
    p.timeseries("Time, by part", "Share of the wall time of the selected runs. Training is new steps at the clean pace. A hang "
                 "is stalled while it lasts.", "percentunit", [(q.time_share(""), "{{part}}")], stack=True, bars=True, width=16),
    p.bar_gauge("GPU time lost in this range, by part", "Seconds, as far as they are booked: wall time lost, times the ranks.", "s",
                [("sort_desc(sum by (part) (%s) > 0)" % q.lost_gpu_seconds("part"), "{{part}}")]),
    p.timeseries("Time lost, by run", "Share of the wall time of each run: all parts but training, startup, restore, checkpoint "
                 "and evaluation.", "percentunit",
                 [(q.lost_share_by_run(), "{{run}}")], steps=[(0.05, p.WARN)]),
    p.timeseries("Time since the last step", "Grows while a run stands still. Runs that are over are not shown.", "s",
                 [("%s and on (run) %s" % (SINCE_LAST_STEP, ALIVE), "{{run}}")], log=True),
    p.row("What the jobs log"),
    p.timeseries("Loss", "The tags with `loss` in their name: means over ranks, of the last value that each logged. NaN is a gap, and "
                 "the alert loss_nan.", "none", [(logged(".*loss.*", tag_not=".*scale.*"), "{{run}} {{tag}}")], low=None, width=8),
    p.timeseries("Norm of the gradient", "As before, of tags such as `grad_norm`. It grows before a loss diverges.", "none",
                 [(logged(".*grad.?norm.*"), "{{run}} {{tag}}")], width=8),
    p.timeseries("Learning rate", "As before, of tags such as `lr` and `learning_rate`.", "none",
                 [(logged("(.*[/_.-])?l(earning.?)?r(ate)?([/_.-].*)?"), "{{run}} {{tag}}")], width=8),
    p.row("Alerts"),
    p.timeseries("Alerts firing", "By rule. Info is worth knowing, warnings cost training time, critical alerts have "
                 "stopped it.", "none",
                 [("sum by (rule, severity) (trainwatch_alert_active{JOB}) > 0", "{{rule}} ({{severity}})")],
                 stack=True, bars=True, decimals=0),
    p.timeseries("Alerts opened", "Alerts that reached the severity.", "none",
                 [("sum by (rule, severity) (increase(trainwatch_alerts_total{SELF}[$__rate_interval])) > 0",
                   "{{rule}} ({{severity}})")], bars=True, stack=True, decimals=0),
]

DASHBOARD = p.dashboard("trainwatch-jobs", "Jobs", "Which job is slow, stalled, failed or finished, what that costs, "
                        "and what fires.", PANELS)
