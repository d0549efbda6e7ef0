# SPDX-License-Identifier: Apache-2.0
"""Tables and JSON lines of people's own: names of columns, separators, NaN in all its spellings, times of several kinds."""

import json

from cases import Alert, Case, Points
from invented import at, curve, one, row, unix


def table(name, file, header, form, count=150, bad_from=None, value="nan", every=1, seconds=1.0, quote="{}", end="\n", **more):
    """`form` has {step}, {loss}, {t}, {unix}, {elapsed}, {n}."""
    losses = curve(name, count, bad_from, value)
    text = [header + end] + [form.format(step=every * (n + 1), loss=quote.format(loss), n=n, t=at(seconds * (n + 1)), iso=at(seconds * (n + 1), "%Y-%m-%dT%H:%M:%S.%fZ"),
                                         unix=unix(seconds * (n + 1)), elapsed=seconds * (n + 1)) + end for n, loss in enumerate(losses)]
    return row(name, one(file, text), losses, **{"first": every, "last": every * count, "bad_step": None if bad_from is None else every * (bad_from + 1), **more})


def json_lines(name, file, record, count=160, bad_from=None, value="NaN", every=1, seconds=1.0, prefix="", end="\n", first=None, between=None, **more):
    """record(step, seconds, loss) is what is written; the loss is a number, or where it is not finite the text LOSS; TEST is
    always NaN."""
    losses, text = curve(name, count, bad_from), []
    for n, loss in enumerate(losses):
        step = every * (n + 1) if first is None else first + every * n
        finite = loss != "nan"
        written = json.dumps(record(step, seconds * (n + 1), float(loss) if finite else "LOSS"))
        text.append(prefix.format(t=at(seconds * (n + 1))) + written.replace('"LOSS"', value).replace('"TEST"', "NaN") + end)
        text += between(n, step) if between else []
    steps = (every, every * count) if first is None else (first, first + every * (count - 1))
    return row(name, one(file, text), losses, **{"first": steps[0], "last": steps[1],
                                                 "bad_step": None if bad_from is None else steps[0] + every * bad_from, **more})


def not_logged_since(step):
    return Alert(None, ("warning", "critical"), says=(r"not (logged|printed|reported) any ?more since step %d\b" % step,))


def stops(name, file, text_of, header="", count=200, until=120):
    """From a step on there is no loss in the records."""
    losses = curve(name, until)
    text = [header] + [text_of(n + 1, losses[n] if n < until else None, 2.0 * (n + 1)) for n in range(count)]
    return row(name, one(file, text), losses, first=1, last=until, step=count, pace=2, quiet=False, alerts=(not_logged_since(until + 1),))


def validation_columns(name, file, separator, bad_validation):
    """Rows of training and rows of validation, each with its own cells empty."""
    losses, text = curve(name, 120), ["step%strain_loss%sval_loss%sseconds\n" % ((separator,) * 3)]
    for n, loss in enumerate(losses):
        text.append(separator.join((str(n + 1), loss, "", "%.1f" % (n + 1.0))) + "\n")
        if n % 20 == 19:
            text.append(separator.join((str(n + 1), "", bad_validation, "%.1f" % (n + 1.5))) + "\n")
    return row(name, one(file, text), losses, first=1, last=120, run=None, points=(Points("validation_loss", count=6),))


def repeated_header(name):
    """The script was started again and wrote its header a second time; the steps go on."""
    losses = curve(name, 140)
    text = ["step,loss,lr\n"] + ["%d,%s,0.001\n" % (n + 1, loss) for n, loss in enumerate(losses[:70])]
    text += ["step,loss,lr\n"] + ["%d,%s,0.001\n" % (n + 71, loss) for n, loss in enumerate(losses[70:])]
    return row(name, one("loss.csv", text), losses, first=1, last=140, run=None)


def mixed_lines(name):
    """JSON lines between what else a program prints."""
    losses, text = curve(name, 150, 110), ["Loading data from /data/train.bin\n", "{not json}\n"]
    for n, loss in enumerate(losses):
        text.append('{"step": %d, "loss": %s, "lr": 0.0003, "time": "%s"}\n' % (n + 1, loss if loss != "nan" else "NaN", at(2 * n + 2, "%Y-%m-%dT%H:%M:%S")))
        if n % 40 == 20:
            text.append("saved checkpoint-%d in 3.2 s\n" % (n + 1))
    return row(name, one("train.log", text), losses, first=1, last=150, step=150, pace=2, bad_step=111)


def dictionaries_over_lines(name):
    """pprint of a dictionary."""
    losses, text = curve(name, 100, 70), []
    for n, loss in enumerate(losses):
        text.append("{'epoch': %.2f,\n 'grad_norm': 0.8123,\n 'learning_rate': 1e-05,\n 'loss': %s,\n 'step': %d}\n" % (n / 50, loss, n + 1))
    return row(name, one("train.log", text), losses, first=1, last=100, run=None, bad_step=71)


def smi(name, utilisation, header, form, file="gpu.csv", count=400):
    """Samples of as many GPUs as there are utilisations, each second."""
    text = [header + "\n"] if header else []
    for n in range(count):
        for gpu, percent in enumerate(utilisation):
            text.append(form.format(t=at(n, "%Y/%m/%d %H:%M:%S.%f"), day=at(n, "%Y%m%d   %H:%M:%S"), gpu=gpu, percent=percent, n=n) + "\n")

    def complaints(seen):
        samples = sum(entry.get("samples", 0) for entry in seen.read())
        if samples < count * len(utilisation):
            yield "%d samples, wanted %d or more" % (samples, count * len(utilisation))
    idle = [gpu for gpu, percent in enumerate(utilisation) if percent < 20]
    alerts = (Alert(("load_balancing", "low_gpu_utilization"), evidence=(r"GPU %d\b|\bgpu%d\b|\"gpu\": \"?%d\b" % ((idle[0],) * 3),)),) if idle else ()
    return Case(name, make=one(file, text), points=(), run=None, records=count * len(utilisation), alerts=alerts, quiet=not idle, more=complaints)


DMON = ("#Date       Time        gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk\n"
        "#YYYYMMDD   HH:MM:SS    Idx     W     C     C     %     %     %     %   MHz   MHz")

CASES = (
    table("c01-semicolons", "history.csv", "step;loss;lr;seconds", "{step};{loss};0.0003;{elapsed:.1f}", bad_from=100, step=150, pace=1),
    table("c02-tabs", "log.tsv", "iteration\ttrain_loss\tlr\ttime_s", "{step}\t{loss}\t0.0003\t{elapsed:.2f}", bad_from=90, seconds=2, step=150, pace=2),
    table("c03-quoted", "metrics.csv", '"step","loss","timestamp"', '"{step}","{loss}","{t}"', bad_from=120, step=150, pace=1),
    table("c04-spaces", "results.csv", "  epoch,      step,      train/loss,   lr", "      0,      {step:4d},      {loss},   0.01", bad_from=60, run=None),
    table("c05-pandas-index", "df.csv", ",step,loss,wall_time", "{n},{step},{loss},{unix:.3f}", bad_from=111, every=10, seconds=5, step=1500, pace=0.5),
    table("c06-bom-crlf", "train.csv", "\ufeffstep,loss,elapsed", "{step},{loss},{elapsed:.1f}", bad_from=75, end="\r\n", step=150, pace=1),
    table("c07-epochs", "training_log.csv", "epoch,train_loss,val_loss,lr", "{step},{loss},nan,0.001", count=60, run=None),
    table("c08-epochs-nan", "training_log.csv", "epoch,train_loss,val_loss,lr,epoch_seconds", "{step},{loss},2.1,0.001,31.5", count=60, bad_from=41, pace=31.5),
    table("c09-iso-times", "curve.csv", "time,global_step,loss", "{iso},{step},{loss}", bad_from=130, every=5, seconds=3, step=750, pace=0.6),
    table("c10-healthy-wide", "metrics.csv", "step,loss,grad_norm,lr,tokens_per_second,gpu_memory_gib,timestamp", "{step},{loss},0.81,0.0003,41200.5,61.2,{unix:.2f}", step=150, pace=1,
          points=(Points("grad_norm", count=150), Points("learning_rate", count=150), Points("tokens_per_second", count=150))),
    table("c11-infinite", "loss.csv", "iter,loss", "{step},{loss}", bad_from=88, value="inf", run=None),
    validation_columns("c12-empty-cells", "metrics.csv", ",", "nan"),
    validation_columns("c13-empty-cells-tabs", "metrics.tsv", "\t", "2.9"),
    repeated_header("c14-header-twice"),
    stops("c15-loss-cell-empty", "log.csv", lambda step, loss, seconds: "%d,%s,0.0003,%.1f\n" % (step, loss or "", seconds), "step,loss,lr,elapsed\n"),
    stops("c16-member-gone", "log.jsonl", lambda step, loss, seconds: json.dumps({"step": step, **({"loss": float(loss)} if loss else {}), "lr": 3e-4, "elapsed": seconds}) + "\n"),
    stops("c17-loss-null", "log.jsonl", lambda step, loss, seconds: json.dumps({"step": step, "loss": loss and float(loss), "lr": 3e-4, "elapsed": seconds}) + "\n"),
    json_lines("j01-nested", "metrics.jsonl", lambda step, now, loss: {"step": step, "train": {"loss": loss, "lr": 3e-4}, "time": {"unix": unix(now), "step_seconds": 1.0}}, bad_from=120, step=160),
    json_lines("j02-quoted-nan", "metrics.jsonl", lambda step, now, loss: {"iter": step, "loss": loss, "ts": unix(now)}, bad_from=100, value='"NaN"', step=160, pace=1),
    json_lines("j03-lower-nan", "log.jsonl", lambda step, now, loss: {"global_step": step, "train_loss": loss, "time": unix(now) * 1000}, bad_from=140, value="nan", every=10, seconds=4,
               step=1600, pace=0.4),
    json_lines("j04-infinity", "stats.json", lambda step, now, loss: {"iteration": step, "loss": loss, "timestamp": at(now, "%Y-%m-%dT%H:%M:%SZ")}, bad_from=90, value="-Infinity", step=160, pace=1),
    json_lines("j05-mae-epochs", "log.txt", lambda step, now, loss: {"train_lr": 1e-4, "train_loss": loss, "epoch": step, "n_parameters": 86567656}, count=80, first=0, bad_from=55, run=None),
    json_lines("j06-dino-healthy", "log.txt", lambda step, now, loss: {"train_loss": loss, "train_lr": 1e-4, "train_wd": 0.04, "epoch": step}, count=90, first=0, run=None),
    json_lines("j07-deit-test-loss", "log.txt", lambda step, now, loss: {"train_lr": 1e-4, "train_loss": loss, "test_loss": "TEST", "test_acc1": 71.2, "epoch": step}, count=70, first=0, run=None),
    json_lines("j08-ray-result", "result.json", lambda step, now, loss: {
        "loss": loss, "timestamp": int(unix(now)), "time_this_iter_s": 12.5, "done": False, "training_iteration": step, "trial_id": "a1b2c", "date": at(now, "%Y-%m-%d_%H-%M-%S"),
        "time_total_s": 12.5 * step, "pid": 4711, "hostname": "n7", "config": {"lr": 0.001, "loss": "mse"}, "iterations_since_restore": step}, count=80, bad_from=60, seconds=12.5, step=80, pace=12.5),
    json_lines("j09-crlf-spaces", "train.jsonl", lambda step, now, loss: {"Step": step, "Loss": loss, "Elapsed Time": now}, bad_from=100, end=" \r\n", step=160),
    json_lines("j10-logged-with-prefix", "train.log", lambda step, now, loss: {"step": step, "loss": loss, "lr": 3e-4}, bad_from=100, prefix="{t} INFO metrics: ", step=160, pace=1),
    json_lines("j11-wandb-like", "history.jsonl", lambda step, now, loss: {"_step": step, "_timestamp": unix(now), "_runtime": now, "train/loss": loss, "val/loss": "TEST", "train/lr": 3e-4},
               first=0, bad_from=99, step=159, pace=1),
    json_lines("j12-many-members", "metrics.jsonl", lambda step, now, loss: {**{"layer_%d/norm" % layer: 0.5 for layer in range(90)}, "step": step, "loss": loss, "time": unix(now)},
               count=120, bad_from=80, step=120, pace=1),
    json_lines("j13-rate", "metrics.jsonl", lambda step, now, loss: {"step": step, "loss": loss, "iters_per_second": 4.0}, count=120, step=120, pace=0.25),
    json_lines("j14-eval-lines", "metrics.jsonl", lambda step, now, loss: {"split": "train", "step": step, "loss": loss, "elapsed": now}, count=120, step=120, pace=1,
               between=lambda n, step: ['{"split": "val", "step": %d, "loss": NaN, "accuracy": 0.31}\n' % step] if n % 20 == 19 else []),
    mixed_lines("j15-between-other-lines"),
    dictionaries_over_lines("j16-dictionary-over-lines"),
    smi("g01-smi-two-gpus", (95, 4), "timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W], clocks.current.sm [MHz]",
        "{t}, {gpu}, {percent} %, 30211 MiB, 92.11 W, 1410 MHz"),
    smi("g02-smi-busy", (96, 97, 95, 96), "timestamp, pci.bus_id, index, utilization.gpu [%], utilization.memory [%], memory.total [MiB], memory.used [MiB]",
        "{t}, 00000000:0{gpu}:00.0, {gpu}, {percent} %, 41 %, 81559 MiB, 70211 MiB"),
    smi("g03-smi-no-units", (90, 6), "timestamp, index, utilization.gpu, memory.used, temperature.gpu", "{t}, {gpu}, {percent}, 30211, 54", file="nvidia-smi.log"),
    smi("g04-dmon", (98, 5), DMON, " {day}      {gpu}   301    61    70    {percent:2d}    50     0     0  1593  1410", file="dmon.txt"),
)
