# SPDX-License-Identifier: Apache-2.0
"""How jobs end, under which names they log, which of their values are the loss of the training, two forms in one file, logs
without times, collectives that hang, and files that hold no training at all."""

import dataclasses
import datetime

from case_generators import event_file, megatron_lines
from cases import Alert, Case, Points
from invented import BEGAN, at, curve, files, nothing, one, row, unix


def megatron(name, count=200, total=10000, first=1):
    losses = curve(name, count, form="%.6E")
    return "".join(megatron_lines(range(first, first + count), total, BEGAN, 2, lambda step: float(losses[step - first])))


def end(name, tail, state, class_=None, severity="critical", file="slurm-77.out", headline=(), alerts=None, **members):
    """A healthy Megatron log with other last words."""
    failed = (Alert("run_failed", severity, step=200),) if class_ and severity else ()
    return Case(name, make=one(file, megatron(name) + tail), points=(Points(count=200, first=1, last=200),), step=200, total=10000, state=(state,), never=(),
                end={**({"class": class_} if class_ else {}), **members}, headline=headline, alerts=failed if alerts is None else alerts, quiet=not failed and not alerts)


def torchrun(name, rank, exit_code, words, **members):
    tail = ("E0921 14:20:10.101000 4711 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: %d) local_rank: %d (pid: 4715) of binary: /usr/bin/python3\n"
            "Traceback (most recent call last):\n  File \"/usr/local/bin/torchrun\", line 8, in <module>\n    sys.exit(main())\n"
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n============================================================\ntrain.py FAILED\n"
            "------------------------------------------------------------\nFailures:\n  <NO_OTHER_FAILURES>\n------------------------------------------------------------\n"
            "Root Cause (first observed failure):\n[0]:\n  time      : 2026-09-21_14:20:05\n  host      : gpu-a03\n  rank      : %d (local_rank: %d)\n"
            "  exitcode  : %d (pid: 4715)\n  error_file: <N/A>\n  traceback : %s\n============================================================\n" % (
                exit_code, rank % 8, rank, rank % 8, exit_code, words))
    return end(name, tail, "failed", rank=rank, node="gpu-a03", alerts=(Alert("run_failed", "critical", step=200, says=("rank %d" % rank,)),), **members)


def caught(name):
    """An exception is logged in the middle, and the training goes on: no failure."""
    losses = curve(name, 200)
    trace = "Traceback (most recent call last):\n  File \"data.py\", line 9, in fetch\nConnectionResetError: [Errno 104] Connection reset by peer\nretrying sample 4711\n"
    text = "".join(megatron_lines(range(1, 101), 10000, BEGAN, 2, lambda step: 3 - step / 1000)) + trace + "".join(
        megatron_lines(range(101, 201), 10000, BEGAN + datetime.timedelta(seconds=200), 2, lambda step: 3 - step / 1000))

    def complaints(seen):
        for alert in seen.alerts:
            if alert["rule"] == "run_failed" and alert["state"] == "firing":
                yield "run_failed goes on: " + alert["summary"]
    return Case(name, make=one("slurm-78.out", text), points=(Points(count=len(losses)),), step=200, pace=2, may=("run_failed",), more=complaints)


ENDS = (
    end("e01-preempted", "slurmstepd: error: *** JOB 77 ON gpu-a03 CANCELLED AT 2026-09-21T14:20:05 DUE TO PREEMPTION ***\n", "cancelled", "preempted", ("warning", "critical"), node="gpu-a03"),
    end("e02-time-limit-step", "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
        "slurmstepd: error: *** STEP 77.0 ON gpu-a03 CANCELLED AT 2026-09-21T14:20:05 DUE TO TIME LIMIT ***\n", "cancelled", "time_limit", ("warning", "critical")),
    end("e03-host-out-of-memory", "slurmstepd: error: Detected 1 oom_kill event in StepId=77.0. Some of the step tasks have been OOM Killed.\n"
        "srun: error: gpu-a03: task 3: Out Of Memory\n", "failed", "host_out_of_memory"),
    end("e04-node-failure", "slurmstepd: error: *** JOB 77 ON gpu-a03 CANCELLED AT 2026-09-21T14:20:05 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***\n", "failed", "node_failure"),
    end("e05-disk-full", "Traceback (most recent call last):\n  File \"train.py\", line 41, in <module>\n    torch.save(state, path)\nOSError: [Errno 28] No space left on device\n", "failed", "disk_full"),
    end("e06-exception", "Traceback (most recent call last):\n  File \"train.py\", line 41, in <module>\n    loss = model(batch)\nValueError: expected sequence of length 2048, got 2047\n",
        "failed", "exception", headline=("ValueError",)),
    end("e07-worker-killed", "RuntimeError: DataLoader worker (pid 4719) is killed by signal: Killed. \n", "failed", "worker_killed"),
    end("e08-cublas", "Traceback (most recent call last):\n  File \"train.py\", line 41, in <module>\nRuntimeError: CUDA error: uncorrectable ECC error encountered\n", "failed", "gpu_error"),
    end("e09-interrupted", "^CTraceback (most recent call last):\n  File \"train.py\", line 41, in <module>\nKeyboardInterrupt\n", "cancelled", alerts=()),
    end("e10-scancel", "slurmstepd: error: *** JOB 77 ON gpu-a03 CANCELLED AT 2026-09-21T14:20:05 ***\n", "cancelled", alerts=()),
    end("e11-old-oom", "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 1; 79.15 GiB total capacity; 70.21 GiB already allocated)\n", "failed", "cuda_out_of_memory"),
    end("e12-healthy", "[after training is done] datetime: 2026-09-21 14:20:02 \n", "finished", headline=("^Finished at step 200",)),
    torchrun("e13-torchrun-exit-1", 5, 1, "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html", **{"class": "exception"}),
    torchrun("e14-torchrun-segfault", 11, -11, "Signal 11 (SIGSEGV) received by PID 4715", signal=11),
    caught("e15-caught-and-gone-on"),
    Case("e16-dies-before-the-first-step", make=one("slurm-79.out", "2026-09-21 14:13:20 loading /data/train.bin\n" + "Traceback (most recent call last):\n  File \"train.py\", line 4, in <module>\n"
         "FileNotFoundError: [Errno 2] No such file or directory: '/data/train.bin'\n"), points=(), state=("failed",), alerts=(Alert("run_failed", "critical"),)),
)


# Names

OWN = "{t} step {step}/{count} loss {loss}\n"


def named(name, *names, bad_from=90):
    """The same kind of log under each of the names, with other losses; each in its own directory is a job."""
    texts, rows = {}, []
    for number, path in enumerate(names):
        losses = curve(name + path, 120, bad_from if number == 0 else None)
        texts[path.replace("/", "__").replace(".", "_dot_")] = "".join(OWN.format(t=at(2 * n + 2), step=n + 1, loss=loss, count=120) for n, loss in enumerate(losses))
        rows.append(losses)

    def complaints(seen):
        found = sorted(len(series["points"]) for series in seen.live.series if series["kind"] == "loss")
        if found != [120] * len(names):
            yield "losses %s, wanted %d of 120" % (found, len(names))
    return Case(name, make=files(**texts), points=(Points(count=120),), step=120, total=120, pace=2, alerts=(Alert("loss_nan", "critical", step=bad_from + 1),), more=complaints)


def copied(name):
    """tee writes what Slurm writes, too: one job, each record once."""
    text = megatron(name, 150)

    def complaints(seen):
        for where, runs in (("runs", seen.runs), ("live", seen.live.runs)):
            if len(runs) != 1 or len(runs[0]["attempts"]) != 1 or runs[0]["life"]["redone_steps"]:
                yield "%s: %s" % (where, [(run["job"], len(run["attempts"]), run["life"]["redone_steps"]) for run in runs])
        if len([series for series in seen.live.series if series["kind"] == "loss"]) != 1:
            yield "not one series of losses"
    return Case(name, make=files(slurm_81_dot_out=text, train_dot_log=text), points=(Points(count=150, first=1, last=150),), step=150, quiet=True, more=complaints)


NAMES = (
    named("n01-log-txt", "log.txt"),
    named("n02-time-as-a-name", "20260921_141320.log"),
    named("n03-ranks", "rank_0.log"),
    named("n04-zero", "0.log"),
    named("n05-folders", "exp1/train.log", "exp2/training.log", "exp3/run.log", "exp4/out"),
    named("n06-deep", "outputs/2026-09-21/14-13-20/train_own.log"),
    copied("n07-a-copy"),
)


# Tags

def tensorboard(name, tag, bad_from=None, others=(), validation=()):
    """`validation`: tags that are NaN from the start and are of no concern."""
    losses = curve(name, 140, bad_from)
    steps = [(n + 1, 2.0 * (n + 1), [*((other, 0.5) for other in others), *((each, float("nan")) for each in validation), (tag, float(loss))]) for n, loss in enumerate(losses)]
    case = row(name, one("events.out.tfevents.1790000000.n7.4711.0", event_file(int(unix(0)), steps)), losses, first=1, last=140, step=140, pace=2,
               bad_step=None if bad_from is None else bad_from + 1)
    return dataclasses.replace(case, points=(dataclasses.replace(case.points[0], tag=tag.replace("(", r"\(").replace(")", r"\)")),))


TAGS = (
    tensorboard("d01-loss-train", "Loss/train", 100, validation=("Loss/test",)),
    tensorboard("d02-train-loss-epoch", "train_loss_epoch", validation=("valid_loss", "val/loss")),
    tensorboard("d03-lm-loss", "lm loss vs samples", 120),
    tensorboard("d04-deepspeed-samples", "Train/Samples/train_loss", 60, others=("Train/Samples/lr",)),
    tensorboard("d05-detection", "train/box_loss", 70, others=("lr/pg0",), validation=("val/box_loss", "metrics/loss_on_test")),
    tensorboard("d06-policy", "actor/pg_loss", 90, others=("actor/kl", "rollout/reward")),
    tensorboard("d07-total", "losses/total_loss", validation=("losses_eval/total_loss", "eval_loss", "evaluation/loss")),
    tensorboard("d08-behind-many", "loss", 110, others=tuple("weights/layer_%d/mean" % layer for layer in range(400))),
    tensorboard("d09-hugging-face", "train/loss", others=("train/learning_rate", "train/grad_norm"), validation=("eval/loss",)),
)


# Two forms

DEEPSPEED = "[{t},120] [INFO] [logging.py:128:log_dist] [Rank 0] step={step}, skipped=0, lr=[1e-05], mom=[(0.9, 0.95)]\n"
TIMER = ("[{t},121] [INFO] [timer.py:264:stop] epoch=0/micro_step={step}/global_step={step}, RunningAvgSamplesPerSec=32.0, CurrSamplesPerSec=32.0, "
         "MemAllocated=11.3GB, MaxMemAllocated=20.1GB\n")
TRAINER = "{{'loss': {loss}, 'grad_norm': 0.8123, 'learning_rate': 1e-05, 'epoch': {epoch:.2f}}}\n"


def two_forms(name, file, forms, count=150, bad_from=100, every=1, head="", **more):
    losses = curve(name, count, bad_from)
    text = [head] + [form.format(t=at(2 * n + 2), step=every * (n + 1), loss=loss, epoch=n / 100) for n, loss in enumerate(losses) for form in forms]
    return row(name, one(file, text), losses, **more)


FORMS = (
    two_forms("b01-deepspeed-and-trainer", "slurm-82.out", (DEEPSPEED, TIMER, TRAINER)),
    two_forms("b02-deepspeed-once-and-trainer", "slurm-83.out", (TRAINER,), head=DEEPSPEED.format(t=at(0), step=0) + TIMER.format(t=at(0), step=1), run=None),
    two_forms("b03-deepspeed-and-own", "train.log", (DEEPSPEED, "{t} step {step} train loss {loss}\n"), every=10, step=1500, pace=0.2, bad_step=1010),
    two_forms("b04-own-and-megatron-warning", "slurm-84.out", ("WARNING:megatron.core: setting tensor-parallel to 1, step {step} of setup\n", "iter {step}: loss {loss}, time 2000.00ms, mfu 31.20%\n"),
              bad_from=None, step=150, pace=2),
    two_forms("b05-timers-and-own", "run.log", (TIMER, "rank 0 | step {step} | loss {loss} | lr 1e-05\n"), step=150, pace=2, bad_step=101,
              points=(Points("samples_per_second", count=150),)),
)


# No times

def untimed(name, form, pace, file="slurm-85.out", count=200, every=1, ended=1772442000):
    """Nothing in the file says when; it was last written on 2 March 2026, 09:00."""
    losses = curve(name, count)
    text = [form.format(step=every * (n + 1), loss=loss) for n, loss in enumerate(losses)]

    def complaints(seen):
        for run in seen.runs:
            begin, last = (datetime.datetime.fromisoformat(run[key].replace("Z", "+00:00")).timestamp() for key in ("begin", "last_step_at"))
            if not ended - 60 <= last <= ended + 1 or abs(begin - (ended - pace * count * every)) > 0.03 * pace * count * every + 2 * pace:
                yield "from %s to %s, wanted %.0f s that end on 2 March 2026, 09:00" % (run["begin"], run["last_step_at"], pace * count * every)
    return row(name, one(file, text), losses, touch=ended, step=every * count, pace=pace, more=complaints)


UNTIMED = (
    untimed("u01-nanogpt", "iter {step}: loss {loss}, time 3100.00ms, mfu 31.20%\n", 3.1),
    untimed("u02-own-seconds", "step {step} | loss {loss} | 12.5 s/step\n", 12.5, file="train.log"),
    untimed("u03-rate", "step {step}, loss {loss}, 2.0 steps/s\n", 0.5, file="train.log", every=10),
    untimed("u04-pipeline", "steps: {step} loss: {loss} iter time (s): 4.200 samples/sec: 15.238\n", 4.2, every=10),
)


# Collectives

def watchdog(name, missing, ranks=16, form="new", operation="ALLGATHER", file="slurm-86.out"):
    """All ranks but some time out in a collective; the others print nothing."""
    lines = {
        "new": "[rank{r}]:[E0921 14:43:2{s}.101 ProcessGroupNCCL.cpp:632] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=311, OpType={o}, "
               "NumelIn=1024, NumelOut=16384, Timeout(ms)=900000) ran for 90000{s} milliseconds before timing out.\n",
        "old": "[E ProcessGroupNCCL.cpp:566] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(OpType={o}, Timeout(ms)=900000) ran for 90000{s} milliseconds before timing out.\n",
    }[form]
    text = "".join(lines.format(r=rank, s=rank % 10, o=operation) for rank in range(ranks) if rank not in missing)
    suspects = (r'"suspects": \[%s\]' % ", ".join(map(str, missing)),) if missing else ()
    return Case(name, make=one(file, text), points=(), run=None, state=("failed",), alerts=(Alert("collective_hang", "critical", says=(operation, r"15(\.\d)? min"), evidence=suspects), Alert("run_failed")))


KERNEL = "2026-09-21T14:1{n}:00.000000+00:00 gpu-a03 kernel: [ 8812.00{n}] audit: type=1400 apparmor=\"ALLOWED\"\n"


def kernel(name, line, patterns, file="kern.log"):
    text = "".join(KERNEL.format(n=n) for n in range(9)) + line
    if not patterns:
        return Case(name, make=one(file, text), readable=None, run=False, points=(), quiet=True)
    return Case(name, make=one(file, text), run=None, points=(), alerts=(Alert("gpu_error", "critical", evidence=patterns),), may=("run_failed",), never=())


HARDWARE = (
    watchdog("h01-one-silent", (11,)),
    watchdog("h02-two-silent", (3, 9)),
    watchdog("h03-old-wording", (2,), 8, "old", "BROADCAST"),
    watchdog("h04-nobody-silent", (), 8),
    kernel("x01-ecc", "2026-09-21T14:20:01.101000+00:00 gpu-a03 kernel: [ 9120.114] NVRM: Xid (PCI:0000:9d:00): 48, pid=1234, name=python3, An uncorrectable double bit error (DBE) has been detected on GPU.\n",
           (r"\b48\b", "9d:00")),
    kernel("x02-raw-dmesg", "[ 9120.114312] NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n", (r"\b79\b", "1b:00"), file="dmesg.txt"),
    kernel("x03-syslog-time", "Sep 21 14:20:01 gpu-a03 kernel: [ 9120.114312] NVRM: Xid (PCI:0000:4e:00): 95, pid=4711, name=python3, Uncontained ECC error\n", (r"\b95\b", "4e:00"), file="messages.log"),
    kernel("x04-quiet-kernel", "", ()),
    kernel("x05-application-fault-only", "2026-09-21T14:20:01.101000+00:00 gpu-a03 kernel: [ 9120.114] nvidia-nvlink: Nvlink Core is being initialized, major device number 234\n", ()),
)


# No training at all

PING = "PING node7 (10.0.0.7) 56(84) bytes of data.\n" + "".join("64 bytes from node7 (10.0.0.7): icmp_seq=%d ttl=64 time=0.%03d ms\n" % (n, 100 + n) for n in range(1, 60)) + \
    "\n--- node7 ping statistics ---\n59 packets transmitted, 59 received, 0% packet loss, time 59012ms\nrtt min/avg/max/mdev = 0.100/0.130/0.160/0.010 ms\n"
DOCKER = "".join("Step %d/24 : RUN pip install package-%d\n ---> Running in 0a1b2c3d%04d\n ---> %012x\n" % (n, n, n, n * 7919) for n in range(1, 25)) + "Successfully built 0a1b2c3d\n"
PYTEST = "".join("tests/test_loss.py::test_step_%d_loss PASSED                            [%3d%%]\n" % (n, n) for n in range(1, 101)) + "===== 100 passed in 12.41s =====\n"
ACCESS = "".join('10.0.0.%d - - [21/Sep/2026:14:13:%02d +0000] "GET /api/step/%d?loss=%d HTTP/1.1" 200 %d "-" "curl/8.0"\n' % (n % 250, n % 60, n, n % 7, 100 + n) for n in range(200))
PROSE = "In step 1 we lower the rate; in step 2 the loss of 3 % of the samples is accepted.\nIn step 3 nothing is lost. The loss function is described in chapter 4, epoch 5 of the plan.\n" * 30
DATASET = "".join('{"id": %d, "text": "The loss was %d points in step %d.", "label": %d}\n' % (n, n % 9, n, n % 2) for n in range(200))
PEOPLE = "id,name,age,city\n" + "".join("%d,Name %d,%d,Town\n" % (n, n, 20 + n % 60) for n in range(150))
TRADES = "date,profit,loss,balance\n" + "".join("2026-%02d-%02d,%d.50,%d.25,%d\n" % (1 + n // 28, 1 + n % 28, n, n % 7, 1000 + n) for n in range(280))
REQUESTS = "".join('{"level": "info", "ts": %d, "msg": "request", "status": 200, "duration_ms": %d, "step": "auth"}\n' % (1790000000 + n, n % 30) for n in range(150))
SOURCE = "import torch\n\nfor step in range(100):\n    loss = model(batch)\n    print(f'step {step} loss {loss.item():.4f}')\n    if step % 10 == 0:\n        val_loss = evaluate()\n" * 20
CONFIGURATION = "model:\n  loss: cross_entropy\n  steps: 10000\ntrainer:\n  step: 1\n  epoch: 3\n  lr: 0.0003\n  loss_scale: 1024\n" * 10
COPYING = "".join("\rreceiving incremental file list: %3d%%  %d/4711 files, 12.3MB/s    0:00:%02d" % (n, n * 47, n % 60) for n in range(100)) + "\n"
BUILD = "".join("[%d/812] Building CXX object src/loss_%d.cc.o\n" % (n, n) for n in range(1, 300))
EVALUATION = "".join("| task_%d | step 5000 | acc %.4f |\n" % (n, 0.5 + n / 100) for n in range(40))
INSTALL = "".join("Collecting package-%d==1.%d.0\n  Downloading package_%d-1.%d.0-py3-none-any.whl (%d kB)\n     ━━━━━━━━━━ %d.0/512.0 kB 12.1 MB/s eta 0:00:00\n" % (n, n, n, n, n, n) for n in range(60))

NOTHING = (
    nothing("z01-ping", one("ping.log", PING)),
    nothing("z02-docker-build", one("build.log", DOCKER)),
    nothing("z03-pytest", one("test.log", PYTEST)),
    nothing("z04-web-server", one("access.log", ACCESS)),
    nothing("z05-prose", one("notes.txt", PROSE)),
    nothing("z06-data-set", one("train.jsonl", DATASET)),
    nothing("z07-people", one("people.csv", PEOPLE)),
    nothing("z08-trades", one("trades.csv", TRADES)),
    nothing("z09-requests", one("requests.jsonl", REQUESTS)),
    nothing("z10-source-in-a-log", one("source.out", SOURCE)),
    nothing("z11-configuration", one("config.log", CONFIGURATION)),
    nothing("z12-copying", one("rsync.out", COPYING)),
    nothing("z13-ninja", one("compile.log", BUILD)),
    nothing("z14-evaluation-table", one("eval.log", EVALUATION)),
    nothing("z15-pip", one("slurm-90.out", INSTALL)),
    nothing("z16-empty", one("slurm-91.out", "")),
    nothing("z17-binary", one("core.log", bytes(range(256)) * 64)),
)

CASES = (*ENDS, *NAMES, *TAGS, *FORMS, *UNTIMED, *HARDWARE, *NOTHING)
