# SPDX-License-Identifier: Apache-2.0
"""Kills, interrupts, faults, unwritable streams and races. A task raises Lost, or returns what it counts."""
import errno
import pathlib
import signal
import time

from folders import LEFTOVER, Lost, inspect, read_folder, results
from processes import signalled
from references import check_folder, check_synced, ends_well, last_line, must_finish, prepare_states, start_files

ERRORS = ("ENOSPC", "EIO", "EDQUOT", "EINTR")
KILLS_AT_CALL = ("before", "half", "after")
ACTIONS = (*ERRORS, "ENOSPC onward", "EIO onward", "short", *KILLS_AT_CALL)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def some_case(chance, cases):
    return chance.choices(cases, [case.weight for case in cases])[0]


def kills(storm, chance, cases):
    """SIGKILL at random moments, once or several times one after another; then resumed."""
    case = some_case(chance, cases)
    storm.begin_task(start_files(case))
    orphans = case.draws and chance.random() < 0.3  # its child processes continue, as after the out-of-memory killer
    before, left, done = read_folder(storm.out), [], 0
    for _ in range(chance.choice((1, 1, 2, 3, 4))):
        found = results(storm.out)
        process = storm.begin(case.arguments, draws=case.draws)
        time.sleep(chance.uniform(0.0, 1.1 * case.duration))
        if orphans:
            process.kill()
            left.append(process)
        else:
            signalled(process.pid, signal.SIGKILL)
        code = process.wait()
        if not orphans:
            storm.end_group(process)
        if code != -signal.SIGKILL and not ends_well(case, code, found):
            raise Lost("a run that was to be killed fails", f"exit {code}: {last_line(storm.text())}")
        done += code == -signal.SIGKILL
        if not orphans:
            inspect(storm.out, [case], leftovers=True, before=before, finished=code in case.codes)
            before = read_folder(storm.out)
    if left:
        storm.run_case(case)  # while child processes still draw
        for process in left:
            storm.end_group(process, wait_s=5.0)
    must_finish(storm, case, before=before)
    if chance.random() < 0.2:
        check_folder(storm, case)
    if chance.random() < 0.2:
        must_finish(storm, case)
    storm.kills += done
    return done


def interrupts(storm, chance, cases):
    """SIGINT, SIGTERM or SIGHUP at random moments: 130, or it had finished; then resumed."""
    case = some_case(chance, cases)
    storm.begin_task(start_files(case))
    for _ in range(chance.choice((1, 1, 2))):
        before, everything = results(storm.out), read_folder(storm.out)
        number = chance.choice(SIGNALS)
        process = storm.begin(case.arguments, draws=case.draws)
        time.sleep(chance.uniform(0.0, 1.1 * case.duration))
        if chance.random() < 0.5:
            signalled(process.pid, number)  # a terminal sends it to all
        else:
            process.send_signal(number)
        code = storm.end(process)
        if code == -number and read_folder(storm.out) == everything:
            continue  # while the system was still loading the program
        if code < 0:
            raise Lost("a signal ends the run", f"{signal.Signals(-code).name} after {signal.Signals(number).name}")
        if code != 130 and not ends_well(case, code, before):
            raise Lost("an interrupted run fails", f"exit {code}: {last_line(storm.text())}")
        inspect(storm.out, [case], before=before, finished=code in case.codes)
    must_finish(storm, case)
    return 1


def fault_plan(storm, chance, cases):
    """Every call of every case from every state, shuffled."""
    plan = []
    for case in cases:
        prepare_states(storm, case)
        cheap = not case.draws and not case.volatile  # of the others a few
        for state, (_, calls) in case.states.items():
            numbers = range(1, len(calls) + 2)
            plan += [(case, state, n) for n in (numbers if cheap else chance.sample(numbers, min(4, len(numbers))))]
        if case.draws:
            plan += [(case, "drawing", n) for n in chance.sample(range(1, 13), 2)]
    chance.shuffle(plan)
    return plan + [(case, state, 0) for case in cases for state in case.states]


def faults(storm, chance, case, state, number):
    """One call fails, or all from it on, or the program is killed at it; then the disk works again."""
    drawing = state == "drawing"
    files, calls = case.states["fresh" if drawing else state]
    if number == 0:
        check_synced(calls)
        return 1
    action = "ENOSPC onward" if drawing else chance.choice(ACTIONS)
    name, _, onward = action.partition(" ")
    fault = {"STORM_CALL": str(number), "STORM_ACTION": str(getattr(errno, name, name))}
    if onward:
        fault["STORM_ONWARD"] = "1"
    if drawing:
        fault["STORM_PROGRAM"] = "python3"
    storm.begin_task(files)
    code = storm.run_case(case, fault=fault)
    hits = storm.calls()
    killed = code == -signal.SIGKILL and name in KILLS_AT_CALL
    storm.kills += killed
    if not killed:
        judge_fault(storm, case, name, hits, code, files or {})
    kept = files if case.from_case or state in ("partial", "complete") else None
    locked_out = (code == 2 and not case.resumes) or any(
        hit[0] in ("flock", "open") and LEFTOVER.fullmatch(pathlib.Path(hit[1]).name) for hit in hits)
    inspect(storm.out, [case], finished=code in case.codes, before=kept, leftovers=killed or locked_out)
    must_finish(storm, case, before=kept)
    return not killed


def judge_fault(storm, case, action, hits, code, before):
    told = f"exit {code} after {action} of {' '.join(hits[0]) if hits else 'no call'}: {last_line(storm.text())}"
    if code < 0 or code > 2:
        raise Lost("a fault ends in a crash", told)
    if not hits or action in ("short", *KILLS_AT_CALL):
        if not ends_well(case, code, before):
            raise Lost("a run fails without a fault", told)
    elif code == 0 and action != "EINTR" and not all(is_best_effort(storm, hit, before) for hit in hits):
        raise Lost("a fault ends in exit 0", told)
    if code == 2:
        if results(storm.out) != {name: content for name, content in before.items() if not LEFTOVER.fullmatch(name)}:
            raise Lost("exit 2 and yet something was written", told)


def is_best_effort(storm, hit, before):
    """Calls whose failure loses nothing: syncing a folder, locking, creating an existing folder, another program's
    cache."""
    call, path = hit[0], pathlib.Path(hit[1])
    if path.is_absolute() and not path.is_relative_to(storm.root / "task"):
        return True
    return (call == "fsync" and path.name in ("out", "task")) or (call == "mkdir" and bool(before)) or (
        call in ("write", "fsync", "ftruncate") and path.name.startswith(".foredraft-lock"))


def stream_plan(_, chance, cases):
    """Commands with standard streams that are full or closed."""
    ways = ["out full", "err full", "both full"] + [f"closed {number}" for number in range(1, 8)]
    lines = [(case, None) for case in cases if case.weight == 1.0]
    sample = ["--alpha", "0.8", "--gamma", "5", "--c", "0.05"]
    for line in (["--version"], ["--help"], ["sweep", "--help"], ["list", "devices"], ["predict", *sample],
                 ["predict", *sample, "--json"], ["simulate", *sample, "--iterations", "1000"],
                 ["tree", "--accuracies", "../in/heads.txt", "--nodes", "9"], ["check", "../in/part1"],
                 ["reproduce", "--list"], [], ["bogus"], ["sweep", "--bogus"],
                 ["sweep", "missing.toml", "--out", "out"]):
        lines.append((None, line))
    plan = [(case, line, way) for case, line in lines for way in ways]
    chance.shuffle(plan)
    return plan


def streams(storm, _, case, line, way):
    """A result that cannot be written is exit code 1; other messages that cannot be written are dropped."""
    if case:
        storm.begin_task(start_files(case))
        arguments, draws, wanted_code, wanted = case.arguments, case.draws, case.code, case.stdout
    else:
        storm.begin_task()
        arguments, draws = line, False
        wanted_code, wanted = storm.run(line), storm.text("stdout")
    closed = [n for n in range(3) if way.startswith("closed") and int(way[-1]) >> n & 1]
    how = {"stdout": "/dev/full" if way in ("out full", "both full") else "stdout",
           "stderr": "/dev/full" if way in ("err full", "both full") else "stderr"}
    code = storm.run(arguments, draws=draws, closed=closed, **how)
    told = f"{' '.join(arguments)}: exit {code}, {wanted_code} otherwise"
    if code < 0 or code > 2:
        raise Lost("an unwritable stream ends in a crash", f"{way}: {told}")
    lost_result = how["stdout"] == "/dev/full" and (wanted is None or wanted)
    if lost_result and code != max(1, wanted_code):
        raise Lost("a result that cannot be written is not exit 1", told)
    if not lost_result and code != wanted_code and not (1 in closed and code == 1):
        raise Lost("an unwritable stream changes the exit code", f"{way}: {told}")
    if how["stdout"] == "stdout" and 1 not in closed and wanted is not None and storm.text("stdout") != wanted:
        raise Lost("an unwritable stream changes the result", f"{way}: {told}")
    if case:
        inspect(storm.out, [case], finished=code == 0)
        must_finish(storm, case)
    return 1


def races(storm, chance, cases):
    """2 to 4 starts at once in one folder, some of them killed, one to three times; then its owner finishes."""
    family = some_case(chance, cases).family
    members = [case for case in cases if case.family == family]
    begins_whole = any(case.from_case for case in members)
    storm.begin_task(members[0].wanted if begins_whole else start_files(members[0]))
    found, leftovers = members, False
    for _ in range(chance.choice((1, 1, 2, 3))):
        picks = [chance.choice(members) for _ in range(chance.randint(2, 4))]
        if chance.random() < 0.5:
            picks = [picks[0]] * len(picks)
        killing = chance.random() < 0.5
        there = results(storm.out)
        codes, killed = start_together(storm, chance, picks, killing, there, found)
        finished = any(code in case.codes for code, case in zip(codes, picks, strict=True))
        leftovers = killed or (leftovers and not finished)
        may_finish = all(case in found and (case.resumes or not there) for case in picks)
        if not killed and not finished and may_finish:
            raise Lost("simultaneous starts, and none finishes", f"exits {codes}: {last_line(storm.text('stderr0'))}")
        found = inspect(storm.out, members, leftovers=leftovers)
    owner = chance.choice(found)
    must_finish(storm, owner)
    if chance.random() < 0.3:
        check_folder(storm, owner)
    return 1


def start_together(storm, chance, picks, killing, there, owners_before):
    """Exit codes, and whether one was killed. All starts and kills lie within the time of one run."""
    span = max(case.duration for case in picks)
    events = []
    for place, case in enumerate(picks):
        begin = 0.0 if chance.random() < 0.6 else chance.uniform(0.0, span)
        events.append((begin, place, "begin", case))
        if killing and chance.random() < 0.6:
            events.append((begin + chance.uniform(0.0, 1.3 * span), place, "kill", case))
    processes = [storm.begin(case.arguments, draws=case.draws, stdout=f"stdout{place}", stderr=f"stderr{place}",
                             held=True) for place, case in enumerate(picks)]
    origin = time.monotonic()
    for moment, place, what, _ in sorted(events, key=lambda event: event[0]):
        time.sleep(max(0.0, origin + moment - time.monotonic()))
        signalled(processes[place].pid, signal.SIGCONT if what == "begin" else signal.SIGKILL)
    codes = [storm.end(processes[place]) for place in range(len(picks))]
    struck = {place for _, place, what, _ in events if what == "kill" and codes[place] == -signal.SIGKILL}
    storm.kills += len(struck)
    same = len({case.name for case in picks}) == 1 and picks[0] in owners_before
    for place, code in enumerate(codes):
        said = storm.text(f"stderr{place}")
        if place in struck or ends_well(picks[place], code, there):
            continue
        told = f"{picks[place].name}: exit {code}: {last_line(said)}"
        if code != 2:
            raise Lost("a race ends in a failure", told)
        if same and picks[place].resumes and b"another run is writing" not in said:
            raise Lost("a race of equal starts is rejected for another reason", told)
    return codes, bool(struck)
