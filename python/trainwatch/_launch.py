# SPDX-License-Identifier: Apache-2.0
"""python -m trainwatch run: a training that nobody edited, watched."""

import atexit
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import types
from typing import Any, Dict, List, NamedTuple, Optional

from . import (Watch, end_of_process, end_with_code, metadata, note_exit, place, process_labels,
               process_start, writer_name)
from ._autoload import install
from ._console import Console
from ._session import DIRECTORY

SUMMARY_SECONDS = 20  # for the summary at the end, at most
PASSED_ON = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCONT")
INTERRUPTIONS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)  # of PASSED_ON: somebody ends it

USAGE = """python -m trainwatch run [OPTION]... SCRIPT ARGUMENT...
       python -m trainwatch run [...] -m MODULE ARGUMENT...
       python -m trainwatch run [...] COMMAND ARGUMENT...      for example torchrun, accelerate
  --watch-dir=DIR    where the files of the training go; by default a new directory below ./trainwatch-runs
  --listen=ADDRESS   of the page, or a free port of 127.0.0.1 if that is taken (127.0.0.1:9797)
  --keep=MIB         so much of these files stays at most; the oldest go (512)
  --console=off      what the training prints is not written down"""


def say(text: str) -> None:
    try:
        sys.stderr.write("trainwatch: %s\n" % text)
        sys.stderr.flush()
    except (OSError, ValueError):
        pass


class Wanted(NamedTuple):
    """What the command line asks for."""
    watch_dir: str
    listen: str
    keep: int  # MiB
    console: bool
    module: bool
    argv: List[str]  # of the script


def parse(arguments: List[str]) -> Optional[Wanted]:
    """None: it cannot be understood. What follows the script is the script's, whatever it is."""
    values = {"--watch-dir": "", "--listen": "127.0.0.1:9797", "--keep": "512", "--console": "on"}
    rest = list(arguments)
    while rest and rest[0].startswith("--"):
        name, equals, value = rest.pop(0).partition("=")
        if name not in values or not (equals or rest):
            return None
        values[name] = value if equals else rest.pop(0)
    module = rest[:1] == ["-m"]
    rest = rest[1:] if module else rest
    known = values["--keep"].isdigit() and values["--console"] in ("on", "off")
    if not rest or rest[0].startswith("-") or not known:
        return None
    return Wanted(values["--watch-dir"], values["--listen"], int(values["--keep"]),
                  values["--console"] == "on", module, rest)


def run(arguments: List[str]) -> None:
    """Runs what the command line names, as Python itself would, and ends as it does."""
    wanted = parse(arguments)
    if wanted is None:
        print("usage: " + USAGE, file=sys.stderr)
        sys.exit(2)
    script = wanted.argv[0]
    is_command = not wanted.module and not os.path.exists(script) and bool(shutil.which(script))
    prepared = Prepared()
    try:
        prepared = prepare(wanted, script, is_command)
    except Exception as failure:
        say("does not watch: %s; the training runs on" % failure)
    if is_command:
        sys.exit(run_command(wanted.argv, prepared.end_file, prepared.console))
    if prepared.console:
        prepared.console.take_over()
    run_python(wanted.argv, wanted.module)


class Prepared(NamedTuple):
    end_file: Optional[Dict[str, Any]] = None  # says how the training ended, if nothing else does
    console: Optional[Console] = None


def prepare(wanted: Wanted, script: str, is_command: bool) -> Prepared:
    """Sets up the environment of the training, on the first rank of a node its sidecar, and its
    console."""
    launched = bool(os.environ.get(DIRECTORY))  # by a `trainwatch run` around this one
    directory = os.environ.get(DIRECTORY) or new_directory(wanted.watch_dir, script)
    end_file = file_of_end(directory, is_command)
    install()
    if not launched and not place().local_rank:
        start_sidecar(directory, wanted, None if is_command else end_file)
    console = None
    if not launched and wanted.console:
        console = open_console(directory, is_command)
    if not is_command:
        atexit.register(say_end, end_file, os.getpid())  # before the sidecar's turn
    return Prepared(end_file, console)


def open_console(directory: str, is_command: bool) -> Optional[Console]:
    try:
        console = Console(directory, place(), process_start(), is_command)
    except OSError as failure:
        say("does not write down what the training prints: %s" % failure)
        return None
    atexit.register(console.settle)  # before the summary
    return console


def new_directory(watch_dir: str, script: str) -> str:
    directory = os.path.abspath(watch_dir or default_directory(script))
    os.makedirs(directory, exist_ok=True)
    os.environ[DIRECTORY] = directory
    site = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_site")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [site, os.environ.get("PYTHONPATH")]))
    return directory


def file_of_end(directory: str, is_command: bool) -> Dict[str, Any]:
    """For write_end(). A script is a rank of the job; a command is its launcher on this node."""
    here, began = place(), process_start()
    writer = writer_name(None if is_command else here.rank or 0, here.node)
    return {"path": os.path.join(directory, "framework", "%d_%s_launchtimeline.json" % (began, writer)),
            "began": began, "pid": os.getpid(),
            "head": "[\n" + metadata(0, {"start_time_since_epoch_in_micros": began}, 0)
                    + process_labels(here, began)}


def write_end(end_file: Optional[Dict[str, Any]], end: Dict[str, Any]) -> None:
    if end_file is None:
        return
    from ._sidecar import write_end as write  # what it imports takes time
    try:
        write(end_file, end)
    except OSError as failure:
        say("cannot write how the training ended: %s" % failure)


def say_end(end_file: Dict[str, Any], launcher: int) -> None:
    """At exit: a Watch has said it, if there is one."""
    end = None if os.getpid() != launcher or Watch.made else end_of_process(0)
    if end:
        write_end(end_file, end)


def default_directory(script: str) -> str:
    """New for each launch, and the same for all ranks of it."""
    here = place()
    name = os.path.splitext(os.path.basename(script.rstrip("/")))[0]
    names = [os.environ.get(name, "") for name in ("TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "SLURM_STEP_ID")]
    if here.rank is None:
        launch = time.strftime("%Y%m%d-%H%M%S")
    elif names[0] not in ("", "none"):
        launch = names[0]
    elif names[1] and names[2]:  # a job may launch more than once
        launch = "-".join(names[1:])
    else:
        launch = "launch-%d" % os.getppid()
    return os.path.join("trainwatch-runs", "%s-%s" % (name, launch.replace(os.sep, "-")))


def binary_path() -> str:
    """$TRAINWATCH_BINARY, the one in the wheel, or the one on PATH."""
    packaged = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "trainwatch")
    for candidate in (os.environ.get("TRAINWATCH_BINARY"), packaged, shutil.which("trainwatch")):
        if candidate and os.access(candidate, os.X_OK):
            return os.path.abspath(candidate)
    raise FileNotFoundError("there is no program trainwatch in $TRAINWATCH_BINARY, in the package, "
                            "or on PATH")


def start_sidecar(directory: str, wanted: Wanted, end_file: Optional[Dict[str, Any]]) -> None:
    """In a session of its own: what the terminal sends to the training is not for it. It writes
    `end_file` for a training that is killed."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_sidecar.py")
    environment = {name: value for name, value in os.environ.items() if name != DIRECTORY}
    sidecar = subprocess.Popen([sys.executable, script, directory, wanted.listen, binary_path(),
                                json.dumps(end_file), str(wanted.keep << 20)],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment,
                               start_new_session=True)
    atexit.register(end_sidecar, sidecar, os.getpid())  # the first registered is the last to run


def end_sidecar(sidecar: subprocess.Popen, launcher: int) -> None:
    if os.getpid() != launcher:  # a fork of the training
        return
    try:
        assert sidecar.stdin is not None
        sidecar.stdin.write(b"ended\n")
        sidecar.stdin.close()
        sidecar.wait(SUMMARY_SECONDS)
    except BrokenPipeError:  # it has ended, and has said why
        pass
    except (OSError, subprocess.TimeoutExpired) as failure:
        say("no summary: %s" % failure)


def run_command(argv: List[str], end_file: Optional[Dict[str, Any]] = None,
                console: Optional[Console] = None) -> int:
    """Runs another program, passes signals on to it, and returns its exit code; dies as it died."""
    child: Optional[subprocess.Popen] = None
    early: List[int] = []  # signals that came while the program was being started
    interruptions: List[int] = []

    def pass_on(received: int, _: Any) -> None:
        if received in INTERRUPTIONS:
            interruptions[:] = [received]
        if child is None:
            early.append(received)
        else:
            child.send_signal(received)

    for name in PASSED_ON:
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, pass_on)
    output, errors = console.streams() if console else (None, None)
    child = subprocess.Popen(argv, stdout=output, stderr=errors)
    if console:
        console.close()
    for received in early:
        child.send_signal(received)
    code = child.wait()
    write_end(end_file, dict(end_of_command(code, interruptions), pid=child.pid))
    if code < 0:
        atexit._run_exitfuncs()
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def end_of_command(code: int, interruptions: List[int]) -> Dict[str, Any]:
    if code and interruptions:
        return {"how": "interrupted", "signal": interruptions[0]}
    return {"how": "signal", "signal": -code} if code < 0 else end_with_code(code)


def run_python(argv: List[str], is_module: bool) -> None:
    """In this process, as `python argv` or `python -m argv` would: as __main__, for good."""
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    try:
        code = load_module(main, argv) if is_module else load_script(main, argv[0])
    except (OSError, ImportError, SyntaxError) as failure:
        if isinstance(failure, SyntaxError):
            end_with(failure, None)
        say("cannot run %s: %s" % (argv[0], failure))
        sys.exit(2)
    sys.argv[:] = [getattr(main, "__file__", argv[0]) if is_module else argv[0], *argv[1:]]
    sys.modules["__main__"] = main
    try:
        exec(code, main.__dict__)
    except SystemExit as leaving:
        note_exit(leaving.code)
        raise
    except Exception as failure:
        end_with(failure, failure.__traceback__.tb_next if failure.__traceback__ else None)


def end_with(failure: Exception, traceback: Optional[types.TracebackType]) -> None:
    """As the interpreter would, without frames of this file."""
    sys.last_type, sys.last_value, sys.last_traceback = type(failure), failure, traceback
    sys.excepthook(type(failure), failure.with_traceback(traceback), traceback)
    sys.exit(1)


def load_script(main: types.ModuleType, path: str) -> Any:
    if os.path.isdir(path):
        sys.path[0] = path
        return load_module(main, ["__main__"])
    with open(path, "rb") as file:
        source = file.read()
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    if sys.version_info >= (3, 9):
        path = os.path.abspath(path)
    main.__file__ = path
    main.__dict__["__cached__"] = None
    return compile(source, path, "exec", dont_inherit=True)


def load_module(main: types.ModuleType, argv: List[str]) -> Any:
    name = argv[0]
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(name + ".__main__")
    if spec is None or spec.loader is None:
        raise ImportError("no module named %s" % name)
    code = spec.loader.get_code(spec.name)  # type: ignore[attr-defined]
    main.__spec__, main.__loader__, main.__package__ = spec, spec.loader, spec.parent
    main.__file__ = spec.origin
    return code
