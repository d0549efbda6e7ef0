# SPDX-License-Identifier: Apache-2.0
"""torchtitan's console: a line each LOG_FREQ steps with milliseconds, its checkpoints and its last line."""

from account import View

from .console import Log, figure, name_of, stamp

NAME, FIRST = "torchtitan", 1


def view(rng):
    return View(frozenset(("checkpoint", "evaluation")), every=rng.choice((1, 1, 5)), restores=True)


def write(job, folder, view, name=None):
    log = Log(folder, name or name_of(job, job.rng))
    prefix = "[rank0]:" if job.world > 1 and job.rng.random() < 0.5 else ""

    def say(t, text):
        log.line(t, "%s[titan] %s - root - INFO - %s" % (prefix, stamp(t, "%03d", ","), text))

    for attempt in job.attempts:
        begin(job, attempt, say)
        before = attempt.first
        for n, i in enumerate(attempt.iterations, 1):
            if i.mark == "checkpoint":
                say(i.begin + 0.001, "Saving the checkpoint (or staging if async is enabled).")
                say(i.begin + i.mark_seconds, "Finished saving the checkpoint in %.2f seconds." % i.mark_seconds)
            elif i.mark == "evaluation":
                say(i.begin + i.mark_seconds, "validate step: %2d  loss: %8.5f  memory: 12.20GiB(15.1%%)  tps: 1,011" % (
                    i.number - 1, figure(job, i.number)))
            if n % view.every == 0:
                work = sum(x.work for x in attempt.iterations[n - view.every:n])
                tps = 8192 * work / max(1e-3, i.end - before)
                say(i.end, "step: %2d  loss: %8.5f  grad_norm:  1.21  memory: 11.20GiB(14.1%%)  tps: %s  tflops: %.2f  mfu: 8.11%%" % (
                    i.number, figure(job, i.number), "{:,}".format(round(tps)), tps / 64))
                before = i.end
        if attempt.end and attempt.end.kind == "completed":
            say(attempt.ended, "Training completed")
        else:
            log.end(attempt, job)
    log.close()


def begin(job, attempt, say):
    say(attempt.began, "Starting job: Llama 3 8B training")
    say(attempt.began + 0.2, "Building 1-D device mesh with ['dp_shard'], [%d]" % attempt.world)
    at = attempt.first - 0.05
    if attempt.restored:
        say(at - max(attempt.restore, 0.4), "Loading the checkpoint from outputs/checkpoint/step-%d." % (attempt.iterations[0].number - 1))
        say(at, "Finished loading the checkpoint in %.2f seconds." % max(attempt.restore, 0.4))
    number = attempt.iterations[0].number if attempt.iterations else job.step
    if attempt.iterations:
        say(attempt.first, "Training starts at step %d, with local batch size 8, global batch size %d, sequence length 8192, "
            "total steps %d (warmup 200)" % (number, 8 * job.world, job.total))
