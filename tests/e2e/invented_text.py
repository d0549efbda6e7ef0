# SPDX-License-Identifier: Apache-2.0
"""Text that people print themselves, in the ways they do: times, separators, colours, ranks, lines of validation between."""

import dataclasses

from cases import Alert, Points
from invented import at, curve, one, row, unix


def lines(losses, form, seconds=1.0, steps=None, stamp=None, begin=0):
    """`form` has {t}, {step}, {loss}, {seconds}, {n}; the time goes on by `seconds` a line."""
    steps = steps or range(1, len(losses) + 1)
    return [form.format(t=stamp(seconds * (n + 1) + begin) if stamp else "", step=step, loss=loss, seconds=seconds, n=n)
            for n, (step, loss) in enumerate(zip(steps, losses))]


def stamped(name, form, seconds=2.0, count=200, bad_from=None, stamp=at, file="train.log", value="nan", every=1, **more):
    """Own text with a time in each line: steps, pace, and the NaN if there is one."""
    losses = curve(name, count, bad_from, value)
    text = lines(losses, form, seconds, [every * (n + 1) for n in range(count)], stamp)
    more.setdefault("pace", seconds / every)
    return row(name, one(file, text), losses, first=every, last=every * count, step=every * count,
               bad_step=None if bad_from is None else every * (bad_from + 1), **more)


def form(text):
    return lambda seconds: at(seconds, text)


def mnist(name, epochs, bad_from=None):
    """PyTorch's MNIST example: samples as a counter, and test lines."""
    losses, text = curve(name, epochs * 47, bad_from, form="%.6f"), []
    for number, loss in enumerate(losses):
        epoch, batch = divmod(number, 47)
        text.append("Train Epoch: %d [%d/60000 (%.0f%%)]\tLoss: %s\n" % (epoch + 1, batch * 1280, 100 * batch / 47, loss))
        if batch == 46:
            text.append("\nTest set: Average loss: 0.0512, Accuracy: 9836/10000 (98%)\n\n")
    return row(name, one("output.log", text), losses, run=None)


def epochs_and_batches(name, form, first_epoch, first_batch, bad_from=None, epochs=3, batches=60, file="train.log", **more):
    losses = curve(name, epochs * batches, bad_from)
    text = [form.format(epoch=first_epoch + n // batches, epochs=epochs, batch=first_batch + n % batches, batches=batches, loss=loss, t=at(n * 0.7))
            for n, loss in enumerate(losses)]
    return row(name, one(file, text), losses, **more)


def two_ranks(name, prefixes, count=150, bad_from=None):
    """Both print each step."""
    losses = curve(name, count, bad_from)
    text = ["%s%s step %d loss %s\n" % (prefix, at(2 * n + 2), n + 1, loss) for n, loss in enumerate(losses) for prefix in prefixes]
    return row(name, one("train.log", text), losses, first=1, last=count, step=count, pace=2)


def resumed(name, crash=""):
    """200 steps, 10 min without a word, then from step 151 to 400."""
    losses = curve(name, 450)
    text = lines(losses[:200], "{t} | step {step}/400 | loss {loss}\n", 2, None, at)
    text += [crash, "%s resuming from checkpoint at step 150\n" % at(1000)] + lines(losses[200:], "{t} | step {step}/400 | loss {loss}\n", 2, range(151, 401), at, 1000)

    def complaints(seen):
        for run in seen.runs:
            firsts = [attempt["first_step"] for attempt in run["attempts"]]
            if firsts not in ([1, 151], [1, 152]) or run["life"]["redone_steps"] not in (49, 50):  # a first record without a duration
                yield "attempts from %s, redone %s; wanted from 1 and from 151, 50" % (firsts, run["life"]["redone_steps"])
            if not 590 <= run["life"]["seconds"].get("down", 0) <= 605:
                yield "down %s s, wanted 600" % run["life"]["seconds"].get("down")
    case = row(name, one("train.log", text), losses, step=400, total=400, pace=2, quiet=False, may=("run_failed",) if crash else (), more=complaints)
    return widened(case)


def widened(case):
    """The same, with steps that go back."""
    return dataclasses.replace(case, points=tuple(dataclasses.replace(points, rising=False) for points in case.points))


def with_validation(name, training, validation, every=20, count=200, bad_from=None, value="nan", file="train.log", **more):
    """Lines of validation in between, the last ones of them NaN: of no concern to the training."""
    losses, text = curve(name, count, bad_from), []
    for n, loss in enumerate(losses):
        text.append(training.format(t=at(2 * n + 2), step=n + 1, loss=loss, count=count))
        if n % every == every - 1:
            text.append(validation.format(t=at(2 * n + 3), step=n + 1, loss=value if n > count / 2 else "3.2101", count=count))
    return row(name, one(file, text), losses, first=1, last=count, step=count, **more)


def encoded(name, encoding, count=180, bad_from=120):
    losses = curve(name, count, bad_from)
    text = "".join(lines(losses, "{t} step {step} of 9000, loss {loss}, lr 1.0e-4\n", 2, None, at))
    return row(name, one("train.log", encoding(text)), losses, first=1, last=count, step=count, bad_step=bad_from + 1, pace=2)


def spike(name, form, file, seconds=0.5):
    """Each iteration is logged; one of 400 takes two minutes."""
    losses, now, text = curve(name, 400), 0.0, []
    for n, loss in enumerate(losses):
        now += 120 if n == 299 else seconds
        text.append(form.format(t=at(now, "%Y-%m-%d %H:%M:%S,%f"), unix=unix(now), step=n + 1, loss=loss))
    return row(name, one(file, text), losses, step=400, pace=seconds, quiet=False, may=("stall",), alerts=(Alert(("step_spike", "stall", "step_outlier")),))


def slowed(name, text, file="train.log", header="", count=300, turn=150):
    """1 s per step, then 2.5 s, and only the times say so."""
    losses, now, out = curve(name, count), 0.0, []
    for n, loss in enumerate(losses):
        now += 1 if n < turn else 2.5
        out.append(text.format(t=at(now), unix=unix(now), elapsed=now, step=n + 1, loss=loss))
    return row(name, one(file, header + "".join(out)), losses, step=count, pace=2.5, quiet=False,
               alerts=(Alert("throughput_regression", ("warning", "critical"), since=(turn - 15, turn + 15)),))


LOGURU = ("\x1b[32m{t}.120\x1b[0m | \x1b[1mINFO    \x1b[0m | \x1b[36m__main__\x1b[0m:\x1b[36mtrain\x1b[0m:\x1b[36m88\x1b[0m - "
          "\x1b[1mstep {step} loss {loss} lr 3.00e-04\x1b[0m\n")

CASES = (
    stamped("t01-iso-bracket", "[{t}] step {step}/5000 loss={loss} lr=1.0e-4\n", bad_from=120, total=5000),
    stamped("t02-iso-zone", "{t}+00:00 INFO trainer: iteration {step} - loss: {loss} - lr: 0.0003\n", stamp=form("%Y-%m-%dT%H:%M:%S.%f"), bad_from=150),
    stamped("t03-slashes", "{t} step: {step}, loss: {loss}\n", stamp=form("%Y/%m/%d %H:%M:%S")),
    stamped("t04-syslog", "{t} node7 python3[4711]: iter {step} loss {loss} gnorm 0.8\n", stamp=form("%b %d %H:%M:%S"), bad_from=100, file="syslog_train.log"),
    stamped("t05-clock-only", "{t} | step {step} | loss {loss} | 0.50 it/s\n", stamp=form("%H:%M:%S")),
    stamped("t06-glog", "{t} 4711 train.py:88] Step {step}, loss = {loss}\n", stamp=form("I%m%d %H:%M:%S.%f000"), bad_from=60),
    stamped("t07-unix-seconds", "{t} step {step} loss {loss}\n", stamp=lambda seconds: "%.3f" % unix(seconds), bad_from=90),
    stamped("t08-python-logging", "{t} - train - INFO - Step {step}/20000 | Loss {loss} | LR 0.000300\n", stamp=form("%Y-%m-%d %H:%M:%S,%f"), total=20000),
    stamped("t09-rich-short", "[{t}] INFO     step={step} train_loss={loss} grad_norm=0.71\n", stamp=form("%m/%d/%y %H:%M:%S"), bad_from=130),
    stamped("t10-tens", "{t} iter {step:,}/50,000: train loss {loss}, 12,345 tok/s\n", every=100, seconds=35.0, total=50000, bad_from=150),
    stamped("t11-infinite", "{t} step {step} loss {loss}\n", bad_from=140, value="inf"),
    stamped("t12-minus-infinite-capital", "{t} Step {step}  Loss: {loss}\n", bad_from=140, value="-Inf"),
    stamped("t13-loguru-colours", LOGURU, bad_from=110),
    stamped("t14-units", "{t} step {step} | loss {loss} | lr 3.0e-04 | dt 2000.00ms | 41.2k tok/s | mem 21.40 GiB | mfu 38.1%\n", bad_from=170,
            points=(Points("step_seconds", count=200, ends=(2.0, 2.0)),)),
    stamped("t15-no-extension", "{t} step {step} loss {loss}\n", file="stdout", bad_from=100),
    stamped("t16-healthy-err", "{t} [INFO] step {step}/400 loss {loss} (best 2.51)\n", file="job.err", total=400),
    stamped("t17-ray-worker", "\x1b[36m(train_fn pid=4711)\x1b[0m {t} step {step} loss {loss}\n", file="driver.log", bad_from=80),
    stamped("t18-key-colon-json-like", "{t} INFO step: {step} | metrics: {{'loss': {loss}, 'lr': 0.0001, 'gnorm': 0.7}}\n", bad_from=120),
    stamped("t19-long-lines", "{t} step {step} loss {loss} | " + "expert_load 0.125 " * 40 + "\n", bad_from=120),
    epochs_and_batches("t20-epoch-batch-zero-based", "Epoch {epoch} | Batch {batch}/{batches} | Loss {loss} | Acc 91.2%\n", 0, 0, 100, run=None),
    epochs_and_batches("t21-epoch-batch-one-based", "{t} Epoch [{epoch}/{epochs}], Step [{batch}/{batches}], Loss: {loss}\n", 1, 1, None, pace=0.7),
    epochs_and_batches("t22-epochs-only", "epoch {epoch:3d}: train loss {loss}  (12.1s)\n", 1, 0, 40, epochs=80, batches=1, file="log.txt", pace=12.1),
    mnist("t23-mnist", 3),
    mnist("t24-mnist-nan", 4, 100),
    two_ranks("t25-srun-labels", ("0: ", "1: "), bad_from=90),
    two_ranks("t26-rank-brackets", ("[rank0]: ", "[rank1]: ")),
    resumed("t27-resumed-in-one-file"),
    resumed("t28-crash-and-resume", "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\nRuntimeError: CUDA error: an illegal memory access was encountered\n"),
    with_validation("t29-val-loss-lines", "{t} step {step} | loss {loss}\n", "{t} step {step} | val loss {loss} | val ppl 18.2\n", pace=2),
    with_validation("t30-validation-word", "{t} [train] step {step}/{count} loss {loss}\n", "{t} [valid] step {step}/{count} loss {loss}\n", pace=2, total=200),
    with_validation("t31-eval-step", "step: {step} loss: {loss} time: 2.00s\n", "evaluation step: {step} loss: {loss} accuracy: 0.31\n", pace=2),
    with_validation("t32-test-nan-and-training-nan", "{t} iter {step} train_loss {loss}\n", "{t} iter {step} test_loss {loss}\n", bad_from=160, bad_step=161),
    encoded("t33-windows-line-ends", lambda text: text.replace("\n", "\r\n").encode()),
    encoded("t34-bom", lambda text: b"\xef\xbb\xbf" + text.encode()),
    encoded("t35-last-line-cut", lambda text: (text + "2026-09-21 14:19:22 step 181 of 9000, lo").encode()),
    encoded("t36-bytes-of-no-encoding", lambda text: text.encode().replace(b"lr", b"\xff\xfe lr")),
    spike("t37-spike-by-times", "{t} step {step} loss {loss}\n", "train.log"),
    spike("t38-spike-jsonl", '{{"step": {step}, "loss": {loss}, "ts": {unix:.3f}}}\n', "metrics.jsonl"),
    slowed("t39-slower-by-times", "{t} step {step} loss {loss}\n"),
    slowed("t40-slower-elapsed-jsonl", '{{"iter": {step}, "train_loss": {loss}, "elapsed": {elapsed:.2f}}}\n', "log.jsonl"),
    slowed("t41-slower-elapsed-csv", "{step},{loss},{elapsed:.1f}\n", "history.csv", "step,loss,elapsed_seconds\n"),
)
