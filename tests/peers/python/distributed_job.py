# SPDX-License-Identifier: Apache-2.0
import time

import job
import torch
import torch.distributed
import torch_parts

torch.distributed.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch_parts.Model())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
samples = torch_parts.train_samples()
sampler = torch.utils.data.DistributedSampler(samples, shuffle=False)
for number, batch in enumerate(torch.utils.data.DataLoader(samples, batch_size=2 * job.BATCH, sampler=sampler)):
    model(**batch)["loss"].backward()
    optimizer.step()
    time.sleep(job.STEP_SECONDS / 2)
torch.distributed.destroy_process_group()
