#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on a fault of tests/mutants/mutants.toml that cannot be injected any more, without injecting any.

Each has a name of its own, a file, a text that occurs there exactly once, another text to take its place, and tests that
must notice: programs, or files of tests/plots. A Python file with its fault must still be Python. scripts/mutants.sh takes
hours; code that moves should be missed at once.

Usage: mutants_apply.py REPOSITORY_ROOT
"""
import ast
import pathlib
import sys
import tomllib

PLOTS = "plots: "
FIELDS = {"name", "file", "find", "replace", "tests"}


def problem_of(root, mutant):
    if set(mutant) != FIELDS:
        return f"has other fields than {', '.join(sorted(FIELDS))}"
    if mutant["find"] == mutant["replace"] or not mutant["tests"]:
        return "changes nothing, or is noticed by no test"
    for test in mutant["tests"]:
        if test.startswith(PLOTS) and not (root / f"tests/plots/{test.removeprefix(PLOTS)}_test.py").is_file():
            return f"there is no test {test}"
    path = root / mutant["file"]
    if not path.is_file():
        return f"{mutant['file']} is not there"
    text = path.read_text(encoding="utf-8")
    found = text.count(mutant["find"])
    if found != 1:
        return f"its text occurs {found} times in {mutant['file']}"
    if path.suffix == ".py":
        try:
            ast.parse(text.replace(mutant["find"], mutant["replace"]))
        except SyntaxError as error:
            return f"its text makes no Python: {error.msg}"
    return None


def main():
    root = pathlib.Path(sys.argv[1])
    mutants = tomllib.loads((root / "tests/mutants/mutants.toml").read_text(encoding="utf-8"))["mutant"]
    problems, names = [], set()
    for mutant in mutants:
        name = mutant.get("name", "(without a name)")
        if name in names:
            problems.append(f"{name}: stands there twice")
        names.add(name)
        if problem := problem_of(root, mutant):
            problems.append(f"{name}: {problem}")
    print("\n".join(problems) if problems else f"{len(mutants)} faults can be injected")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
