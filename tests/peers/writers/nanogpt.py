# SPDX-License-Identifier: Apache-2.0
"""The prints of nanoGPT's train.py, with a character model of one layer."""

import time

import torch_task
import training as tiny
import torch

BETWEEN, EVALUATE_EVERY, EVALUATED, BLOCK, LETTERS, ASIDE = 10, 100, 5, 16, 32, 5


class Characters(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(tiny.SEED)
        self.embedding = torch.nn.Embedding(LETTERS, 32)
        self.recurrent = torch.nn.GRU(32, 32, batch_first=True)
        self.head = torch.nn.Linear(32, LETTERS)

    def forward(self, letters):
        logits = self.head(self.recurrent(self.embedding(letters[:, :-1]))[0])
        return torch.nn.functional.cross_entropy(logits.reshape(-1, LETTERS), letters[:, 1:].reshape(-1))


def batch(seed):
    """Letters that count upwards by one or two: what comes next can be learned."""
    random = torch.Generator().manual_seed(seed)
    steps = torch.randint(1, 3, (12, BLOCK + 1), generator=random)
    return (steps.cumsum(1) + torch.randint(LETTERS, (12, 1), generator=random)) % LETTERS


def estimate(model):
    with torch.no_grad():
        return [sum(model(batch(first + i)).item() for i in range(EVALUATED)) / EVALUATED for first in (0, 10**6)]


with tiny.Training(steps=301) as training:
    log = training.log(decimals=4)
    print("tokens per iteration will be: 192")
    print("number of parameters: 0.01M")
    model = Characters()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    began, mfu = time.time(), -1.0
    for step in range(training.steps):
        if step % EVALUATE_EVERY == 0:
            print("step %d: train loss %.4f, val loss %.4f" % (step, *estimate(model)))
            if step > 0:
                print("saving checkpoint to out-shakespeare-char")
        loss = model(batch(step))
        if training.is_nan(step):
            loss = loss * float("nan")
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        training.pause(step)
        training.trained(step, loss.item())
        now = time.time()
        took, began = now - began, now
        if step % BETWEEN == 0:
            if step >= ASIDE:
                mfu = 0.0021 if mfu == -1.0 else 0.9 * mfu + 0.1 * 0.0021
            print(f"iter {step}: loss {loss.item():.4f}, time {took * 1000:.2f}ms, mfu {mfu * 100:.2f}%")
            log.record(step, loss.item())
