#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the job in this folder again: trains train.py's network with `trainwatch sample` beside it.

    record.py --trainwatch=build/release/bin/trainwatch [--out=DIR] [--device=cuda]

Needs python3-torch. The machine should be otherwise idle, or other steps will be slow as well; this
recording ran under `chrt -f 10` on a machine with other work. record.py prints how even the steps
were. A GPU takes larger batches to fill: `--device=cuda -- --batch-size=4096`; what follows `--` goes
to train.py.

    system/       host (and GPU) figures by `trainwatch sample`, twice a second
    framework/    steps, phases and waits for data, by python/trainwatch.py
    profiler/     torch.profiler traces, in turn plain and compressed

What happened, measured by the training itself, goes beside the folder: recorded-job.truth.json.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NODE = "trainer-1"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trainwatch", required=True, help="the trainwatch binary")
    parser.add_argument("--out", default=HERE)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("train", nargs="*", help="options for train.py")
    options = parser.parse_args()
    for part in ("system", "framework", "profiler"):
        shutil.rmtree(os.path.join(options.out, part), ignore_errors=True)
    with subprocess.Popen([options.trainwatch, "sample", "--out=" + options.out,
                           "--node=" + NODE]) as sampler:
        try:
            training = subprocess.run(
                [sys.executable, os.path.join(HERE, "train.py"), "--out=" + options.out,
                 "--node=" + NODE, "--device=" + options.device] + options.train,
                stdout=subprocess.PIPE, check=True)
        finally:
            sampler.send_signal(signal.SIGTERM)
    truth = json.loads(training.stdout)
    with open(options.out.rstrip("/") + ".truth.json", "w") as file:
        json.dump(truth, file, indent=2)
        file.write("\n")
    print(json.dumps(truth, indent=2))


if __name__ == "__main__":
    main()
