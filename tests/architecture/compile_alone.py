#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on a source file that does not compile alone: unity builds lend it the includes of its neighbors.

Reads the commands of a configured build without unity, which need not be built, and checks every file of theirs without
making code, a third of the time of compiling. Where ccache is, a file that did not change costs nothing. Generated files
are left out, among them those that check headers, and device code, which no unity build holds.

Usage: compile_alone.py BUILD_FOLDER [WORD ...]    only files whose path contains one of the words
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys


def checking(command):
    """The command of one file with nothing to make. A compilation database leaves the launcher out."""
    words = shlex.split(command)
    at = words.index("-o")
    launcher = [ccache] if (ccache := shutil.which("ccache")) else []
    return [*launcher, *words[:at], "-o", os.devnull, *words[at + 2:], "-fsyntax-only"]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    entries = [entry for entry in entries
               if entry["file"].endswith(".cpp") and build not in pathlib.Path(entry["file"]).parents]
    if wanted := sys.argv[2:]:
        entries = [entry for entry in entries if any(word in entry["file"] for word in wanted)]

    def check(entry):
        return subprocess.run(checking(entry["command"]), cwd=entry["directory"], capture_output=True, text=True,
                              errors="replace", check=False)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as workers:
        for entry, done in zip(entries, workers.map(check, entries)):
            if done.returncode != 0:
                failed += 1
                print(f"{entry['file']} does not compile alone:\n{done.stderr}", file=sys.stderr)
    print(f"{len(entries) - failed} of {len(entries)} files compile alone")
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
