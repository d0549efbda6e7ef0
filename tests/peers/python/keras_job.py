# SPDX-License-Identifier: Apache-2.0
import os
import sys
import time

os.environ["KERAS_BACKEND"] = "torch" if "--torch" in sys.argv else "tensorflow"

import job  # noqa: E402
import keras  # noqa: E402
import numpy  # noqa: E402

callbacks = [keras.callbacks.ModelCheckpoint(os.path.join(job.checkpoints(), "model.keras"))]
if job.has_lines:
    from trainwatch.integrations.keras import TrainwatchCallback
    callbacks.append(TrainwatchCallback(job.out))


class Slow(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(job.STEP_SECONDS)


class Batches(keras.utils.PyDataset):
    def __init__(self, number, is_slow):
        super().__init__()
        self._number, self._is_slow = number, is_slow

    def __len__(self):
        return self._number

    def __getitem__(self, number):
        if self._is_slow:
            job.slow(number, per_batch=1, accumulated=1)
        return numpy.random.rand(8, 64).astype("float32"), numpy.arange(8) % 10


model = keras.Sequential([keras.layers.Dense(10)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(Batches(job.STEPS, True), validation_data=Batches(job.EVALUATED, False), callbacks=[Slow(), *callbacks],
          shuffle=False, verbose=0)
model.evaluate(Batches(job.EVALUATED, False), callbacks=callbacks[1:], verbose=0)
