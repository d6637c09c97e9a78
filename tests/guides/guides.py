#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the examples of docs/adding-*.md: the places that they edit must exist, and with --try they must build and
pass.

A guide has its example in blocks of ```diff: a line `--- FILE`, then hunks, separated by lines of `@@`. Lines that
begin with a space or a minus must be in the file, in this order and exactly once; those with a plus are new. `[...]`
stands for whatever is there, and in a line with a plus for the same text, so that no guide repeats a list that grows. A
file that is not there yet is all plus. Blocks of ```sh hold the commands that build and test it, from the root of the
tree.

Usage: guides.py ROOT                          fails on an example that does not fit
       guides.py ROOT --try FOLDER [NAME ...]  applies the example of each guide (or those named: "policy") to a copy
                                               of the tree in FOLDER, and runs its commands there
       guides.py ROOT --try FOLDER --together [NAME ...]   all examples at once: one build
"""
import os
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^```(diff|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANYTHING = "[...]"
# Examples that are tried together share one build.
BUILD = "cmake --build --preset dev --target "
# The tests are few and small, so only compiling takes time.
CONFIGURE = ["cmake", "--preset", "dev", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=24",
             "-DFOREDRAFT_UNITY_TESTS=ON", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0"]


class Misfit(Exception):
    """An example that does not fit the sources."""


def guides(root):
    """Name -> text of each guide that has an example."""
    texts = {path.stem.removeprefix("adding-a-").removeprefix("adding-an-"): path.read_text(encoding="utf-8")
             for path in sorted((root / "docs").glob("adding-*.md"))}
    return {name: text for name, text in texts.items() if "```diff\n" in text}


def changes(text):
    """(file, [(old, new)]) of each block."""
    for kind, block in BLOCK.findall(text):
        if kind != "diff":
            continue
        first, _, rest = block.partition("\n")
        hunks = []
        for hunk in re.split(r"^@@\n", rest, flags=re.MULTILINE):
            lines = hunk.splitlines()
            hunks.append(tuple("".join(f"{line[1:]}\n" for line in lines if line[:1] in ("", " ", sign))
                               for sign in ("-", "+")))
        yield first.removeprefix("--- "), hunks


def commands(text):
    """The lines of the shell blocks, except those that configure."""
    return [line for kind, block in BLOCK.findall(text) if kind == "sh" for line in block.splitlines()
            if not line.startswith("cmake --preset")]


def edited(content, old, new):
    """`content` with `old` replaced by `new`; throws Misfit unless it is there once."""
    pattern = re.compile("(.*?)".join(map(re.escape, old.split(ANYTHING))), re.DOTALL)
    found = list(pattern.finditer(content)) if old else []
    if len(found) != 1:
        raise Misfit(f"the lines around the change occur {len(found)} times:\n{old}")
    kept = iter(found[0].groups())
    new = "".join(part if i == 0 else next(kept) + part for i, part in enumerate(new.split(ANYTHING)))
    return content[:found[0].start()] + new + content[found[0].end():]


def applied(tree, text):
    """Path -> content of every file that the example makes or changes; `tree` reads a file, or gives None."""
    files = {}
    for name, hunks in changes(text):
        content = files[name] if name in files else tree(name)
        for old, new in hunks:
            try:
                content = new if content is None and old == "" else edited(content or "", old, new)
            except Misfit as misfit:
                raise Misfit(f"{name}: {misfit}") from misfit
        files[name] = content
    return files


def reader(root):
    def read(name):
        path = root / name
        return path.read_text(encoding="utf-8") if path.is_file() else None
    return read


def check(root):
    problems = []
    found = guides(root)
    for name, text in found.items():
        try:
            if not applied(reader(root), text) or not commands(text):
                problems.append(f"docs, {name}: no example, or no command that tries it")
        except Misfit as misfit:
            problems.append(f"docs, {name}: {misfit}")
    try:
        applied(reader(root), "".join(found.values()))
    except Misfit as misfit:
        problems.append(f"docs, all examples together: {misfit}")
    print("\n".join(problems) if problems else f"{len(found)} examples fit the sources")
    return 1 if problems or not found else 0


def copy(root, tree):
    """Copies the files of the working tree that git tracks or would add; unchanged ones are not rewritten."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, check=True,
                            capture_output=True).stdout.split(b"\0")
    names = {os.fsdecode(name) for name in listed if name}
    for path in [path for path in tree.rglob("*") if path.is_file()]:
        name = str(path.relative_to(tree))
        if not name.startswith("build/") and name not in names:
            path.unlink()
    for name in names:
        there = root / name
        if there.is_file():
            write(tree / name, there.read_bytes())
            (tree / name).chmod(there.stat().st_mode)


def write(path, content):
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def attempt(root, tree, text):
    """True if the example builds and its tests pass."""
    copy(root, tree)
    for name, content in applied(reader(tree), text).items():
        write(tree / name, content.encode())
    lines = commands(text)
    targets = [line.removeprefix(BUILD) for line in lines if line.startswith(BUILD)]
    lines = [BUILD + " ".join(dict.fromkeys(targets)), *(line for line in lines if not line.startswith(BUILD))]
    environment = {**os.environ, "CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
    for command in [CONFIGURE, *lines]:
        done = subprocess.run(command, cwd=tree, shell=isinstance(command, str), env=environment, capture_output=True,
                              text=True, errors="replace", check=False)
        shown = command if isinstance(command, str) else " ".join(command)
        print(f"{'ok    ' if done.returncode == 0 else 'FAILED'}  {shown}", flush=True)
        if done.returncode != 0:
            print((done.stdout + done.stderr)[-4000:])
            return False
    return True


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if len(sys.argv) == 2:
        return check(root)
    tree, names = pathlib.Path(sys.argv[3]).resolve(), sys.argv[4:]
    together = "--together" in names
    found = guides(root)
    wanted = [name for name in names if name != "--together"] or list(found)
    tries = {" + ".join(wanted): "".join(found[name] for name in wanted)} if together else {n: found[n] for n in wanted}
    tree.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, text in tries.items():
        print(f"== {name}", flush=True)
        failed += not attempt(root, tree, text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
