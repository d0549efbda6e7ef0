# SPDX-License-Identifier: Apache-2.0
"""The prints of PyTorch's ImageNet example (AverageMeter, ProgressMeter), whose code no package has."""

import time

import torch_task
import training as tiny
import torch

EPOCHS, BETWEEN, EVALUATED = 3, 10, 4


class Meter:
    """The last value of something and the mean of all."""

    def __init__(self, name, form):
        self._name, self._form = name, form
        self.value = self._sum = self._count = 0

    def update(self, value, count=1):
        self.value = value
        self._sum += value * count
        self._count += count

    def mean(self):
        return self._sum / self._count

    def __str__(self):
        return ("{} {:%s} ({:%s})" % (self._form, self._form)).format(self._name, self.value, self.mean())


def line(head, batch, batches, meters):
    print("\t".join(["%s[%*d/%d]" % (head, len(str(batches)), batch, batches), *map(str, meters)]))


def meters_of(*names):
    forms = {"Time": "6.3f", "Data": "6.3f", "Loss": ".4e", "Acc@1": "6.2f", "Acc@5": "6.2f"}
    return {name: Meter(name, forms[name]) for name in names}


def judge(meters, loss, output, y):
    meters["Loss"].update(loss.item(), len(y))
    meters["Acc@1"].update(torch_task.accuracy(output, y, 1), len(y))
    meters["Acc@5"].update(torch_task.accuracy(output, y, 5), len(y))


def train(training, log, model, optimizer, epoch, iterations):
    meters = meters_of("Time", "Data", "Loss", "Acc@1", "Acc@5")
    end = time.time()
    for i, (x, y) in enumerate(torch_task.loader(training, iterations, first=epoch * iterations)):
        meters["Data"].update(time.time() - end)
        output = model(x)
        loss = torch.nn.functional.cross_entropy(output, y)
        judge(meters, loss, output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        training.pause(epoch * iterations + i)
        training.trained(epoch * iterations + i, loss.item())
        meters["Time"].update(time.time() - end)
        end = time.time()
        if i % BETWEEN == 0:
            line("Epoch: [%d]" % epoch, i + 1, iterations, meters.values())
            log.record(epoch * iterations + i + 1, loss.item(), epoch=epoch, batch=i + 1)


def evaluate(model):
    meters = meters_of("Time", "Loss", "Acc@1", "Acc@5")
    model.eval()
    end = time.time()
    for i, (x, y) in enumerate(torch_task.loader(None, EVALUATED)):
        with torch.no_grad():
            output = model(x)
        judge(meters, torch.nn.functional.cross_entropy(output, y), output, y)
        meters["Time"].update(time.time() - end)
        end = time.time()
        if i % BETWEEN == 0:
            line("Test: ", i + 1, EVALUATED, meters.values())
    print(" *   Acc@1 %.3f Acc@5 %.3f" % (meters["Acc@1"].mean(), meters["Acc@5"].mean()))
    model.train()


with tiny.Training(steps=180) as training:
    log = training.log(tag="Loss", counts="epoch * iterations + batch, epochs from 0, batches from 1", significant=5)
    print("using CPU, this will be slow")
    print("=> creating model 'resnet18'")
    model = torch_task.model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(EPOCHS):
        train(training, log, model, optimizer, epoch, training.steps // EPOCHS)
        evaluate(model)
