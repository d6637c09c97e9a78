#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a source file prints, writes, creates folders or processes, or casts pointers itself: each is done in one
place.

Usage: one_place.py REPOSITORY_ROOT
"""
import pathlib
import re
import sys

FOLDERS = ("core", "scenario", "analytic", "sim", "latency", "logs", "gpu_bench", "answers", "inputs", "experiments", "app")
# action, its pattern, and the files that may do it; a folder ends with a slash
RULES = (
    ("prints (core/streams.hpp does)",
     r"fmt::print|std::(cout|cerr|clog)\b|\b(f?printf|f?puts|fwrite)\s*\(|\bSTD(OUT|ERR)_FILENO\b",
     {"core/streams.cpp", "app/scripts.cpp", "core/progress.cpp"}),
    ("writes or makes files and folders (core/files.hpp does)",
     r"std::(o?fstream)\b|::(open|openat|creat|rename|renameat|mkstemp|mkdir)\s*\(|\bfopen\s*\(|\bcreate_director|fs::rename",
     {"core/files.cpp", "core/streams.cpp"}),
    ("reads files (core/files.hpp does)", r"std::ifstream\b",
     # Facts about the system, and texts of the user's corpus.
     {"inputs/corpus.cpp", "gpu_bench/cpu/cpu_facts.cpp", "gpu_bench/run/host_facts.cpp"}),
    ("starts programs (app/scripts.hpp does)", r"posix_spawn|\bexec[vl]p?e?\s*\(|\bpopen\s*\(|std::system\b|\bfork\s*\(",
     {"app/scripts.cpp"}),
    ("casts pointers (gpu_bench does, where sanitizers check their alignment)", r"\breinterpret_cast\b",
     {"gpu_bench/", "inputs/observed_acceptance.cpp"}),  # the latter bytes, for zlib
)


def violations(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".hpp", ".cpp", ".cu", ".cuh"} or not path.is_file():
                continue
            name = path.relative_to(root).as_posix()
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                code = line.split("//", 1)[0]
                for what, pattern, allowed in RULES:
                    if not name.startswith(tuple(allowed)) and re.search(pattern, code):
                        yield f"{name}:{number}: {what}: {line.strip()}"


def main():
    root = pathlib.Path(sys.argv[1])
    found = list(violations(root))
    for name in sorted(set().union(*(allowed for _, _, allowed in RULES))):
        if not (root / name).exists():
            found.append(f"{name} is not there: the list of this test is out of date")
    if found:
        sys.exit("\n".join(found))
    print("one place prints, one writes files, one starts programs")


if __name__ == "__main__":
    main()
