# SPDX-License-Identifier: Apache-2.0
"""Which rank the others wait for. In synchronous training all steps take equally long: the culprit works longest and
waits least."""

from dashboards import panels as p
from dashboards import queries as q

TRAIN = '{RANK, mode="train"}'
STEPS = q.of_ranks("sum", "rate(trainwatch_steps_total%s[$__rate_interval])" % TRAIN)
STEP = q.mean_of_ranks("step_duration_seconds", TRAIN)
OWN_WORK = q.ratio(q.of_ranks("sum", 'rate(trainwatch_step_phase_seconds_sum{RANK, phase=~"forward|backward|optimizer"}'
                              "[$__rate_interval])"), STEPS)
PHASES = q.ratio(q.of_ranks("sum", "rate(trainwatch_step_phase_seconds_sum{RANK}[$__rate_interval])", "phase"), STEPS,
                 " on (%s) group_left ()" % q.RANK)
MEAN_PHASES = q.ratio("sum by (phase) (rate(trainwatch_step_phase_seconds_sum{RANK}[$__rate_interval]))",
                      "sum(rate(trainwatch_steps_total%s[$__rate_interval]))" % TRAIN, " on () group_left ()")
WAITS = q.of_ranks("sum", "rate(trainwatch_getnext_duration_seconds_sum{RANK}[$__rate_interval])")
COMMUNICATION = q.ratio(*(q.of_ranks("sum", "increase(trainwatch_gpu_time_seconds_total{RANK%s}[$__range])" % kind)
                          for kind in (', kind="communication"', "")))
OWN_WORK_OF_NODES = q.against_median(q.own_work_of_nodes())
NAME = "{{run}} {{rank}}"
SLOWEST = "topk(20, %s or %s)" % (OWN_WORK, STEP)


PANELS = [
    p.stat("Ranks", "Ranks with training steps in the last interval.", "none",
           [("count(%s > 0)" % STEPS, "ranks")],
           start=p.NOTE, width=3),
    p.stat("Most own work", "How much longer than on the median rank forward, backward and optimizer take on the rank "
           "where they take longest: the one the others wait for. Needs phases in the timeline.", "percentunit",
           [("topk(1, %s - 1)" % q.against_median(OWN_WORK), "rank " + NAME)], text="value_and_name",
           steps=[(0.1, p.WARN)], start=p.IDLE, width=6, graph="none"),
    p.stat("Most waiting for data", "The rank that spends the largest share of its time in the data loader.", "percentunit",
           [("topk(1, %s)" % q.by_run(WAITS), "rank " + NAME)], text="value_and_name", steps=[(0.06, p.WARN)], start=p.IDLE, width=5,
           graph="none"),
    p.stat("Least GPU communication", "The rank that waits least in collectives, where profiler traces were written in the "
           "time that the dashboard shows: the others wait for it.", "percentunit",
           [("bottomk(1, %s)" % q.by_run(COMMUNICATION), "rank " + NAME)], text="value_and_name", start=p.IDLE, width=5, graph="none"),
    p.stat("Slowest node", "How much longer than on the median node the own work of an iteration takes, of the trainwatch whose "
           "ranks take longest: the one the others wait for.", "percentunit",
           [("topk(1, %s - 1)" % OWN_WORK_OF_NODES, "{{run}} {{instance}}")], text="value_and_name", steps=[(0.1, p.WARN)],
           start=p.IDLE, width=5, graph="none"),
    p.row("Rank by rank over time"),
    p.heatmap("Own work, against the median rank", "Forward, backward and optimizer, without waiting: 1 is as long as on the "
              "median rank of the run. A red row is the straggler, also where all steps take equally long.", "none",
              (q.rows(q.against_median(OWN_WORK)), NAME), low=0.5, high=1.5, diverging=True),
    p.heatmap("Step time, against the median rank", "As before, of whole steps. All alike: the ranks wait for each other, and "
              "own work tells them apart.", "none",
              (q.rows(q.against_median(STEP)), NAME), low=0.5, high=1.5, diverging=True),
    p.heatmap("Waiting for data", "Share of the time spent in the data loader; brightest from 30 % on.", "percentunit",
              (q.rows(q.by_run(WAITS)), NAME), high=0.3),
    p.timeseries("Own work of nodes, against the median node", "The rank of each trainwatch that comes last with its own work, of an "
                 "iteration. Where each trainwatch sees a few ranks of a job, the node above the others is the one they wait for.",
                 "none", [("topk(20, %s)" % OWN_WORK_OF_NODES, "{{run}} {{instance}}")], decimals=2, height=9, points=100),
    p.row("Rank against rank"),
    p.bar_chart("Phases of a step, by rank", "Mean seconds of each phase per training step, on the 20 slowest ranks. Compare the "
                "lengths of one colour.", "s", 'label_join(%s, "row", " ", "run", "rank")' % q.padded(q.by_run(
                    "(%s and on (%s) %s)" % (PHASES, q.RANK, SLOWEST))), "row", "phase"),
    p.table("Slowest ranks", "The 20 ranks with the longest own work, or with the longest steps where phases are not "
            "recorded.", "s",
            [{"expr": q.by_run("(%s and %s)" % (vector, SLOWEST)), "legendFormat": ""} for vector in (STEP, OWN_WORK, WAITS)],
            width=12, height=9, hide=("train_job", "instance"), order=("run", "rank", *("Value #" + letter for letter in "ABC")), sort="Own work",
            overrides=[p.override("run", displayName="Run"), p.override("rank", displayName="Rank"),
                       p.override("Value #A", displayName="Step", unit="s"),
                       p.override("Value #B", displayName="Own work", unit="s"),
                       p.override("Value #C", displayName="Waiting for data", unit="percentunit", decimals=1)]),
    p.row("Spread"),
    p.timeseries("Step time over ranks", "Slowest, median and fastest rank. Far apart: one rank alone is slow. All up "
                 "together: all are slow.", "s", q.spread(STEP, ("slowest", "median", "fastest")), log=True, points=100),
    p.timeseries("Own work over ranks", "As before, without waiting: a straggler shows here although all steps take equally "
                 "long.", "s", q.spread(OWN_WORK, ("most", "median", "least")), log=True, points=100),
    p.timeseries("Phases of a step", "Mean seconds per training step, over the selected ranks.", "s",
                 [(MEAN_PHASES, "{{phase}}")], stack=True),
    p.timeseries("Checkpoints and communication", "Mean seconds of one. Phases that do not occur are not shown.", "s",
                 [(q.mean("step_phase_seconds", "phase", '{RANK, phase=~"checkpoint|communication"}'), "{{phase}}")]),
]

DASHBOARD = p.dashboard("trainwatch-ranks", "Ranks", "Which rank is slow, and which one the others wait for.", PANELS,
                        refresh="1m")
