# SPDX-License-Identifier: Apache-2.0
"""Undisturbed runs: their files, their duration, their calls."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from cases import INPUTS, cases_of
from folders import LEFTOVER, Lost, inspect, parsed, read_folder, results

HERE = pathlib.Path(__file__).parent


def start_files(case):
    """The files of a fresh folder; None: there is no folder."""
    return dict(case.start) if case.from_case else {} if case.volatile else None


def ends_well(case, code, before):
    """Whether an undisturbed run may end like this. before: the results that it found."""
    return code in case.codes or (code == 2 and not case.resumes and bool(before))


def must_finish(storm, case, **how):
    """An undisturbed run: it ends with 0 and leaves the reference."""
    before = results(storm.out)
    code = storm.run_case(case)
    if not ends_well(case, code, before):
        raise Lost("the undisturbed run afterwards fails", f"exit {code}: {last_line(storm.text())}")
    if code == 2 and before != results(storm.out):
        raise Lost("exit 2 and yet something was written", case.name)
    inspect(storm.out, [case], finished=code in case.codes, **({"leftovers": True} if code == 2 else {}) | how)


def check_folder(storm, case):
    if case.family in ("sweep", "figures"):
        code = storm.run(["check", "out"])
        if code != 0:
            raise Lost("foredraft check fails on a complete folder", f"exit {code}: {last_line(storm.text())}")


def last_line(text):
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "(no message)"


def prepare(storm):
    """Runs every case undisturbed; returns those that can be run here."""
    for name in ("in", "stand_in", "no_plots"):
        (storm.root / name).mkdir()
    for name, text in INPUTS.items():
        (storm.root / "in" / name).write_text(text)
    for name in ("plot.py", "report.py"):
        shutil.copy(HERE / "stand_in_plots.py", storm.root / "stand_in" / name)
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-shared", "-fPIC", "-o", storm.root / "faults.so",
                    HERE / "faults.c", "-ldl"], check=True)
    for part in (1, 2):
        storm.begin_task()
        code = storm.run(["sweep", "../in/one.toml", "--shard", f"{part}/2", "--out", f"../in/part{part}"])
        if code != 0:
            raise Lost("a shard cannot be made", f"exit {code}: {last_line(storm.text())}")
    cases = {}
    for case in cases_of():
        if case.from_case:
            case.start = cases[case.from_case].wanted
        reference(storm, case)
        if case.draws and "report.html" not in case.wanted:
            print(f"storm: {case.name} is left out: no Python with matplotlib", file=sys.stderr)
            continue
        cases[case.name] = case
    return list(cases.values())


def reference(storm, case):
    storm.begin_task(start_files(case))
    begin = time.monotonic()
    case.code = storm.run_case(case, fault={"STORM_CALL": "0"})
    case.duration = time.monotonic() - begin
    case.states["fresh"] = (start_files(case), storm.calls())
    if case.code not in case.codes:
        raise Lost("an undisturbed run fails", f"{case.name}: exit {case.code}: {last_line(storm.text())}")
    case.wanted = read_folder(storm.out)
    case.manifest = {} if case.volatile else parsed("manifest.json", case.wanted["manifest.json"])
    case.stdout = None if case.volatile else storm.text("stdout")
    inspect(storm.out, [case], finished=True)


def prepare_states(storm, case):
    """Folders in which runs with faults start, each with the calls of an undisturbed run from there."""
    fresh = case.states["fresh"][1]
    if case.draws or case.volatile or not fresh:
        return
    storm.begin_task(start_files(case))
    code = storm.run_case(case, fault={"STORM_CALL": str(len(fresh) // 2), "STORM_ACTION": "half"})
    if code != -signal.SIGKILL:
        raise Lost("a run makes other calls than before", f"exit {code}")
    partial = read_folder(storm.out)
    case.states |= {"partial": (partial, traced(storm, case, partial)),
                    "complete": (case.wanted, traced(storm, case, case.wanted))}


def traced(storm, case, files):
    storm.begin_task(files)
    code = storm.run_case(case, fault={"STORM_CALL": "0"})
    if not ends_well(case, code, files):
        raise Lost("the undisturbed run afterwards fails", f"exit {code}: {last_line(storm.text())}")
    return storm.calls()


def check_synced(calls):
    """A power failure loses a rename of bytes that are not on the disk, and rows behind an earlier manifest."""
    dirty = set()
    for call, *paths in calls:
        name = pathlib.Path(paths[0]).name
        if call == "write":
            dirty.add(name)
        elif call == "fsync":
            dirty.discard(name)
        elif call == "rename":
            last = pathlib.Path(paths[1]).name == "manifest.json"
            unsafe = {file for file in dirty if file == name or (last and not LEFTOVER.fullmatch(file))}
            if unsafe:
                raise Lost("a file gets its name before its bytes are on the disk", paths[1])
