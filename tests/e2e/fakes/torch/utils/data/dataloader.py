# SPDX-License-Identifier: Apache-2.0
class DataLoader:
    num_workers, pin_memory = 0, False

    def __init__(self, dataset):
        self.dataset = dataset

    def __iter__(self):
        return _SingleProcessDataLoaderIter(self)

    def __len__(self):
        return len(self.dataset)


class _BaseDataLoaderIter:
    def __init__(self, loader):
        self._rest = iter(loader.dataset)

    def __iter__(self):
        return self

    def __next__(self):
        return self._next_data()


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def _next_data(self):
        return next(self._rest)
