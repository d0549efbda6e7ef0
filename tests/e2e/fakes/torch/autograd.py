import time


def backward(tensor):
    time.sleep(0.001)
