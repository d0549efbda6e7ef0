# SPDX-License-Identifier: Apache-2.0
"""The cases below tests/data/cases, a row each; what is wanted stands in their expected.txt, with what was seen once."""

import datetime
import json
import re

import case_generators
from cases import Alert, Case, Points, close, within

HOUR = 3600


def nan(step=None, last=None, **more):
    return Alert("loss_nan", "critical", step=step, last=last, **more)


def slower(since, **more):
    return Alert("throughput_regression", since=since, **more)


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


# What a row cannot say

def says_gpu_3(seen):
    text = json.dumps(seen.alerts)
    if "GPU 3" not in text:
        yield "GPU 3 is not named by the alert"


def three_jobs(seen):
    for where, runs in (("runs", seen.runs), ("live", seen.live.runs)):
        if sorted(run["step"] for run in runs) != [100, 100, 100]:
            yield "%s: %s, wanted three of 100 steps" % (where, [(run["job"], run["step"]) for run in runs])
    for job in ("run_job", "train_job", "training_job"):
        if not [series for series in seen.live.series if series["job"].endswith("/" + job) and series["kind"] == "loss" and len(series["points"]) == 100]:
            yield "live: no 100 losses of " + job


def never_finished_without_loss(seen):
    for run in seen.runs:
        if re.search("Finished|nothing was lost", run["headline"]["text"]):
            yield "it says %r" % run["headline"]["text"]


def until_is_when_it_was_written(seen):
    ended = instant("2026-03-01T09:00:00Z")
    for run in seen.runs:
        if not within(instant(run["last_step_at"]), (ended - 60, ended)):
            yield "last step at %s" % run["last_step_at"]
        if not within(instant(run["begin"]), (ended - 4210 - 60, ended - 990 * 4.21 + 60)):
            yield "begun at %s" % run["begin"]
    text = seen.command("runs", "--format=text", seen.directory).stdout
    if not re.search(r"Finished .*until 1 Mar 2026 09:00", text):
        yield "it says %r" % text


def both_gpus(seen):
    alerts = [alert for alert in seen.alerts if alert["rule"] in ("load_balancing", "low_gpu_utilization")]
    if not [alert for alert in alerts if re.search(r"GPU 1\b|gpu1\b", alert["summary"] + json.dumps(alert["subject"])) or alert["subject"].get("gpu") in (1, "1")]:
        yield "GPU 1 is not named: %s" % [(alert["rule"], alert["subject"], alert["summary"]) for alert in alerts]
    if not sum(entry.get("samples", 0) for entry in seen.read()) >= 900:
        yield "%s samples, wanted 900 times two GPUs" % [entry.get("samples") for entry in seen.read()]


def lost_by_the_restart(seen):
    for where, runs in (("runs", seen.runs), ("live", seen.live.runs)):
        for run in runs:
            parts, attempts = run["life"]["seconds"], run["attempts"]
            if [attempt["first_step"] for attempt in attempts] != [1, 201]:
                yield "%s: attempts begin at %s" % (where, [attempt["first_step"] for attempt in attempts])
            if (attempts[0]["end"] or {}).get("class") != "cuda_out_of_memory":
                yield "%s: the first attempt ended by %s" % (where, attempts[0]["end"])
            if not within(run["life"]["redone_steps"], 100) or not within(parts.get("redone", 0), (196, 204)):
                yield "%s: redone %s steps, %s s; wanted 100, 200 s" % (where, run["life"]["redone_steps"], parts.get("redone"))
            if not within(parts.get("down", 0), (3590, 3610)):
                yield "%s: down %s s, wanted 3,600" % (where, parts.get("down"))
            if re.search("nothing (is|was) lost", run["headline"]["text"]):
                yield "%s: it says %r" % (where, run["headline"]["text"])


def one_record_rejected(seen):
    if [(entry["records"], entry["rejected"]) for entry in seen.read()] != [(15, 1)]:
        yield "%s records and rejected, wanted 15 and 1" % [(entry["records"], entry["rejected"]) for entry in seen.read()]


def validation_is_apart(seen):
    if [series for series in seen.live.series if series["kind"] == "loss" and series["points"][-1][2] == "NaN"]:
        yield "a training loss is NaN"
    rates = {point[2] for series in seen.live.series if series["kind"] == "tokens_per_second" for point in series["points"]}
    if rates != {5120}:
        yield "tokens/s %s" % sorted(rates)


def two_runs(states, steps=None):
    def complaints(seen):
        for where, runs in (("runs", seen.runs), ("live", seen.live.runs)):
            if len(runs) != 2 or not {run["state"] for run in runs} <= set(states):
                yield "%s: %s, wanted two, %s" % (where, [(run["job"], run["state"]) for run in runs], " or ".join(states))
            if steps and sorted(run["step"] for run in runs) != steps:
                yield "%s: steps %s, wanted %s" % (where, [run["step"] for run in runs], steps)
            if any(len(run["attempts"]) != 1 for run in runs):
                yield "%s: more than one attempt" % where
    return complaints


def account(wall, share, part, seconds, rate=None):
    """Wall time, lost share, the seconds of a part (nothing else is lost), steps per second; on every surface, within a point of
    the wall time."""
    def of(where, run):
        life, parts = run["life"], run["life"]["seconds"]
        lost = {name: value for name, value in parts.items() if name not in ("training", "startup")}
        if not close(life["wall_seconds"], wall, 0.002):
            yield "%s: wall time %s, wanted %s" % (where, life["wall_seconds"], wall)
        if not within(run["lost_share"], (share - 0.01, share + 0.01)):
            yield "%s: lost %.3f, wanted %.3f" % (where, run["lost_share"], share)
        if abs(parts.get(part, 0) - seconds) > 0.01 * wall or sum(lost.values()) - lost.get(part, 0) > 0.005 * wall:
            yield "%s: lost %s, wanted %d s of %s" % (where, lost, seconds, part)
        if rate and not close(life["steps"] / life["wall_seconds"], rate, 0.005):
            yield "%s: %s steps in %s s, wanted %s a second" % (where, life["steps"], life["wall_seconds"], rate)

    def complaints(seen):
        for where, runs in (("runs", seen.runs), ("live", seen.live.runs)):
            for run in runs:
                yield from of(where, run)
        metric = sum(float(value) for value in re.findall(r'(?m)^trainwatch_run_(?:open_)?seconds(?:_total)?\{.*part="%s".*\} (\S+)' % part, seen.live.metrics))
        if abs(metric - seconds) > 0.01 * wall:
            yield "/metrics: %s s of %s, wanted %d" % (metric, part, seconds)
        report = seen.command("report", "--output=-", seen.directory).stdout
        if not re.search(r"\b%d(\.\d)? %%" % round(100 * share), report):
            yield "the report does not say %d %%" % round(100 * share)
    return complaints


def slow_half_share(seen):
    for alert in seen.alerts:
        if alert["rule"] == "input_bound" and not within(alert["value"], (25, 38.8)):
            yield "input_bound: %s %%, wanted at most 38.3" % alert["value"]


def by_turns(ranks):
    wall = {1: 699.69, 2: 699.9, 4: 700.58, 16: 701.5, 64: 702.0}[ranks]
    return Case("70-ledger-wait-by-turns-%d" % ranks, make=lambda directory: case_generators.wait_by_turns(directory, ranks), points=(),
                step=599, alerts=(Alert(("input_bound", "getnext_outlier", "step_spike", "step_outlier")),),
                more=account(wall, 0.795, "input_wait", 0.795 * wall, 0.857))


CASES = (
    Case("01-megatron-deepspeed-binding", records=(120, 121), points=(Points(count=120, first=1, last=120, ends=(5.496242, "NaN"), at={101: "NaN"}),),
         step=120, first_step=(0, 1), total=4000, pace=2.1, alerts=(Alert("loss_nan", "critical", step=101, evidence=('"last_finite_step": 100',)),)),
    Case("02a-slurm-time-limit", records=100, step=100, total=10000, state=("cancelled",), end={"class": "time_limit", "node": "node12"},
         alerts=(Alert("run_failed", ("warning", "critical"), step=100),), headline=(r"Cancelled.* at step 100 of 10,000", "time limit"),
         more=never_finished_without_loss),
    Case("02c-torchrun-sigkill", records=100, step=100, total=10000, state=("failed",),
         end={"class": "signal", "rank": 3, "node": "node12", "signal": 9}, headline=(r"step 100 of 10,000", "killed by SIGKILL", "rank 3"),
         alerts=(Alert("run_failed", "critical", step=100, says=("rank 3", "node12")),)),
    Case("02d-cuda-oom-traceback", records=100, step=100, total=10000, state=("failed",), end={"class": "cuda_out_of_memory"},
         headline=(r"step 100 of 10,000", "CUDA out of memory"), alerts=(Alert("run_failed", "critical", step=100),), more=says_gpu_3),
    Case("02h-healthy-end", records=100, step=100, total=10000, pace=2, state=("finished",), headline=("^Finished at step 100",), quiet=True),
    Case("02i-wandb-exit-code-1", step=150, state=("failed",), end={"exit_code": 1}, headline=("Failed at step 150|Failed .*exit code 1.* at step 150", "exit code 1"),
         alerts=(Alert("run_failed", says=("step 150", "exit code 1")),), points=(Points(count=150, last=150),)),
    Case("02j-wandb-exit-code-0", step=150, state=("finished",), headline=("^Finished at step 150",), quiet=True, points=(Points(count=150, last=150),)),
    Case("03-log-names-below-a-directory", make=case_generators.copies_of_a_log, records=300, step=100, more=three_jobs),
    Case("04-imagenet-example-slow-data", records=80, points=(Points(count=80, first=0, last=790, ends=(5.5279, 3.0037)),
                                                             Points("data_seconds", count=80, at={0: 3.148, 790: 3.084}),
                                                             Points("step_seconds", count=80, at={0: 3.368, 790: 3.299})),
         step=790, alerts=(Alert(("input_bound", "getnext_outlier"), ("warning", "critical")),)),
    Case("05-metriclogger-nan-and-data", records=100, step=990, pace=0.9512,
         points=(Points(count=100, first=0, last=990, at={0: 5.5194, 690: 3.1938, 790: 3.0062, 800: "NaN"}), Points("grad_norm", at={690: 1.8595, 700: "NaN"}),
                 Points("data_seconds", at={0: 0.4023})),
         alerts=(Alert("input_bound", evidence=(r'"value": 4[12]\.',)), nan(700, (1.8595, 690)))),  # of the norm, which is the first of both
    Case("06a-nanogpt-nan", records=300, points=(Points(count=300, first=0, last=2990, at={0: 5.5358, 2000: "NaN"}),), step=2990, first_step=0, pace=0.315,
         alerts=(nan(2000, (1.8332, 1990)),)),
    Case("06c-modded-nanogpt-nan", records=300, points=(Points(count=300, first=1, last=300, at={1: 5.5023, 200: "NaN"}),), step=300, total=900,
         pace=0.09802, alerts=(nan(200, (3.0212, 199)),)),
    Case("07-megatron-loss-vanishes", records=160, points=(Points(count=119, first=1, last=119),), step=160, total=9000, pace=3,
         alerts=(Alert(None, ("warning", "critical"), says=(r"not (logged|printed|reported) any ?more since step 120",)),)),
    Case("07b-megatron-loss-vanishes-gradnorm-nan", records=160, step=160, alerts=(nan(120, says=("gradient norm is NaN since step 120",)),)),
    Case("08-hf-loss-zero-gradnorm-nan", records=120, run=None, points=(Points(count=120), Points("grad_norm", count=120)),
         alerts=(nan(says=("gradient norm is NaN",)),)),
    Case("09-olmo-nan", records=120, step=1200, total=5000, pace=1,
         points=(Points(tag="train/CrossEntropyLoss", count=120, first=10, last=1200, at={10: 5.464, 790: 3.025, 800: "NaN"}),
                 Points("tokens_per_second", at={10: 30112}), Points("steps_per_second", at={10: 0.919})), alerts=(nan(800, (3.025, 790)),)),
    Case("10-tb-loss-slash-train", points=(Points(tag="Loss/train", count=139, first=1, last=139, at={101: "NaN"}), Points("validation_loss", tag="Loss/val", count=139)),
         step=139, pace=2, alerts=(nan(101, (2.00095, 100), says=("Loss/train",)),)),
    Case("11-llamafactory-elapsed-time", records=300, points=(Points(count=300, first=10, last=3000, ends=(5.5036, 2.4295)),), step=3000, total=3000, pace=2,
         state=("finished",), headline=("^Finished at step 3,000",), alerts=(slower((1960, 2040)),)),
    Case("13-no-times-until-in-future", touch=instant("2026-03-01T09:00:00Z"), records=100, step=1000, total=1000, pace=4.21, state=("finished",),
         quiet=True, more=until_is_when_it_was_written),
    Case("14-mmengine-text-log", records=30, points=(Points(count=30, first=50, last=1500, ends=(4.6171, 3.3956)),
                                                     Points("data_seconds", count=30, ends=(0.5012, 0.5012))),
         step=1500, pace=1.0, alerts=(Alert("input_bound", evidence=(r'"value": 5[45]',)),)),
    Case("17-ultralytics-time-column", records=120, step=120, pace=130.4, points=(Points(tag="train/box_loss", count=120, first=1, last=120, at={89: 4.07036, 90: "NaN"}),),
         alerts=(nan(90, (4.07036, 89)), slower((50, 70)))),
    Case("18-keras-console", records=30, points=(Points(count=30, ends=(5.4254, "NaN")), Points("step_seconds", ends=(0.015, 0.07))), pace=(0.07, 55),
         alerts=(Alert("loss_nan", "critical", evidence=(r'"last_finite": 3\.|"last_finite": 4\.',)),)),
    Case("20-nccl-watchdog-mid", run=None, points=(), state=("failed",),
         alerts=(Alert("collective_hang", "critical", says=("#2204", "30 min", "0-4,6-7")), Alert("run_failed"))),
    Case("20-nccl-watchdog-new", run=None, points=(), state=("failed",),
         alerts=(Alert("collective_hang", "critical", says=("[Rr]ank 5",), evidence=(r'"suspects": \[5\]',)), Alert("run_failed"))),
    Case("20-nccl-watchdog-old", run=None, points=(), state=("failed",),
         alerts=(Alert("collective_hang", "critical", says=("ALLREDUCE", "30 min", "0-4,6-7")), Alert("run_failed"))),
    Case("20d-nccl-watchdog-rank-behind", run=None, points=(), state=("failed",), alerts=(Alert("collective_hang", "critical", says=("[Rr]ank 5",)), Alert("run_failed"))),
    Case("23-maxtext", records=200, points=(Points(count=200, first=0, last=199, at={0: 5.53, 180: 3.153, 181: "NaN"}),), step=199, first_step=0, pace=2.9,
         alerts=(nan(181, (3.153, 180)), slower((140, 160)))),
    Case("24-docker-json-file-log", records=120, points=(Points(count=120, first=1, last=120, at={1: 5.51409, 101: "NaN"}),), step=120, pace=2,
         alerts=(Alert("loss_nan", "critical", step=101, evidence=('"last_finite_step": 100',)),)),
    Case("24b-kubelet-cri-log", records=120, step=120, pace=2, points=(Points(count=120, at={1: 5.51189, 101: "NaN"}),), alerts=(nan(101, (3.95958, 100)),)),
    Case("25-nvidia-smi-csv", run=None, points=(), records=900, alerts=(Alert(("load_balancing", "low_gpu_utilization")),), more=both_gpus),
    Case("27-lightning-bar", points=(Points(count=(597, 600), first=(0, 1), last=(598, 600)),), step=(598, 600), pace=0.105, alerts=(nan((400, 401)),)),
    Case("28-tb-loss-after-1100-tags", make=case_generators.loss_after_many_tags, step=129, pace=2,
         points=(Points(tag="train/loss", count=129, first=1, last=129, at={100: 2, 101: "NaN"}),), alerts=(nan(101, (2, 100)),)),
    Case("30-deepspeed-no-clock", records=(200, 400), points=(Points("samples_per_second", at={10: 41.1, 1590: 41.1, 1600: 12, 2000: 12}),), step=2000,
         pace=1.2, alerts=(Alert("stall", says=("66|67",)), slower((1550, 1650)))),
    Case("30b-deepspeed-pipeline", records=200, step=2000, pace=4.8, alerts=(nan(1510, (1.5, 1500)), slower((990, 1010)))),
    Case("31-megatron-newest", records=150, step=150, total=10000, pace=2, points=(Points(tag="lm loss", count=150, at={121: "NaN"}),), alerts=(nan(121, (2.8, 120)),)),
    Case("32-gpt-neox", records=150, step=1500, total=143000, pace=3.0082, points=(Points(tag="lm_loss", count=150, first=10, last=1500, at={1210: "NaN"}),),
         alerts=(nan(1210, (2.8, 1200)),)),
    Case("33-metaseq", records=150, step=1500, pace=1, alerts=(nan(1210, (5.4, 1200)),)),
    Case("33b-fairseq-old", records=150, run=None, points=(Points(tag="loss", count=150, at={1210: "NaN"}),), alerts=(nan(1210, (5.4, 1200)),)),
    Case("36-hf-with-bar", step=(210, 300), run=None, points=(Points(count=30, at={200: 2.2, 210: "NaN"}),), alerts=(nan(210, (2.2, 200)),)),
    Case("37-hf-v5-quoted", run=None, points=(Points(count=120, ends=(2.399, "NaN")),), alerts=(nan(),)),
    Case("38-trl-grpo", run=None, points=(Points(count=120, ends=(0.0012, 0.0012)),), alerts=(nan(says=("gradient norm",)),)),
    Case("39-own-jsonl-step-loss", records=300, step=300, points=(Points(count=300, first=1, last=300, at={200: 2, 201: "NaN"}),
                                                                Points("step_seconds", count=300, at={99: 0.5, 100: 2})),
         alerts=(nan(201, (2, 200)), slower((80, 120)))),
    Case("42-sb3-progress-csv", records=100, step=204800, points=(Points(tag="train/loss", count=100, first=2048, last=204800, at={143360: 0.65, 145408: "NaN"}),),
         alerts=(nan(145408, (0.65, 143360)), slower((92160, 112640)))),
    Case("44-keras-jsonl-history", records=80, run=None, points=(Points(tag="loss", count=80, first=0, last=79, at={59: 2.41, 60: "NaN"}), Points("validation_loss", count=80)),
         alerts=(nan(60, (2.41, 59)),)),
    Case("45-mlperf-mllog", records=100, step=1000, pace=9, points=(Points(count=100, first=10, last=1000, at={800: 2.6, 810: "NaN"}),),
         alerts=(nan(810, (2.6, 800)), slower((450, 550))), may=("stall",)),
    Case("47-dmesg-xid", run=None, points=(), alerts=(Alert("gpu_error", "critical", evidence=(r"\b79\b", "4e:00", "4711")),), may=("run_failed",), never=()),
    Case("48-hf-trainer-state", nothing=True),
    Case("49-log-line-generic-loss", records=300, step=300, points=(Points(count=300, first=1, last=300, at={1: 2.995, 201: "NaN"}),),
         alerts=(nan(201, (2, 200)),)),
    Case("50-mlflow-metrics", nothing=True),
    Case("51-lightning-train-slash-loss", records=150, run=None, points=(Points(tag="train/loss_step", count=150, at={1000: 2.5, 1010: "NaN"}),), alerts=(nan(1010, (2.5, 1000)),)),
    Case("54-jax-trax-clu-print", records=150, step=1500, points=(Points(count=150, first=10, last=1500, at={1000: 2.5, 1010: "NaN"}), Points("steps_per_second", at={10: 8, 1500: 2})),
         alerts=(nan(1010, (2.5, 1000)), slower((550, 650)))),
    Case("55-rsl-rl", records=150, step=150, total=1500, points=(Points(tag=".*value_function loss", count=150, first=1, last=150, at={100: 2.5, 101: "NaN"}),),
         alerts=(nan(101, (2.5, 100)), slower((50, 70)))),
    Case("56-axolotl-unsloth", records=120, run=None, points=(Points(count=120, ends=(2.995, "NaN")),), alerts=(nan(),)),
    Case("58-restart-after-crash-lost-work", make=case_generators.crash_and_restart, records=700, step=600, total=90000, points=(Points(count=700, first=1, last=600, rising=False),),
         alerts=(Alert("run_failed"),), more=lost_by_the_restart),
    Case("60-legacy-autograd-trace", records=400, run=False, points=(), quiet=True),
    Case("61-kineto-control-char", points=(), more=one_record_rejected),
    Case("62-kineto-backslash-path", records=16, points=()),
    Case("64-torchtitan-validate-lines", records=(400, 416), step=400, points=(Points(count=400, first=1, last=400, ends=(6.00746, 4.0025)),
                                                                              Points("validation_loss", count=16, first=25, last=400, at={25: 8.3873, 400: "NaN"})),
         more=validation_is_apart),
    Case("65-tree-of-old-runs", step=199, quiet=True, more=two_runs(("finished", "gone"))),
    Case("66-two-slurm-jobs-in-one-directory", make=case_generators.two_slurm_jobs, records=840, state=("finished",), more=two_runs(("finished",), [240, 600])),
    *map(by_turns, (1, 2, 4, 16, 64)),
    Case("71-ledger-slow-half", make=case_generators.slow_half, points=(), step=599,
         alerts=(Alert(("input_bound", "throughput_regression")), Alert(("step_spike", "step_outlier", "getnext_outlier", "input_bound"))),
         more=lambda seen: [*account(765.86, 0.2475, "input_wait", 189.3)(seen), *slow_half_share(seen)]),
)
