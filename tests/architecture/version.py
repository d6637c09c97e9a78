#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on a document that states another version than include/foredraft/version.hpp, from which CMake and pip take it.

The header states 0.3.0.dev0 before the release and 0.3.0 at it. The first heading of the changelog is then `0.3.0-dev`,
or `0.3.0 (DATE)`, and only a release has a date in CITATION.cff.

Usage: version.py REPOSITORY_ROOT
"""
import pathlib
import re
import sys
import tomllib


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    header = (root / "include/foredraft/version.hpp").read_text(encoding="utf-8")
    parts = [re.search(rf"version_{part} = (\d+);", header)[1] for part in ("major", "minor", "patch")]
    suffix = re.search(r'version_suffix = "((?:\.dev\d+)?)";', header)[1]
    version, minor = ".".join(parts), ".".join(parts[:2])
    heading = rf"{re.escape(version)}-dev$" if suffix else rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$"
    date = r"\A(?!(?s:.*)^date-released:)" if suffix else r"^date-released: \d{4}-\d\d-\d\d$"
    stated = (("CITATION.cff", rf"^version: {re.escape(version + suffix)}$"), ("CITATION.cff", date),
              ("CHANGELOG.md", rf"\A(?s:(?!^## ).)*^## {heading}"),
              ("docs/api.md", rf"^find_package\(foredraft {re.escape(minor)} "),
              ("docs/api.md", rf"libforedraft\.so\.{re.escape(minor)}\b"))
    wrong = [f"{name}: does not state {version}{suffix} - change it with include/foredraft/version.hpp"
             for name, pattern in stated
             if not re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)]
    of_pip = pip_version(root, header)
    if of_pip != version + suffix:
        wrong.append(f"pyproject.toml: reads {of_pip} from the header, which states {version}{suffix}")
    print("\n".join(wrong) if wrong else f"{version}{suffix} everywhere")
    return 1 if wrong else 0


def pip_version(root, header):
    """The version that scikit-build-core reads from the header."""
    rule = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["scikit-build"]["metadata"]["version"]
    found = re.search(rule["regex"], header)
    return found and rule["result"].format(**found.groupdict())


if __name__ == "__main__":
    sys.exit(main())
