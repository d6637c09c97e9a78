#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks files one by one: each compiles by itself, and clang-tidy 16 has no finding in it.

In a unity build a missing include goes unnoticed, because a neighbor has it. Sources and headers are therefore compiled
one by one, without generating code, which takes a third of the time. clang-tidy reads all but tests and benchmarks.

    check_files.py                  all files; on a clean tree, .ci/checked then names the commit
    check_files.py --since COMMIT   files changed since, and those that include a changed header, directly or not
                                    (clang-tidy: directly); all files if git does not know the commit
    check_files.py FILE ...         these files

Compile commands are those of the presets dev and, for clang-tidy over all, asan, which reads each header once for two
dozen sources. Generated files and device code are left out. Exit code 1: something was found.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/alone"
CHECKED = ROOT / ".ci/checked"
# Read by clang-tidy.
FOLDERS = {"analytic", "answers", "app", "core", "experiments", "gpu_bench", "inputs", "latency", "logs", "scenario", "sim"}
HEADER_CHECK = "_verify_interface_header_sets/"  # CMake writes a source for each header


def output_of(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def configure(preset, build):
    output_of("cmake", "--preset", preset, "-B", str(build), "-DFOREDRAFT_CUDA=OFF")
    output_of("cmake", "--build", str(build), "--target", "foredraft_git_state")  # the one header that a build writes
    return json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))


def entries_by_file():
    """The command of each source and header, by its path in the repository."""
    entries = {}
    for entry in configure("dev", BUILD):
        path = entry["file"]
        if HEADER_CHECK in path:
            name = path.split(HEADER_CHECK)[1].removesuffix(".cxx")
            name = name if (ROOT / name).exists() else f"include/{name}"
        elif path.endswith(".cpp") and BUILD not in pathlib.Path(path).parents:
            name = str(pathlib.Path(path).relative_to(ROOT))
        else:
            continue
        entries[name] = entry
    return entries


def includers(changed, files):
    """The files that include one of the changed ones."""
    included = re.compile(r'^#include ["<](.*)[">]', re.MULTILINE)
    return {name for name in files
            if any(header in changed or f"include/{header}" in changed
                   for header in included.findall((ROOT / name).read_text(encoding="utf-8")))}


def changed_since(commit, files):
    """The files that changed with those that include one, directly and at all."""
    if subprocess.run(["git", "cat-file", "-e", f"{commit}^{{commit}}"], cwd=ROOT, capture_output=True).returncode != 0:
        return files, files
    listed = output_of("git", "diff", "--name-only", "--diff-filter=d", commit).splitlines()
    listed += output_of("git", "ls-files", "--others", "--exclude-standard").splitlines()
    changed = {name for name in listed if name in files}
    direct = reached = changed | includers(changed, files)
    while not (further := includers(reached, files)) <= reached:
        reached = reached | further
    return [name for name in files if name in direct], [name for name in files if name in reached]


def compiles_alone(entry):
    """The compiler's messages for one file. A compilation database omits the launcher."""
    words = shlex.split(entry["command"])
    at = words.index("-o")
    launcher = [ccache] if (ccache := shutil.which("ccache")) else []
    command = [*launcher, *words[:at], "-o", os.devnull, *words[at + 2:], "-fsyntax-only"]
    done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True, errors="replace", check=False)
    return done.stderr if done.returncode != 0 else ""


def tidied(build, path):
    """The findings. On stderr clang-tidy only counts what it suppressed in libraries' headers."""
    done = subprocess.run(["clang-tidy-16", "--quiet", "--extra-arg=-Qunused-arguments", "-p", str(build), path], cwd=ROOT,
                          capture_output=True, text=True, errors="replace", check=False)
    return done.stdout + done.stderr if done.returncode != 0 else ""


def report(what, names, check):
    """Runs `check` on all files in parallel, prints what it returns, and says how many have no finding."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as workers:
        found = [text for text in workers.map(check, names) if text]
    for text in found:
        print(text, file=sys.stderr)
    print(f"{what}: {len(names) - len(found)} of {len(names)}", flush=True)
    return not found


def main():
    arguments = sys.argv[1:]
    entries = entries_by_file()
    everything = not arguments
    if arguments[:1] == ["--since"]:
        names, compiled = changed_since(arguments[1], list(entries))
        everything = len(names) == len(entries)
    elif arguments:
        names = compiled = [str(pathlib.Path(name).resolve().relative_to(ROOT)) for name in arguments]
        if unknown := [name for name in names if name not in entries]:
            sys.exit(f"not compiled by the preset dev: {' '.join(unknown)}")
    else:
        names = compiled = list(entries)
    fine = report("files that compile alone", compiled, lambda name: compiles_alone(entries[name]))

    if everything:
        build = ROOT / "build/asan"
        units = {entry["file"] for entry in configure("asan", build)  # a file may be compiled twice
                 if pathlib.Path(entry["file"]).relative_to(ROOT if build not in pathlib.Path(entry["file"]).parents
                                                            else build).parts[0] in FOLDERS
                 and HEADER_CHECK not in entry["file"] and not entry["file"].endswith(("_data.cpp", "build_info.cpp"))}
    else:
        build = BUILD
        units = [entries[name]["file"] for name in names if name.split("/")[0] in FOLDERS]
    fine = report("units without a finding of clang-tidy", units, lambda path: tidied(build, path)) and fine

    if fine and not arguments and not output_of("git", "status", "--porcelain"):
        CHECKED.write_text(output_of("git", "rev-parse", "HEAD"), encoding="utf-8")
        print(f"{CHECKED.relative_to(ROOT)} names this commit: please commit it")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
