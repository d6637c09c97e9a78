#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on documents that are hard to read: long lines, words that are not the field's, commands that no test runs.

- Lines of at most 100 characters, but for tables, blocks of code, and a line of one word such as an address. What stands
  below a comment `<!-- generated ... -->` is left to the table it comes from.
- WORDS are not used in prose of what users read. Code, quoted names of tests and generated tables are exempt.
- Every block of code says its language, and commands of foredraft stand in `console` blocks, which scripts/documents.py
  runs.
- Pages of docs/ begin with whom they are for: "For people who ...".
- README.md has at most 150 lines, and no console block of it is wider than 100.

Usage: prose.py REPOSITORY_ROOT
"""
import pathlib
import re
import subprocess
import sys

WIDTH, README_LINES = 100, 150
FENCE = re.compile(r"^( *)```(.*)$")
# The word, and what to write.
WORDS = {
    r"(?<!Little's )(?<!Zipf )(?<!power )\blaws?\b": "distribution",
    r"\brefus(?:e|es|ed|al|als)\b": "reject, error",
    r"\bbehind\b(?! an? (?:proxy|firewall|router|load balancer))": "after",
    r"\bplain (?:step|steps|pass|passes)\b": "decode step",
    r"\bplain decoding\b": "autoregressive decoding",
    r"\bmodel that (?:verifies|drafts)\b": "target model, draft model",
    r"\b(?:any|every|no|some)body\b": "who it is, or what happens",
    r"(?<!-)\balone\b": "only",
    r"\bmissing \(or\b": "required",
    r"\bgiven beside\b": "mutually exclusive with",
    r"\busual (?:values?|settings?|parameters?|options?|length|place)\b": "default",
    r"\b(?-i:Read|Wanted|Listed) are\b": "the subject first",
    r"\bwithout (?:its|their) weights\b": "random weights",
    r"\bagainst itself\b|\bagainst themselves\b": "A/A test",
    r"\bempty caches\b": "cold cache",
    r"\bfirst-token time\b": "TTFT",
    r"\bshare of tested drafts\b": "acceptance rate",
    r"\brows of (?:a|the) batch\b": "sequences",
    r"\bat hand\b": "here, this",
    r"\b(?:most_\w+|fewest_\w+)": "max_..., min_...",
    r"\b(?:behaviou?rally|behaviours?|colours?|coloured|favours?|neighbours?|optimis\w+|normalis\w+|summaris\w+|labelled|"
    r"modelling|licences?)\b": "American spelling",
}
BANNED = {re.compile(pattern, re.IGNORECASE): better for pattern, better in WORDS.items()}
# Tables of the code's own words, and a record of faults in the words of their tests.
GENERATED = {"docs/mutants.md"}
# The index names readers itself; the others include a page from elsewhere.
WITHOUT_READERS = {"docs/index.md", "docs/architecture.md", "docs/gpu-bench.md"}


def users_read(name):
    return "/" not in name or re.fullmatch(r"(docs|benchmarks|gpu_bench)/[^/]+\.md", name)


def without_generated_tables(text):
    return re.sub(r"(<!-- (?:table )?from: [^\n]+-->\n\n)((?:\|[^\n]*\n)+)", lambda m: m[1] + "\n" * m[2].count("\n"), text)


def check(name, text):
    problems = []
    text = without_generated_tables(text).partition("<!-- generated")[0]
    language, prose = None, []
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{name}:{number}"
        fence = FENCE.match(line)
        if fence:
            prose.append("")
            if language is not None:
                language = None
            elif fence[2]:
                language = fence[2]
            else:
                problems.append(f"{where}: a block of code without its language")
                language = "?"
            continue
        if language is not None:
            prose.append("")
            if language != "console" and re.match(r" *(?:build/release/)?foredraft [a-z]", line) and language != "diff":
                problems.append(f"{where}: a command in a block of {language} - make it a console block")
            if name == "README.md" and language == "console" and len(line) > WIDTH:
                problems.append(f"{where}: {len(line)} characters")
            continue
        prose.append(line)
        if re.match(r" {4,}(?:build/release/)?foredraft [a-z]", line):
            problems.append(f"{where}: a command outside of a console block")
        if len(line) > WIDTH and not line.startswith("|") and " " in line.strip(" -*"):
            problems.append(f"{where}: {len(line)} characters")
    if users_read(name) and name not in GENERATED:
        plain = re.sub(r'`[^`]*`|"[^"]*"|\]\([^)]*\)', lambda m: re.sub(r"[^\n]", " ", m[0]), "\n".join(prose))
        for pattern, better in BANNED.items():
            for match in pattern.finditer(re.sub(r"\n", " ", plain)):
                line = plain.count("\n", 0, match.start()) + 1
                problems.append(f"{name}:{line}: {match[0]} - write: {better}")
    if re.fullmatch(r"docs/[^/]+\.md", name) and name not in WITHOUT_READERS:
        if not re.match(r"# [^\n]+\n\nFor (?:people|researchers|everyone) who ", text):
            problems.append(f"{name}:3: the page does not begin with whom it is for (For people who ...)")
    if name == "README.md" and text.count("\n") > README_LINES:
        problems.append(f"{name}: {text.count(chr(10))} lines (must be at most {README_LINES})")
    return problems


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"], cwd=root,
                            capture_output=True, text=True, check=False).stdout.split("\0")
    names = [name for name in listed if name and not name.startswith("tests/") and (root / name).exists()]
    problems = [problem for name in names for problem in check(name, (root / name).read_text(encoding="utf-8"))]
    print("\n".join(problems) if problems else f"{len(names)} documents keep to width and words")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
