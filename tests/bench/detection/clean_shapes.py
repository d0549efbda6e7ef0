# SPDX-License-Identifier: Apache-2.0
"""Lengths of the iterations of jobs in which nothing is wrong, and what happens to healthy jobs."""

import math

from timeline_model import EVAL, Attempt, Iteration

PARTS = {"wait": (0.005, 0.03), "optimizer": (0.04, 0.12), "between": (0.005, 0.03)}


def lengths(random, shape, count, base):
    """Seconds of computation of `count` steps of that shape, around `base`."""
    gauss = random.gauss
    if shape == "tight":
        return [base * max(0.9, gauss(1, 0.005)) for _ in range(count)]
    if shape == "drift":
        period = random.uniform(300, 2000)
        return [base * (1 + 0.05 * math.sin(2 * math.pi * i / period)) * max(0.8, gauss(1, 0.02))
                for i in range(count)]
    if shape == "curriculum":
        stages = random.randint(3, 6)
        growth = random.uniform(1.05, 1.2)
        return [base * growth ** (i * stages // count) * max(0.8, gauss(1, 0.03)) for i in range(count)]
    if shape == "heavy_tail":
        return [base * math.exp(gauss(0, 0.5)) for _ in range(count)]
    if shape == "lognormal":
        sigma = random.uniform(0.2, 0.35)
        return [base * math.exp(gauss(0, sigma)) for _ in range(count)]
    if shape == "bimodal":
        share, factor = random.uniform(0.1, 0.5), random.uniform(1.6, 3.0)
        return [base * (factor if random.random() < share else 1) * max(0.8, gauss(1, 0.03)) for _ in range(count)]
    return [base * max(0.85, gauss(1, 0.03)) for _ in range(count)]


SHAPES = ("normal", "tight", "drift", "curriculum", "heavy_tail", "accumulation", "bimodal", "lognormal")


def build_attempt(random, shape, count, base, world, first_step=0, warm_up=True):
    """An attempt of `count` training iterations. What varies with the data varies on all ranks alike or on each
    for itself, as sequence lengths do."""
    wait, optimizer, between = (random.uniform(*PARTS[part]) for part in ("wait", "optimizer", "between"))
    forward = random.uniform(0.28, 0.4)
    own_lengths = shape in ("heavy_tail", "lognormal", "bimodal") and random.random() < 0.5
    shared = None if own_lengths else lengths(random, shape, count, base)
    every = random.choice((2, 4, 8, 16)) if shape == "accumulation" else 0
    costs = random.uniform(2, 4)   # of the optimizer's step, among the accumulating ones
    jitter = 0.003 if shape == "tight" else 0.01
    ranks = []
    for _ in range(world):
        own = shared or lengths(random, shape, count, base)
        iterations = []
        for i in range(count):
            length = own[i] * max(0.9, random.gauss(1, jitter))
            update = optimizer * base if not every else optimizer * base * (costs if i % every == every - 1 else 0.1)
            iterations.append(Iteration(first_step + i, "TRAIN", wait * base * random.uniform(0.7, 1.3),
                                        length * forward, length * (1 - forward), update,
                                        between * base * random.uniform(0.7, 1.3)))
        ranks.append(iterations)
    attempt = Attempt(ranks, pid=random.randint(5000, 900000), silence_before=random.uniform(1, 20),
                      prefetches=random.random() < 0.5)
    if warm_up:
        add_warm_up(random, attempt, random.randint(1, 5), random.uniform(3, 20))
    return attempt


def add_warm_up(random, attempt, count, factor):
    """Compilation, cudnn's search, the first batch: the first steps take many times as long."""
    for i in range(min(count, len(attempt.ranks[0]))):
        share = factor * random.uniform(0.5, 1.0) if i else factor
        for iterations in attempt.ranks:
            it = iterations[i]
            it.forward *= share
            it.backward *= share
            if i == 0:
                it.wait *= random.uniform(2, 20)


def add_evaluations(random, attempt, every, count, share):
    """Every `every` steps `count` evaluation steps that take `share` of a training step."""
    for index, iterations in enumerate(attempt.ranks):
        done, evaluated = [], 0
        for i, it in enumerate(iterations):
            done.append(it)
            if i % every == every - 1:
                typical = it.forward + it.backward
                for k in range(count):
                    done.append(Iteration(evaluated, EVAL, it.wait * (4 if k == 0 else 1) * random.uniform(0.7, 1.3),
                                          typical * share * random.uniform(0.95, 1.05), 0.0, 0.0, it.between))
                    evaluated += 1
        attempt.ranks[index] = done


def add_checkpoints(random, attempt, every, cost):
    """Every `every` steps a checkpoint of about `cost` seconds, at a barrier of all ranks."""
    for i in range(every - 1, len(attempt.ranks[0]), every):
        seconds = cost * random.uniform(0.9, 1.15)
        for iterations in attempt.ranks:
            iterations[i].checkpoint += seconds


def cheap_checkpoint(random, attempt, base):
    """Checkpoints of at most 2.5 % of the time."""
    every = random.choice((50, 100, 200, 250, 400))
    add_checkpoints(random, attempt, every, random.uniform(0.004, 0.022) * every * base * 1.15)


def build_restart(random, shape, count, base, world, closed=False):
    """Attempts of one job: each but the last is killed, the next goes back to the last checkpoint."""
    attempts, first, left = [], 0, count
    for life in range(random.choice((2, 2, 3))):
        size = max(60, int(left * random.uniform(0.3, 0.6))) if life < 2 else max(60, left)
        factor = random.choice((1.0, 1.0, random.uniform(0.7, 1.5)))   # other machine, other batch size
        attempt = build_attempt(random, shape, size, base * factor, world, first)
        attempt.silence_before = random.uniform(1, 20) if life == 0 else random.uniform(10, 240)
        attempt.closed = closed or random.random() < 0.3
        attempts.append(attempt)
        first = max(0, first + size - random.randint(5, 50))
        left -= size
    attempts[-1].closed = True
    return attempts
