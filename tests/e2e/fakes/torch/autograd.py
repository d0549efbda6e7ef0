# SPDX-License-Identifier: Apache-2.0
import time


def backward(tensor):
    time.sleep(0.001)
