#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on a document that states another version than include/foredraft/version.hpp, from which CMake and pip take it.
The changelog may have what is not released yet before it.

Usage: version.py REPOSITORY_ROOT
"""
import pathlib
import re
import sys


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    header = (root / "include/foredraft/version.hpp").read_text(encoding="utf-8")
    parts = [re.search(rf"version_{part} = (\d+);", header)[1] for part in ("major", "minor", "patch")]
    version, minor = ".".join(parts), ".".join(parts[:2])
    stated = (("CITATION.cff", rf"^version: {re.escape(version)}$"), ("CHANGELOG.md", rf"\A(?s:(?!^## \d).)*^## {re.escape(version)}\b"),
              ("docs/api.md", rf"^find_package\(foredraft {re.escape(minor)} "), ("docs/api.md", rf"libforedraft\.so\.{re.escape(minor)}\b"))
    wrong = [f"{name}: does not state {version} - change it with include/foredraft/version.hpp" for name, pattern in stated
             if not re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)]
    print("\n".join(wrong) if wrong else f"{version} everywhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
