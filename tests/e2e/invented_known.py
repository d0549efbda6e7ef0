# SPDX-License-Identifier: Apache-2.0
"""Logs of frameworks that have a preset, with what their users do to them: other lines between, no times, restarts, several jobs
in one directory, wrapped by containers, rewritten bars."""

import datetime
import json

from case_generators import event_file, megatron, megatron_lines
from cases import Alert, Case, Points
from invented import BEGAN, at, curve, files, one, row, unix

TITAN = ("[rank0]:[titan] {t},101 - root - INFO - step: {step:2d}  loss: {loss:>8s}  grad_norm:  0.9120  memory: 41.20GiB(52.1%)  tps: {tps}  "
         "tflops: 310.10  mfu: 31.36%\n")
TITAN_COLOURS = ("[rank0]:[titan] {t},101 - root - INFO - \x1b[31mstep: {step:2d}  \x1b[32mloss: {loss:>8s}  \x1b[38;2;180;60;0mgrad_norm:  0.9120  \x1b[33mmemory: "
                 "41.20GiB(52.1%)  \x1b[34mtps: {tps}  \x1b[36mtflops: 310.10  \x1b[35mmfu: 31.36%\x1b[39m\n")


def titan(name, count, bad_from=None, form=TITAN, every=25, wrap=lambda text, now: text, file="slurm-400.out", validation=True):
    """Steps of 3 s, and a validation that becomes NaN."""
    losses, text = curve(name, count, bad_from, form="%.5f"), []
    for n, loss in enumerate(losses):
        now = 3 * n + 3
        text.append(wrap(form.format(t=at(now), step=n + 1, loss=loss, tps="5,461"), now))
        if validation and n % every == every - 1:
            text.append(wrap("[rank0]:[titan] %s,501 - root - INFO - validate step: %d  loss:     nan  memory: 42.20GiB(53.1%%)  tps: 911\n" % (at(now + 1), n + 1), now + 1))
    points = (Points("tokens_per_second", count=count, ends=(5461, 5461)),) if validation else ()
    return row(name, one(file, text), losses, first=1, last=count, step=count, pace=3, points=points, bad_step=None if bad_from is None else bad_from + 1)


def docker(text, now):
    return json.dumps({"log": text, "stream": "stdout", "time": at(now, "%Y-%m-%dT%H:%M:%S.%f000001Z")}) + "\n"


def cri(text, now):
    """The runtime cuts a long line into parts (P) and an end (F)."""
    stamp, half = at(now, "%Y-%m-%dT%H:%M:%S.%f000001Z"), len(text) // 2
    return "%s stdout P %s\n%s stdout F %s" % (stamp, text[:half], stamp, text[half:])


def kubectl(text, now):
    """kubectl logs --timestamps --prefix"""
    return "[pod/train-0/pytorch] %s %s" % (at(now, "%Y-%m-%dT%H:%M:%S.%f000001Z"), text)


def trainer(name, count, bad_from=None, quoted=False, evaluation=True, over_lines=False, ended=False):
    """The Hugging Face Trainer's dictionaries, its bar and its evaluations between."""
    losses, text = curve(name, count, bad_from), []
    for n, loss in enumerate(losses):
        bar = "\r %2d%%|███       | %d/%d [%02d:%02d<45:00,  1.00s/it]" % (100 * (10 * n + 10) // (10 * count), 10 * n + 10, 10 * count, *divmod(10 * n + 10, 60))
        text.append(bar + "\r" + 60 * " " + "\r")
        values = {"loss": loss, "grad_norm": "1.2012", "learning_rate": "1.9e-05", "epoch": "%.2f" % (n / 50)}
        text.append("{%s}\n" % (",\n " if over_lines else ", ").join("'%s': %s" % (key, "'%s'" % value if quoted else value) for key, value in values.items()))
        text.append(bar)  # which a line has wiped away
        if evaluation and n % 20 == 19:
            text.append("\n{'eval_loss': nan, 'eval_runtime': 12.1, 'eval_samples_per_second': 82.1, 'eval_steps_per_second': 10.3, 'epoch': %.2f}\n" % (n / 50))
    if ended:
        text.append("\n{'train_runtime': %d.0, 'train_samples_per_second': 64.0, 'train_steps_per_second': 1.0, 'train_loss': 2.75, 'epoch': 3.0}\n" % (10 * count))
    return row(name, one("slurm-401.out", text), losses, first=10, last=10 * count, step=10 * count, total=10 * count, pace=1,
               bad_step=None if bad_from is None else 10 * bad_from + 10, **({"state": ("finished",)} if ended else {}))


def factory(name, count, slow_from, every=5, rate=(1.0, 3.0)):
    """LLaMA-Factory: the time only as text since the start; it becomes slower, over a midnight of that clock."""
    losses, text, now = curve(name, count), [], 86000.0
    for n, loss in enumerate(losses):
        now += every * rate[n >= slow_from]
        text.append(json.dumps({"current_steps": every * (n + 1), "total_steps": every * count, "loss": float(loss), "lr": 1e-4, "epoch": 0.01 * n,
                                "percentage": round(100 * (n + 1) / count, 2), "elapsed_time": str(datetime.timedelta(seconds=int(now))), "remaining_time": "0:10:00"}) + "\n")
    turn = every * slow_from
    return row(name, one("trainer_log.jsonl", text), losses, first=every, last=every * count, step=every * count, total=every * count, pace=rate[1], state=("finished",),
               quiet=False, alerts=(Alert("throughput_regression", since=(turn - 10 * every, turn + 10 * every)),))


def ultralytics(name, count, slow_from):
    losses, now = curve(name, count, form="%.5f"), 0.0
    text = ["                  epoch,                   time,         train/box_loss,           val/box_loss,                 lr/pg0\n"]
    for n, loss in enumerate(losses):
        now += 20.5 if n < slow_from else 61.5
        text.append("%23d,%23.3f,%23s,%23s,%23s\n" % (n + 1, now, loss, "nan", "0.01"))
    return row(name, one("results.csv", text), losses, first=1, last=count, step=count, pace=61.5, quiet=False,
               alerts=(Alert("throughput_regression", since=(slow_from - 10, slow_from + 10)),))


def megatron_vanishes(name, until, count=160, times=True):
    """Where the loss is not finite Megatron prints none."""
    losses = curve(name, until, form="%.6E")
    text = []
    for step in range(1, count + 1):
        each = megatron(step, 5000, at(2 * step), 2, losses[step - 1] if step <= until else "GONE").replace(" lm loss: GONE |", "").replace(" grad norm: 1.1 |", "")
        text.append(each if times else each[each.index("iteration") - 1:])
    return row(name, one("slurm-402.out", text), losses, first=1, last=until, step=count, total=5000, pace=2, quiet=False,
               alerts=(Alert(None, ("warning", "critical"), says=(r"not (logged|printed|reported) any ?more since step %d\b" % (until + 1),)),))


def restarts(name, attempts, file="slurm-403.out"):
    """`attempts`: (first step, last step, seconds of nothing before, last words)."""
    now, text, redone, down, highest = 0.0, [], 0, 0.0, 0
    for first, last, pause, words in attempts:
        now += pause
        text += [*megatron_lines(range(first, last + 1), 50000, BEGAN + datetime.timedelta(seconds=now), 2, lambda step: 9 - step / 1000), words]
        redone, down, highest = redone + max(0, highest - first + 1), down + pause, max(highest, last)
        now += 2 * (last - first + 1)

    def complaints(seen):
        for run in seen.runs:
            life = run["life"]
            if [attempt["first_step"] for attempt in run["attempts"]] != [first for first, *_ in attempts]:
                yield "attempts begin at %s" % [attempt["first_step"] for attempt in run["attempts"]]
            if life["redone_steps"] != redone or abs(life["seconds"].get("redone", 0) - 2 * redone) > 5:
                yield "redone %d steps, %s s, wanted %d" % (life["redone_steps"], life["seconds"].get("redone"), redone)
            if abs(life["seconds"].get("down", 0) - down) > 0.01 * life["wall_seconds"]:
                yield "down %s s, wanted %s" % (life["seconds"].get("down"), down)
    count = sum(last - first + 1 for first, last, *_ in attempts)
    return Case(name, make=one(file, text), points=(Points(count=count, rising=False, first=1, last=highest),), step=highest, total=50000, may=("run_failed",), more=complaints)


def side_by_side(name, jobs, pattern):
    """`jobs`: name -> (steps, seconds per step), at the same time in one directory."""
    texts = {}
    for number, (job, (steps, seconds)) in enumerate(jobs.items()):
        lines = megatron_lines(range(1, steps + 1), steps, BEGAN + datetime.timedelta(seconds=40 * number), seconds, lambda step: 3 - step / 1000)
        texts[pattern % job] = "".join(lines) + "[after training is done] datetime: %s \n" % at(40 * number + steps * seconds)

    def complaints(seen):
        for where, runs in (("runs", seen.runs), ("live", seen.live.runs)):
            found = sorted((run["step"], run["state"], len(run["attempts"])) for run in runs)
            if found != sorted((steps, "finished", 1) for steps, _ in jobs.values()):
                yield "%s: %s" % (where, found)
    return Case(name, make=files(**texts), quiet=True, more=complaints)


def old_trees(name, years):
    """Runs of several years below one directory: all are over."""
    texts = {}
    for year in years:
        began = int(datetime.datetime(year, 3, 1, 9, tzinfo=datetime.timezone.utc).timestamp())
        losses = curve("%s%d" % (name, year), 120)
        texts["run-%d__events.out.tfevents.%d.n7" % (year, began)] = event_file(began, [(n + 1, 3.0 * n, [("train/loss", float(loss))]) for n, loss in enumerate(losses)])

    def complaints(seen):
        for where, runs in (("runs", seen.runs), ("live", seen.live.runs)):
            found = [run["state"] for run in runs]
            if len(found) != len(years) or not set(found) <= {"finished", "gone"}:
                yield "%s: %s, wanted %d that are over" % (where, found, len(years))
    return Case(name, make=files(**texts), points=(Points(count=120, first=1, last=120),), quiet=True, more=complaints)


def lightning_table(name, bad_from=None):
    losses, text = curve(name, 120, bad_from), ["epoch,lr-AdamW,step,train/loss_epoch,train/loss_step,val/loss\n"]
    for n, loss in enumerate(losses):
        text.append("%d,,%d,,%s,\n" % (n // 40, 50 * n + 49, loss))
        if n % 40 == 39:
            text.append("%d,,%d,,,nan\n%d,,%d,%s,,\n" % (n // 40, 50 * n + 49, n // 40, 50 * n + 49, loss))
    case = row(name, one("lightning_logs/version_3/metrics.csv", text), losses, first=49, last=50 * 119 + 49, run=None, bad_step=None if bad_from is None else 50 * bad_from + 49)
    return case


def two_writers(name):
    """TensorBoard's file and the console of the same job: it is one run, with one attempt."""
    losses = curve(name, 150)
    events = event_file(int(unix(0)), [(n + 1, 3.0 * n + 3, [("loss_metrics/global_avg_loss", float(loss))]) for n, loss in enumerate(losses)])
    text = "".join(TITAN.format(t=at(3 * n + 3), step=n + 1, loss=loss, tps="5,461") for n, loss in enumerate(losses))

    def complaints(seen):
        for where, runs in (("runs", seen.runs), ("live", seen.live.runs)):
            if [(len(run["attempts"]), run["step"], run["life"]["redone_steps"]) for run in runs] != [(1, 150, 0)]:
                yield "%s: %s" % (where, [(run["job"], len(run["attempts"]), run["step"]) for run in runs])
    return Case(name, make=files(**{"tb__events.out.tfevents.1.n7.1.0": events, "slurm-405.out": text}), points=(Points(count=150, first=1, last=150),),
                step=150, quiet=True, more=complaints)


OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.10 GiB. GPU 2 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"

CASES = (
    titan("k01-titan-validation-nan", 200),
    titan("k02-titan-colours", 150, 90, TITAN_COLOURS),
    titan("k03-titan-docker", 150, 110, wrap=docker, file="0123abcd-json.log"),
    titan("k04-titan-cri-parts", 140, wrap=cri, file="0.log"),
    titan("k05-titan-kubectl", 140, 100, wrap=kubectl, file="train.log"),
    trainer("k06-trainer-evaluation-nan", 80),
    trainer("k07-trainer-nan-quoted", 80, 50, quoted=True),
    trainer("k08-trainer-over-lines", 60, 40, over_lines=True),
    trainer("k09-trainer-ended", 70, ended=True),
    factory("k10-factory-days", 200, 120),
    ultralytics("k11-ultralytics-slower", 90, 50),
    megatron_vanishes("k12-loss-vanishes", 90),
    megatron_vanishes("k13-loss-vanishes-no-times", 130, times=False),
    restarts("k14-two-restarts", ((1, 250, 0, OOM), (201, 400, 1800, OOM), (351, 500, 600, ""))),
    restarts("k15-killed-without-a-word", ((1, 300, 0, ""), (251, 450, 1200, ""))),
    restarts("k16-from-the-start", ((1, 120, 0, OOM), (1, 300, 900, ""))),
    side_by_side("k17-three-slurm-jobs", {"501": (300, 2), "502": (200, 3), "503": (120, 5)}, "slurm-%s.out"),
    side_by_side("k18-array-tasks", {"600_1": (150, 4), "600_2": (250, 2)}, "slurm-%s.out"),
    old_trees("k19-old-years", (2023, 2024, 2026)),
    lightning_table("k20-lightning-healthy"),
    lightning_table("k21-lightning-nan", 70),
    two_writers("k22-two-writers-of-one-job"),
)
