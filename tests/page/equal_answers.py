#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks the program and the page's WebAssembly the same questions and compares what they print, byte by byte.

Usage: equal_answers.py PROGRAM FOLDER [--times]

FOLDER has foredraft_page.js and foredraft_page.wasm: build/page. The questions are the commands of
tests/recorded/commands.toml that the page has, as text and as JSON, and some from a generator (fixed seed), part of
them with a mistake. Exit code 0: all equal, except numbers of the questions in ROUNDING; 1: something else differs.
--times prints how long answers took.
"""
import base64
import itertools
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
RECORDED = REPOSITORY / "tests/recorded"
COMMANDS = {"predict", "simulate", "tree", "methods", "advise", "compare", "list"}
# Only the program has folders, threads, drawing and the papers.
NOT_OF_THE_PAGE = {"--out", "--threads", "experiments"}
GENERATED = 600
# glibc and Emscripten's musl compute exp, log and pow by the same code, unless glibc takes a fused multiply-add.
ENVIRONMENT = {"FOREDRAFT_PLOTS": "no_plots", "LC_ALL": "C", "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2"}
LAST_PLACE = 2.0 ** -52
# Numbers that may differ: words of the question, relative difference, reason. Everything else must be equal, byte by
# byte.
_FUNCTIONS = "log1p, hypot and atan2 of the two C libraries round one result in a few hundred differently"
_QUANTILES = "quantiles of Student's distribution: long double has 64 bits natively, 113 here"
ROUNDING = [
    ({"advise"}, 2e-8, f"{_FUNCTIONS}; a minimum is found to the square root of a double's digits"),
    ({"methods"}, 1e-10, f"{_FUNCTIONS}; thresholds are searched for"),
    ({"simulate", "confidence_threshold"}, 1e-14, _FUNCTIONS),
    ({"predict", "--acceptance"}, LAST_PLACE, _QUANTILES),
    ({"predict", "--profile"}, LAST_PLACE, _QUANTILES),
]
PROGRESS = re.compile(r"^(?: {0,2}\d+ %  [^\n]* left|  \.\.\.  [^\n]* so far)\n", re.MULTILINE)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def recorded_questions():
    table = tomllib.loads((RECORDED / "commands.toml").read_text(encoding="utf-8"))
    for case in table["case"]:
        files = {name: (RECORDED / content["from"]).read_bytes() if isinstance(content, dict) else content.encode()
                 for name, content in case.get("files", {}).items()}
        for step in itertools.takewhile(lambda step: step.startswith(("foredraft", "quietly")), case["run"]):
            words = shlex.split(step)
            words = words[words.index("foredraft") + 1:]
            if words[0] not in COMMANDS or NOT_OF_THE_PAGE & set(words):
                continue
            text = [word for word in words if word != "--json"]
            yield text, files
            yield [*text, "--json"], files


def generated_questions(count):
    draw = random.Random(42)

    def number(low, high, digits=3):
        return f"{draw.uniform(low, high):.{digits}g}"

    def acceptance():
        return draw.choice([
            lambda: ["--alpha", number(0, 1)],
            lambda: ["--conditional", ",".join(number(0.2, 1) for _ in range(draw.randint(1, 8)))],
            lambda: ["--process", "beta_mixture", "--a", number(0.3, 5), "--b", number(0.3, 5)],
            lambda: ["--process", "runs", "--a", number(0.3, 0.95), "--b", number(0.1, 0.9), "--rho", number(0.5, 2)],
        ])()

    devices = ["h100", "h200", "a100-80gb", "l4"]
    for index in range(count):
        kind = index % 5
        if kind < 3:
            words = ["predict", *acceptance(), "--c", number(0, 0.5)]
            if "--conditional" not in words and draw.random() < 0.7:
                words += ["--gamma", str(draw.randint(1, 12))]
            if draw.random() < 0.4:
                words += ["--verify-growth", number(0, 0.1)]
            if draw.random() < 0.3:
                words += ["--convention", "no_bonus"]
        elif kind == 3:
            words = ["predict", "--device", draw.choice(devices), "--target", "llama-3.1-8b", "--draft", "llama-3.2-1b",
                     "--alpha", number(0.3, 0.95), "--batch", str(draw.choice([1, 4, 16, 64]))]
        else:
            words = ["simulate", "--alpha", number(0.1, 0.95), "--gamma", str(draw.randint(1, 10)), "--c", number(0, 0.4),
                     "--iterations", "2000", "--seed", str(draw.randint(1, 1000))]
        if index % 4 == 0:  # a mistake, which is rejected in most places
            words[draw.randrange(1, len(words))] = draw.choice(["x", "-1", "1e99", "", "--alhpa", "0.5,2"])
        yield [*words, "--json"], {}


def native_answer(program, words, files):
    with tempfile.TemporaryDirectory(prefix="foredraft_page_") as folder:
        for name, content in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        done = subprocess.run([program, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              env={**os.environ, **ENVIRONMENT}, timeout=120)
    return {"code": done.returncode, "stdout": done.stdout.decode("utf-8", "replace"),
            "stderr": done.stderr.decode("utf-8", "replace")}


def page_answers(folder, questions):
    lines = "".join(json.dumps({"argv": words, "files": {name: base64.b64encode(content).decode()
                                                         for name, content in files.items()}}) + "\n"
                    for words, files in questions)
    done = subprocess.run(["node", HERE / "answer.mjs", folder / "foredraft_page.js", folder / "foredraft_page.wasm",
                           REPOSITORY / "page/program.js"], input=lines, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(questions):
        sys.exit(f"node gave {len(answers)} answers to {len(questions)} questions\n{done.stderr}")
    print(done.stderr, end="")
    return answers


def text_of(answer):
    return json.dumps({key: PROGRESS.sub("", value) if key == "stderr" else value for key, value in answer.items()})


def differing_numbers(one, other):
    """The relative differences of numbers that differ; None if anything else differs."""
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return None
    pairs = [(float(a), float(b)) for a, b in zip(NUMBER.findall(one), NUMBER.findall(other)) if a != b]
    return [abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0 for a, b in pairs]


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--times"]
    if len(arguments) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    program, folder = pathlib.Path(arguments[0]).resolve(), pathlib.Path(arguments[1])
    questions = [*recorded_questions(), *generated_questions(GENERATED)]
    found = page_answers(folder, questions)
    equal, rounded, different = 0, [], []
    for (words, files), answer in zip(questions, found):
        ms = answer.pop("ms")
        expected = native_answer(program, words, files)
        if "--times" in sys.argv:
            print(f"{ms:8.1f} ms  {shlex.join(words)}")
        parts = differing_numbers(text_of(expected), text_of(answer))
        allowed, why = next(((most, why) for needed, most, why in ROUNDING if needed <= set(words)), (0.0, ""))
        if parts == []:
            equal += 1
        elif parts is not None and max(parts) <= allowed:
            rounded.append((words, parts, why))
        else:
            different.append((words, expected, answer))
    for words, parts, why in rounded:
        print(f"rounding: foredraft {shlex.join(words)}: {len(parts)} numbers, by at most {max(parts):.1e} of them\n"
              f"  ({why})")
    for words, expected, answer in different:
        print(f"differs: foredraft {shlex.join(words)}")
        for key in expected:
            lines = [text.split("\n") if key != "code" else [text] for text in (expected[key], answer[key])]
            for a, b in itertools.zip_longest(*lines):
                if a != b:
                    print(f"  {key}: program {a!r}\n  {key}: page    {b!r}")
    print(f"{len(questions)} questions: {equal} equal, {len(rounded)} but for rounding, {len(different)} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
