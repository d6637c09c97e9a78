#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of posted_cases.py, more_cases.py, format_cases.py, drafter_cases.py and model_cases.py and checks the
answers: numbers, first line, exit code, length.

Usage: field_test.py PROGRAM [CASE]...

CASE is a part of a case's name: the answers of matching cases are printed in full. Prints a table of all cases, then
the problems. Exit code 0: every answer is right; 1: some are not; 2: bad usage.

Each command runs as text and as JSON. If the order of logs must not matter, they run in every order, and all orders
must give the same answer. General properties of answers are checked for every case (always_text(), always_json()), and
its document against docs/schemas.
"""
import collections
import concurrent.futures
import itertools
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import posted_cases  # noqa: F401 (fills the table, as do the next)
import drafter_cases  # noqa: F401
import format_cases  # noqa: F401
import model_cases  # noqa: F401
import more_cases  # noqa: F401
from paths import values
from schemas import differences
from table import CASES, MISSING

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = 100  # of text
LINES = 12  # of an answer of advise, without rows of its table beyond the fourth
USUAL_ROWS = 4
TIMEOUT_S = 60
AT_ONCE = 2  # commands


def orders(command):
    """The command with its logs (all arguments before the first option) in every order."""
    words = shlex.split(command)
    end = next((i for i, word in enumerate(words) if word.startswith("--")), len(words))
    name, logs, options = words[:1], words[1:end], words[end:]
    return [[*name, *order, *options] for order in itertools.permutations(logs)]


def run(program, arguments, folder):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    return done.returncode, done.stdout, done.stderr


def without_order(document):
    """A document without the name of the first log and without line numbers."""
    plain = {key: value for key, value in document.items() if key not in ("format", "warnings", "logs")}
    warnings = sorted(warning["code"] + warning["message"] for warning in document.get("warnings", []))
    return json.dumps([plain, warnings], sort_keys=True)


def check_json(document, expected):
    for path, right in expected.items():
        found = values(document, path)
        if right is MISSING:
            if any(value is not None for value in found):
                yield f"{path} is {found}, should not be known"
        elif not found:
            yield f"{path}: no such field"
        for value in [] if right is MISSING else found:
            try:
                good = right(value) if callable(right) else value == right
            except TypeError:  # a text instead of a number
                good = False
            if not good:
                yield f"{path} is {str(value)[:100]}, should be {right.__doc__ if callable(right) else right}"


def always_text(text, case, document):
    lines = text.splitlines()
    long = [line for line in lines if len(line) > COLUMNS and " " in line.strip()]
    if long:
        yield f"a line of {max(map(len, long))} columns: {long[0][:60]}..."
    recommended = (document.get("recommendation") or {}).get("gamma")
    rows = sum(len(load["runs"]) + (load["plain_ms"] is not None)
               + any(row["iteration_time"] == "extrapolated" for row in load["speedup_by_gamma"])
               + any(row["iteration_time"] in ("interpolated", "predicted") and row["gamma"] == recommended
                     for row in load["speedup_by_gamma"])
               for load in document.get("loads", []))
    # Settings and warnings of several lines count as one.
    if "suggested" in lines:
        rest = lines[lines.index("suggested"):]
        lines = lines[:-len(rest) + 1] + rest[next((i for i, line in enumerate(rest) if line.startswith("warnings")), len(rest)):]
    lines = lines[:next((i + 1 for i, line in enumerate(lines) if line.startswith("warnings")), len(lines))]
    if len(lines) > case.get("lines", LINES + max(0, rows - USUAL_ROWS)) > 0:
        yield f"{len(lines)} lines of text"
    if not any(line.startswith("evidence") for line in lines[1:]):
        yield "no evidence below the verdict"


def always_json(document, text):
    """Properties of every answer of advise."""
    advice, first_line = document.get("recommendation"), (text.splitlines() or [""])[0]
    if advice is not None:
        named = "off" if advice["gamma"] == 0 else f"K = {advice['gamma']}"
        if not re.search(rf"\b{named}\b", first_line):
            yield f"the first line does not name the choice, {named}: {first_line}"
    elif not document.get("why_not"):
        yield "no recommendation, and why_not does not say why"
    elif not re.search(r"^next\b", text, flags=re.MULTILINE):
        yield "no recommendation, and no line says what to do next"
    loads = document.get("loads", [])
    for load in loads:
        for row in load["speedup_by_gamma"]:
            if None not in (row["value"], row["low"], row["high"]) and not row["low"] <= row["value"] <= row["high"]:
                yield f"speedup at K = {row['gamma']}: {row['value']} is not in {row['low']} to {row['high']}"
        # An answer's factors multiply to its speedup.
        if load["speedup"] and load["explanation"] and load["tokens_per_iteration"]:
            product = load["tokens_per_iteration"]
            for factor in load["explanation"]:
                product *= factor["value"]
            if abs(product / load["speedup"]["measured"] - 1) > 1e-6:
                yield f"the factors give {product:.3f}, the speedup is {load['speedup']['measured']:.3f}"
    if any(load["speedup"] and load["speedup"]["ci95"] is None for load in loads) and document.get("sign_certain"):
        yield "sign_certain though the error of a speedup is not known"
    # The recommendation must not contradict the data: at a single load no logged K, nor no speculation, is faster by
    # more than 1 %.
    if advice is not None and len(loads) == 1 and loads[0].get("runs"):
        speedups = [(row["gamma"], row["speedup"]["measured"]) for row in loads[0]["runs"]
                    if row["gamma"] is not None and row["speedup"] is not None]
        own = max((speedup for gamma, speedup in speedups if gamma == advice["gamma"]), default=None)
        if advice["gamma"] == 0:
            own = 1.0
        best = max([1.0] + [speedup for _, speedup in speedups])
        if own is not None and speedups and own < 0.99 * best:
            yield f"recommends K = {advice['gamma']} ({own:.2f}x), though {best:.2f}x was measured"


def check(program, case, folder, show):
    """All problems of the answers to one case."""
    wrong, by_order = [], collections.Counter()
    for name, text in case["files"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for words in case.get("before", ()):
        code, text, talk = run(program, shlex.split(words), folder)
        if code:
            wrong.append(f"exit {code}: {words}: {(talk or text).strip()[:200]}")
    command = case["command"]
    advises = command.startswith("advise") and "--plan" not in command
    arguments_of = orders(command) if case.get("any_order", advises) else [shlex.split(command)]
    answers = set()
    for arguments in arguments_of:
        code, text, talk = run(program, arguments, folder)
        if show:
            print(f"$ foredraft {shlex.join(arguments)}\n{text}{talk}exit {code}\n")
        problems = []
        codes = case.get("exit", (0,))
        if code not in codes:
            problems.append(f"exit {code}, should be {' or '.join(map(str, codes))}: {(talk or text).strip()[:200]}")
        joined = " ".join((text + talk).split())  # texts are wrapped
        # A number of the headline may be in its second line: the headline ends before the evidence.
        headline = " ".join(re.split(r"^evidence\b", text, flags=re.MULTILINE)[0].split())
        first = (text.splitlines() or [""])[0]
        problems += [f"the first line lacks {part}: {first}" for part in case.get("first", ()) if not re.search(part, first)]
        problems += [f"the headline lacks {part}: {headline[:200]}" for part in case.get("headline", ())
                     if not re.search(part, headline)]
        problems += [f"the text lacks {part}" for part in case.get("text", ()) if not re.search(part, joined)]
        problems += [f"the text says {part}" for part in case.get("forbidden", ()) if re.search(part, joined)]
        if case.get("json") is not None:
            code, out, talk = run(program, [*arguments, "--json"], folder)
            try:
                document = json.loads(out)
            except ValueError:
                problems.append(f"--json: no document: {(out + talk)[:100]}")
            else:
                answers.add(without_order(document))
                problems += check_json(document, case["json"])
                if "error" not in document:
                    problems += differences(document, document["schema"].split("/")[0].removeprefix("foredraft."))
                if advises and "error" not in document:
                    problems += always_text(text, case, document)
                    problems += always_json(document, text)
        by_order.update(dict.fromkeys(problems, 1))
    for problem, count in by_order.items():
        wrong.append(problem if count == len(arguments_of) else f"{problem} (in {count} of {len(arguments_of)} orders)")
    if len(answers) > 1:
        wrong.append(f"{len(answers)} different answers by the order of the logs")
    return wrong


def one(program, name, show):
    with tempfile.TemporaryDirectory() as folder:
        try:
            return check(program, CASES[name], pathlib.Path(folder), show)
        except subprocess.TimeoutExpired:
            return [f"takes longer than {TIMEOUT_S} s"]


def main():
    if len(sys.argv) < 2 or not pathlib.Path(sys.argv[1]).is_file():
        print(__doc__, file=sys.stderr)
        return 2
    program, wanted = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    names = [name for name in CASES if not wanted or any(part in name for part in wanted)]
    if not names:
        print(f"no case is named so: {' '.join(wanted)}", file=sys.stderr)
        return 2
    if wanted:
        results = {name: one(program, name, True) for name in names}
    else:
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            results = dict(zip(names, pool.map(lambda name: one(program, name, False), names)))
    width = max(map(len, names))
    for name, wrong in results.items():
        print(f"{'red  ' if wrong else 'green'}  {name:{width}}  {f'{len(wrong)} wrong' if wrong else ''}".rstrip())
    for name, wrong in results.items():
        if wrong:
            print(f"\n{name}: {CASES[name]['command']}")
            print("\n".join(f"  {problem}" for problem in wrong))
    red = sum(bool(wrong) for wrong in results.values())
    print(f"\n{len(names) - red} of {len(names)} cases green, {red} red")
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
