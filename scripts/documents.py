#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what the documents show and compares what is printed.

A `console` block holds commands after `$ ` and the output below each: standard output, and standard error too if the
command fails. A line `...` stands for any number of lines. A `python` block is followed by a `text` block with what it
prints, if that is shown. Everything else must be equal.

The blocks of a page run in order in one temporary folder. It holds the files of docs/examples, links to the folders of
the repository that commands name, and the program as `foredraft` and as `build/release/foredraft`.

A comment on the line above a block says when it does not run:

    <!-- slow: REASON -->      takes long: runs with --slow
    <!-- measured: REASON -->  prints times of this machine: runs with --slow, and only has to succeed
    <!-- not run: REASON -->   never runs

A table below a comment `<!-- from: COMMAND -->` is the one that the command prints.

The options of every `foredraft` command are compared with its --help, and scripts must exist, whether a block runs or not.

Usage: documents.py PROGRAM [--python] [--slow] [--update] [PAGE...]

  PROGRAM    the program `foredraft`
  --python   pages with `python` blocks, all of their blocks; needs the package. Without it, console blocks of all pages
  --slow     also what takes long
  --update   writes the output of this run into the pages where it differs
"""

import argparse
import contextlib
import dataclasses
import difflib
import functools
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[1]
# What commands of the pages name. Nothing else of the repository is within their reach.
LINKED = ("docs", "experiments", "gpu_bench", "latency", "scripts", "tests")
FENCE = re.compile(r"^(?:<!-- (?P<mark>slow|measured|not run): (?P<reason>[^\n]+) -->\n)?"
                   r"```(?P<language>console|python)\n(?P<body>.*?)^```\n(?P<printed>\n?```text\n.*?^```\n)?",
                   re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^<!-- from: (?P<command>[^\n]+) -->\n\n(?P<table>(?:\|[^\n]*\n)+)", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")


@dataclasses.dataclass
class Block:
    language: str
    mark: str | None
    body: str
    printed: str | None  # of a python block: what stands in the text block below it
    start: int  # where the part that --update replaces begins and ends in the page
    end: int
    line: int


def pages():
    """The pages whose blocks run, relative to the repository."""
    return [path.relative_to(ROOT).as_posix() for path in
            [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "benchmarks/README.md",
             ROOT / "gpu_bench/README.md"]]


def blocks_of(text):
    found = []
    for match in FENCE.finditer(text):
        python = match["language"] == "python"
        below = match["printed"]
        part = "printed" if python else "body"
        found.append(Block(match["language"], match["mark"], match["body"],
                           re.sub(r"\A\n?```text\n|```\n\Z", "", below) if python and below else None,
                           match.start(part), match.end(part), text.count("\n", 0, match.start("body"))))
    return found


def commands_of(body):
    """(command, its lines as written, expected lines) of a console block."""
    commands, lines = [], body.splitlines()
    while lines:
        if not lines[0].startswith("$ "):
            raise ValueError(f"a console block begins with a command, not with: {lines[0]}")
        shown = [lines.pop(0)]
        while shown[-1].endswith("\\") and lines:
            shown.append(lines.pop(0))
        expected = []
        while lines and not lines[0].startswith("$ "):
            expected.append(lines.pop(0).rstrip())
        commands.append(("\n".join(shown)[2:], shown, expected))
    return commands


def agrees(expected, actual):
    """Whether the lines are equal, where `...` stands for any number of lines."""
    if "..." not in expected:
        return expected == actual
    head = expected.index("...")
    if expected[:head] != actual[:head]:
        return False
    rest = expected[head + 1:]
    return any(agrees(rest, actual[at:]) for at in range(head, len(actual) + 1))


def elided(expected, actual):
    """The actual lines, shortened where the expected ones are."""
    parts, part = [], []
    for line in expected:
        if line == "...":
            parts.append(part)
            part = []
        else:
            part.append(line)
    parts.append(part)
    if len(parts) == 1:
        return actual
    result, at = actual[:len(parts[0])], len(parts[0])
    for wanted in parts[1:-1]:
        places = range(at, max(at, len(actual) - len(wanted)) + 1)
        closest = max(places, key=lambda place: difflib.SequenceMatcher(
            None, "\n".join(wanted), "\n".join(actual[place:place + len(wanted)])).ratio())
        result += ["...", *actual[closest:closest + len(wanted)]]
        at = closest + len(wanted)
    last = len(parts[-1])
    return [*result, "...", *actual[max(at, len(actual) - last):]] if last else [*result, "..."]


def difference(expected, actual):
    return "\n".join(difflib.unified_diff(expected, actual, "the page", "this run", lineterm=""))


class Folder:
    """Where the blocks of one page run."""

    def __init__(self, path, program):
        self.path = path
        binaries = path / ".bin"
        (path / "build" / "release").mkdir(parents=True)
        binaries.mkdir()
        for link in (binaries / "foredraft", path / "build" / "release" / "foredraft"):
            link.symlink_to(program)
        for name in LINKED:
            (path / name).symlink_to(ROOT / name)
        for example in sorted((ROOT / "docs" / "examples").rglob("*")):
            if example.is_file():
                shutil.copy(example, path / example.name)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FOREDRAFT_")}
        self.environment = {**kept, "PATH": f"{binaries}:{kept.get('PATH', '/usr/bin:/bin')}", "LC_ALL": "C.UTF-8",
                            "NO_COLOR": "1", "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"}
        self.names = {"__name__": "__main__"}

    def shell(self, command):
        """(exit status, printed lines)"""
        done = subprocess.run(["bash", "-c", command], cwd=self.path, env=self.environment, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, check=False)
        printed = done.stdout + (done.stderr if done.returncode else "")
        return done.returncode, [line.rstrip() for line in printed.splitlines()]

    def python(self, source, page):
        """What a block of Python prints; the names of earlier blocks are there."""
        printed = io.StringIO()
        with contextlib.chdir(self.path), contextlib.redirect_stdout(printed):
            exec(compile(source, page, "exec"), self.names)
        return printed.getvalue()


@functools.cache
def options_of(program, command):
    done = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=False)
    return set(OPTION.findall(done.stdout)) if done.returncode == 0 else None


def misspelled(program, command):
    """What is wrong with a command that can be said without running it."""
    problems = []
    words = shlex.split(command.replace("\\\n", " "), comments=True)
    for at, word in enumerate(words):
        first = at == 0 or words[at - 1] in ("&&", "||", ";", "|")
        if first and word.startswith(("scripts/", "gpu_bench/", "benchmarks/", "tests/")) and not (ROOT / word).exists():
            problems.append(f"there is no {word}")
        if not first or pathlib.PurePath(word).name != "foredraft" or at + 1 == len(words):
            continue
        rest = words[at + 1:]
        rest = rest[:next((i for i, other in enumerate(rest) if other in ("&&", "||", ";", "|")), len(rest))]
        if rest[0].startswith("-") or rest[0] == "help":
            continue
        known = options_of(program, rest[0])
        if known is None:
            problems.append(f"there is no command foredraft {rest[0]}")
            continue
        problems += [f"foredraft {rest[0]} has no {option}" for other in rest for option in OPTION.findall(other)
                     if other.startswith("--") and option == other.split("=")[0] and option not in known | {"--help"}]
    return problems


class Run:
    def __init__(self, program, python, slow, update):
        self.program, self.python, self.slow, self.update = str(program), python, slow, update
        self.problems, self.count, self.left = [], 0, 0

    def page(self, page):
        text = (ROOT / page).read_text(encoding="utf-8")
        blocks = blocks_of(text)
        wanted = "python" if self.python else "console"
        tables = [] if self.python else list(TABLE.finditer(text))
        if not tables and not any(block.language == wanted for block in blocks):
            return
        replaced = []
        with tempfile.TemporaryDirectory() as name:
            folder = Folder(pathlib.Path(name).resolve(), self.program)
            for block in blocks:
                if block.language == "python" and not self.python:
                    continue
                new = self.block(page, block, folder)
                if new is not None:
                    replaced.append((block.start, block.end, new))
            for table in tables:
                new = self.table(f"{page}:{text.count(chr(10), 0, table.start()) + 1}", table, folder)
                if new is not None:
                    replaced.append((*table.span("table"), new))
        if self.update and replaced:
            for start, end, new in sorted(replaced, reverse=True):
                text = text[:start] + new + text[end:]
            (ROOT / page).write_text(text, encoding="utf-8")
            print(f"{page}: output of {len(replaced)} blocks and tables replaced")

    def block(self, page, block, folder):
        """Runs one block; what is to take its place in the page, or None."""
        where = f"{page}:{block.line}"
        runs = block.mark is None or (self.slow and block.mark != "not run")
        self.count += runs
        self.left += not runs
        if block.language == "python":
            return self.python_block(where, block, folder) if runs else None
        try:
            commands = commands_of(block.body)
        except ValueError as error:
            self.problems.append(f"{where}: {error}")
            return None
        lines, changed = [], False
        for command, shown, expected in commands:
            self.problems += [f"{where}: $ {command}\n{problem}" for problem in misspelled(self.program, command)]
            actual = expected
            if runs:
                status, printed = folder.shell(command)
                if block.mark == "measured":
                    if status:
                        self.problems.append(f"{where}: $ {command}\nexit status {status}\n" + "\n".join(printed))
                elif not agrees(expected, printed):
                    actual, changed = elided(expected, printed), True
                    if not self.update:
                        self.problems.append(f"{where}: $ {command}\n{difference(expected, actual)}")
            lines += [*shown, *actual]
        return "\n".join(lines) + "\n" if changed else None

    def table(self, where, table, folder):
        """The lines that the command prints, where they are not those of the page; else None."""
        self.count += 1
        printed = [line for line in folder.shell(table["command"])[1] if line.startswith("|")]
        if printed == table["table"].splitlines():
            return None
        if not self.update:
            self.problems.append(f"{where}: {table['command']}\n{difference(table['table'].splitlines(), printed)}")
        return "\n".join(printed) + "\n"

    def python_block(self, where, block, folder):
        try:
            printed = folder.python(block.body, where)
        except Exception:
            self.problems.append(f"{where}: {traceback.format_exc()}")
            return None
        if block.printed is None or block.mark == "measured" or printed == block.printed:
            return None
        if not self.update:
            self.problems.append(f"{where}:\n{difference(block.printed.splitlines(), printed.splitlines())}")
        return f"```text\n{printed}```\n"


def check(program, python=False, slow=False, update=False, chosen=()):
    """(problems, number of blocks that ran, number that did not)"""
    run = Run(pathlib.Path(program).resolve(), python, slow, update)
    environment = dict(os.environ)
    os.environ["MPLBACKEND"] = "Agg"
    try:
        for page in chosen or pages():
            run.page(page)
    finally:
        os.environ.clear()
        os.environ.update(environment)
    return run.problems, run.count, run.left


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program")
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    for option in ("--python", "--slow", "--update"):
        parser.add_argument(option, action="store_true")
    options = parser.parse_intermixed_args()
    problems, count, left = check(options.program, options.python, options.slow, options.update, options.pages)
    print("\n\n".join([*problems, f"{count} blocks ran, {left} did not, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
