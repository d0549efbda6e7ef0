# SPDX-License-Identifier: Apache-2.0
"""Writers of training jobs: each has NAME, FIRST (the number of the first step), view(rng), and write(job, folder, view)."""

from . import hook, hook_ends, huggingface, json_lines, megatron, neox, titan_spans, torchtitan, wandb

WRITERS = {w.NAME: w for w in (hook, hook_ends, torchtitan, megatron, huggingface, json_lines, neox, titan_spans, wandb)}
