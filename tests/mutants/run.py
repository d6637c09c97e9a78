#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Injects one fault at a time into a copy of the project and shows which tests turn red.

Usage: run.py REPOSITORY_ROOT [--only NAME ...] [--build DIR]

Reads mutants.toml beside this file. A mutant names a file, the text to find there (exactly once), what replaces it and the
tests that must notice: test programs, which are built, or `plots: NAME`, tests/plots/NAME_test.py. Prints a Markdown table.
Exit 1 when a mutant survives or no longer applies.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).parent
PLOTS = "plots: "


def copy_tree(root, to):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, check=True, text=True,
                            capture_output=True).stdout.splitlines()
    # CMake compiles whatever lies in a folder: of a kept copy, what is gone here goes there.
    for path in to.rglob("*"):
        if path.is_file() and not (root / path.relative_to(to)).is_file():
            path.unlink()
    for name in listed:
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, to / name)  # new times, so that a kept build never reuses a mutant


def build(tree, directory, tests):
    """What is wrong with the build of those that are programs; empty if nothing is."""
    targets = [test for test in tests if not test.startswith(PLOTS)]
    if not targets:
        return ""
    run = subprocess.run(["cmake", "--build", directory, "--target", *targets], cwd=tree, text=True,
                         capture_output=True)
    return "" if run.returncode == 0 else run.stdout + run.stderr


def red_plots(tree, test):
    """The same as red_tests of one file of tests/plots, by the distribution's Python as CTest runs it."""
    try:
        # -B: two faults of one file and one size within a second would share their bytecode.
        run = subprocess.run(["/usr/bin/python3", "-B", "-m", "unittest", test.removeprefix(PLOTS) + "_test"],
                             cwd=tree / "tests/plots", text=True, capture_output=True, timeout=200)
    except subprocess.TimeoutExpired:
        return [f"{test} (did not end)"]
    if run.returncode == 0:
        return []
    names = {name.removeprefix("test_").replace("_", " ")
             for name in re.findall(r"^(?:FAIL|ERROR): (\w+)", run.stderr, re.MULTILINE)}
    return [f"{test}: {name}" for name in sorted(names)] or [f"{test} (crashed)"]


def red_tests(tree, directory, program):
    """Names of the failing test cases of one test; of a Catch2 program that crashes or hangs, the program's."""
    if program.startswith(PLOTS):
        return red_plots(tree, program)
    try:
        run = subprocess.run([str(pathlib.Path(directory) / program)], cwd=directory, text=True, capture_output=True,
                             timeout=200)
    except subprocess.TimeoutExpired:
        return [f"{program} (did not end)"]
    if run.returncode == 0:
        return []
    # Catch2 underlines the name of a failing test case with dashes, wrapping long ones.
    names = re.findall(r"^-{79}\n((?:(?!-{79}|\.{79}).+\n)+)-{79}\n\S+:\d+\n\.{79}", run.stdout, re.MULTILINE)
    folder = program.removesuffix("_tests")
    return sorted({f"{folder}: " + re.sub(r"\s+", " ", name).strip() for name in names}) or [f"{program} (crashed)"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", help="names of mutants to run")
    parser.add_argument("--build", help="build folder to keep between calls (default: a temporary one)")
    options = parser.parse_args()
    root = options.root.resolve()
    mutants = tomllib.loads((HERE / "mutants.toml").read_text(encoding="utf-8"))["mutant"]
    if options.only:
        mutants = [m for m in mutants if m["name"] in options.only]

    problems = 0
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(options.build or scratch) / "tree"
        directory = pathlib.Path(options.build or scratch) / "build"
        tree.mkdir(parents=True, exist_ok=True)
        copy_tree(root, tree)
        subprocess.run(["cmake", "-S", tree, "-B", directory, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DCMAKE_CXX_COMPILER_LAUNCHER="
                        + (shutil.which("ccache") or "")], check=True, stdout=subprocess.DEVNULL)
        programs = sorted({program for m in mutants for program in m["tests"]})
        healthy = build(tree, directory, programs)
        if healthy:
            sys.exit(healthy[-4000:])
        for program in programs:
            if red_tests(tree, directory, program):
                sys.exit(f"{program} fails without any mutant: mend that first")

        print("| fault | where | caught by |\n|---|---|---|")
        for mutant in mutants:
            path = tree / mutant["file"]
            healthy_text = path.read_text(encoding="utf-8")
            if healthy_text.count(mutant["find"]) != 1:
                print(f"| {mutant['name']} | {mutant['file']} | **does not apply: the text occurs "
                      f"{healthy_text.count(mutant['find'])} times** |", flush=True)
                problems += 1
                continue
            path.write_text(healthy_text.replace(mutant["find"], mutant["replace"]), encoding="utf-8")
            try:
                built = build(tree, directory, mutant["tests"])
                if built:
                    verdict, caught = "**does not compile**", False
                    print(built[-2000:], file=sys.stderr)
                else:
                    red = [name for program in mutant["tests"] for name in red_tests(tree, directory, program)]
                    caught = bool(red)
                    more = f" and {len(red) - 2} more" if len(red) > 2 else ""
                    verdict = "; ".join(red[:2]) + more if red else "**survived**"
            finally:
                path.write_text(healthy_text, encoding="utf-8")
            problems += not caught
            print(f"| {mutant['name']} | `{mutant['file']}` | {verdict} |", flush=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
