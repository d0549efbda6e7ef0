# SPDX-License-Identifier: Apache-2.0
"""A classification that PyTorch learns within a hundred iterations, with its batches in a known order."""

import os

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")  # before torch is imported

import torch  # noqa: E402

import training as tiny  # noqa: E402

FEATURES, CLASSES, BATCH = 16, 10, 32

torch.set_num_threads(1)


def model():
    torch.manual_seed(tiny.SEED)
    return torch.nn.Sequential(torch.nn.Linear(FEATURES, 32), torch.nn.ReLU(), torch.nn.Linear(32, CLASSES))


class Batches(torch.utils.data.Dataset):
    """Sample i is of iteration i // BATCH, if it is read in order; `first` is the iteration of sample 0."""

    def __init__(self, training, iterations, first=0):
        self._training, self._iterations, self.first = training, iterations, first

    def __len__(self):
        return self._iterations * BATCH

    def __getitem__(self, number):
        features = torch.randn(FEATURES, generator=torch.Generator().manual_seed(1000 * tiny.SEED + number))
        label = int(features[:CLASSES].argmax())
        if self._training is not None and self._training.is_nan(self.first + number // BATCH):
            features[0] = float("nan")
        return features, label


def loader(training, iterations, first=0):
    return torch.utils.data.DataLoader(Batches(training, iterations, first), batch_size=BATCH)


def accuracy(output, target, top):
    """Percent of the samples whose label is among the `top` likeliest."""
    return 100.0 * (output.topk(top, 1).indices == target[:, None]).any(1).float().mean().item()


def spoil(training, step, features):
    """For writers that count iterations themselves: a NaN in the batch, from --nan-at."""
    if training.is_nan(step):
        features[0, 0] = float("nan")
    return features
