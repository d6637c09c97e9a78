#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on an include that runs against the arrows of ARCHITECTURE.md, and on folders that include each other in a
circle.

Usage: include_direction.py REPOSITORY_ROOT
"""
import collections
import pathlib
import re
import sys

# folder -> folders it may include. analytic, sim and latency never include each other: the first two check each other,
# and times of passes depend on neither.
ALLOWED = {
    "core": {"core"},
    "scenario": {"scenario", "core"},
    "analytic": {"analytic", "scenario", "core"},
    "sim": {"sim", "scenario", "core"},
    "latency": {"latency", "scenario", "core"},
    "logs": {"logs", "core"},
    "gpu_bench": {"gpu_bench", "latency", "core"},
    "answers": {"answers", "analytic", "sim", "latency", "logs", "gpu_bench", "scenario", "core"},
    "inputs": {"inputs", "answers", "analytic", "sim", "latency", "logs", "gpu_bench", "scenario", "core"},
    "experiments": {"experiments", "inputs", "answers", "analytic", "sim", "latency", "logs", "gpu_bench", "scenario", "core"},
    "app": {"app", "experiments", "inputs", "answers", "analytic", "sim", "latency", "logs", "gpu_bench", "scenario", "core"},
}
KNOWN = set(ALLOWED) | {"tests", "benchmarks", "plots"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](?:foredraft/)?([A-Za-z_0-9]+)/')
RELATIVE = re.compile(r'^\s*#\s*include\s*"\.')


PROJECT_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def sources(root, folder):
    return [path for path in sorted((root / folder).rglob("*"))
            if path.suffix in {".hpp", ".cpp", ".cu", ".cuh", ".h", ".inc"} and path.is_file()]


def violations(root):
    for folder, allowed in ALLOWED.items():
        for path in sources(root, folder):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if match and match.group(1) in KNOWN and match.group(1) not in allowed:
                    yield f"{path.relative_to(root)}:{number}: {folder}/ must not include {match.group(1)}/"
                if RELATIVE.match(line):
                    yield f"{path.relative_to(root)}:{number}: includes start at the root, so that they can be checked"


def circles(root):
    """Includes between folders that reach each other. A folder and one inside it count as one, because the outer one
    combines the inner ones."""
    edges = collections.defaultdict(dict)
    for folder in ALLOWED:
        for path in sources(root, folder):
            here = path.parent.relative_to(root)
            for name in PROJECT_INCLUDE.findall(path.read_text(encoding="utf-8")):
                there = pathlib.PurePosixPath(name).parent
                if here != there and here not in there.parents and there not in here.parents:
                    edges[here].setdefault(there, f"{path.relative_to(root)} includes {name}")

    def reachable(start):
        seen, waiting = set(), [start]
        while waiting:
            for there in edges.get(waiting.pop(), {}):
                if there not in seen:
                    seen.add(there)
                    waiting.append(there)
        return seen

    for here, targets in sorted(edges.items()):
        for there, example in targets.items():
            if here in reachable(there):
                yield f"{example}: {here}/ and {there}/ include each other in a circle"


def main():
    root = pathlib.Path(sys.argv[1])
    found = list(violations(root)) + list(circles(root))
    print("\n".join(found) if found else "includes point one way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
