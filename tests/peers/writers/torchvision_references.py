# SPDX-License-Identifier: Apache-2.0
"""The prints of torchvision's references (MetricLogger.log_every), whose code no package has.

What it prints as loss is the median of the last 20, the mean of the epoch in brackets.
"""

import collections
import datetime
import statistics
import time

import torch_task
import training as tiny
import torch

EPOCHS, BETWEEN, EVALUATED, WINDOW = 3, 10, 4, 20


class Meter:
    """The last values of something, and the mean of all."""

    def __init__(self, form="{median:.4f} ({mean:.4f})", window=WINDOW):
        self._form, self._last = form, collections.deque(maxlen=window)
        self._sum = self._count = 0

    def update(self, value, count=1):
        self._last.append(value)
        self._sum += value * count
        self._count += count

    def mean(self):
        return self._sum / self._count

    def median(self):
        """As torch.median: of two in the middle, the lower one, and NaN if any is."""
        return torch.tensor(list(self._last)).median().item()

    def __str__(self):
        return self._form.format(median=self.median(), mean=self.mean(), value=self._last[-1], last=statistics.fmean(self._last))


def lines(header, batches, meters, printed=lambda i: None):
    """Yields the batches, and prints a line for every tenth."""
    began = end = time.time()
    iteration, data = Meter("{last:.4f}"), Meter("{last:.4f}")
    width = len(str(len(batches)))
    for i, batch in enumerate(batches):
        data.update(time.time() - end)
        yield batch
        iteration.update(time.time() - end)
        if i % BETWEEN == 0:
            left = datetime.timedelta(seconds=int(iteration.mean() * (len(batches) - i)))
            values = "  ".join("%s: %s" % meter for meter in meters.items())
            print("  ".join([header, "[%*d/%d]" % (width, i, len(batches)), "eta: %s" % left, values, "time: %s" % iteration,
                             "data: %s" % data]))
            printed(i)
        end = time.time()
    print("%s Total time: %s" % (header, datetime.timedelta(seconds=int(time.time() - began))))


def train(training, log, model, optimizer, epoch, iterations):
    meters = {"lr": Meter("{value}", 1), "img/s": Meter("{value}", 10), "loss": Meter(), "acc1": Meter(), "acc5": Meter()}
    batches = torch_task.loader(training, iterations, first=epoch * iterations)
    for i, (x, y) in enumerate(lines("Epoch: [%d]" % epoch, batches, meters, lambda i: log.record(
            epoch * iterations + i, meters["loss"].median(), epoch=epoch, batch=i))):
        began = time.time()
        output = model(x)
        loss = torch.nn.functional.cross_entropy(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        training.pause(epoch * iterations + i)
        meters["loss"].update(loss.item())
        meters["lr"].update(optimizer.param_groups[0]["lr"])
        meters["acc1"].update(torch_task.accuracy(output, y, 1), len(y))
        meters["acc5"].update(torch_task.accuracy(output, y, 5), len(y))
        meters["img/s"].update(len(y) / (time.time() - began))
        training.trained(epoch * iterations + i, loss.item())


def evaluate(model):
    meters = {"loss": Meter(), "acc1": Meter(), "acc5": Meter()}
    for x, y in lines("Test: ", torch_task.loader(None, EVALUATED), meters):
        with torch.no_grad():
            output = model(x)
        meters["loss"].update(torch.nn.functional.cross_entropy(output, y).item())
        meters["acc1"].update(torch_task.accuracy(output, y, 1), len(y))
        meters["acc5"].update(torch_task.accuracy(output, y, 5), len(y))
    print("Test:  Acc@1 %.3f Acc@5 %.3f" % (meters["acc1"].mean(), meters["acc5"].mean()))


with tiny.Training(steps=180) as training:
    log = training.log(counts="epoch * iterations + batch, both from 0", decimals=4)
    model = torch_task.model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    print("Start training")
    began = time.time()
    for epoch in range(EPOCHS):
        train(training, log, model, optimizer, epoch, training.steps // EPOCHS)
        evaluate(model)
    print("Training time %s" % datetime.timedelta(seconds=int(time.time() - began)))
