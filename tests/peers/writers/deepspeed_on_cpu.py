# SPDX-License-Identifier: Apache-2.0
"""What DeepSpeed needs to know before it is imported, to train in one process on the CPU."""

import os

os.environ.update(CUDA_VISIBLE_DEVICES="", DS_ACCELERATOR="cpu", RANK="0", LOCAL_RANK="0", WORLD_SIZE="1",
                  MASTER_ADDR="127.0.0.1", MASTER_PORT="0")

import deepspeed.ops  # noqa: E402

deepspeed.ops.__compatible_ops__.clear()  # else it compiles one for minutes, which only several processes use
