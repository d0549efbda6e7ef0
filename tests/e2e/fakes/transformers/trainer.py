# SPDX-License-Identifier: Apache-2.0
import types

import torch


class TrainerCallback:
    def __getattr__(self, name):
        if name.startswith("on_"):
            return lambda *_, **__: None
        raise AttributeError(name)


class Trainer:
    def __init__(self, callbacks=(), accumulated=1, evaluate_every=0, save_every=0, logs=False):
        self.callback_handler = types.SimpleNamespace(callbacks=list(callbacks))
        self.state = types.SimpleNamespace(global_step=0)
        self._accumulated, self._evaluate_every, self._save_every, self._logs = accumulated, evaluate_every, save_every, logs

    def add_callback(self, callback):
        self.callback_handler.callbacks.append(callback)

    def _event(self, name, **arguments):
        for callback in self.callback_handler.callbacks:
            getattr(callback, name)(None, self.state, None, **arguments)

    def train(self, batches):
        loss, optimizer = torch.Tensor(), torch.optim.SGD()
        self._event("on_train_begin")
        for number, _ in enumerate(torch.utils.data.DataLoader(range(batches))):
            if number % self._accumulated == 0:
                self._event("on_step_begin")
            loss.backward()
            if number % self._accumulated != self._accumulated - 1:
                self._event("on_substep_end")
                continue
            optimizer.step()
            self.state.global_step += 1
            self._event("on_step_end")
            if self._logs:
                self._event("on_log", logs={"loss": 2 / self.state.global_step, "learning_rate": 0.5, "note": "words"})
            if self._evaluate_every and self.state.global_step % self._evaluate_every == 0:
                self.evaluate(3)
            if self._save_every and self.state.global_step % self._save_every == 0:
                torch.save({}, "/dev/null")
                self._event("on_save")
        self._event("on_train_end")

    def evaluate(self, batches):
        for _ in torch.utils.data.DataLoader(range(batches)):
            self._event("on_prediction_step")
        self._event("on_log", logs={"eval_loss": 3.5})
        self._event("on_evaluate")
