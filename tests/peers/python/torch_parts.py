# SPDX-License-Identifier: Apache-2.0
"""The model and the data of the jobs that use PyTorch."""

import time

import torch

import job

torch.set_num_threads(1)


class Samples(torch.utils.data.Dataset):
    def __init__(self, batches, is_slow):
        self._number, self._is_slow = batches * job.BATCH, is_slow

    def __len__(self):
        return self._number

    def __getitem__(self, number):
        if self._is_slow:
            job.slow(number)
        return {"x": torch.randn(64), "labels": torch.tensor(number % 10)}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 10)

    def forward(self, x, labels=None):
        time.sleep(job.STEP_SECONDS / job.ACCUMULATED)
        logits = self.layer(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


def train_samples():
    return Samples(job.STEPS * job.ACCUMULATED, True)


def train_loader():
    return torch.utils.data.DataLoader(train_samples(), batch_size=job.BATCH)


def eval_samples():
    return Samples(job.EVALUATED, False)


def eval_loader():
    return torch.utils.data.DataLoader(eval_samples(), batch_size=job.BATCH)
