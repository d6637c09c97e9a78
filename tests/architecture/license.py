#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on a source file without the line that names its license.

Usage: license.py REPOSITORY_ROOT
"""
import pathlib
import sys

LINE = "SPDX-License-Identifier: Apache-2.0"
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".cu", ".cuh", ".in", ".py", ".sh", ".cmake"}
OTHERS = {"CMakeLists.txt", "run"}


def main():
    root = pathlib.Path(sys.argv[1])
    files = [path for path in sorted(root.rglob("*"))
             if (path.suffix in SUFFIXES or path.name in OTHERS) and path.is_file()
             and not {"build", ".git", "results"} & set(path.relative_to(root).parts[:1])]
    problems = []
    for path in files:
        with path.open(encoding="utf-8") as file:
            head = file.readline() + file.readline()
        if LINE not in head:
            problems.append(f"{path.relative_to(root)}: the first lines do not say {LINE}")
    if "Apache License" not in (root / "LICENSE").read_text(encoding="utf-8"):
        problems.append("LICENSE: not the Apache license")
    print("\n".join(problems) if problems else f"{len(files)} files name their license")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
