# SPDX-License-Identifier: Apache-2.0
"""A case of field_test.py: logs, a command, and the expected answer.

A case is made by case(): files of a folder of inputs/ and of `files`, a command, and what its answer must be:

    before     commands that run first and must end with 0
    json       {path: value, near(...), ...}: values of --json (paths.py); {}: only the general checks
    first      regular expressions that the first line of the text has: the choice
    headline   the same of the text before "evidence"
    text       the same anywhere in the text
    forbidden  regular expressions that the text must not have
    exit       the exit codes that are right, 0 by default
    any_order  whether the logs run in every order: by default those of advise
    lines      the most lines of text; 0: any number (settings to paste, tables of compare)

Expected numbers are computed by hand in the comment of a case, from its own logs. Where a number is printed with two
decimals, half a unit of the second is allowed.
"""
import pathlib

INPUTS = pathlib.Path(__file__).resolve().parent / "inputs"
MISSING = object()  # null, or not there
CASES = {}


def case(name, command, inputs=None, files=None, **expected):
    folder = INPUTS / (inputs or "none")
    texts = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
             for path in folder.rglob("*") if path.is_file()} if inputs else {}
    assert name not in CASES
    CASES[name] = dict(command=command, files=texts | (files or {}), **expected)


def named(text, check):
    check.__doc__ = text
    return check


def near(value, tolerance=0.005):
    return named(f"{value} +- {tolerance}", lambda found: found is not None and abs(found - value) <= tolerance)


def between(low, high):
    return named(f"{low} to {high}", lambda found: found is not None and low <= found <= high)


def one_of(*choices):
    return named(f"one of {choices}", lambda found: found in choices)


def has(*parts):
    return named(f"with {parts}", lambda found: found is not None and all(part in str(found) for part in parts))


def lacks(*parts):
    return named(f"without {parts}", lambda found: not any(part in str(found) for part in parts))


def interval(width):
    return named(f"an interval narrower than {width}",
                 lambda found: found is not None and len(found) == 2 and 0 <= found[1] - found[0] < width)


UNKNOWN_ERROR = {"loads[*].speedup.ci95": None, "sign_certain": False}  # single summaries
NO_FAULT = r"W14|collapses|fails at position"
