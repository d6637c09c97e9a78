#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills, interrupts, faults and races against the program; exits 1 if a byte is lost.

Usage: storm.py [--seconds N] [--seed S] [--task KIND[/NUMBER]] [--keep-going] PROGRAM

A case is a command that writes a folder. Each is run once undisturbed; its files are the reference, with which one
function, `inspect`, compares every folder. The next task is of the kind that had the least time for its share, so that
the kinds are balanced whenever the run ends. A task draws its own random numbers from the seed, its kind and its
number: --task repeats one. Scheduling differs between runs, so repeating a kill or race may need several attempts.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import sys
import time

import tasks
from folders import Lost
from processes import Storm, become_subreaper
from references import prepare

TASKS = {"kills": (0.40, tasks.kills), "interrupts": (0.10, tasks.interrupts), "faults": (0.25, tasks.faults),
         "streams": (0.05, tasks.streams), "races": (0.20, tasks.races)}  # share of the time, function
PLANS = {"faults": tasks.fault_plan, "streams": tasks.stream_plan}  # the others make only random choices


class Plan:
    """The tasks of every kind, by number."""

    def __init__(self, storm, cases, kinds):
        self.storm, self.cases = storm, cases
        self.lists = {kind: PLANS[kind](storm, random.Random(f"{storm.seed}/{kind}"), cases)
                      for kind in kinds if kind in PLANS}

    def run(self, kind, number):
        chance = random.Random(f"{self.storm.seed}/{kind}/{number}")
        listed = self.lists.get(kind)
        return TASKS[kind][1](self.storm, chance, *(listed[number % len(listed)] if listed else [self.cases]))


def summary(storm, began):
    counts = storm.counts
    return (f"{storm.kills} kills, {counts['interrupts']} interrupts, {counts['faults'] + counts['streams']} faults, "
            f"{counts['races']} races in {time.monotonic() - began:.0f} s")


def say(text):
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        pass


def report(storm, kind, number, lost):
    say(f"LOST in {kind}/{number}: {lost}")
    for command in storm.commands:
        say(f"  {command}")
    say(f"  repeat with --seed {storm.seed} --task {kind}/{number} --seconds 60")


def keep(storm, number):
    kept = storm.root / f"lost{number}"
    if (storm.root / "task").exists():
        shutil.copytree(storm.root / "task", kept, symlinks=True)
    say(f"  kept: {kept}")


def storm_on(storm, options, began):
    """Runs tasks until the time is over; the failures by kind."""
    failures = {}

    def attempt(kind, number, work):
        try:
            return work()
        except Lost as lost:
            what = f"{kind}: {lost.what}"
            if what not in failures:
                report(storm, kind, number, lost)
                keep(storm, len(failures))
            failures[what] = failures.get(what, 0) + 1
            storm.end_all()
            return 0

    only, _, wanted = (options.task or "").partition("/")
    kinds = [only] if only else list(TASKS)
    plan = attempt("prepare", 0, lambda: Plan(storm, prepare(storm), kinds))
    if not plan:
        return failures
    spent = dict.fromkeys(kinds, 0.0)
    numbers = dict.fromkeys(kinds, 0)
    longest = 0.0
    spoke = time.monotonic()
    while time.monotonic() - began + longest < options.seconds and (options.keep_going or not failures):
        kind = min(kinds, key=lambda name: spent[name] / TASKS[name][0])
        number = int(wanted) if wanted else numbers[kind]
        begin = time.monotonic()
        storm.counts[kind] += attempt(kind, number, lambda kind=kind, number=number: plan.run(kind, number)) or 0
        took = time.monotonic() - begin
        longest = max(longest, took)
        spent[kind] += took
        numbers[kind] += 1
        if time.monotonic() - spoke > 10.0:
            spoke = time.monotonic()
            say(f"  {summary(storm, began)}")
    return failures


def main():
    parser = argparse.ArgumentParser(description="Kills, faults and races against PROGRAM; exits 1 if a byte is lost.")
    parser.add_argument("--seconds", type=float, default=900.0, help="bounds everything (default 900)")
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn (default 1)")
    parser.add_argument("--task", metavar="KIND[/NUMBER]", help="only this kind, or one task of it again and again")
    parser.add_argument("--keep-going", action="store_true", help="count failures instead of ending at the first")
    parser.add_argument("program", type=pathlib.Path)
    options = parser.parse_args()
    if options.task and not re.fullmatch(f"({'|'.join(TASKS)})(/[0-9]+)?", options.task):
        parser.error(f"--task: KIND or KIND/NUMBER, where KIND is one of {', '.join(TASKS)}")
    program = options.program.resolve()
    if not os.access(program, os.X_OK):
        parser.error(f"{options.program}: no program")
    began = time.monotonic()
    become_subreaper()
    storm = Storm(program, options.seed)
    failures = {"cut off": 1}
    try:
        failures = storm_on(storm, options, began)
    finally:
        storm.end_all()
        if not failures or "cut off" in failures:
            shutil.rmtree(storm.root, ignore_errors=True)
    for what, count in sorted(failures.items(), key=lambda item: -item[1]):
        say(f"{count:6} x {what}")
    tried = storm.kills + sum(storm.counts.values()) > 0
    verdict = f"LOST ({len(failures)} ways)" if failures else "nothing lost" if tried else "NOTHING WAS TRIED"
    print(f"{summary(storm, began)}: {verdict}")
    return 0 if tried and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
