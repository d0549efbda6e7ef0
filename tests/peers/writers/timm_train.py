# SPDX-License-Identifier: Apache-2.0
"""timm's logging, meters and summary.csv, in a loop that logs as its train.py does (which the package lacks)."""

import collections
import logging
import os
import time

import torch_task
import training as tiny
import timm.utils
import torch

EPOCHS, BETWEEN, EVALUATED = 3, 10, 4
logger = logging.getLogger("train")


def train(training, log, model, optimizer, epoch, updates):
    took_m, data_m, losses_m = timm.utils.AverageMeter(), timm.utils.AverageMeter(), timm.utils.AverageMeter()
    began = waits = time.time()
    for i, (x, y) in enumerate(torch_task.loader(training, updates, first=epoch * updates)):
        data_m.update(time.time() - waits)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses_m.update(loss.item(), len(x))
        training.pause(epoch * updates + i)
        training.trained(epoch * updates + i, loss.item())
        now = time.time()
        took_m.update(now - began)
        began = now
        if i % BETWEEN == 0:
            logger.info(
                f"Train: {epoch} [{i:>4d}/{updates} ({100. * (i + 1) / updates:>3.0f}%)]  "
                f"Loss: {losses_m.val:#.3g} ({losses_m.avg:#.3g})  "
                f"Time: {took_m.val:.3f}s, {len(x) / took_m.val:>7.2f}/s  ({took_m.avg:.3f}s, {len(x) / took_m.avg:>7.2f}/s)  "
                f"LR: {optimizer.param_groups[0]['lr']:.3e}  Data: {data_m.val:.3f} ({data_m.avg:.3f})")
            log.record(epoch * updates + i, loss.item(), epoch=epoch, batch=i)
        waits = time.time()
    return collections.OrderedDict(loss=losses_m.avg)


def validate(model):
    took_m, losses_m, top1_m, top5_m = (timm.utils.AverageMeter() for _ in range(4))
    end = time.time()
    for i, (x, y) in enumerate(torch_task.loader(None, EVALUATED)):
        with torch.no_grad():
            output = model(x)
        top1, top5 = timm.utils.accuracy(output, y, topk=(1, 5))
        losses_m.update(torch.nn.functional.cross_entropy(output, y).item(), len(x))
        top1_m.update(top1.item(), len(x))
        top5_m.update(top5.item(), len(x))
        took_m.update(time.time() - end)
        end = time.time()
        if i % BETWEEN == 0 or i == EVALUATED - 1:
            logger.info(
                f"Test: [{i:>4d}/{EVALUATED - 1}]  Time: {took_m.val:.3f} ({took_m.avg:.3f})  "
                f"Loss: {losses_m.val:>7.3f} ({losses_m.avg:>6.3f})  Acc@1: {top1_m.val:>7.3f} ({top1_m.avg:>7.3f})  "
                f"Acc@5: {top5_m.val:>7.3f} ({top5_m.avg:>7.3f})")
    return collections.OrderedDict(loss=losses_m.avg, top1=top1_m.avg, top5=top5_m.avg)


with tiny.Training(steps=180) as training:
    log = training.log(tag="Loss", counts="epoch * iterations + batch, both from 0", significant=3)
    summary = training.log("summary.csv", "train_loss", "epochs from 0", per=training.steps // EPOCHS)
    timm.utils.setup_default_logging()
    logger.info("Training with a single process on 1 device (cpu).")
    model = torch_task.model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    logger.info("Scheduled epochs: %d. LR stepped per epoch.", EPOCHS)
    best = None
    for epoch in range(EPOCHS):
        trained = train(training, log, model, optimizer, epoch, training.steps // EPOCHS)
        judged = validate(model)
        timm.utils.update_summary(epoch, trained, judged, filename=os.path.join(training.out, "summary.csv"),
                                  lr=optimizer.param_groups[0]["lr"], write_header=best is None)
        summary.record(epoch, trained["loss"])
        if best is None or judged["top1"] > best[0]:
            best = judged["top1"], epoch
    logger.info("*** Best metric: %s (epoch %s)", *best)
