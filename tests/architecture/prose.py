#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on documents with long lines, and on commands that no test runs.

- Lines have at most 100 characters, except tables, blocks of code, and a line of one word such as an address. Text
  below a comment `<!-- generated ... -->` is not checked. Reports below gpu_bench/data/ are output of the program and
  not checked.
- Every block of code names its language, and commands of foredraft are in `console` blocks, which scripts/documents.py
  runs. Those of README.md are no wider than 100 characters.

Usage: prose.py REPOSITORY_ROOT
"""
import pathlib
import re
import subprocess
import sys

WIDTH = 100
FENCE = re.compile(r"^( *)```(.*)$")
COMMAND = r"(?:build/release/)?foredraft [a-z]"


def check(name, text):
    """One problem for each line that is too long or shows a command that is not run."""
    problems, language = [], None
    for number, line in enumerate(text.partition("<!-- generated")[0].split("\n"), 1):
        where = f"{name}:{number}"
        if fence := FENCE.match(line):
            if language is None and not fence[2]:
                problems.append(f"{where}: a block of code without its language")
            language = (fence[2] or "?") if language is None else None
        elif language is None:
            if re.match(" {4,}" + COMMAND, line):
                problems.append(f"{where}: a command outside of a console block")
            if len(line) > WIDTH and not line.startswith("|") and " " in line.strip(" -*"):
                problems.append(f"{where}: {len(line)} characters")
        elif language not in ("console", "diff") and re.match(" *" + COMMAND, line):
            problems.append(f"{where}: a command in a block of {language} - make it a console block")
        elif language == "console" and name == "README.md" and len(line) > WIDTH:
            problems.append(f"{where}: {len(line)} characters")
    return problems


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"], cwd=root,
                            capture_output=True, text=True, check=False).stdout.split("\0")
    names = [name for name in listed if name and not name.startswith(("tests/", "gpu_bench/data/")) and (root / name).exists()]
    problems = [problem for name in names for problem in check(name, (root / name).read_text(encoding="utf-8"))]
    print("\n".join(problems) if problems else f"{len(names)} documents keep to their width and show commands that are run")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
