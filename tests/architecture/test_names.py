#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on a test name that CTest would silently lose, and on one that is used twice in a folder.

CMake splits lists at semicolons and does not split them inside brackets, so that a name with one of these takes other names
with it and the tests behind them never run.

Usage: test_names.py REPOSITORY_ROOT
"""
import pathlib
import re
import sys

NAME = re.compile(r'TEST_CASE\(\s*"((?:[^"\\]|\\.|"\s*")*)"')


def main():
    root = pathlib.Path(sys.argv[1])
    problems, seen = [], {}
    for path in sorted((root / "tests").rglob("*_test.cpp")):
        for name in NAME.findall(path.read_text(encoding="utf-8")):
            name = re.sub(r'"\s*"', "", name)
            if re.search(r"[\[\];\\]", name):
                problems.append(f"{path.relative_to(root)}: test name with one of [ ] ; \\: {name}")
            if seen.setdefault((path.parent, name), path) is not path:
                problems.append(f"{path.relative_to(root)}: test name used twice: {name}")
    print("\n".join(problems) if problems else f"{len(seen)} test names are sound")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
