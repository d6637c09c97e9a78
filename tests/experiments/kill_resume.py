#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a sweep with SIGKILL at 20 random moments; resuming must always end in the same points.csv.

Usage: kill_resume.py PROGRAM
"""
import pathlib
import random
import subprocess
import sys
import tempfile
import time

KILLS = 20
DISTINCT = 8  # places in the file that must have been hit before the test may end
MAX_KILLS = 200
CONFIG = """schema = "foredraft.sweep/1"
[axes]
alpha = { from = 0.05, to = 0.95, step = 0.05 }
gamma = { from = 1, to = 12 }
c     = [0.05, 0.1]
[simulation]
iterations = 200_000
seed = 7
path = "reference"
"""


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="foredraft_kill_") as name:
        folder = pathlib.Path(name)
        (folder / "sweep.toml").write_text(CONFIG)

        def command(out):
            return [program, "sweep", "sweep.toml", "--out", out, "--no-figures"]

        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        start = time.monotonic()
        subprocess.run(command("whole"), check=True, **quiet)
        duration = time.monotonic() - start
        wanted = (folder / "whole/points.csv").read_bytes()

        chance = random.Random(20261120)
        points = folder / "killed/points.csv"
        moments = []
        while len(moments) < KILLS or len(set(moments) - {len(wanted)}) < DISTINCT:
            if len(moments) == MAX_KILLS:
                sys.exit(f"{MAX_KILLS} kills hit too few places: {sorted(set(moments))}")
            process = subprocess.Popen(command("killed"), **quiet)
            time.sleep(chance.uniform(0.0, 0.4 * duration))
            process.kill()
            finished = process.wait() == 0
            there = points.read_bytes() if points.exists() else b""
            if not wanted.startswith(there):
                sys.exit(f"after kill {len(moments) + 1} points.csv is no prefix of the whole run")
            moments.append(len(there))
            if finished:  # begin again: a finished run cannot be killed
                for file in (folder / "killed").iterdir():
                    file.unlink()
        subprocess.run(command("killed"), check=True, **quiet)
        if points.read_bytes() != wanted:
            sys.exit("the resumed points.csv differs from the run without interruption")
        print(f"{len(moments)} kills at {sorted(set(moments))} of {len(wanted)} bytes: the same points.csv")


if __name__ == "__main__":
    main()
