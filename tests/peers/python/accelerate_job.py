# SPDX-License-Identifier: Apache-2.0
import job
import torch
import torch_parts
from accelerate import Accelerator

trackers = []
if job.has_lines:
    from trainwatch.integrations.accelerate import TrainwatchTracker
    trackers = [TrainwatchTracker(job.out)]

accelerator = Accelerator(log_with=trackers, gradient_accumulation_steps=job.ACCUMULATED, cpu=True)
accelerator.init_trackers("job", {"lr": 0.1})
model = torch_parts.Model()
model, optimizer, train, evaluation = accelerator.prepare(
    model, torch.optim.SGD(model.parameters(), lr=0.1), torch_parts.train_loader(), torch_parts.eval_loader())
for number, batch in enumerate(train):
    with accelerator.accumulate(model):
        accelerator.backward(model(**batch)["loss"])
        optimizer.step()
        optimizer.zero_grad()
    if number in (259, 519):
        accelerator.log({"loss": 1.0}, step=number)
        for batch in evaluation:
            with torch.no_grad():
                model(**batch)
        accelerator.save_state(job.checkpoints())
accelerator.end_training()
