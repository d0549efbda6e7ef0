# SPDX-License-Identifier: Apache-2.0
"""A small training with PyTorch, with trainwatch's two lines in it, that has the troubles it is asked for.

    torch_loop.py OUT --steps=400 [--trouble=KIND@STEP:SECONDS]... [--rank=R --world=N --meet=PORT] [--slow=FACTOR]

slow_data    the loader takes SECONDS longer for the batch of this step
collect      a collection of the garbage of about SECONDS, within the step
save         about SECONDS of writing OUT/checkpoints/step_STEP.pt between this step and the next
pause        SECONDS between this step and the next, without a word about it: an unmarked checkpoint
With --world, the ranks average their gradients after each step, through gloo; --slow multiplies the own work.
It prints the number of each step as it ends.
"""

import argparse
import gc
import os
import sys
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import trainwatch  # noqa: E402

STEP_SECONDS = 0.05


def trouble(text):
    kind, rest = text.split("@")
    step, seconds = rest.split(":")
    return kind, int(step), float(seconds)


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--trouble", type=trouble, action="append", default=[])
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--world", type=int, default=1)
    parser.add_argument("--meet", type=int, default=0)
    parser.add_argument("--slow", type=float, default=1.0)
    return parser.parse_args()


class Troubles:
    def __init__(self, wanted):
        self._wanted = wanted
        self._garbage = []

    def seconds(self, kind, step):
        return sum(seconds for name, at, seconds in self._wanted if (name, at) == (kind, step))

    def collect(self, step):
        """Cyclic garbage is made beforehand, little by little, and collected at once."""
        wanted = self.seconds("collect", step)
        if not wanted:
            return
        began = time.monotonic()
        while time.monotonic() - began < wanted:
            gc.collect()


def save(model, out, step, seconds):
    """Saves the weights again and again into one file, which takes about this long."""
    os.makedirs(os.path.join(out, "checkpoints"), exist_ok=True)
    end = time.monotonic() + seconds
    with open(os.path.join(out, "checkpoints", "step_%d.pt" % step), "wb") as file:
        while time.monotonic() < end:
            torch.save(model.state_dict(), file)
            time.sleep(0.01)


class Batches(torch.utils.data.Dataset):
    def __init__(self, steps, troubles):
        self._steps, self._troubles = steps, troubles

    def __len__(self):
        return self._steps

    def __getitem__(self, number):
        time.sleep(self._troubles.seconds("slow_data", number))
        return torch.randn(64, 256), torch.randint(0, 10, (64,))


def work(model, data, target, seconds):
    """Forward and backward passes that take about this long, whatever else the machine does."""
    loss, end = None, time.thread_time() + seconds
    while loss is None or time.thread_time() < end:
        loss = torch.nn.functional.cross_entropy(model(data), target)
        loss.backward()
    return loss


def main():
    wanted = parsed()
    torch.set_num_threads(1)
    torch.manual_seed(wanted.rank)
    troubles = Troubles(wanted.trouble)
    if any(kind == "collect" for kind, _, _ in wanted.trouble):
        troubles._garbage = [[] for _ in range(2_000_000)]  # what makes each collection slow
    if wanted.world > 1:
        torch.distributed.init_process_group(
            "gloo", init_method="tcp://127.0.0.1:%d" % wanted.meet, rank=wanted.rank, world_size=wanted.world)
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(Batches(wanted.steps, troubles), batch_size=None)
    watch = trainwatch.Watch(wanted.out, rank=wanted.rank)
    for number, (data, target) in enumerate(watch.batches(loader)):
        with watch.step():
            optimizer.zero_grad()
            with watch.phase("Forward"):
                work(model, data, target, STEP_SECONDS * wanted.slow)
            troubles.collect(number)
            with watch.phase("Backward"):
                if wanted.world > 1:
                    for parameter in model.parameters():
                        torch.distributed.all_reduce(parameter.grad)
            with watch.phase("Optimizer"):
                optimizer.step()
        time.sleep(troubles.seconds("pause", number))
        if troubles.seconds("save", number):
            save(model, wanted.out, number, troubles.seconds("save", number))
        print(number, flush=True)


if __name__ == "__main__":
    main()
