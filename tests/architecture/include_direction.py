#!/usr/bin/env python3
"""Fails on an include that runs against the arrows of ARCHITECTURE.md.

Usage: include_direction.py REPOSITORY_ROOT
"""
import pathlib
import re
import sys

# folder -> folders it may include. analytic and sim never include each other: each is the other's check.
ALLOWED = {
    "core": {"core"},
    "analytic": {"analytic", "core"},
    "sim": {"sim", "core"},
    "gpu_bench": {"gpu_bench", "core"},
    "experiments": {"experiments", "analytic", "sim", "gpu_bench", "core"},
}
KNOWN = set(ALLOWED) | {"tests", "benchmarks", "plots"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](?:foredraft/)?([A-Za-z_0-9]+)/')
RELATIVE = re.compile(r'^\s*#\s*include\s*"\.')


def violations(root):
    for folder, allowed in ALLOWED.items():
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".hpp", ".cpp", ".cu", ".cuh", ".h", ".inc"}:
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if match and match.group(1) in KNOWN and match.group(1) not in allowed:
                    yield f"{path.relative_to(root)}:{number}: {folder}/ must not include {match.group(1)}/"
                if RELATIVE.match(line):
                    yield f"{path.relative_to(root)}:{number}: includes start at the root, so that they can be checked"


def main():
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "includes point one way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
