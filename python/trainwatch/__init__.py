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
        watch.log({"train/loss": value}, step=number)   # optional: what is logged, as floats

Each step, phase, wait for a batch and construction of a loader iterator becomes one line of
`/path/out/framework/<rank>-<host>_pythontimeline.json.tmp`, written at once, in the format of
SageMaker's profiler. Every 60 seconds or 10 MB, and at the end, the file is closed and moved to
`framework/pevents/<hour>/`. `trainwatch run --watch=/path/out` reads both. The begin of each step is
a line as well, and at its end the process says how it ended.

A step begins when the loop began to wait for its batch, so it covers the wait and the body. Pauses
of Python's garbage collector and compilations by torch.compile of a millisecond or more are
recorded as well.

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
import math
import os
import socket
import sys
import threading
import time
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Set, Tuple

try:
    import fcntl
except ImportError:  # not a Unix: leftovers of crashed runs are then never taken over
    fcntl = None

__all__ = ["Place", "Watch", "place"]

_SHORTEST_PAUSE_US = 1000
_COMPILER = "torch._dynamo.callback"
_LEAST_CLOCK_STEP_NS, _MOST_CLOCK_STEP_NS = 100_000_000, 60_000_000_000
_MOST_PAUSES = 100  # between two events
_MOST_HELD = 4096  # characters
_MOST_SAID = 300  # characters of an exception's message
_MOST_CHAINED = 16  # exceptions
_MOST_TAGS = 256  # of scalars of a process, as many as a reader keeps of a file
_MOST_SCALARS = 1000  # in a second: 50 tags, 20 times
_LONGEST_TAG = 200  # characters


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

    out   -- by default what `python -m trainwatch run` watches, else "trainwatch-job"
    rank  -- of this process; by default what its launcher says (see `place`), else 0
    node  -- name of this machine; by default SageMaker's name for it, else its host name
    """

    made = 0  # by this process so far
    latest: "Optional[Watch]" = None  # of them

    def __init__(self, out: "Optional[os.PathLike[str] | str]" = None, rank: Optional[int] = None,
                 node: Optional[str] = None, rotate_seconds: float = 60,
                 rotate_bytes: int = 10485760) -> None:
        here = place()
        number = (here.rank or 0) if rank is None else int(rank)
        self._timeline = _Timeline(default_directory(out), writer_name(number, node or here.node),
                                   rotate_seconds, rotate_bytes,
                                   process_labels(here, process_start()))
        self._next_step: Dict[str, int] = {}  # mode -> number of its next step
        self._here = threading.local()        # .batch, .step: what this thread is doing
        Watch.made += 1
        Watch.latest = self
        gc.callbacks.append(self._timeline.on_collection)
        note_exits()
        atexit.register(self._at_exit)

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

    def begin(self, number: int, mode: str = "TRAIN") -> None:
        """Says that this step has begun, now: of a process that hangs, it is the last that is
        known. What is held is written with it."""
        self._timeline.begin("Step:ModeKeys." + mode, number)

    def log(self, values: Mapping[str, float], step: Optional[int] = None,
            hold: bool = False) -> None:
        """Records what the training logs of itself now: numbers by their tags, such as
        "train/loss"; what is none is passed over. Of a tag one value for each step; at most 256
        tags, and 1000 values in a second. With `hold` they are written together with the next that
        is not held."""
        self._timeline.log(values, step, hold)

    def rest(self) -> None:
        """Closes the file, by which readers know that the training is over or pauses; the next
        event opens another."""
        self._timeline.close(for_good=False)

    def close(self) -> None:
        """Closes the file; what is recorded afterwards is ignored. Called at exit. The training has
        ended by this, well, unless an exception is on its way: then it shows at exit whether anybody
        caught it."""
        self._close(None if sys.exc_info()[0] else {"how": "completed"})

    def _close(self, end: Optional[Dict[str, Any]]) -> None:
        if self._timeline.on_collection in gc.callbacks:
            gc.callbacks.remove(self._timeline.on_collection)
        self._timeline.close(end=end)
        if end:
            atexit.unregister(self._at_exit)

    def _at_exit(self) -> None:
        self._close(end_of_process(self._timeline.last_end) or {"how": "completed"})

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, kind: Any, failure: Any, _: Any) -> None:
        self._close(end_by(failure) if failure else {"how": "completed"})


class _Batch(NamedTuple):
    """What a step is made of that begins in this thread."""
    since: Optional[int]  # when it was asked for; None: a step has begun with it
    mode: str             # "": there is no batch
    number: int           # of the step that has been said to begin with it


_NO_BATCH = _Batch(None, "", -1)


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
        step = "Step:ModeKeys." + self._mode
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
                              '%s, "step_num": "%d"' % (worker, number), begins=(step, number))
                here.batch = _Batch(began, self._mode, number)
                yield batch
        finally:
            here.batch = _NO_BATCH


class _Step:
    __slots__ = ("_watch", "_mode", "_number", "_phase", "_began", "_outer")

    def __init__(self, watch: Watch, mode: Optional[str], number: Optional[int]) -> None:
        self._watch, self._mode, self._number = watch, mode, number

    def __enter__(self) -> int:
        watch, here = self._watch, self._watch._here
        since, known, begun = getattr(here, "batch", _NO_BATCH)
        mode = (self._mode or known or "TRAIN").upper()
        self._phase = "Step:ModeKeys." + mode
        if since is None:
            self._began: int = watch._timeline.now()
        else:
            self._began = since
            here.batch = _Batch(None, known, begun)  # a second step on it did not wait for it
        if self._number is None:
            self._number = watch.next_number(mode)
        else:
            watch._next_step[mode] = self._number + 1
        if begun != self._number or known != mode:
            watch._timeline.begin(self._phase, self._number)
        self._outer = getattr(here, "step", None)
        here.step = self._number
        return self._number

    def __exit__(self, kind: Any, *_: Any) -> None:
        self._watch._here.step = self._outer
        if kind is not None:
            return  # it has begun, but not ended
        self._watch._timeline.span(self._phase, self._phase, self._began,
                                   ', "step_num": "%d"' % self._number)


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


class _Scalars:
    """Which of the values that a training logs are recorded, and how."""

    def __init__(self) -> None:
        self.dropped = 0   # since they were last said
        self.complained = False
        self._begins: Dict[str, str] = {}  # tag -> how its lines begin
        self._steps: Dict[str, int] = {}   # tag -> the last step that is recorded
        self._second = 0
        self._in_second = 0

    def line(self, tag: str, value: float, step: Optional[int], at: int, base: int) -> str:
        """`at`, `base`: in microseconds. Empty: it is one too many, or is recorded already."""
        begin = self._begins.get(tag) or self._introduce(tag)
        if step is not None and self._steps.get(tag) == step:
            return ""
        if at // 1_000_000 != self._second:
            self._second, self._in_second = at // 1_000_000, 0
        if not begin or self._in_second >= _MOST_SCALARS:
            self.dropped += 1
            return ""
        self._in_second += 1
        number = repr(value)
        if not math.isfinite(value):  # JSON has no such numbers
            number = '"NaN"' if value != value else '"Infinity"' if value > 0 else '"-Infinity"'
        if step is None:
            return '%s%d, "args": {"value": %s}},\n' % (begin, at - base, number)
        self._steps[tag] = step
        return '%s%d, "args": {"step": %d, "value": %s}},\n' % (begin, at - base, step, number)

    def _introduce(self, tag: str) -> str:
        if len(self._begins) >= _MOST_TAGS or len(tag) > _LONGEST_TAG:
            return ""
        begin = '{"name": %s, "pid": 0, "ph": "C", "ts": ' % json.dumps(tag)
        self._begins[tag] = begin
        return begin


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
        self._ended = False      # how the process ended has been said
        self._recorded = False   # something of the training
        self._phases: Dict[Tuple[str, str], str] = {}  # (phase, name) -> how its lines begin
        self._begins: Dict[str, str] = {}              # phase -> how the lines of its begins begin
        self._phase_ids: Dict[str, int] = {}           # phase -> its number, from 1
        self._collecting_since: Optional[int] = None
        self._compiling_since: Dict[int, int] = {}  # by thread
        self._hears_compiler = False
        self._pauses: list = []  # not yet written: (phase, name, began, end, arguments)
        self._scalars: Optional[_Scalars] = None
        self._held = ""          # whole lines that the next write takes along
        self._offset_ns = 0
        self._set_clock()
        self._base = self._last_close = self.last_end = self.now()

    def now(self) -> int:
        """Unix time in microseconds; runs evenly even when the system clock is set."""
        return (time.monotonic_ns() + self._offset_ns) // 1000

    def span(self, phase: str, name: str, began: int, arguments: str,
             ended: Optional[int] = None, hold: bool = False,
             begins: Optional[Tuple[str, int]] = None) -> None:
        """Records what began at `began` and ends now, or ended at `ended`. `arguments` is JSON,
        `, "key": value`... The step `begins`, its phase and number, begins with this end."""
        end = self.now() if ended is None else ended
        if not self._active or os.getpid() != self._process:  # a forked worker is not the training
            return
        try:
            with self._lock:
                if self._pauses:
                    self._write_pauses()
                self._write(phase, name, began, end, arguments, hold, begins)
        except Exception as failure:  # the training matters more than its record
            self._give_up(failure)

    def begin(self, phase: str, number: int) -> None:
        """Records that the step `number` of `phase` begins now."""
        at = self.now()
        if not self._active or os.getpid() != self._process:
            return
        try:
            with self._lock:
                if not self._active:
                    return
                if self._fd is None:
                    self._open_file()
                self._append(self._begin_line(at, phase, number))
                self.last_end = max(self.last_end, at)
        except Exception as failure:
            self._give_up(failure)

    def log(self, values: Mapping[str, float], step: Optional[int], hold: bool) -> None:
        at = self.now()
        if not self._active or os.getpid() != self._process:
            return
        try:
            numbers = as_numbers(values)
            with self._lock:
                if not self._active:
                    return
                self._scalars = scalars = self._scalars or _Scalars()
                lines = "".join([scalars.line(tag, number, step, at, self._base)
                                 for tag, number in numbers])
                if lines:
                    self._make_room(at)
                    self._append(lines, hold)
                    self.last_end = max(self.last_end, at)
                complains = scalars.dropped > 0 and not scalars.complained
                scalars.complained = scalars.complained or complains
        except Exception as failure:
            self._give_up(failure)
            return
        if complains:
            logging.getLogger("trainwatch").warning(
                "more is logged than is recorded: %d tags, %d values in a second",
                _MOST_TAGS, _MOST_SCALARS)

    def on_collection(self, moment: str, info: Dict[str, int]) -> None:
        """Called by the garbage collector, at any allocation: also of this class, with its lock
        held. So the pause is only noted, and written with the next event."""
        if moment == "start":
            self._collecting_since = self.now()
        elif self._collecting_since is not None:
            began, end = self._collecting_since, self.now()
            self._note_pause("GarbageCollection", "gc", began, end,
                             ', "generation": %d' % info.get("generation", 0))

    def _note_pause(self, phase: str, name: str, began: int, end: int, arguments: str = "") -> None:
        if end - began >= _SHORTEST_PAUSE_US and len(self._pauses) < _MOST_PAUSES:
            self._pauses.append((phase, name, began, end, arguments))

    def _listen_to_compiler(self) -> None:
        """torch.compile imports the module when it is first used."""
        module = sys.modules.get(_COMPILER)
        handler = getattr(module, "callback_handler", None)  # None: not yet whole
        if handler is None:
            return
        self._hears_compiler = True
        handler.register_start_callback(self.on_compile_start)
        handler.register_end_callback(self.on_compile_end)

    def on_compile_start(self, *_: Any) -> None:
        """Called by torch before it compiles a function in this thread, or compiles it again."""
        self._compiling_since[threading.get_ident()] = self.now()

    def on_compile_end(self, *_: Any) -> None:
        began = self._compiling_since.pop(threading.get_ident(), None)
        if began is not None:
            self._note_pause("Compilation", "torch.compile", began, self.now())

    def close(self, for_good: bool = True, end: Optional[Dict[str, Any]] = None) -> None:
        """Closes the file, behind a line that says how the process ended if `end` does."""
        if os.getpid() != self._process:
            return
        try:
            with self._lock:
                if end and not self._warned:
                    self._write_end(end)
                self._active = self._active and not for_good
                self._close_file()
        except Exception as failure:
            self._give_up(failure)

    def _write(self, phase, name, began, end, arguments, hold=False, begins=None):
        if not self._active:
            return
        self._make_room(end)
        begin = self._phases.get((phase, name)) or self._introduce(phase, name)
        line = '%s%d, "dur": %d, "args": {"pid": %d%s}},\n' % (
            begin, began - self._base, max(0, end - began), self._process, arguments)
        self._append(line if begins is None else line + self._begin_line(end, *begins), hold)
        if end > self.last_end:
            self.last_end = end

    def _make_room(self, at):
        """For what happened at this time: in a new file, if the one so far is old or large."""
        if self._fd is not None and (at - self._last_close > self._rotate_us
                                     or self._size > self._rotate_bytes):
            self._close_file()
        if self._fd is None:
            self._open_file()

    def _begin_line(self, at, phase, number):
        if not self._hears_compiler and _COMPILER in sys.modules:
            self._listen_to_compiler()
        begin = self._begins.get(phase)
        if begin is None:
            begin = '{"name": "begin", "pid": %d, "ph": "i", "s": "t", "ts": ' % self._number_of(phase)
            self._begins[phase] = begin
        return '%s%d, "args": {"step_num": "%d"}},\n' % (begin, at - self._base, number)

    def _write_end(self, end):
        """Of a process that has recorded nothing, only that it failed."""
        if self._ended or not (self._recorded or end["how"] != "completed"):
            return
        self._ended = True
        if self._fd is None:
            self._open_file()
        at = self.last_end = max(self.last_end, self.now())
        self._say_dropped()
        self._append(end_line(at - self._base, dict(end, pid=self._process)))

    def _write_pauses(self):
        pauses, self._pauses = self._pauses, []
        for pause in pauses:
            self._write(*pause)

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

    def _say_dropped(self):
        if self._scalars is not None and self._scalars.dropped:
            self._append(dropped_line(self.last_end - self._base, self._scalars.dropped))
            self._scalars.dropped = 0

    def _introduce(self, phase, name):
        """Returns how the lines of these events begin."""
        begin = '{"name": %s, "pid": %d, "ph": "X", "ts": ' % (json.dumps(name),
                                                               self._number_of(phase))
        self._phases[phase, name] = begin
        return begin

    def _number_of(self, phase):
        """Of a phase, which is named once per file."""
        number = self._phase_ids.setdefault(phase, len(self._phase_ids) + 1)
        if phase not in self._begins and not any(known == phase for known, _ in self._phases):
            self._append(metadata(number, {"name": phase}))
        return number

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
        self._recorded = True
        self._phases.clear()
        self._begins.clear()
        self._append("[\n" + metadata(0, {"start_time_since_epoch_in_micros": self._base}, 0)
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
        self._say_dropped()
        if self._held:
            self._append("")
        fd, self._fd = self._fd, None
        try:
            self._finish(fd, self._open_path(self._node), self._node, self.last_end)
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
        """Follows the drift of the system clock, file by file. A clock that is set by some seconds is
        not followed, as that would look like a pause between two steps. One that is set by more than
        a minute was wrong before."""
        offset = time.time_ns() - time.monotonic_ns()
        if not _LEAST_CLOCK_STEP_NS < abs(offset - self._offset_ns) < _MOST_CLOCK_STEP_NS:
            self._offset_ns = offset

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


def default_directory(out: "Optional[os.PathLike[str] | str]") -> str:
    return os.fspath(out or os.environ.get("TRAINWATCH_AUTOLOAD") or "trainwatch-job")


def writer_name(rank: Optional[int], node: str) -> str:
    """As it is part of the names of files."""
    name = str(node or socket.gethostname()).replace("_", "-").replace(".", "-")
    return name if rank is None else "%d-%s" % (rank, name)


def metadata(number, arguments, sort_index=None):
    return "".join(
        json.dumps({"name": name, "ph": "M", "pid": number, "args": args}) + ",\n"
        for name, args in (("process_name", arguments), ("process_sort_index", {
            "sort_index": number if sort_index is None else sort_index})))


def _length_of_whole_lines(file):
    """How much of an open timeline is complete lines; a crash may have cut the last one."""
    file.seek(0)
    return file.read().rfind(b"\n") + 1


_process_starts: Dict[int, int] = {}


def process_labels(here: Place, began: int) -> str:
    """Job, run, size of the job, and which process this is: the same in all files of a process.
    Chrome's traces have such a line; readers of SageMaker's format skip it."""
    known = {"job": here.job, "run": here.run, "world_size": here.world_size}
    known = {key: value for key, value in known.items() if value}
    text = ", ".join("%s %s" % (key.replace("_", " "), value) for key, value in known.items())
    process = {"process_id": os.getpid(), "process_start_in_micros": began}
    return json.dumps({"name": "process_labels", "ph": "M", "pid": 0,
                       "args": dict(known, **process, labels=text)}) + ",\n"


def process_start() -> int:
    """When this process began, in microseconds since 1970; now if the system does not say it. All
    files of a process say the same."""
    pid = os.getpid()
    if pid not in _process_starts:
        _process_starts.clear()  # a fork has another
        _process_starts[pid] = find_process_start()
    return _process_starts[pid]


def find_process_start() -> int:
    now = time.time_ns() // 1000
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])  # since the machine started
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):  # no Linux
        return now
    return now - max(0, int(age * 1e6))


def end_line(at: int, end: Dict[str, Any]) -> str:
    """`at`: in microseconds since the start that the file names."""
    return json.dumps({"name": "process_end", "ph": "i", "pid": 0, "s": "p", "ts": at,
                       "args": end}) + ",\n"


def as_numbers(values: Mapping[str, Any]) -> List[Tuple[str, float]]:
    """Without what is no number."""
    numbers = []
    for tag, value in values.items():
        try:
            numbers.append((str(tag), float(value)))
        except (TypeError, ValueError, OverflowError):
            pass
    return numbers


def dropped_line(at: int, count: int) -> str:
    """So many logged values are in no file, since it was last said."""
    return json.dumps({"name": "scalars_dropped", "ph": "i", "pid": 0, "s": "p", "ts": at,
                       "args": {"count": count}}) + ",\n"


def end_by(failure: BaseException) -> Dict[str, Any]:
    """How a process ends that nobody saves from `failure`: of a chain of exceptions, by the first."""
    if isinstance(failure, SystemExit):
        return end_with_code(failure.code)
    for _ in range(_MOST_CHAINED):
        before = failure.__cause__ or (None if failure.__suppress_context__ else failure.__context__)
        if before is None:
            break
        failure = before
    kind = type(failure)
    name = kind.__qualname__ if kind.__module__ == "builtins" else "%s.%s" % (kind.__module__,
                                                                             kind.__qualname__)
    try:
        message = " ".join(str(failure).split())
    except Exception:  # the message of others
        message = ""
    return {"how": "exception", "exception": name[:_MOST_SAID], "message": message[:_MOST_SAID]}


def end_with_code(code: Any) -> Dict[str, Any]:
    """As sys.exit() takes it: a text is a failure."""
    number = 0 if code is None else int(code) if isinstance(code, int) else 1
    return {"how": "exit", "exit_code": number} if number else {"how": "completed"}


class _Exit(NamedTuple):
    """A call of sys.exit(), which somebody may catch."""
    at: int  # microseconds since 1970
    code: Any


_exits: list = []  # the last one


def note_exit(code: Any) -> None:
    _exits[:] = [_Exit(time.time_ns() // 1000, code)]


def note_exits() -> None:
    """Has sys.exit() leave word of its code, which is not known at exit."""
    original = sys.exit
    if getattr(original, "__trainwatch__", False):
        return

    def exit(*arguments: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            note_exit(arguments[0] if arguments else None)
        original(*arguments)

    exit.__doc__, exit.__module__, exit.__qualname__ = original.__doc__, "sys", "exit"
    exit.__trainwatch__ = True  # type: ignore[attr-defined]
    sys.exit = exit  # type: ignore[assignment]


def end_of_process(last_event: int) -> Optional[Dict[str, Any]]:
    """At exit: how this process ends, if not well. `last_event`: in microseconds since 1970; an
    exit before it was caught."""
    interactive = hasattr(sys, "ps1") or hasattr(sys.modules.get("builtins"), "__IPYTHON__")
    failure = getattr(sys, "last_value", None)  # what the interpreter has printed
    if isinstance(failure, BaseException) and not interactive:
        return end_by(failure)
    if _exits and _exits[0].at >= last_event:
        end = end_with_code(_exits[0].code)
        return None if end["how"] == "completed" else end
    return None


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
