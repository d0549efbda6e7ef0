# SPDX-License-Identifier: Apache-2.0
import torch


class Trainer:
    def __init__(self, callbacks=(), accumulated=1, fails_at=None, loggers=()):
        self.callbacks = list(callbacks)
        self.loggers = list(loggers)
        self.global_step = 0
        self._accumulated, self._fails_at = accumulated, fails_at

    def _event(self, name, *arguments):
        for callback in self.callbacks:
            getattr(callback, name)(self, None, *arguments)

    def fit(self, batches):
        self._event("on_sanity_check_start")
        self.validate()
        self._event("on_train_start")
        try:
            self._train(batches)
            self._event("on_train_end")
        except Exception as failure:
            self._event("on_exception", failure)
            raise

    def _train(self, batches):
        loss, optimizer = torch.Tensor(), torch.optim.SGD()
        for number, batch in enumerate(torch.utils.data.DataLoader(range(batches))):
            self._event("on_train_batch_start", batch, number)
            if number == self._fails_at:
                raise ValueError("of the training")
            if number % self._accumulated == self._accumulated - 1:
                optimizer.step(loss.backward)
                self.global_step += 1
            else:
                loss.backward()
            for logger in self.loggers:
                logger.log_metrics(metrics={"train_loss": 2 / (number + 1)}, step=number)
            self._event("on_train_batch_end", None, batch, number)
        self.validate()
        self.save_checkpoint("/dev/null")

    def validate(self):
        self._event("on_validation_start")
        for number, batch in enumerate(torch.utils.data.DataLoader(range(3))):
            self._event("on_validation_batch_start", batch, number)
            self._event("on_validation_batch_end", None, batch, number)
        self._event("on_validation_end")

    def save_checkpoint(self, path):
        torch.save({}, path)
