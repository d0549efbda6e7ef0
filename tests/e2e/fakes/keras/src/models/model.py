# SPDX-License-Identifier: Apache-2.0
import types


class Model:
    def __init__(self, accumulated=None):
        self.optimizer = types.SimpleNamespace(gradient_accumulation_steps=accumulated)

    def fit(self, batches, callbacks=None):
        callbacks = callbacks or []
        for callback in callbacks:
            callback.model = self
            callback.on_train_begin()
        for number in range(batches):
            for callback in callbacks:
                callback.on_train_batch_begin(number)
            for callback in callbacks:
                callback.on_train_batch_end(number, {"loss": 2 / (number + 1)})
        for callback in callbacks:
            callback.on_epoch_end(0, {"loss": 1.5, "val_loss": 2.5})
        self.evaluate(callbacks=tuple(callbacks))
        self.save("/dev/null")
        for callback in callbacks:
            callback.on_train_end()

    def evaluate(self, callbacks=None):
        for callback in callbacks:
            callback.on_test_begin()
            for number in range(3):
                callback.on_test_batch_begin(number)
                callback.on_test_batch_end(number)
            callback.on_test_end()

    def save(self, path):
        pass
