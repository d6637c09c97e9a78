#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of commands.toml and compares their output, files and exit codes with tests/recorded/expected/.

Usage: recorded.py PROGRAM [--update]

--update makes the program's present output the expected one. Exit code 0: every byte as expected; 1: something differs,
which is printed as a unified diff; 2: bad usage.

A case runs in a temporary folder with its files, with these steps one after the other:

    foredraft ...         the program, its arguments quoted as in a shell
    quietly foredraft ... the same, but only its files and its exit code are recorded
    briefly foredraft ... the same, but lists and objects of its JSON that do not fit on a line are omitted
    edit FILE OLD NEW     replaces every OLD
    keep_lines FILE N     cuts the file after N lines
    remove FILE           a file or a folder
    show FILE             records its content

A record has one line for each line printed ("out| ", "err| ", "show| "), the exit code of each command and, at its
end, size and SHA-256 of every file that the case has written. A JSON document has several values on a line, numbers of
six digits, and the SHA-256 of the bytes that were printed: if only the SHA-256 differs, later digits differ. Manifests
contain times and are not compared; `show` records their other keys.
"""
import concurrent.futures
import difflib
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = HERE / "expected"
AT_ONCE = 2  # commands
WIDTH = 116  # characters of a line of JSON
LONG_NUMBER = re.compile(r"-?\d+\.\d{5,}(?:e[-+]?\d+)?")
TIMEOUT_S = 60  # of a command

# All that may differ between builds, machines and runs. Nothing else is replaced.
PRINTED = [
    # foredraft --version
    (re.compile(r"\Aforedraft \d+\.\d+\.\d+(?:\.dev\d+)? \(commit .*\)\n\Z"), "foredraft VERSION (BUILD)\n"),
    # the plan of a sweep: "about 1 s on 2 threads"
    (re.compile(r"(?<=, )about [^,\n]* on \d+ threads?$", re.MULTILINE), "about TIME on THREADS"),
    # progress of work that takes longer than two seconds on a slow machine
    (re.compile(r"^(?: {0,2}\d+ %  [^\n]* left|  \.\.\.  [^\n]* so far)\n", re.MULTILINE), ""),
    # validate, of a profile of another processor
    (re.compile(r"(?<=, and this is )[^\n]*(?= \(times of one device do not apply to another\))"), "THIS PROCESSOR"),
]
MANIFEST = [
    (re.compile(r'(?<=^  "version": )"[^"]*"', re.MULTILINE), "VERSION"),
    (re.compile(r'(?<=^  "program": )\{.*?^  \}', re.MULTILINE | re.DOTALL), "PROGRAM"),
    (re.compile(r'(?<=^  "run": )\{.*?^  \}', re.MULTILINE | re.DOTALL), "RUN"),
]
MANIFEST_NAMES = {"manifest.json", "validation.json"}  # the second is a copy that `reproduce --validation` makes
# Replaces a file that a step needs and that a broken program has not written; no record has one.
NO_FILE = "(no such file)"
NO_TEXT = "(holds no such text)"


def normalised(text, patterns):
    for pattern, replacement in patterns:
        text = pattern.sub(replacement, text)
    return text


def indent(line):
    return len(line) - len(line.lstrip())


def packed(lines, brief=False):
    """JSON with as many values on a line as fit, and each list and object that fits on a line on one line. In brief
    form, those that do not fit are omitted."""
    kept, opened = [], []
    for line in lines:
        if line.endswith(("[", "{")):
            opened.append(len(kept))
        elif line.lstrip()[0] in "]}":
            start = opened.pop()
            whole = kept[start] + " ".join(inner.strip() for inner in kept[start + 1:]) + line.strip()
            if len(whole) > WIDTH and brief and opened:
                whole = kept[start] + "..." + line.strip()
            if len(whole) <= WIDTH:
                del kept[start:]
                line = whole
        value = line.lstrip()[0] not in "]}" and not line.endswith(("[", "{"))
        before = kept[-1] if kept else ""
        if value and before.endswith(",") and before.lstrip()[0] not in "]}" and indent(before) == indent(line) \
                and len(before) + 1 + len(line.lstrip()) <= WIDTH:
            kept[-1] = f"{before} {line.lstrip()}"
        else:
            kept.append(line)
    return kept


def marked(mark, text, brief=False):
    """Every line after its mark, so that a record shows each byte."""
    if not text:
        return []
    if text.startswith("{\n") and text.endswith("\n}\n"):
        shown = LONG_NUMBER.sub(lambda number: f"{float(number[0]):.6g}", text[:-1])
        return [*(f"{mark}| {line}" for line in packed(shown.split("\n"), brief)),
                f"(SHA-256 of the printed bytes: {hashlib.sha256(text.encode()).hexdigest()})"]
    lines = [f"{mark}| {line}" for line in text.split("\n")]
    if lines[-1] == f"{mark}| ":
        return lines[:-1]
    return [*lines, f"({mark} ends without a newline)"]


def text_of(content):
    return content.decode("utf-8", "backslashreplace")


class Case:
    def __init__(self, entry, program):
        self.name = entry.pop("name")
        self.steps = entry.pop("run")
        self.files = entry.pop("files", {})
        self.environment = {**os.environ, "FOREDRAFT_PLOTS": "no_plots", "LC_ALL": "C"}
        self.program = program
        if entry:
            sys.exit(f"commands.toml: {self.name}: unknown keys {sorted(entry)}")

    def record(self):
        with tempfile.TemporaryDirectory(prefix="foredraft_recorded_") as folder:
            self.folder = pathlib.Path(folder)
            given = {}
            for name, content in self.files.items():
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                if isinstance(content, dict):
                    content = (HERE / content["from"]).read_bytes().decode()
                path.write_bytes(content.encode())
                given[path] = content.encode()
            lines = [f"# {self.name}"]
            for step in self.steps:
                lines += ["", f"$ {step}", *self.run(step)]
            written = [line for path in sorted(self.folder.rglob("*")) for line in self.digest(path, given)]
            return "\n".join([*lines, *(["", *written] if written else [])]) + "\n"

    def run(self, step):
        verb, *arguments = shlex.split(step)
        how = verb if verb in ("quietly", "briefly") else ""
        if how:
            verb, *arguments = arguments
        if verb == "foredraft":
            try:
                done = subprocess.run([self.program, *arguments], cwd=self.folder, env=self.environment,
                                      stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False)
            except subprocess.TimeoutExpired:
                return [f"(no end within {TIMEOUT_S} s)"]
            if how == "quietly":
                return [f"exit {done.returncode}"]
            out, err = (normalised(text_of(stream), PRINTED) for stream in (done.stdout, done.stderr))
            return [f"exit {done.returncode}", *marked("out", out, how == "briefly"), *marked("err", err)]
        path = self.folder / arguments[0]
        if not path.exists():
            return [NO_FILE]
        if verb == "show":
            patterns = MANIFEST if path.name in MANIFEST_NAMES else []
            return marked("show", normalised(text_of(path.read_bytes()), patterns))
        if verb == "edit":
            old, new = arguments[1:]
            content = path.read_bytes().decode()
            if old not in content:
                return [NO_TEXT]
            path.write_bytes(content.replace(old, new).encode())
        elif verb == "keep_lines":
            kept = lines_of(path.read_bytes().decode())[: int(arguments[1])]
            path.write_bytes("".join(kept).encode())
        elif verb == "remove":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        else:
            sys.exit(f"{self.name}: {step}: unknown step")
        return []

    def digest(self, path, given):
        name = path.relative_to(self.folder)
        if path.is_dir():
            return [] if any(path.iterdir()) else [f"wrote {name}/ (empty)"]
        if path.name in MANIFEST_NAMES:
            return [f"wrote {name}"]
        content = path.read_bytes()
        if given.get(path) == content:
            return []
        return [f"wrote {name}: {len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}"]


def difference(case, expected, found):
    """A unified diff under the last command before it."""
    command = "(the case itself)"
    for wanted, given in zip(expected, found):
        if wanted != given:
            break
        if given.startswith("$ "):
            command = given[2:].rstrip("\n")
    lines = difflib.unified_diff(expected, found, f"expected/{case.name}.txt", "this program")
    text = "".join(line if line.endswith("\n") else line + "\n" for line in lines)
    return f"{case.name}: the first difference is in: {command}\n{text}"


def lines_of(text):
    """Splits only at newlines: other separators are content."""
    lines = [line + "\n" for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "\n" else [*lines[:-1], lines[-1][:-1]]


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    if len(arguments) != 1 or not pathlib.Path(arguments[0]).is_file():
        print("usage: recorded.py PROGRAM [--update]", file=sys.stderr)
        return 2
    program = pathlib.Path(arguments[0]).resolve()
    table = tomllib.loads((HERE / "commands.toml").read_text(encoding="utf-8"))
    cases = [Case(entry, program) for entry in table["case"]]
    names = [case.name for case in cases]
    if len(set(names)) != len(names):
        sys.exit("commands.toml: a name is given twice")
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        records = list(pool.map(Case.record, cases))
    count = sum(step.startswith(("foredraft", "quietly", "briefly")) for case in cases for step in case.steps)

    stale = sorted(path for path in EXPECTED.glob("*") if path.suffix != ".txt" or path.stem not in names)
    if "--update" in sys.argv:
        EXPECTED.mkdir(exist_ok=True)
        for path in stale:
            path.unlink()
        for case, record in zip(cases, records):
            (EXPECTED / f"{case.name}.txt").write_bytes(record.encode())
        print(f"wrote what {count} commands give to {len(cases)} files")
        return 0
    differences = [f"expected/{path.name}: belongs to no case\n" for path in stale]
    for case, record in zip(cases, records):
        path = EXPECTED / f"{case.name}.txt"
        expected = path.read_bytes().decode() if path.exists() else ""
        if record != expected:
            differences.append(difference(case, lines_of(expected), lines_of(record)))
    if not differences:
        print(f"{count} commands in {len(cases)} cases: every byte as recorded")
        return 0
    print("\n".join(differences))
    print(f"{len(differences)} of {len(cases)} cases differ. Where each difference is wanted, record it in a commit of "
          "its own that says why:\n    tests/recorded/recorded.py PROGRAM --update")
    return 1


if __name__ == "__main__":
    sys.exit(main())
