# SPDX-License-Identifier: Apache-2.0
from torch.utils.data import DataLoader


class DataLoaderShard(DataLoader):
    def __iter__(self):
        """Reads one batch ahead, to know the last one."""
        batches = super().__iter__()
        current = next(batches)
        for following in batches:
            yield current
            current = following
        yield current
