# SPDX-License-Identifier: Apache-2.0
"""What the small trainings here have in common: 300 steps of some 30 ms, of which one waits 6 s for its data.

    python3 JOB OUT [--plain]      with trainwatch's two lines, or as somebody without it wrote it
"""

import os
import sys
import time
import warnings

STEPS, SLOW_STEP, SLOW_SECONDS, STEP_SECONDS = 300, 220, 6.0, 0.03
EVALUATED = 20   # batches of each of the two evaluations
ACCUMULATED = 2  # batches of a step
BATCH = 2        # samples of a batch

warnings.filterwarnings("ignore")
out, has_lines = sys.argv[1], "--plain" not in sys.argv


def slow(sample, per_batch=BATCH, accumulated=ACCUMULATED):
    """Called for each sample that is read."""
    if sample == SLOW_STEP * per_batch * accumulated:
        time.sleep(SLOW_SECONDS)


def checkpoints():
    folder = os.path.join(out, "..", "checkpoints")  # not below the watched directory
    os.makedirs(folder, exist_ok=True)
    return folder
