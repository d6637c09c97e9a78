#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on a test that would not run or whose failure would be lost, and on a document that names a missing test.

- CMake splits lists at semicolons and does not split them inside brackets, so a name with one of these merges with
  others, whose tests never run. A test file that no CMakeLists.txt lists does not run either.
- Catch2 prints the name of what failed with a hanging indent: its further lines begin below the text behind its first
  ": ". With that colon at column 75 (of 79) a line holds two characters, at 76 it prints without end, from 77 on it
  aborts, and the test's message is lost. Only the sentence matters: CTest adds `folder: ` to it, and starts the program
  with only the sentence. LAST_COLON leaves room for the longest words. A SECTION is indented by two more.
- CTest knows a test as `folder: sentence`, where the folder is what foredraft_tests() is called with, or by the name
  that add_test() gives it. ARCHITECTURE.md and docs/ name tests so, in backticks.

Usage: test_names.py REPOSITORY_ROOT
"""
import pathlib
import re
import sys

NAME = re.compile(r'(TEST_CASE|SECTION)\(\s*"((?:[^"\\]|\\.|"\s*")*)"')
LAST_COLON = {"TEST_CASE": 60, "SECTION": 58}
PROGRAM = re.compile(r"(foredraft_tests|add_executable)\(\s*(\w+)([^()]*)\)")
ADDED = re.compile(r'add_test\(NAME "([^"]+)"')
LOOP = re.compile(r"foreach\((\w+) ([^()]*)\)(.*?)endforeach\(\)", re.DOTALL)
NAMED = re.compile(r"`(\w+): ([^`]+)`")


def cmake_tests(root):
    """From the CMakeLists.txt: the folder of each test file (None where add_test() names its program), and the names of
    other tests."""
    folder_of, added = {}, set()
    for path in sorted((root / "tests").rglob("CMakeLists.txt")):
        text = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
        for kind, name, arguments in PROGRAM.findall(text):
            for source in re.findall(r"[\w./]+\.cpp", arguments):
                folder_of[(path.parent / source).resolve()] = name if kind == "foredraft_tests" else None
        for variable, values, body in LOOP.findall(text):
            added |= {name.replace(f"${{{variable}}}", value) for name in ADDED.findall(body) for value in values.split()}
        added |= set(ADDED.findall(LOOP.sub("", text)))
    return folder_of, added


def catch_names(path):
    """(TEST_CASE or SECTION, name) of each in a file."""
    return [(kind, re.sub(r'"\s*"', "", name)) for kind, name in NAME.findall(path.read_text(encoding="utf-8"))]


def named_in(path):
    """The `folder: sentence` names in backticks of a document, except in blocks of code."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return NAMED.findall(re.sub(r"\s+", " ", text))


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    folder_of, known = cmake_tests(root)
    problems, seen = [], set()
    for path in sorted((root / "tests").rglob("*_test.cpp")):
        where = path.relative_to(root)
        if path not in folder_of:
            problems.append(f"{where}: no CMakeLists.txt lists it")
            continue
        for kind, name in catch_names(path):
            if name.find(": ") > LAST_COLON[kind]:
                problems.append(f'{where}: first ": " behind column {LAST_COLON[kind]}: {name}')
            if kind == "SECTION":
                continue
            if re.search(r"[\[\];\\]", name):
                problems.append(f"{where}: test name with one of [ ] ; \\: {name}")
            if (folder_of[path], name) in seen:
                problems.append(f"{where}: test name used twice: {name}")
            seen.add((folder_of[path], name))
    known |= {f"{folder}: {name}" for folder, name in seen}
    folders = {name.partition(": ")[0] for name in known}
    for path in [root / "ARCHITECTURE.md", *sorted((root / "docs").rglob("*.md"))]:
        for folder, sentence in named_in(path):
            # A key and its value are not a test; a sentence of several words after an unknown folder is a removed test.
            if f"{folder}: {sentence}" not in known and (folder in folders or sentence.count(" ") > 2):
                problems.append(f"{path.relative_to(root)}: there is no test {folder}: {sentence}")
    print("\n".join(problems) if problems else f"{len(seen)} test names are sound")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
