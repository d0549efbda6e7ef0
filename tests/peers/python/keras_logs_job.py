# SPDX-License-Identifier: Apache-2.0
"""A model of Keras, on torch; prints its history."""

import json
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras  # noqa: E402
import numpy  # noqa: E402

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
x = numpy.random.rand(64, 8).astype("float32")
print(json.dumps(model.fit(x, x.sum(1), batch_size=8, epochs=2, verbose=0, validation_split=0.25).history))
