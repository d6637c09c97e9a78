# SPDX-License-Identifier: Apache-2.0
"""Shared by the commands: a start that the environment cannot change, one way to write files, to exit and to print.

Loads the standard library only: it must be imported, and started, before matplotlib and numpy are.
"""

import atexit
import contextlib
import os
import signal
import sys
from pathlib import Path

INTERRUPTED = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Only the folders of caches and temporary files are kept from the environment. Other variables change how Python
# packages work, or break them.
_KEPT = {"HOME", "MPLCONFIGDIR", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"}
_MAX_MESSAGE = 1000  # characters; a hostile file must not flood the terminal

_temporary = None      # the file being written
_folder = ("", "")     # the absolute path of the folder, and the path that the user typed


class BadFile(Exception):
    """A file that cannot be used; the message starts with its path."""

    def __init__(self, path, problem):
        super().__init__(f"{path}: {problem}")


def start():
    """Prepares the process: signals, standard streams, environment, current directory.

    A caller that blocks the signals before it starts Python loses none: they are unblocked here.
    """
    global _folder
    for number in _SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, _interrupted)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    while os.open(os.devnull, os.O_RDWR) <= 2:  # no result file may become a closed standard stream
        pass
    for name, value in list(os.environ.items()):
        if name not in _KEPT or not os.path.isabs(value):
            del os.environ[name]
    # No matplotlibrc of the user; numpy does not start a thread per core.
    os.environ.update(MATPLOTLIBRC=os.devnull, OMP_NUM_THREADS="1")
    if len(sys.argv) == 2:
        typed = Path(sys.argv[1])
        try:
            sys.argv[1] = str(typed.absolute())
        except OSError as error:
            say(f"{typed}: the current directory cannot be used ({error.strerror})", problem=True)
            finish(2)
        _folder = (sys.argv[1], str(typed))
    os.chdir("/")  # matplotlib reads ./matplotlibrc


def _interrupted(*_):
    """Ends the process at once: an exception could be lost in an import or a destructor."""
    if _temporary is not None:
        with contextlib.suppress(OSError):
            os.unlink(_temporary)
    os._exit(INTERRUPTED)


def run(name, work, arguments):
    """The exit status of `work`, which gets the folder (pathlib.Path) that `arguments` name."""
    if len(arguments) != 1:
        say(f"usage: {name}.py DIR", problem=True)
        return 2
    directory = Path(arguments[0])
    if not os.path.isdir(directory):
        say(f"{name}: {directory}: is not a directory", problem=True)
        return 2
    return tried(name, directory, lambda: work(directory))


def tried(name, what, work):
    """The exit status of `work`. Any error becomes one line and status 1: no folder can cause a traceback."""
    try:
        return work()
    except BadFile as error:
        problem = str(error)
    except Exception as error:
        problem = f"{what}: {type(error).__name__}: {error}"
    say(f"{name}: {problem}", problem=True)
    return 1


def finish(status):
    """Ends the process with `status`, which a standard stream that cannot be flushed does not change."""
    atexit._run_exitfuncs()  # matplotlib removes its temporary cache
    os._exit(status)


def say(text, problem=False):
    """Prints one line on stdout, or on stderr if it is a problem. A line that cannot be written is dropped."""
    stream = sys.stderr if problem else sys.stdout
    text = text.replace(*_folder)
    text = text if len(text) <= _MAX_MESSAGE else text[:_MAX_MESSAGE] + "…"
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    with contextlib.suppress(OSError, ValueError):
        print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)


def write(path, content):
    """Writes the bytes `content` to a file: all or none."""
    with writing(path) as file:
        file.write(content)


@contextlib.contextmanager
def writing(path):
    """A binary stream that becomes the file at the end, or no file. A link of that name is replaced, not followed."""
    global _temporary
    _temporary = os.path.join(os.path.dirname(path), f".foredraft-tmp-{os.urandom(8).hex()}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(_temporary, flags, 0o666), "wb") as file:
            yield file
        os.replace(_temporary, path)
    except OSError as error:
        raise BadFile(path, f"cannot be written ({error.strerror})") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(_temporary)
        _temporary = None
