# SPDX-License-Identifier: Apache-2.0
import os

import job
import torch
import torch_parts

if job.has_lines:
    from trainwatch.integrations.pytorch import observe
    observe(job.out)

model = torch_parts.Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number, batch in enumerate(torch_parts.train_loader()):
    model(**batch)["loss"].backward()
    if number % job.ACCUMULATED == job.ACCUMULATED - 1:
        optimizer.step()
        optimizer.zero_grad()
    if number in (259, 519):
        with torch.no_grad():
            for batch in torch_parts.eval_loader():
                model(**batch)
        torch.save(model.state_dict(), os.path.join(job.checkpoints(), "model.pt"))
