# SPDX-License-Identifier: Apache-2.0
"""One module for each framework, which it imports: trainwatch itself needs none of them.

    huggingface  TrainwatchCallback for transformers.Trainer
    lightning    TrainwatchCallback for lightning.Trainer or pytorch_lightning.Trainer
    accelerate   TrainwatchTracker for accelerate.Accelerator
    keras        TrainwatchCallback for keras.Model.fit
    pytorch      observe() for a loop of one's own
"""
