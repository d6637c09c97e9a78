# SPDX-License-Identifier: Apache-2.0
"""Starts the program in a temporary folder, and ends its processes."""
import collections
import ctypes
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

from folders import Lost, write_folder

LONGEST_RUN_S = 30.0
HOLD = ["/bin/sh", "-c", 'kill -STOP $$; exec "$0" "$@"']


class Storm:
    """A temporary folder, the program in it, and the processes that are still running."""

    def __init__(self, program, seed):
        self.program = program
        self.seed = seed
        # In memory if there is such a file system: else most of a run's time would be syncing to the disk.
        memory = None if "TMPDIR" in os.environ or not os.access("/dev/shm", os.W_OK) else "/dev/shm"
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="foredraft_storm_", dir=memory))
        self.groups = set()
        self.commands = []  # of the current task
        self.kills = 0
        self.counts = collections.Counter()  # by kind of task

    def environment(self, draws, fault=None):
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.root), "LC_ALL": "C",
                       "FOREDRAFT_PLOTS": str(self.root / ("stand_in" if draws else "no_plots"))}
        if fault:
            environment |= {"LD_PRELOAD": str(self.root / "faults.so"), "STORM_LOG": str(self.root / "calls"),
                            "STORM_PROGRAM": self.program.name, **fault}
        return environment

    def begin(self, arguments, *, draws=False, fault=None, stdout="stdout", stderr="stderr", closed=(), held=False):
        """Starts the program. held: it waits for SIGCONT, so that several can start at the same moment."""
        self.commands.append(" ".join([self.program.name, *arguments])
                             + (f"  ({fault})" if fault else "") + (f"  (closed: {closed})" if closed else "")
                             + "".join(f" {n}>{p}" for n, p in ((1, stdout), (2, stderr)) if p.startswith("/")))
        here = self.root / "task"
        command = [*(HOLD if held else []), self.program, *arguments]
        close = (lambda: [os.close(number) for number in closed]) if closed else None
        with open(here / stdout, "wb") as out, open(here / stderr, "wb") as err:
            process = subprocess.Popen(command, cwd=here, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       env=self.environment(draws, fault), start_new_session=True, preexec_fn=close)
        self.groups.add(process.pid)
        if held:
            os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        return process

    def end(self, process, *, timeout=LONGEST_RUN_S):
        """The exit code. Child processes that it did not wait for are killed."""
        if process.returncode is None:
            watch = os.pidfd_open(process.pid)  # Popen.wait with a timeout polls every 50 ms
            ended = select.select([watch], [], [], timeout)[0]
            os.close(watch)
            self.end_group(process)
            if not ended:
                raise Lost("a run does not end", f"{timeout:.0f} s")
        return process.returncode

    def end_group(self, process, *, wait_s=0.0):
        """Ends the child processes of a process, after `wait_s` at most if they do not end by themselves."""
        until = time.monotonic() + wait_s
        while time.monotonic() < until and signalled(process.pid, 0):
            time.sleep(0.002)
            reap(process)
        signalled(process.pid, signal.SIGKILL)
        process.wait()
        reap(process)
        self.groups.discard(process.pid)

    def end_all(self):
        for group in self.groups:
            signalled(group, signal.SIGKILL)

    def run(self, arguments, **how):
        return self.end(self.begin(arguments, **how))

    def run_case(self, case, **how):
        return self.run(case.arguments, draws=case.draws, **how)

    def text(self, name="stderr"):
        return (self.root / "task" / name).read_bytes()

    @property
    def out(self):
        return self.root / "task" / "out"

    def calls(self):
        """The library's new log entries: lists of a call and its paths."""
        path = self.root / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [line.split(" ") for line in lines]

    def begin_task(self, files=None):
        self.commands = []
        shutil.rmtree(self.root / "task", ignore_errors=True)
        (self.root / "task").mkdir()
        write_folder(self.out, files)
        self.calls()


def signalled(group, number):
    try:
        os.killpg(group, number)
        return True
    except (ProcessLookupError, PermissionError):
        return False


def reap(process):
    """Collects the children of an ended process, which have become ours."""
    try:
        while process.returncode is not None and os.waitpid(-process.pid, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def become_subreaper():
    """Children of a killed program become ours, so that they can be waited for even without an init process."""
    try:
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    except (OSError, AttributeError):
        pass
