# SPDX-License-Identifier: Apache-2.0
"""Stable-Baselines3 on CartPole with its stdout, csv and json loggers: PPO, or with --dqn DQN.

PPO cannot log a loss that is NaN: the next rollout fails first. What counts as step is the number of timesteps.
"""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import stable_baselines3  # noqa: E402
import torch  # noqa: E402
from stable_baselines3.common import callbacks, logger  # noqa: E402

import training as tiny  # noqa: E402

TIMESTEPS, ROLLOUT = "time/total_timesteps", 64
torch.set_num_threads(1)


class Seen(logger.KVWriter):
    """A further output of the logger, which gets what the others get."""

    def __init__(self, logs):
        self._logs = logs

    def write(self, key_values, key_excluded, step=0):
        if "train/loss" in key_values:
            for log in self._logs:
                log.record(key_values[TIMESTEPS], key_values["train/loss"], iterations=key_values.get("time/iterations"))

    def close(self):
        pass


class Paced(callbacks.BaseCallback):
    """An iteration is 64 timesteps: what PPO collects between two updates."""

    def __init__(self, training):
        super().__init__()
        self._training, self._step = training, 0

    def _on_step(self):
        if self.num_timesteps % ROLLOUT == 0:
            self._training.pause(self._step)
            self._training.trained(self._step, self.logger.name_to_value.get("train/loss"))
            self._step += 1
            if self._training.is_nan(self._step):
                with torch.no_grad():
                    next(self.model.policy.parameters())[0, 0] = float("nan")
        return True


with tiny.Training(steps=120, step_seconds=0.05) as training:
    counts = {"counts": "timesteps", "per": 1 / ROLLOUT}
    logs = [training.log(tag="train/loss", significant=3, **counts), training.log("progress.csv", "train/loss", **counts),
            training.log("progress.json", "train/loss", **counts)]
    if "--dqn" in training.more:
        model = stable_baselines3.DQN("MlpPolicy", "CartPole-v1", learning_starts=100, seed=tiny.SEED, verbose=1, device="cpu")
    else:
        model = stable_baselines3.PPO("MlpPolicy", "CartPole-v1", n_steps=ROLLOUT, seed=tiny.SEED, verbose=1, device="cpu")
    outputs = logger.configure(training.out, ["stdout", "csv", "json"])
    outputs.output_formats.append(Seen(logs))
    model.set_logger(outputs)
    model.learn(ROLLOUT * training.steps, callback=Paced(training))
