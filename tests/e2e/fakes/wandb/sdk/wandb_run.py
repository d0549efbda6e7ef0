# SPDX-License-Identifier: Apache-2.0


class Run:
    starting_step = 0

    def __init__(self):
        self.logged = []

    def log(self, data, step=None, commit=None):
        if not isinstance(data, dict):
            raise ValueError("log takes a dictionary")
        self.logged.append(data)
