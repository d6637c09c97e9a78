#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a doc comment cites a key that docs/references.bib does not list.

Usage: references.py REPOSITORY_ROOT
"""
import pathlib
import re
import sys

CITATION = re.compile(r"\[((?:[A-Z][A-Za-z]+\d{4}[^\]]*))\]")
KEY = re.compile(r"\b([A-Z][A-Za-z]+(?:19|20)\d{2})\b")
ENTRY = re.compile(r"^@\w+\{(\w+),", re.MULTILINE)


def main():
    root = pathlib.Path(sys.argv[1])
    known = set(ENTRY.findall((root / "docs/references.bib").read_text(encoding="utf-8")))
    unknown = []
    files = [p for folder in ("include", "core", "scenario", "analytic", "sim", "latency", "gpu_bench", "experiments",
                              "docs")
             for p in sorted((root / folder).rglob("*")) if p.is_file() and p.suffix in {".hpp", ".cpp", ".cu", ".cuh", ".md"}]
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for citation in CITATION.findall(line):
                for key in KEY.findall(citation):
                    if key not in known:
                        unknown.append(f"{path.relative_to(root)}:{number}: [{key}] is not in docs/references.bib")
    print("\n".join(unknown) if unknown else f"{len(known)} references, all citations known")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
