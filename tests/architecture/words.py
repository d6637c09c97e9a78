#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on words that are not the field's in comments, string literals and identifiers of C++, CUDA and Python sources.

WORDS are not used in comments and string literals, but for quoted names (`law`) and the folders of EXEMPT, which are not
rewritten yet; NAMES in no identifier. What documents say is checked by prose.py.

Usage: words.py REPOSITORY_ROOT
"""
import io
import pathlib
import re
import subprocess
import sys
import tokenize

SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh", ".in", ".py"}
EXEMPT = ("tests/", "experiments/", "scenario/", "plots/", "scripts/", "cmake/")
# The word, and what to write.
WORDS = {
    r"(?<!Little's )(?<!Amdahl's )(?<!Zipf )(?<!power )\blaws?\b(?! of total variance)": "distribution",
    r"\brefus(?:e|es|ed|al|als|ing)\b": "reject, error, throw",
    r"\bbehind\b": "after",
    r"\bplain (?:decoding|steps?|pass|passes)\b": "autoregressive decoding, decode step",
    r"\bdecoded plainly\b": "without speculation",
    r"\b(?:no|some)body\b|\bwhoever\b": "name who or what",
    r"\bfewest\b": "minimum",
    r"\bgiven beside\b|\bstands? beside\b": "mutually exclusive with",
    r"\bfor people\b": "for readers",
    r"\bagainst (?:itself|themselves)\b": "A/A test",
    r"\bfor ever\b(?! longer)|\bafresh\b": "forever, without bound; anew",
    r"\bat hand\b": "here, this",
    r"\b(?:behaviou?rally|behaviours?|colours?|coloured|favou?rites?|favours?|neighbours?|optimis\w+|normalis\w+|"
    r"summaris\w+|vectoris\w+|maximis\w+|minimis\w+|labelled|modelling|licences?)\b": "American spelling",
}
# In identifiers, in all folders; prose between them is removed first.
NAMES = {
    re.compile(r"\b(?:\w*_)?laws?(?:_\w*)?\b|\b\w*[a-z]Laws?(?:[A-Z]\w*)?\b|\bLaws?(?:[A-Z]\w*)?\b"): "distribution",
    re.compile(r"\b(?:MOST|most|FEWEST|fewest)(?:_\w+)?\b"): "max_, maximum, min_, minimum",
    re.compile(r"\b(?:\w*_)?usual(?:_\w*)?\b"): "default",
    re.compile(r"\b(?:\w*_)?behind(?:_\w*)?\b"): "after",
    re.compile(r"\b\w*against_itself\w*\b"): "aa_test",
    re.compile(r"\b\w*[Rr]efus(?:e|al)\w*\b"): "reject, problem, error",
    re.compile(r"\bPass(?:[A-Z]\w*)?\b|\b\w*plain_(?:pass|step)\w*\b"): "ForwardPass, decode_step",
}
BANNED = {re.compile(pattern, re.IGNORECASE): better for pattern, better in WORDS.items()}
# A comment or a string literal of C++; character literals and raw strings are read over.
CPP = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'',
                 re.DOTALL)


def prose_of_cpp(text):
    """(line, text) of each comment and string literal."""
    for match in CPP.finditer(text):
        if match[0][0] not in "R'" and not re.fullmatch(r"/\*\w+\*/", match[0]):  # a parameter's name
            yield text.count("\n", 0, match.start()) + 1, match[0]


def prose_of_python(text):
    """The same of Python."""
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds:
            yield token.start[0], token.string


def names_of(text, is_python):
    """(line, identifiers) of the code between prose."""
    if not is_python:
        code = CPP.sub(lambda match: "\n" * match[0].count("\n"), text)
        return list(enumerate(code.split("\n"), 1))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(token.start[0], token.string) for token in tokens if token.type == tokenize.NAME]


def check_names(name, text):
    """One problem for each identifier that is banned."""
    return [f"{name}:{line}: {match[0]} - write: {better}" for line, code in names_of(text, name.endswith(".py"))
            for pattern, better in NAMES.items() for match in pattern.finditer(code)]


def check(name, text):
    """One problem for each word that is banned."""
    prose = prose_of_python(text) if name.endswith(".py") else prose_of_cpp(text)
    problems = []
    for line, words in prose:
        words = re.sub(r"`[^`\n]*`", "", words)
        for pattern, better in BANNED.items():
            for match in pattern.finditer(words):
                problems.append(f"{name}:{line + words.count(chr(10), 0, match.start())}: {match[0]} - write: {better}")
    return problems


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                            capture_output=True, text=True, check=False).stdout.split("\0")
    names = [name for name in listed if pathlib.PurePath(name).suffix in SUFFIXES and (root / name).exists()]
    problems = []
    for name in names:
        text = (root / name).read_text(encoding="utf-8")
        problems += check_names(name, text)
        if not name.startswith(EXEMPT):
            problems += check(name, text)
    print("\n".join(problems) if problems else f"{len(names)} sources keep to the words of the field")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
