# SPDX-License-Identifier: Apache-2.0
"""Files of cases that are too large, or too alike, to be kept: made when a test runs, the same bytes every time.

A generator takes the directory of the case and writes below it."""

import datetime
import json
import os
import random
import struct

import trial_writer

BEGAN = datetime.datetime(2026, 9, 21, 14, 13, 20)


def write(directory, name, text):
    """`text` may be bytes."""
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


# TensorBoard

def _crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
        table.append(value)
    return table


def _masked_crc(data, table=_crc_table()):
    """As trial_writer's, by bytes instead of bits: these files are megabytes."""
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    crc ^= 0xffffffff
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def event_file(began, steps):
    """`steps`: (step, seconds since `began`, [(tag, value)])."""
    field, events = trial_writer._field, [b"\x09" + struct.pack("<d", began) + trial_writer._field(3, b"brain.Event:2")]
    for step, seconds, values in steps:
        summary = b"".join(field(1, field(1, tag.encode()) + b"\x15" + struct.pack("<f", value)) for tag, value in values)
        events.append(b"\x09" + struct.pack("<d", began + seconds) + field(2, step) + field(5, summary))
    out = []
    for event in events:
        length = struct.pack("<Q", len(event))
        out.append(length + struct.pack("<I", _masked_crc(length)) + event + struct.pack("<I", _masked_crc(event)))
    return b"".join(out)


def loss_after_many_tags(directory):
    """28: 1,100 tags without a meaning come before the loss in each event."""
    tags = [("grads/layer%d/l2" % layer, 0.1) for layer in range(1100)]
    steps = [(step, 2.0 * step, tags + [("train/loss", float("nan") if step > 100 else 3 - step / 100)]) for step in range(1, 130)]
    write(directory, "events.out.tfevents.1790000000.h.1.0", event_file(1790000000, steps))


# Megatron-LM

def megatron(step, total, at, seconds, loss):
    return (" [%s] iteration %8d/%8d | consumed samples: %12d | elapsed time per iteration (ms): %.1f | learning rate: 1.0E-05 | "
            "global batch size: 4 | lm loss: %s | loss scale: 1.0 | grad norm: 1.1 | number of skipped iterations:   0 | "
            "number of nan iterations:   0 |\n" % (at, step, total, 40 * step, 1000 * seconds, loss))


def megatron_lines(steps, total, began, seconds, loss):
    for number, step in enumerate(steps, 1):
        at = began + datetime.timedelta(seconds=number * round(seconds, 3))
        yield megatron(step, total, at.strftime("%Y-%m-%d %H:%M:%S"), seconds + 0.0001 * (seconds // 2), "%.6E" % loss(step))


def crash_and_restart(directory):
    """58: 300 iterations, out of memory, an hour of nothing, then from iteration 201 to 600."""
    write(directory, "slurm-158.out", "".join([
        *megatron_lines(range(1, 301), 90000, BEGAN, 2, lambda step: 9 - step / 100),
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.10 GiB.\n"
        "[2026-09-21 15:40:00,000] torch.distributed.run: [WARNING] restarting worker group\n",
        *megatron_lines(range(201, 601), 90000, BEGAN + datetime.timedelta(hours=1, minutes=10), 2, lambda step: 9 - step / 100)]))


def two_slurm_jobs(directory):
    """66: two jobs at the same time, one log each in one directory."""
    for job, steps, seconds, delay, loss in ((9001, 600, 2, 0, 9 - 0.01), (9002, 240, 5, 100, 3 - 0.001)):
        slope = 0.01 if job == 9001 else 0.001
        lines = list(megatron_lines(range(1, steps + 1), steps, BEGAN + datetime.timedelta(seconds=delay), seconds,
                                    lambda step: loss + slope - slope * step))
        end = BEGAN + datetime.timedelta(seconds=delay + steps * seconds)
        write(directory, "slurm-%d.out" % job, "".join(lines) + "[after training is done] datetime: %s \n" % end)


def copies_of_a_log(directory):
    """03: the log that is there, under the two other names that people give it, as two other jobs."""
    with open(os.path.join(directory, "run_job", "run.log"), "rb") as file:
        text = file.read()
    for name in ("train", "training"):
        write(directory, "%s_job/%s.log" % (name, name), text)


# The hook's timelines

TIMELINES_BEGAN = 1795900000000000


def timelines(directory, events, ended):
    """`events`: for each rank (name, phase, ts, dur, step)."""
    for rank, spans in enumerate(events):
        lines = [json.dumps({"name": "process_name", "ph": "M", "pid": 0,
                             "args": {"start_time_since_epoch_in_micros": TIMELINES_BEGAN}})]
        pids = {}
        for name, phase, ts, dur, step in spans:
            if phase not in pids:
                pids[phase] = len(pids) + 1
                lines.append(json.dumps({"name": "process_name", "ph": "M", "pid": pids[phase], "args": {"name": phase}}))
            lines.append(json.dumps({"name": name, "pid": pids[phase], "ph": "X", "ts": ts, "dur": dur,
                                     "args": {"pid": 100 + rank, "step_num": str(step)}}))
        write(directory, "framework/pevents/2026112821/%d_%d-node-0_pythontimeline.json" % (TIMELINES_BEGAN + ended, rank),
              "[\n" + ",\n".join(lines) + "\n]\n")


def lock_step(ranks, steps, backward, gap, optimizer, times, rest=500):
    """Ranks that wait for each other at the end of each step; times(step) -> (waits, forward passes) in microseconds."""
    events, now = [[] for _ in range(ranks)], 0
    for step in range(steps):
        waits, forwards = times(step)
        end = now + max(wait + forward + backward for wait, forward in zip(waits, forwards)) + gap
        for rank, (wait, forward) in enumerate(zip(waits, forwards)):
            fetched = int(now + wait)
            computed = fetched + int(forward)
            events[rank] += [("DataLoaderIter::GetNext", "DataLoaderIter", now, fetched - now, step),
                             ("Forward", "Forward", fetched, int(forward), step),
                             ("Backward", "Backward", computed, backward, step),
                             ("Optimizer", "Optimizer", int(end - optimizer[0]), optimizer[1], step),
                             ("Step:ModeKeys.TRAIN", "Step:ModeKeys.TRAIN", now, int(end - now), step)]
        now = int(end) + rest
    return events, now


def wait_by_turns(directory, ranks, steps=600, late=3):
    """70: 0.25 s a step; at every third one rank, in turn, waits 3 s for its batch and the others for it."""
    source = random.Random(1)

    def times(step):
        slow = step // 3 % ranks if step > 40 and step % 3 == 0 else -1
        return ([late * 1e6 if rank == slow else 8000 * (0.9 + 0.2 * source.random()) for rank in range(ranks)],
                [80000 * (0.95 + 0.1 * source.random()) for _ in range(ranks)])
    timelines(directory, *lock_step(ranks, steps, 140000, 10000, (9000, 8000), times))


def slow_half(directory, ranks=4, steps=600):
    """71: waits of 30 ms, from half time on of 600 ms."""
    source = random.Random(1)

    def times(step):
        usual = 600000 if step >= steps // 2 else 30000
        return ([usual * (0.95 + 0.1 * source.random()) for _ in range(ranks)],
                [300000 * (0.98 + 0.04 * source.random()) for _ in range(ranks)])
    timelines(directory, *lock_step(ranks, steps, 600000, 50000, (50000, 49000), times))
