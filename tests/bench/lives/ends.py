# SPDX-License-Identifier: Apache-2.0
"""How attempts end, and what launchers, schedulers and frameworks print about it.

An End knows its truth and its lines. A line is (seconds after the end's first, text); text that has no time of its
own comes from a traceback or from Slurm.
"""

import time
from dataclasses import dataclass
from typing import Optional

RULE = "=" * 60


@dataclass
class End:
    """`form` names a function of this module that gives the lines of (end, when, job)."""
    kind: str                        # the class of the specification
    form: str
    rank: Optional[int] = None       # the first that failed
    node: Optional[str] = None
    signal: Optional[int] = None
    exit_code: Optional[int] = None
    text: str = ""                   # the line that a traceback ends with
    or_else: tuple = ()              # classes that the lines allow as well
    launcher: str = "torchrun"       # who prints the table, or nobody: ""

    def said(self):
        """The members of `end` that are compared; what the lines do not say is not."""
        known = {"class": [self.kind, *self.or_else], "rank": self.rank, "node": self.node, "signal": self.signal,
                 "exit_code": self.exit_code}
        return {k: v for k, v in known.items() if v is not None}

    def lines(self, when, job):
        return FORMS[self.form](self, when, job)


def iso(t):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(t))


def glog(t, letter="E", nanoseconds=False):
    fraction = "%09d" % (t % 1 * 1e9) if nanoseconds else "%06d" % (t % 1 * 1e6)
    return letter + time.strftime("%m%d %H:%M:%S.", time.gmtime(t)) + fraction


def traceback(end, when, job):
    """One rank raises; its peers fail of it, and torchrun says who was first."""
    who = "[rank%d]: " % end.rank if end.rank is not None and job.ranks > 1 else ""
    lines = [who + x for x in ("Traceback (most recent call last):", '  File "/home/u/train.py", line 210, in <module>',
                               "    main()", '  File "/home/u/train.py", line 140, in main', "    loss = step(model, batch)",
                               end.text)]
    for peer in [r for r in range(min(job.ranks, 4)) if r != end.rank] if who else []:
        lines += ["[rank%d]: %s" % (peer, x) for x in (
            "Traceback (most recent call last):", '  File "/home/u/train.py", line 141, in main', "    loss.backward()",
            "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3690, remote process exited or there "
            "was a network error, NCCL version 2.27.5", "[rank%d]: ncclRemoteError: A call failed possibly due to a network "
            "error or a remote process exiting prematurely." % peer)]
    return [(0.0, x) for x in lines] + table(end, when, job, 1)


def table(end, when, job, code):
    """torchrun's words about a worker that failed, or srun's about its task."""
    if end.launcher == "srun":
        return [(0.5, "srun: error: %s: task %d: Exited with exit code %d" % (end.node, end.rank or 0, code))]
    if end.launcher != "torchrun":
        return []
    rank, t = end.rank or 0, when + 0.4
    local, node = rank % 8, job.node(rank)
    signal = "Signal %d (%s) received by PID %d" % (-code, {9: "SIGKILL", 11: "SIGSEGV", 6: "SIGABRT"}.get(-code), 4700 + rank)
    return [(0.4, x) for x in (
        "%s 4242 torch/distributed/elastic/multiprocessing/api.py:988] failed (exitcode: %d) local_rank: %d (pid: %d) of "
        "binary: /usr/bin/python3" % (glog(t), code, local, 4700 + rank),
        "Traceback (most recent call last):", '  File "/usr/local/bin/torchrun", line 8, in <module>', "    sys.exit(main())",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ", RULE, "train.py FAILED", "-" * 60, "Failures:",
        "  <NO_OTHER_FAILURES>", "-" * 60, "Root Cause (first observed failure):", "[0]:",
        "  time      : %s" % time.strftime("%Y-%m-%d_%H:%M:%S", time.gmtime(t)), "  host      : %s" % node,
        "  rank      : %d (local_rank: %d)" % (rank, local), "  exitcode  : %d (pid: %d)" % (code, 4700 + rank),
        "  error_file: <N/A>", "  traceback : %s" % (signal if code < 0 else
                                                     "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"),
        RULE)]


def killed(end, when, job):
    """By a signal: torchrun's table, or srun's line."""
    if end.launcher == "srun":
        words = {9: "Killed", 11: "Segmentation fault (core dumped)", 6: "Aborted (core dumped)"}[end.signal]
        return [(0.3, "srun: error: %s: task %d: %s" % (end.node, end.rank, words)),
                (0.4, "srun: Terminating StepId=%s.0" % (job.number or 140)),
                (0.4, "slurmstepd: error: *** STEP %s.0 ON %s CANCELLED AT %s ***" % ((job.number or 140), end.node, iso(when + 0.4)))]
    return table(end, when, job, -end.signal)


def slurm_cancelled(end, when, job):
    reason = {"time_limit": " DUE TO TIME LIMIT", "preempted": " DUE TO PREEMPTION", "cancelled": "",
              "node_failure": " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS"}[end.kind]
    lines = [(0.0, "slurmstepd: error: *** JOB %s ON %s CANCELLED AT %s%s ***" % ((job.number or 140), job.node(0), iso(when), reason))]
    if end.kind == "node_failure":
        lines.insert(0, (0.0, "srun: error: Node failure on %s" % end.node))
    return lines


def interrupted(end, when, job):
    """Ctrl-C."""
    return [(0.0, x) for x in ("^CTraceback (most recent call last):", '  File "/home/u/train.py", line 140, in main',
                               "    loss.backward()", "KeyboardInterrupt")]


def slurm_oom(end, when, job):
    return [(0.0, "slurmstepd: error: Detected 1 oom_kill event in StepId=%s.0. Some of the step tasks have been OOM Killed."
             % (job.number or 140)),
            (0.2, "srun: error: %s: task %d: Out Of Memory" % (end.node, end.rank))]


def watchdog(end, when, job):
    """NCCL's watchdog of each rank that waits; the one that never came says how far it is."""
    lines = []
    for rank in [r for r in range(job.ranks) if r != end.rank][:16]:
        t = when + rank * 0.01
        at = "[rank%d]:[%s ProcessGroupNCCL.cpp:" % (rank, glog(t, nanoseconds=True))
        lines += [(rank * 0.01, at + "632] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2204, OpType=ALLREDUCE"
                   ", NumelIn=52428800, NumelOut=52428800, Timeout(ms)=600000) ran for 6000%02d milliseconds before timing out."
                   % (rank, rank)),
                  (rank * 0.01, at + "2268] [PG ID 0 PG GUID 0(default_pg) Rank %d]  failure detected by watchdog at work "
                   "sequence id: 2204 PG status: last enqueued work: 2206, last completed work: 2203" % rank)]
    lines.append((0.2, "[rank%d]:[%s ProcessGroupNCCL.cpp:2268] [PG ID 0 PG GUID 0(default_pg) Rank %d]  failure detected by watchdog "
                  "at work sequence id: 2203 PG status: last enqueued work: 2203, last completed work: 2203"
                  % (end.rank, glog(when + 0.2, nanoseconds=True), end.rank)))
    return lines


def exit_code(end, when, job):
    """srun alone, without a traceback."""
    return [(0.2, "srun: error: %s: task %d: Exited with exit code %d" % (end.node, end.rank, end.exit_code))]


def xid(end, when, job):
    return [(0.0, "%s kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=%d, name=python3, GPU has fallen off the bus."
             % (end.node, 4700 + end.rank))] + traceback(end, when, job)


def completed(end, when, job):
    return []                          # the writer's own last line


FORMS = {f.__name__: f for f in (traceback, killed, slurm_cancelled, interrupted, slurm_oom, watchdog, exit_code, xid, completed)}

CUDA = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU %d has a total capacity of 79.15 GiB of which " \
       "210.00 MiB is free."
TEXTS = {
    "cuda_out_of_memory": (CUDA, "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU %d; 39.39 GiB total "
                           "capacity; 37.10 GiB already allocated)"),
    "gpu_error": ("torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered",
                  "RuntimeError: CUDA error: uncorrectable ECC error encountered",
                  "RuntimeError: CUDA error: an illegal memory access was encountered"),
    "disk_full": ("OSError: [Errno 28] No space left on device: '/scratch/ckpt/step-400.pt'",
                  "RuntimeError: [enforce fail at inline_container.cc:778] . PytorchStreamWriter failed writing file data/57: "
                  "No space left on device"),
    "worker_killed": ("RuntimeError: DataLoader worker (pid 70121) is killed by signal: Killed. ",
                      "RuntimeError: DataLoader worker (pid(s) 70121, 70122) exited unexpectedly"),
    "exception": ("ValueError: Expected input batch_size (64) to match target batch_size (63).", "AssertionError",
                  "KeyError: 'input_ids'", "mypackage.errors.BadBatch: sample 17 has no label", "FileNotFoundError: [Errno 2] No such "
                  "file or directory: '/data/shard-0017.tar'", "NameError: name 'losss' is not defined"),
}


def of(kind, job, rng, launcher="torchrun"):
    """An end of this class, of a rank that the numbers choose."""
    rank = rng.randrange(job.ranks)
    node = job.node(rank)
    if kind in TEXTS:
        text = rng.choice(TEXTS[kind])
        text = text % (rank % 8) if "%d" in text else text
        named = rank if job.ranks > 1 or launcher else None
        form = "xid" if kind == "gpu_error" and launcher and rng.random() < 0.3 else "traceback"
        return End(kind, form, named, node if launcher else None, None, 1 if launcher else None, text, launcher=launcher)
    if kind == "signal":
        return End(kind, "killed", rank, node, rng.choice((9, 11, 6)), launcher=launcher or "srun")
    if kind == "host_out_of_memory":
        return End(kind, "slurm_oom", rank, node)
    if kind == "collective_timeout":
        return End(kind, "watchdog", rank)
    if kind == "node_failure":
        return End(kind, "slurm_cancelled", None, node)
    if kind == "exit_code":
        return End("unknown", "exit_code", rank, node, None, rng.choice((1, 2, 3)), or_else=("exception",), launcher="srun")
    if kind == "interrupted":
        return End("cancelled", "interrupted")
    return End(kind, "completed" if kind == "completed" else "slurm_cancelled")


CLASSES = ("completed", "cuda_out_of_memory", "host_out_of_memory", "time_limit", "cancelled", "interrupted", "preempted", "node_failure",
           "gpu_error", "collective_timeout", "worker_killed", "disk_full", "exception", "signal", "exit_code")
