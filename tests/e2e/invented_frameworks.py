# SPDX-License-Identifier: Apache-2.0
"""Consoles of frameworks: their lines with other values, their bars, their lines of validation and tests between."""

import dataclasses

from cases import Alert, Points
from invented import at, curve, one, row

COMMA = "%Y-%m-%d %H:%M:%S,%f"
SLASHES = "%Y/%m/%d %H:%M:%S"
GLOG = "I%m%d %H:%M:%S.%f456"


def numbers(steps):
    return {"first": steps[0], "last": steps[-1], "step": steps[-1]}


def lines(name, file, form, steps, bad_from=None, value="nan", seconds=1.0, stamp="%Y-%m-%d %H:%M:%S", between=None, loss="%.4f", **more):
    """`form` has {t}, {step}, {loss}; between(n, step) gives lines of another kind behind a record."""
    losses, text = curve(name, len(steps), bad_from, value, form=loss), []
    for n, (step, each) in enumerate(zip(steps, losses)):
        text.append(form.format(t=at(seconds * (n + 1), stamp), step=step, loss=each, n=n))
        text += between(n, step) if between else []
    return row(name, one(file, text), losses, **{**numbers(steps), "bad_step": None if bad_from is None else steps[bad_from], **more})


def epochs(name, file, form, count, batches, every, bad_from=None, first=0, seconds=1.0, stamp="%Y-%m-%d %H:%M:%S", between=None, one_based=False, loss="%.4f", **more):
    """Lines with {epoch} and {batch} of {batches}, each `every` batches; between(epoch) gives lines behind each epoch."""
    inside = list(range(every if one_based else 0, batches + (1 if one_based else 0), every))
    steps = [epoch * batches + batch for epoch in range(count) for batch in inside]
    losses, text = curve(name, len(steps), bad_from, form=loss), []
    for n, (step, loss) in enumerate(zip(steps, losses)):
        epoch, place = divmod(n, len(inside))
        text.append(form.format(t=at(seconds * (n + 1), stamp), epoch=epoch + first, batch=inside[place], batches=batches, loss=loss, step=step))
        if place == len(inside) - 1 and between:
            text += between(epoch + first)
    return row(name, one(file, text), losses, **{**numbers(steps), "bad_step": None if bad_from is None else steps[bad_from], **more})


IMAGENET = ("Epoch: [{epoch}][{batch:5d}/{batches}]\tTime  0.412 ( 0.420)\tData  0.008 ( 0.009)\tLoss {loss} ({loss})\t"
            "Acc@1   3.12 (  2.02)\tAcc@5  10.94 (  9.31)\n")
SEMSEG = ("[{t} INFO train.py line 300 4711] Epoch: [{epoch}/40][{batch}/{batches}] Data 0.003 (0.140) Batch 0.512 (0.650) "
          "Remain 26:50:12 MainLoss 2.1000 AuxLoss 2.3000 Loss {loss} Accuracy 0.5121.\n")


def imagenet_tests(_):
    return ["Test: [%4d/196]\tTime  0.312 ( 0.400)\tLoss nan (nan)\tAcc@1  10.94 ( 9.31)\tAcc@5  30.47 ( 28.90)\n" % batch for batch in range(0, 196, 50)] + [
        " *   Acc@1 10.310 Acc@5 28.120\n"]


DINO = ("Epoch: [{epoch}/100]  [{batch:4d}/{batches}]  eta: 0:10:00  loss: {loss} (9.2101)  lr: 0.000104 (0.000052)  wd: 0.0400 (0.0400)  "
        "time: 0.4512  data: 0.0021  max mem: 9120\n")


def dino_tests(epoch):
    return ["Epoch: [%d/100] Total time: 0:09:24 (0.451230 s / it)\n" % epoch,
            "Test:  [ 0/79]  eta: 0:01:40  loss: nan (nan)  acc1: 71.8750 (71.8750)  time: 1.2701  data: 0.9012  max mem: 9120\n",
            "Averaged stats: loss: 9.1021 (9.2101)  lr: 0.000104 (0.000052)\n"]


# Keras

def keras_verbose_2(name, count, bad_from=None):
    losses, text = curve(name, count, bad_from), []
    for epoch, loss in enumerate(losses):
        text.append("Epoch %d/%d\n1875/1875 - 3s - loss: %s - accuracy: 0.9012 - val_loss: nan - val_accuracy: 0.8912 - 3s/epoch - 2ms/step\n" % (epoch + 1, count, loss))
    return row(name, one("slurm-300.out", text), losses, pace=(0.002, 3, 3.75))


def keras_3(name, count, bad_from=None):
    """Its bar is written again and again in each epoch; the last one of an epoch has the validation."""
    losses, text = curve(name, count, bad_from), []
    for epoch, loss in enumerate(losses):
        text.append("Epoch %d/%d\n" % (epoch + 1, count))
        for batch in range(50, 313, 50):
            text.append("\r\x1b[1m%d/313\x1b[0m \x1b[32m━━━━━━━━━\x1b[0m\x1b[37m━━━━━━━━━━━\x1b[0m \x1b[1m1s\x1b[0m 5ms/step - accuracy: 0.7012 - loss: %s" % (batch, loss))
        text.append("\r\x1b[1m313/313\x1b[0m \x1b[32m━━━━━━━━━━━━━━━━━━━━\x1b[0m\x1b[37m\x1b[0m \x1b[1m2s\x1b[0m 5ms/step - accuracy: 0.7101 - loss: %s "
                    "- val_accuracy: 0.6912 - val_loss: 1.9000\n" % loss)
    first = next((index for index, loss in enumerate(losses) if loss == "nan"), None)
    case = row(name, one("train.log", text), losses, pace=(0.005, 1.565, 2))
    points = dataclasses.replace(case.points[0], count=(count, 7 * count), first_bad=None)  # the bars of an epoch may count, too
    return dataclasses.replace(case, points=(points,), alerts=() if first is None else (Alert("loss_nan", "critical", last=(float(losses[first - 1]), None)),))


# Bars

def bar(done, total, postfix, seconds_each=1.0, label="Steps", tick="█", between=""):
    return "\r%s%s: %3d%%|%s%s| %d/%d [%02d:%02d<%02d:%02d, %5.2fit/s, %s]" % (
        between, label, 100 * done // total, tick * (10 * done // total), " " * (10 - 10 * done // total), done, total,
        *divmod(int(done * seconds_each), 60), *divmod(int((total - done) * seconds_each), 60), 1 / seconds_each, postfix)


def tqdm(name, total, bad_from=None, before="", label="Steps", tick="█", key="step_loss", every_step_twice=False, seconds=0.5):
    losses, text = curve(name, total, bad_from), [before]
    for n, loss in enumerate(losses):
        text.append(bar(n + 1, total, "lr=0.0001, %s=%s" % (key, loss), seconds, label, tick))
        if every_step_twice:
            text.append(text[-1])
    return row(name, one("slurm-7.out", text + ["\n"]), losses, first=1, last=total, step=total, total=total, pace=seconds,
               bad_step=None if bad_from is None else bad_from + 1)


DOWNLOADS = "".join("\rmodel-0000%d-of-00003.safetensors: %3d%%|####      | %d.0M/4.98G [00:%02d<00:44, 110MB/s]" % (1 + part // 50, 2 * part % 100, part, part // 5)
                    for part in range(150)) + "\n" + "".join("\rMap: %3d%%|█████     | %d/20000 [00:%02d<00:12, 1800.21 examples/s]" % (part, part * 200, part // 10)
                                                             for part in range(1, 101)) + "\n"


def lightning(name, per_epoch, count, bad_from=None):
    """With the bars of validation that come and go below the bar of the training."""
    losses, text = curve(name, per_epoch * count, bad_from, form="%.3f"), []
    for n, loss in enumerate(losses):
        epoch, batch = divmod(n, per_epoch)
        text.append("\rEpoch %d: %3d%%|█████     | %d/%d [00:%02d<00:10,  8.00it/s, v_num=0, train_loss=%s]" % (
            epoch, 100 * (batch + 1) // per_epoch, batch + 1, per_epoch, (batch + 1) // 8, loss))
        if batch == per_epoch - 1:
            text += ["\nValidation: |          | 0/? [00:00<?, ?it/s]"] + [
                "\rValidation DataLoader 0: %3d%%|██        | %d/20 [00:00<00:00, 30.12it/s]" % (5 * part, part) for part in range(1, 21)] + ["\x1b[A"]
    return row(name, one("slurm-8.out", text), losses, step=(per_epoch * count - 1, per_epoch * count), pace=0.125)


# Blocks

SB3 = ("----------------------------------\n| rollout/           |           |\n|    ep_len_mean     | 201       |\n|    ep_rew_mean     | 11.2      |\n"
       "| time/              |           |\n|    fps             | 2048      |\n|    iterations      | {n:<9d} |\n|    time_elapsed    | {n:<9d} |\n"
       "|    total_timesteps | {step:<9d} |\n| train/             |           |\n|    approx_kl       | 0.0101    |\n|    learning_rate   | 0.0003    |\n"
       "|    loss            | {loss:<9s} |\n|    value_loss      | 0.412     |\n----------------------------------\n")
COMPOSER = "[batch={step}/2000]:\n\t Train time/epoch: 0\n\t Train trainer/device_train_microbatch_size: 8\n\t Train loss/train/total: {loss}\n\t Train throughput/batches_per_sec: 2.0000\n"
OLMO = ("{t}\tnode-3:0\tolmo.train:990\tINFO\t[step={step}/8000,epoch=1]\n    optim/total_grad_norm=0.612\n    train/CrossEntropyLoss={loss}\n    train/Perplexity=21.10\n"
        "    throughput/device/tokens_per_second=11,204\n    throughput/device/batches_per_second=0.5000\n")
RSL = ("\x1b[1m                     Learning iteration {step}/3000                      \x1b[0m \n\n"
       "                       Computation: 81920 steps/s (collection: 1.120s, learning 0.080s)\n             Mean action noise std: 0.92\n"
       "          Mean value_function loss: {loss}\n               Mean surrogate loss: -0.0102\n                       Mean reward: 12.41\n"
       "--------------------------------------------------------------------------------\n                   Total timesteps: 98304\n"
       "                    Iteration time: 1.20s\n                        Total time: 12.41s\n                               ETA: 3600.0s\n\n")
VERL = ("\x1b[36m(TaskRunner pid=4711)\x1b[0m step:{step} - global_seqlen/mean:52100.2 - actor/entropy:0.412 - actor/pg_loss:{loss} - actor/grad_norm:0.112 - "
        "actor/lr:1e-06 - perf/throughput:1421.2 - timing_s/gen:21.4 - timing_s/update_actor:15.1 - timing_s/step:45.2\n")
PADDLE = ("[{t}] [    INFO] - global step {step}, epoch: 0, batch: {n}, loss: {loss}, avg_reader_cost: 0.00012 sec, avg_batch_cost: 0.25000 sec, "
          "avg_samples: 8.00000, ips: 32.00000 sequences/sec, learning rate: 1.000e-05\n")
OCR = ("[{t}] ppocr INFO: epoch: [1/500], global_step: {step}, lr: 0.001000, acc: 0.000000, loss: {loss}, avg_reader_cost: 0.40000 s, avg_batch_cost: 0.50000 s, "
       "avg_samples: 64.0, ips: 128.00000 samples/s, eta: 10:11:12\n")
YOLOX = ("{t} | INFO     | yolox.core.trainer:270 - epoch: {epoch}/300, iter: {batch}/{batches}, gpu mem: 7012Mb, mem: 10.1Gb, iter_time: 0.512s, data_time: 0.256s, "
         "total_loss: {loss}, iou_loss: 1.4, l1_loss: 0.0, conf_loss: 1.0, cls_loss: 0.6, lr: 1.000e-04, size: 640, ETA: 3 days, 1:02:03\n")
MMDET = ("{t} - mmdet - INFO - Epoch [{epoch}][{batch}/{batches}]\tlr: 1.978e-03, eta: 12:10:11, time: 0.500, data_time: 0.005, memory: 3812, "
         "loss_rpn_cls: 0.1210, loss_rpn_bbox: 0.0510, loss_cls: 0.3121, acc: 91.2109, loss_bbox: 0.3012, loss: {loss}\n")
MMENGINE_ITERATIONS = ("{t} - mmengine - INFO - Iter(train) [{step:6d}/160000]  base_lr: 1.0e-02 lr: 9.9e-03  eta: 11:12:13  time: 0.2500  data_time: 0.0040  "
                       "memory: 5121  loss: {loss}  decode.loss_ce: 1.2000  decode.acc_seg: 41.2000\n")


def mmengine_validation(n, step):
    return [] if n % 10 != 9 else ["%s - mmengine - INFO - Iter(val) [ 50/500]    eta: 0:00:40  time: 0.0912  data_time: 0.0012  memory: 1812\n" % at(12.5 * n + 13, SLASHES),
                                   "%s - mmengine - INFO - Iter(val) [500/500]    aAcc: 71.2000  mIoU: 31.1000  mAcc: 41.9000  data_time: 0.0012  time: 0.0910\n" % at(12.5 * n + 14, SLASHES)]


ULTRALYTICS_HEAD = "\n      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n"


def ultralytics(name, count, bad_from=None):
    losses, text = curve(name, count, bad_from), []
    for n, loss in enumerate(losses):
        text.append(ULTRALYTICS_HEAD)
        for batch in (1, 25, 50):
            text.append("\r%11s      3.21G %10s %10s %10s         23        640: %3d%%|██████████| %d/50 [00:%02d<00:00,  5.00it/s]" % (
                "%d/%d" % (n + 1, count), loss, loss, loss, 2 * batch, batch, batch // 5))
        text.append("\n                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|██████████| 4/4 [00:01<00:00,  3.9it/s]\n"
                    "                   all        128        929      0.712      0.612      0.701      0.512\n")
    case = row(name, one("train.out", text), losses, run=None)
    return dataclasses.replace(case, points=(dataclasses.replace(case.points[0], count=(count, 3 * count), first_bad=None),),
                               alerts=tuple(dataclasses.replace(alert, last=(alert.last[0], None)) for alert in case.alerts))


def nanogpt_between(n, step):
    return ["step %d: train loss 2.9000, val loss %s\n" % (step, "nan" if n > 60 else "2.9912")] if n % 25 == 24 else []


def modded_between(n, step):
    return ["step:%d/1770 val_loss:4.3812 train_time:%dms step_avg:100.00ms\n" % (step, 100 * step)] if n % 50 == 49 else []


STEPS = list(range(1, 201))
TENS = list(range(10, 1510, 10))
ZERO = list(range(0, 1200, 10))

CASES = (
    epochs("f01-imagenet-healthy", "slurm-1.out", IMAGENET, 2, 1252, 10, pace=0.412, between=imagenet_tests, loss="%.4e"),
    epochs("f02-imagenet-nan", "log.txt", IMAGENET, 3, 626, 20, 70, pace=0.412, loss="%.4e"),
    epochs("f03-semseg", "train-20260921.log", SEMSEG, 2, 743, 10, 100, first=1, one_based=True, seconds=5.12, pace=0.512, stamp=COMMA),
    epochs("f04-dino", "slurm-2.out", DINO, 2, 1251, 10, pace=0.4512, between=dino_tests),
    epochs("f05-mae-nan", "slurm-3.out", DINO.replace("/100]", "]").replace("  wd: 0.0400 (0.0400)", ""), 2, 400, 20, 25, pace=0.4512),
    keras_verbose_2("f06-keras-verbose-2", 40),
    keras_verbose_2("f07-keras-verbose-2-nan", 30, 21),
    keras_3("f08-keras-3", 25),
    keras_3("f09-keras-3-nan", 25, 16),
    lines("f10-nanogpt-healthy", "slurm-4.out", "iter {step}: loss {loss}, time 251.00ms, mfu 38.12%\n", ZERO, seconds=2.51, between=nanogpt_between, pace=0.251),
    lines("f11-nanogpt-inf", "slurm-5.out", "iter {step}: loss {loss}, time 251.00ms, mfu 38.12%\n", ZERO, 80, "inf", pace=0.251),
    lines("f12-nanochat", "run.log", "step {step:05d}/21400 (0.05%) | loss: {loss} | grad norm: 0.4012 | lrm: 1.00 | dt: 512.30ms | tok/sec: 1,023,440 | mfu: 48.20 | total time: 0.09m\n",
          STEPS, 150, total=21400, pace=0.5123, points=(Points("tokens_per_second", count=200, ends=(1023440, 1023440)),)),
    lines("f13-llmc-healthy", "main.log", "step {step:4d}/18865 | loss {loss} (+nanz)| norm 15.3012 (+nanz)| lr 1.71e-06 | 300.93 ms | 42.6% bf16 MFU | 174701 tok/s\n",
          STEPS, total=18865, pace=0.30093),
    lines("f14-llmc-nan", "main.log", "step {step}/1000 | train loss {loss} | norm 1.2345 | lr 3.00e-04 | (45.12 ms | 90210 tok/s)\n", STEPS, 120, total=1000, pace=0.04512, loss="%.6f"),
    lines("f15-modded-nanogpt-healthy", "8f1c2d.txt", "step:{step}/1770 train_loss:{loss} train_time:{step}00ms step_avg:100.00ms\n", STEPS, between=modded_between, total=1770, pace=0.1),
    tqdm("f16-diffusers", 200, before=DOWNLOADS),
    tqdm("f17-accelerate-nan", 150, 90, label="Epoch 0", key="loss"),
    tqdm("f18-ascii-bar-nan", 180, 130, label="Training", tick="#", key="loss"),
    tqdm("f19-bar-twice", 160, every_step_twice=True, key="loss"),
    lightning("f20-lightning-validation-bars", 80, 3),
    lightning("f21-lightning-nan", 60, 4, 150),
    epochs("f22-mmdet-2", "20260921_141320.log", MMDET, 2, 1500, 50, 40, first=1, one_based=True, seconds=25, stamp=COMMA, pace=0.5),
    lines("f23-mmengine-iterations", "20260921_141320.log", MMENGINE_ITERATIONS, list(range(50, 5050, 50)), seconds=12.5, stamp=SLASHES,
          between=mmengine_validation, total=160000, pace=0.25),
    epochs("f24-yolox", "train_log.txt", YOLOX, 2, 500, 10, first=1, one_based=True, seconds=5.12, pace=0.512, alerts=(Alert("input_bound"),)),
    ultralytics("f25-ultralytics-console", 30),
    ultralytics("f26-ultralytics-console-nan", 30, 20),
    lines("f27-verl", "verl.log", VERL, list(range(1, 81)), 60, pace=45.2, points=(Points("grad_norm", count=80),)),
    lines("f28-sb3-table", "slurm-6.out", SB3, list(range(2048, 2048 * 121, 2048)), 80, run=None),
    lines("f29-rsl-rl", "slurm-9.out", RSL, list(range(1, 121)), total=3000, pace=1.2),
    lines("f30-maxtext-prefix", "worker-0.log", "{t} 4711 metric_logger.py:180] completed step: {step}, seconds: 3.456, TFLOP/s/device: 250.112, "
          "Tokens/s/device: 4740.213, total_weights: 65536, loss: {loss}\n", list(range(0, 160)), 120, seconds=3.456, stamp=GLOG, pace=3.456, loss="%.3f"),
    lines("f31-paddle", "worker.log", PADDLE, TENS, seconds=2.5, stamp=COMMA, pace=0.25),
    lines("f32-paddle-ocr-reader", "train.log", OCR, TENS, seconds=5, stamp=SLASHES, pace=0.5, alerts=(Alert("input_bound", evidence=(r'"value": (79|80)',)),)),
    lines("f33-estimator", "slurm-10.out", "INFO:tensorflow:loss = {loss}, step = {step} (12.500 sec)\n", list(range(0, 12000, 100)), 90, pace=0.125,
          between=lambda n, step: ["INFO:tensorflow:global_step/sec: 8.0\n"]),
    lines("f34-composer", "slurm-11.out", COMPOSER, STEPS, 140, total=2000, pace=0.5),
    lines("f35-olmo-healthy", "slurm-12.out", OLMO, TENS, seconds=20, stamp="%Y-%m-%d %H:%M:%S.%f", total=8000, pace=2),
    lines("f36-deepspeed-chat", "training.log", "Epoch: 0 | Step: {step} | PPO Epoch: 1 | Actor Loss: {loss} | Critic Loss: 0.2012 | Unsupervised Loss: 0.0\n", STEPS, 90, run=None),
    lines("f37-clu", "slurm-13.out", "{t} 4711 logging_writer.py:48] [{step}] accuracy=0.412, learning_rate=0.0003, loss={loss}, steps_per_sec=4.0\n", TENS, 100, seconds=2.5, stamp=GLOG, pace=0.25),
    lines("f38-tensors-in-text", "train.log", "Iteration {step} loss tensor({loss}, device='cuda:0', grad_fn=<NllLossBackward0>)\n", STEPS, 100, run=None),
    lines("f39-gluon-speed", "train.log", "INFO:root:Epoch[0] Batch [{step}]\tSpeed: 1024.00 samples/sec\taccuracy=0.412\tloss={loss}\n", TENS, 110, run=None,
          points=(Points("samples_per_second", count=150),)),
    lines("f40-gpt-neox-healthy", "stdout.txt", " samples/sec: 85.11 | iteration {step:8d}/  143000 | elapsed time per iteration (ms): 3008.2 | learning rate: 2.000E-04 | "
          "approx flops per GPU: 120.1TFLOPS | lm_loss: {loss} | number of skipped iterations:   0 | number of nan iterations:   0 |\n", TENS, total=143000, pace=3.0082, loss="%.6E"),
)
