# SPDX-License-Identifier: Apache-2.0
"""As much of the writers of torch.utils.tensorboard and tensorboardX as python/trainwatch hears."""

import types


class Value:
    def __init__(self, number):
        self.simple_value = number

    def HasField(self, name):
        return name == "simple_value"


def scalar(value):
    return types.SimpleNamespace(value=[Value(value.item() if hasattr(value, "item") else float(value))])


def classes():
    """Of one of the two packages."""
    class FileWriter:
        def add_summary(self, summary, global_step=None, walltime=None):
            pass

    class SummaryWriter:
        def __init__(self):
            self.file_writer = FileWriter()

        def add_scalar(self, tag, scalar_value, global_step=None, walltime=None):
            self.file_writer.add_summary(scalar(scalar_value), global_step, walltime)

        def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
            for value in tag_scalar_dict.values():
                self.file_writer.add_summary(scalar(value), global_step, walltime)

    return FileWriter, SummaryWriter
