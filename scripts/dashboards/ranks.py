"""Which rank the others wait for. In synchronous training all steps take equally long: the culprit works longest and
waits least."""

from dashboards import panels as p
from dashboards import queries as q

TRAIN = '{RANK, mode="train"}'
STEPS = q.of_ranks("sum", "rate(trainwatch_steps_total%s[$__rate_interval])" % TRAIN)
STEP = q.mean_of_ranks("step_duration_seconds", TRAIN)
OWN_WORK = q.of_ranks("sum", 'rate(trainwatch_step_phase_seconds_sum{RANK, phase=~"forward|backward|optimizer"}'
                      "[$__rate_interval])") + " / " + STEPS
PHASES = (q.of_ranks("sum", "rate(trainwatch_step_phase_seconds_sum{RANK}[$__rate_interval])", "phase")
          + " / on (run, rank) group_left " + STEPS)
WAITS = q.of_ranks("sum", "rate(trainwatch_getnext_duration_seconds_sum{RANK}[$__rate_interval])")
COMMUNICATION = " / ".join(q.of_ranks("sum", "rate(trainwatch_gpu_time_seconds_total{RANK%s}[$__rate_interval])" % kind)
                           for kind in (', kind="communication"', ""))
NAME = "{{run}} {{rank}}"


def over_ranks(aggregate, vector):
    return "%s by (run) (%s)" % (aggregate, vector)


PANELS = [
    p.stat("Ranks", "Ranks with training steps in the last interval.", "none",
           [("count(%s > 0)" % STEPS, "ranks")],
           start=p.NOTE, width=3),
    p.stat("Most own work", "The rank whose forward, backward and optimizer phases take longest: the one the others wait "
           "for, if it stands out. Needs phases in the timeline.", "s", [("topk(1, %s)" % OWN_WORK, "rank " + NAME)],
           text="value_and_name", start=p.IDLE, width=6, graph="none"),
    p.stat("Most waiting for data", "The rank that spends the largest share of its time in the data loader.", "percentunit",
           [("topk(1, %s)" % WAITS, "rank " + NAME)], text="value_and_name", steps=[(0.06, p.WARN)], start=p.IDLE, width=5,
           graph="none"),
    p.stat("Least GPU communication", "The rank that waits least in collectives, where a profiler trace says so: the others "
           "wait for it.", "percentunit",
           [("bottomk(1, %s)" % COMMUNICATION, "rank " + NAME)], text="value_and_name", start=p.IDLE, width=5, graph="none"),
    p.stat("Most time lost", "The rank that loses the largest share of its time, for whatever cause.", "percentunit",
           [("topk(1, %s)" % q.lost_share_of_ranks(), "rank " + NAME)], text="value_and_name", steps=[(0.05, p.WARN)],
           start=p.IDLE, width=5, graph="none"),
    p.row("Rank by rank over time"),
    p.heatmap("Step time", "Mean training step. A row that is brighter than the others is one slow rank; a bright column is "
              "a moment at which all of them were slow.", "s", (q.padded(STEP), NAME)),
    p.heatmap("Own work per step", "Forward, backward and optimizer, without waiting. A bright row is the straggler, also "
              "where all steps take equally long.", "s", (q.padded(OWN_WORK), NAME)),
    p.heatmap("Waiting for data", "Share of the time spent in the data loader.", "percentunit", (q.padded(WAITS), NAME)),
    p.heatmap("GPU time lost", "Share of the time of each rank, all causes together.", "percentunit",
              (q.padded(q.lost_share_of_ranks()), NAME)),
    p.row("Rank against rank"),
    p.bar_chart("Phases of a step, by rank", "Mean seconds of each phase per training step. Compare the lengths of one "
                "colour.", "s", q.padded(PHASES), "rank", "phase"),
    p.table("Slowest ranks", "The 20 ranks with the longest own work, or with the longest steps where phases are not "
            "recorded.", "s",
            [{"expr": "topk(20, %s)" % STEP, "legendFormat": ""},
             {"expr": OWN_WORK, "legendFormat": ""},
             {"expr": WAITS, "legendFormat": ""},
             {"expr": q.lost_share_of_ranks(), "legendFormat": ""}],
            width=12, height=9, order=("run", "rank", *("Value #" + letter for letter in "ABCD")), sort="Own work",
            overrides=[p.override("run", displayName="Run"), p.override("rank", displayName="Rank"),
                       p.override("Value #A", displayName="Step", unit="s"),
                       p.override("Value #B", displayName="Own work", unit="s"),
                       p.override("Value #C", displayName="Waiting for data", unit="percentunit", decimals=1),
                       p.override("Value #D", displayName="Time lost", unit="percentunit", decimals=1)]),
    p.row("Spread"),
    p.timeseries("Step time over ranks", "Fastest, median and slowest rank. Far apart: one rank alone is slow. All up "
                 "together: all are slow.", "s",
                 [(over_ranks("max", STEP), "slowest {{run}}"),
                  ("quantile by (run) (0.5, %s)" % STEP, "median {{run}}"),
                  (over_ranks("min", STEP), "fastest {{run}}")]),
    p.timeseries("Own work over ranks", "As before, without waiting: a straggler shows here although all steps take equally "
                 "long.", "s",
                 [(over_ranks("max", OWN_WORK), "most {{run}}"),
                  ("quantile by (run) (0.5, %s)" % OWN_WORK, "median {{run}}"),
                  (over_ranks("min", OWN_WORK), "least {{run}}")]),
    p.timeseries("Phases of a step", "Mean seconds per training step, over the selected ranks.", "s",
                 [("avg by (phase) (%s)" % PHASES, "{{phase}}")], stack=True),
    p.timeseries("Checkpoints and communication", "Mean seconds of one. Phases that do not occur are not shown.", "s",
                 [(q.mean("step_phase_seconds", "phase", '{RANK, phase=~"checkpoint|communication"}'), "{{phase}}")]),
]

DASHBOARD = p.dashboard("trainwatch-ranks", "Ranks", "Which rank is slow, and which one the others wait for.", PANELS)
