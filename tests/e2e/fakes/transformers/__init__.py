# SPDX-License-Identifier: Apache-2.0
"""As much of Hugging Face's Trainer as its callbacks see, in the order of transformers 5."""

from .trainer import Trainer, TrainerCallback  # noqa: F401
