# SPDX-License-Identifier: Apache-2.0
class Callback:
    def __getattr__(self, name):
        if name.startswith("on_"):
            return lambda *_, **__: None
        raise AttributeError(name)


from .trainer.trainer import Trainer  # noqa: E402,F401
