#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Injects one fault at a time into a copy of the project and shows which tests turn red.

Usage: run.py REPOSITORY_ROOT [--only NAME ...] [--build DIR]
       run.py REPOSITORY_ROOT --check [--only NAME ...]   only says which faults no longer apply

Reads mutants.toml in this folder, which describes the format of a fault. Its tests are test programs, which are built,
or `plots: NAME`, tests/plots/NAME_test.py. Prints a Markdown table. Exit 1 when a fault survives or no longer applies.
"""
import argparse
import ast
import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

from definitions import definitions

HERE = pathlib.Path(__file__).parent
PLOTS = "plots: "
SOURCES = {".cpp", ".hpp", ".cu", ".cuh", ".py"}


@dataclasses.dataclass
class Fault:
    """One entry of mutants.toml."""
    name: str
    definition: str
    find: str
    replace: str
    tests: list


@dataclasses.dataclass
class Place:
    """A fault in the file that it applies to, from `start` to `end`, and the tests that must catch it."""
    file: str
    start: int
    end: int
    text: str
    tests: list

    def injected(self, replace):
        return self.text[:self.start] + replace + self.text[self.end:]


class Misfit(Exception):
    """A fault that does not apply."""


def read_faults(path):
    return [Fault(name, *entry[:3], entry[3:]) for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items()]


class Sources:
    """The sources tracked by git, without tests, by their definitions."""

    def __init__(self, root):
        self.root, self.texts, self.by_name = root, {}, {}
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, text=True, capture_output=True).stdout
        for name in map(pathlib.PurePath, listed.split("\0")):
            if name.suffix not in SOURCES or name.parts[0] == "tests" or not (root / name).is_file():
                continue
            text = self.texts[str(name)] = (root / name).read_text(encoding="utf-8")
            for qualified, start, end in definitions(str(name), text):
                self.by_name.setdefault(qualified.rpartition("::")[2], []).append((qualified, name, start, end))
        lists = (path.read_text(encoding="utf-8") for path in (root / "tests").rglob("CMakeLists.txt"))
        self.programs = {f"{folder}_tests" for text in lists for folder in re.findall(r"foredraft_tests\((\w+)", text)}

    def place(self, fault):
        """Where the fault applies; throws Misfit."""
        stem, _, wanted = fault.definition.rpartition("/")
        parts = wanted.split("::")
        spans = {(str(name), start, end) for qualified, name, start, end in self.by_name.get(parts[-1], [])
                 if qualified.split("::")[-len(parts):] == parts and stem in ("", name.stem)}
        if not spans:
            raise Misfit(f"nothing defines {fault.definition}")
        pattern = re.compile(r"\s+".join(map(re.escape, fault.find.split())))
        found = {(name, match.start(), match.end()) for name, start, end in spans
                 for match in pattern.finditer(self.texts[name], start, end)}
        if len(found) != 1:
            raise Misfit(f"the text occurs {len(found)} times in {fault.definition}")
        file, start, end = found.pop()
        place = Place(file, start, end, self.texts[file], fault.tests or [self.program_of(file)])
        for test in place.tests:
            if test.startswith(PLOTS) and not (self.root / f"tests/plots/{test.removeprefix(PLOTS)}_test.py").is_file() \
                    or not test.startswith(PLOTS) and test not in self.programs:
                raise Misfit(f"there is no test {test}")
        if file.endswith(".py"):
            try:
                ast.parse(place.injected(fault.replace))
            except SyntaxError as error:
                raise Misfit(f"the fault makes no Python: {error.msg}") from error
        return place

    def program_of(self, file):
        """The test program of the folder, or of the one around it."""
        folders = pathlib.PurePath(file).parts[:-1]
        names = ("_".join(folders[:count]) + "_tests" for count in range(len(folders), 0, -1))
        return next((name for name in names if name in self.programs), f"of {'/'.join(folders)}")


def check(sources, faults):
    """Says which faults do not apply."""
    problems = []
    for fault in faults:
        try:
            sources.place(fault)
        except Misfit as misfit:
            problems.append(f"{fault.name}: {misfit}")
    print("\n".join(problems) if problems else f"{len(faults)} faults apply")
    return 1 if problems else 0


def copy_tree(root, to):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, check=True, text=True,
                            capture_output=True).stdout.splitlines()
    # CMake compiles every file of a folder, so files deleted here are deleted in a kept copy.
    for path in to.rglob("*"):
        if path.is_file() and not (root / path.relative_to(to)).is_file():
            path.unlink()
    for name in listed:
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, to / name)  # new times, so that a kept build never reuses a mutant


def build(tree, directory, tests):
    """The build error of those that are programs; empty if there is none."""
    targets = [test for test in tests if not test.startswith(PLOTS)]
    if not targets:
        return ""
    environment = {**os.environ, "CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
    run = subprocess.run(["cmake", "--build", directory, "--target", *targets], cwd=tree, env=environment, text=True,
                         capture_output=True)
    return "" if run.returncode == 0 else run.stdout + run.stderr


def red_plots(tree, test):
    """The same as red_tests of one file of tests/plots, by the distribution's Python as CTest runs it."""
    try:
        # -B: two faults of one file and one size within a second would share their bytecode.
        run = subprocess.run(["/usr/bin/python3", "-B", "-m", "unittest", test.removeprefix(PLOTS) + "_test"],
                             cwd=tree / "tests/plots", text=True, errors="replace", capture_output=True, timeout=600)
    except subprocess.TimeoutExpired:
        return [f"{test} (did not end)"]
    if run.returncode == 0:
        return []
    names = {name.removeprefix("test_").replace("_", " ")
             for name in re.findall(r"^(?:FAIL|ERROR): (\w+)", run.stderr, re.MULTILINE)}
    return [f"{test}: {name}" for name in sorted(names)] or [f"{test} (crashed)"]


def red_tests(tree, directory, program):
    """Names of the failing test cases of one test, of a Catch2 program the first; the program's if it crashes or hangs."""
    if program.startswith(PLOTS):
        return red_plots(tree, program)
    try:
        run = subprocess.run([str(pathlib.Path(directory) / program), "--abort"], cwd=directory, text=True,
                             errors="replace", capture_output=True, timeout=600)
    except subprocess.TimeoutExpired:
        return [f"{program} (did not end)"]
    if run.returncode == 0:
        return []
    # Catch2 underlines the name of a failing test case with dashes, wrapping long ones.
    names = re.findall(r"^-{79}\n((?:(?!-{79}|\.{79}).+\n)+)-{79}\n\S+:\d+\n\.{79}", run.stdout, re.MULTILINE)
    folder = program.removesuffix("_tests")
    return sorted({f"{folder}: " + re.sub(r"\s+", " ", name).strip() for name in names}) or [f"{program} (crashed)"]


def inject(sources, tree, directory, faults):
    """Prints a row for each fault; returns how many survived or did not apply."""
    problems = 0
    print("| fault | where | caught by |\n|---|---|---|")
    for fault in faults:
        try:
            place = sources.place(fault)
        except Misfit as misfit:
            print(f"| {fault.name} | {fault.definition} | **does not apply: {misfit}** |", flush=True)
            problems += 1
            continue
        path = tree / place.file
        path.write_text(place.injected(fault.replace), encoding="utf-8")
        try:
            red, built = [], build(tree, directory, place.tests)
            if built:
                print(built[-2000:], file=sys.stderr)
            else:
                red = next(filter(None, (red_tests(tree, directory, program) for program in place.tests)), [])
        finally:
            path.write_text(place.text, encoding="utf-8")
        more = f" and {len(red) - 2} more" if len(red) > 2 else ""
        verdict = "**does not compile**" if built else "; ".join(red[:2]) + more if red else "**survived**"
        problems += not red
        print(f"| {fault.name} | `{place.file}` | {verdict} |", flush=True)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", help="names of faults to inject")
    parser.add_argument("--check", action="store_true", help="inject nothing: say which faults no longer apply")
    parser.add_argument("--build", help="build folder to keep between calls (default: a temporary one)")
    options = parser.parse_args()
    root = options.root.resolve()
    faults = read_faults(HERE / "mutants.toml")
    if options.only:
        faults = [fault for fault in faults if fault.name in options.only]
    sources = Sources(root)
    if options.check:
        return check(sources, faults)

    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(options.build or scratch).resolve() / "tree"
        directory = tree.parent / "build"
        tree.mkdir(parents=True, exist_ok=True)
        copy_tree(root, tree)
        # A fault may leave a variable unused.
        subprocess.run(["cmake", "--preset", "quick", "-B", directory, "-DFOREDRAFT_WERROR=OFF"], cwd=tree, check=True,
                       stdout=subprocess.DEVNULL)
        programs = set()
        for fault in faults:
            with contextlib.suppress(Misfit):
                programs.update(sources.place(fault).tests)
        healthy = build(tree, directory, sorted(programs))
        if healthy:
            sys.exit(healthy[-4000:])
        for program in sorted(programs):
            if red_tests(tree, directory, program):
                sys.exit(f"{program} fails without any fault: mend that first")
        return 1 if inject(sources, tree, directory, faults) else 0


if __name__ == "__main__":
    sys.exit(main())
