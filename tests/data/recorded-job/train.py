#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The training that was recorded: a small CNN, a DataLoader with two workers, one stalled batch.

record.py runs it; see there. Prints what happened as one JSON object, measured with its own clock
and not with the hook's.
"""

import argparse
import json
import os
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.profiler
from torch.utils.data import DataLoader, Dataset

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../python"))
import trainwatch  # noqa: E402

CLASSES = 10
CYCLE = {"wait": 37, "warmup": 1, "active": 2}  # steps of one profiler cycle


class Pictures(Dataset):
    """Noise with one of ten patterns in it. Reading the picture `stalled` takes `stall` seconds."""

    def __init__(self, count, stalled, stall):
        self._patterns = torch.randn(CLASSES, 3, 32, 32, generator=torch.Generator().manual_seed(1))
        self._count, self._stalled, self._stall = count, stalled, stall

    def __len__(self):
        return self._count

    def __getitem__(self, index):
        if index == self._stalled:
            time.sleep(self._stall)
        noise = torch.randn(3, 32, 32, generator=torch.Generator().manual_seed(index))
        return noise + 0.15 * self._patterns[index % CLASSES], index % CLASSES


def network(width):
    def block(inputs, outputs):
        return [nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*block(3, width), *block(width, width), nn.MaxPool2d(2),
                         *block(width, 2 * width), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(2 * width * 8 * 8, CLASSES))


def profiler(out, node, device):
    """Writes a trace after each cycle, in turn plain and compressed, as users of either do."""
    folder = os.path.join(out, "profiler")
    writers = [torch.profiler.tensorboard_trace_handler(folder, node, use_gzip=compressed)
               for compressed in (True, False)]
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    cycles = []

    def write(result):
        cycles.append(result)
        writers[len(cycles) % 2](result)
    return torch.profiler.profile(activities=activities, on_trace_ready=write,
                                  schedule=torch.profiler.schedule(**CYCLE))


def train(options):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    pictures = Pictures(options.steps * options.batch_size,
                        options.stall_step * options.batch_size, options.stall_seconds)
    loader = DataLoader(pictures, options.batch_size, num_workers=2,
                        pin_memory=options.device == "cuda")
    model = network(options.width).to(options.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.002, momentum=0.9)
    watch = trainwatch.Watch(options.out, rank=0, node=options.node)
    durations, losses = [], []
    with profiler(options.out, options.node, options.device) as profile:
        began = time.perf_counter()
        for pictures, labels in watch.batches(loader):
            with watch.step() as step:
                pictures = pictures.to(options.device, non_blocking=True)
                labels = labels.to(options.device, non_blocking=True)
                with watch.phase("Forward"):
                    loss = F.cross_entropy(model(pictures), labels)
                with watch.phase("Backward"):
                    optimizer.zero_grad()
                    loss.backward()
                with watch.phase("Optimizer"):
                    optimizer.step()
                losses.append(loss.item())
            durations.append(time.perf_counter() - began)
            if step % 100 == 99:
                with watch.phase("Checkpoint"):
                    torch.save(model.state_dict(), os.devnull)
            profile.step()
            began = time.perf_counter()
    watch.close()
    return durations, losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--node", required=True)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--stall-step", type=int, default=350)
    parser.add_argument("--stall-seconds", type=float, default=4.0)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--width", type=int, default=32)
    options = parser.parse_args()
    durations, losses = train(options)
    stall = options.stall_step
    normal = durations[10:stall] + durations[stall + 1:]
    json.dump({
        "node": options.node, "rank": 0, "device": options.device, "torch": torch.__version__,
        "steps": len(durations), "workers": 2,
        "stall": {"step": stall, "slept_seconds": options.stall_seconds,
                  "step_seconds": round(durations[stall], 6)},
        "step_seconds": {"median": round(statistics.median(normal), 6),
                         "longest": round(max(normal), 6)},
        "loss": {"first": round(losses[0], 4), "last": round(losses[-1], 4)},
    }, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
