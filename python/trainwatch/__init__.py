# SPDX-License-Identifier: Apache-2.0
"""Two lines in a training loop, and trainwatch sees every step of it.

    import trainwatch
    watch = trainwatch.Watch("/path/out")

    for batch in watch.batches(loader):
        with watch.step():
            with watch.phase("Forward"):        # optional, as are all phases:
                loss = model(batch)             # "Forward", "Backward", "Optimizer", "Checkpoint"
            ...
        if time_to_evaluate:
            with watch.phase("Evaluation"):     # not part of any step
                ...

Each step, phase, wait for a batch and construction of a loader iterator becomes one line of
`/path/out/framework/<rank>-<host>_pythontimeline.json.tmp`, written at once, in the format of
SageMaker's profiler. Every 60 seconds or 10 MB, and at the end, the file is closed and moved to
`framework/pevents/<hour>/`. `trainwatch run --watch=/path/out` reads both.

A step begins when the loop began to wait for its batch, so it covers the wait and the body. Pauses
of Python's garbage collector of a millisecond or more are recorded as well.

The training never notices: nothing here raises (a failed write switches the hook off with one
warning), forked DataLoader workers write nothing, threads may share a Watch. Standard library only,
Python 3.8 or later; this file needs no other and may be copied alone as trainwatch.py.
docs/integrations.md has what comes with it: callbacks for Hugging Face, Lightning, Accelerate and
Keras, and `python -m trainwatch run train.py`, which needs no line at all.
"""

import atexit
import gc
import json
import logging
import os
import socket
import threading
import time
from typing import Any, Dict, Iterable, Iterator, Mapping, NamedTuple, Optional, Set, Tuple

try:
    import fcntl
except ImportError:  # not a Unix: leftovers of crashed runs are then never taken over
    fcntl = None

__all__ = ["Place", "Watch", "place"]

_SHORTEST_PAUSE_US = 1000
_MOST_PAUSES = 100  # between two events
_MOST_HELD = 4096  # characters


class _Launcher(NamedTuple):
    """The environment variables of one launcher; "" where it has none."""
    rank: str
    local_rank: str
    world_size: str


# The first whose rank is set counts: a launcher that runs inside of another comes before it.
_LAUNCHERS = (
    _Launcher("RANK", "LOCAL_RANK", "WORLD_SIZE"),  # torchrun, accelerate
    _Launcher("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
    _Launcher("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"),
    _Launcher("PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"),  # MPICH, Intel MPI
    _Launcher("PMIX_RANK", "", ""),
    _Launcher("JOB_COMPLETION_INDEX", "", ""),  # Kubernetes
)
# Of job and run, the first that is set; the daemon reads the same (docs/environment.md).
_JOB_VARIABLES = ("TRAINWATCH_LABEL_JOB", "TRAINING_JOB_NAME", "SLURM_JOB_NAME")
_RUN_VARIABLES = ("TRAINWATCH_LABEL_RUN", "SLURM_JOB_ID", "TORCHELASTIC_RUN_ID")


class Place(NamedTuple):
    """Where a process stands in its job, as far as its environment says."""
    rank: Optional[int]
    local_rank: Optional[int]
    world_size: Optional[int]
    node: str  # "": its host name is as good
    job: str
    run: str


def place(environment: Optional[Mapping[str, str]] = None) -> Place:
    """Reads the variables of torchrun, Open MPI, Slurm, MPICH, Kubernetes and SageMaker."""
    env = os.environ if environment is None else environment
    launcher = next((one for one in _LAUNCHERS if env.get(one.rank, "").isdigit()), None)
    numbers = [_number(env, name) for name in launcher] if launcher else [None] * 3
    node = env.get("SM_CURRENT_HOST", "")
    if launcher is None and node:
        hosts = _list(env.get("SM_HOSTS", ""))
        numbers = [hosts.index(node) if node in hosts else None, None, len(hosts) or None]
    return Place(*numbers, node=node, job=_first(env, _JOB_VARIABLES),
                 run=_first(env, _RUN_VARIABLES))


def _number(env: Mapping[str, str], name: str) -> Optional[int]:
    value = env.get(name, "")
    return int(value) if value.isdigit() else None


def _first(env: Mapping[str, str], names: Iterable[str]) -> str:
    values = (env.get(name, "") for name in names)
    return next((value for value in values if value and value != "none"), "")


def _list(text: str) -> list:
    try:
        found = json.loads(text)
    except ValueError:
        return []
    return found if isinstance(found, list) else []


class Watch:
    """Writes the timeline of one training process below the directory `out`.

    rank  -- of this process; by default what its launcher says (see `place`), else 0
    node  -- name of this machine; by default SageMaker's name for it, else its host name
    """

    made = 0  # by this process so far

    def __init__(self, out: "os.PathLike[str] | str", rank: Optional[int] = None,
                 node: Optional[str] = None, rotate_seconds: float = 60,
                 rotate_bytes: int = 10485760) -> None:
        here = place()
        number = (here.rank or 0) if rank is None else int(rank)
        name = str(node or here.node or socket.gethostname()).replace("_", "-").replace(".", "-")
        self._timeline = _Timeline(os.fspath(out), "%d-%s" % (number, name), rotate_seconds,
                                   rotate_bytes, _labels(here))
        self._next_step: Dict[str, int] = {}  # mode -> number of its next step
        self._here = threading.local()        # .waiting_since, .step: what this thread is doing
        Watch.made += 1
        gc.callbacks.append(self._timeline.on_collection)
        atexit.register(self.close)

    def batches(self, loader: Iterable, mode: str = "TRAIN") -> "_Batches":
        """Iterates over `loader` (any iterable), recording how long each batch was waited for."""
        return _Batches(self, loader, mode.upper())

    def step(self, mode: Optional[str] = None, number: Optional[int] = None) -> "_Step":
        """Context manager around one step. `mode` ("TRAIN", "EVAL", "PREDICT") is by default that
        of batches(); steps of each mode are counted from 0 unless `number` says otherwise."""
        return _Step(self, mode, number)

    def phase(self, name: str) -> "_Phase":
        """Context manager around a part of a step, or around work between steps."""
        return _Phase(self, str(name))

    def now(self) -> int:
        """The time for record(): microseconds since 1970."""
        return self._timeline.now()

    def record(self, phase: str, began: int, ended: Optional[int] = None,
               step: Optional[int] = None, name: str = "", arguments: str = "",
               hold: bool = False) -> None:
        """Records a span that no with-block can enclose; without `ended` it ends now. `arguments`
        is JSON: `, "key": value`. With `hold` it is written together with the next that is not
        held."""
        if step is not None:
            arguments += ', "step_num": "%d"' % step
        self._timeline.span(phase, name or phase, began, arguments, ended, hold)

    def next_number(self, mode: str) -> int:
        """Takes the number of the next step of this mode, for record()."""
        number = self._next_step.get(mode, 0)
        self._next_step[mode] = number + 1
        return number

    def rest(self) -> None:
        """Closes the file, by which readers know that the training is over or pauses; the next
        event opens another."""
        self._timeline.close(for_good=False)

    def close(self) -> None:
        """Closes the file; what is recorded afterwards is ignored. Called at exit."""
        if self._timeline.on_collection in gc.callbacks:
            gc.callbacks.remove(self._timeline.on_collection)
        self._timeline.close()
        atexit.unregister(self.close)

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class _Batches:
    def __init__(self, watch: Watch, loader: Iterable, mode: str) -> None:
        self._watch, self._loader, self._mode = watch, loader, mode

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator:
        watch, timeline, here = self._watch, self._watch._timeline, self._watch._here
        began = timeline.now()
        iterator = iter(self._loader)
        kind = loader_kind(iterator)
        timeline.span("DataLoaderIterInitialize", kind + ".__init__", began,
                      loader_arguments(self._loader))
        name = kind + "::GetNext"
        try:
            while True:
                worker = worker_of_next(iterator)
                began = timeline.now()
                try:
                    batch = next(iterator)
                except StopIteration:
                    return
                number = watch._next_step.get(self._mode, 0)
                timeline.span("DataLoaderIter", name, began,
                              '%s, "step_num": "%d"' % (worker, number))
                here.waiting_since, here.mode = began, self._mode
                yield batch
        finally:
            here.waiting_since = here.mode = None


class _Step:
    __slots__ = ("_watch", "_mode", "_number", "_began", "_outer")

    def __init__(self, watch: Watch, mode: Optional[str], number: Optional[int]) -> None:
        self._watch, self._mode, self._number = watch, mode, number

    def __enter__(self) -> int:
        watch, here = self._watch, self._watch._here
        since = getattr(here, "waiting_since", None)
        self._mode = (self._mode or getattr(here, "mode", None) or "TRAIN").upper()
        self._began: int = watch._timeline.now() if since is None else since
        here.waiting_since = None  # a second step on the same batch did not wait for it
        if self._number is None:
            self._number = watch.next_number(self._mode)
        else:
            watch._next_step[self._mode] = self._number + 1
        self._outer = getattr(here, "step", None)
        here.step = self._number
        return self._number

    def __exit__(self, *_: Any) -> None:
        self._watch._here.step = self._outer
        phase = "Step:ModeKeys." + self._mode
        self._watch._timeline.span(phase, phase, self._began, ', "step_num": "%d"' % self._number)


class _Phase:
    __slots__ = ("_watch", "_name", "_began")

    def __init__(self, watch: Watch, name: str) -> None:
        self._watch, self._name = watch, name

    def __enter__(self) -> None:
        self._began = self._watch._timeline.now()

    def __exit__(self, *_: Any) -> None:
        step = getattr(self._watch._here, "step", None)
        self._watch._timeline.span(self._name, self._name, self._began,
                                   "" if step is None else ', "step_num": "%d"' % step)


class _Timeline:
    """The growing file of one process, and its closed predecessors."""

    _open: Set[str] = set()  # paths that this process writes: its own lock would not stop it

    def __init__(self, out: str, node: str, rotate_seconds: float, rotate_bytes: int,
                 labels: str) -> None:
        self._directory = os.path.join(out, "framework")
        self._node = node
        self._labels = labels    # a line of metadata about the job, or nothing
        self._rotate_us = int(rotate_seconds * 1e6)
        self._rotate_bytes = rotate_bytes
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._fd: Optional[int] = None
        self._active = True
        self._warned = False
        self._phases: Dict[Tuple[str, str], str] = {}  # (phase, name) -> how its lines begin
        self._phase_ids: Dict[str, int] = {}           # phase -> its number, from 1
        self._collecting_since: Optional[int] = None
        self._pauses: list = []  # of the garbage collector: (began, end, generation), not yet written
        self._held = ""          # whole lines that the next write takes along
        self._offset_ns = 0
        self._set_clock()
        self._base = self._last_close = self._last_end = self.now()

    def now(self) -> int:
        """Unix time in microseconds; runs evenly even when the system clock is set."""
        return (time.monotonic_ns() + self._offset_ns) // 1000

    def span(self, phase: str, name: str, began: int, arguments: str,
             ended: Optional[int] = None, hold: bool = False) -> None:
        """Records what began at `began` and ends now, or ended at `ended`. `arguments` is JSON,
        `, "key": value`..."""
        end = self.now() if ended is None else ended
        if not self._active or os.getpid() != self._process:  # a forked worker is not the training
            return
        try:
            with self._lock:
                if self._pauses:
                    self._write_pauses()
                self._write(phase, name, began, end, arguments, hold)
        except Exception as failure:  # the training matters more than its record
            self._give_up(failure)

    def on_collection(self, moment: str, info: Dict[str, int]) -> None:
        """Called by the garbage collector, at any allocation: also of this class, with its lock
        held. So the pause is only noted, and written with the next event."""
        if moment == "start":
            self._collecting_since = self.now()
        elif self._collecting_since is not None:
            began, end = self._collecting_since, self.now()
            if end - began >= _SHORTEST_PAUSE_US and len(self._pauses) < _MOST_PAUSES:
                self._pauses.append((began, end, info.get("generation", 0)))

    def close(self, for_good: bool = True) -> None:
        if os.getpid() != self._process:
            return
        try:
            with self._lock:
                self._active = self._active and not for_good
                self._close_file()
        except Exception as failure:
            self._give_up(failure)

    def _write(self, phase, name, began, end, arguments, hold=False):
        if not self._active:
            return
        if self._fd is not None and (end - self._last_close > self._rotate_us
                                     or self._size > self._rotate_bytes):
            self._close_file()
        if self._fd is None:
            self._open_file()
        begin = self._phases.get((phase, name)) or self._introduce(phase, name)
        self._append('%s%d, "dur": %d, "args": {"pid": %d%s}},\n' % (
            begin, began - self._base, max(0, end - began), self._process, arguments), hold)
        if end > self._last_end:
            self._last_end = end

    def _write_pauses(self):
        pauses, self._pauses = self._pauses, []
        for began, end, generation in pauses:
            self._write("GarbageCollection", "gc", began, end, ', "generation": %d' % generation)

    def _append(self, text, hold=False):
        self._held += text
        if hold and len(self._held) < _MOST_HELD:
            return
        data, self._held = self._held.encode(), ""
        written = os.write(self._fd, data)
        if written != len(data):
            os.ftruncate(self._fd, self._size)
            raise OSError("the disk is full")
        self._size += written

    def _introduce(self, phase, name):
        """Names the phase, once per file, and returns how the lines of its events begin."""
        number = self._phase_ids.setdefault(phase, len(self._phase_ids) + 1)
        if not any(known == phase for known, _ in self._phases):
            self._append(_metadata(number, {"name": phase}))
        begin = '{"name": %s, "pid": %d, "ph": "X", "ts": ' % (json.dumps(name), number)
        self._phases[phase, name] = begin
        return begin

    def _open_file(self):
        os.makedirs(self._directory, exist_ok=True)
        self._set_clock()
        name = self._node
        for suffix in ("", "-%d" % self._process, "-%d-%d" % (self._process, Watch.made)):
            self._node = name + suffix
            self._fd = self._create(self._node)
            if self._fd is not None:
                break
        else:  # in use by other processes, or not ours to judge
            raise OSError("%s exists" % self._open_path(self._node))
        self._size = 0
        self._phases.clear()
        self._append("[\n" + _metadata(0, {"start_time_since_epoch_in_micros": self._base}, 0)
                     + self._labels)

    def _create(self, node):
        """Opens a new file for `node`. None: the name is taken by a process that is alive."""
        path = self._open_path(node)
        if os.path.realpath(path) in self._open:
            return None
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            fd = os.open(path, flags, 0o644)
        except FileExistsError:
            if not self._close_leftover(path, node):
                return None
            fd = os.open(path, flags, 0o644)
        if fcntl:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # ends with this process, not its forks
        self._open.add(os.path.realpath(path))
        return fd

    def _close_leftover(self, path, node):
        """Closes the file that a crashed process left open, as it would have done itself. False:
        it did not crash."""
        if not fcntl:
            return False
        with open(path, "r+b") as leftover:
            try:
                fcntl.lockf(leftover, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
            end = int(os.fstat(leftover.fileno()).st_mtime * 1e6)
            os.ftruncate(leftover.fileno(), _length_of_whole_lines(leftover))
            self._finish(leftover.fileno(), path, node, end)
        return True

    def _close_file(self):
        if self._fd is None:
            return
        if self._held:
            self._append("")
        fd, self._fd = self._fd, None
        try:
            self._finish(fd, self._open_path(self._node), self._node, self._last_end)
            self._last_close = self.now()
        finally:
            self._open.discard(os.path.realpath(self._open_path(self._node)))
            os.close(fd)

    def _finish(self, fd, path, node, end):
        """Makes the file a complete JSON array and moves it to where finished files are."""
        size = os.fstat(fd).st_size
        if size <= len("[\n"):  # a crash before the first line
            os.unlink(path)
            return
        os.ftruncate(fd, size - len(",\n"))
        os.lseek(fd, 0, os.SEEK_END)
        os.write(fd, b"\n]")
        while True:
            folder = os.path.join(self._directory, "pevents",
                                  time.strftime("%Y%m%d%H", time.gmtime(end / 1e6)))
            final = os.path.join(folder, "%d_%s_pythontimeline.json" % (end, node))
            if not os.path.exists(final):
                break
            end += 1
        os.makedirs(folder, exist_ok=True)
        os.rename(path, final)

    def _open_path(self, node):
        return os.path.join(self._directory, node + "_pythontimeline.json.tmp")

    def _set_clock(self):
        self._offset_ns = time.time_ns() - time.monotonic_ns()

    def _give_up(self, failure):
        with self._lock:
            self._active = False
            warned, self._warned = self._warned, True
            fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)
        if not warned:
            logging.getLogger("trainwatch").warning(
                "no longer recording the training in %s: %s", self._directory, failure)


def _metadata(number, arguments, sort_index=None):
    return "".join(
        json.dumps({"name": name, "ph": "M", "pid": number, "args": args}) + ",\n"
        for name, args in (("process_name", arguments), ("process_sort_index", {
            "sort_index": number if sort_index is None else sort_index})))


def _length_of_whole_lines(file):
    """How much of an open timeline is complete lines; a crash may have cut the last one."""
    file.seek(0)
    return file.read().rfind(b"\n") + 1


def _labels(here: Place) -> str:
    """Job, run and size of the job, as Chrome's traces have it; readers of SageMaker's format skip
    it."""
    known = {"job": here.job, "run": here.run, "world_size": here.world_size}
    known = {key: value for key, value in known.items() if value}
    if not known:
        return ""
    text = ", ".join("%s %s" % (key.replace("_", " "), value) for key, value in known.items())
    return json.dumps({"name": "process_labels", "ph": "M", "pid": 0,
                       "args": dict(known, labels=text)}) + ",\n"


def loader_kind(iterator: Any) -> str:
    name = type(iterator).__name__
    return name if name.endswith("DataLoaderIter") else "DataLoaderIter"


def loader_arguments(loader: Any) -> str:
    workers = getattr(loader, "num_workers", None)
    pinned = getattr(loader, "pin_memory", None)
    text = ', "num_workers": %d' % workers if isinstance(workers, int) else ""
    if isinstance(pinned, bool):
        text += ', "pin_memory": ' + ("true" if pinned else "false")
    return text


def worker_of_next(iterator: Any) -> str:
    """Which loader worker the next batch comes from, as torch's own table says; else nothing."""
    try:
        return ', "worker_id": %d' % iterator._task_info[iterator._rcvd_idx][0]
    except Exception:  # another iterator, or another torch
        return ""
