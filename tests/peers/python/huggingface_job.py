# SPDX-License-Identifier: Apache-2.0
import time

import job
import torch
import torch_parts
from transformers import Trainer, TrainingArguments

callbacks = []
if job.has_lines:
    from trainwatch.integrations.huggingface import TrainwatchCallback
    callbacks = [TrainwatchCallback(job.out)]


class InOrder(Trainer):
    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)


def metrics(_):
    time.sleep(12)  # longer than `stall` waits
    return {}


InOrder(torch_parts.Model(),
        TrainingArguments(job.checkpoints(), num_train_epochs=1, per_device_train_batch_size=job.BATCH,
                          per_device_eval_batch_size=job.BATCH, gradient_accumulation_steps=job.ACCUMULATED,
                          eval_strategy="steps", eval_steps=130, save_steps=120, logging_steps=50, use_cpu=True,
                          report_to=[], disable_tqdm=True),
        train_dataset=torch_parts.train_samples(), eval_dataset=torch_parts.eval_samples(),
        compute_metrics=metrics, callbacks=callbacks).train()
