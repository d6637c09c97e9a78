#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on a document or a comment that names a missing file or folder of the sources.

A name is in backticks and has a slash or the ending of a source file; in comments a whole path needs no backticks. It
may omit leading folders (`lenient.cpp`) or the ending (`process/drafted`), or contain a star or braces. Files created
by a build or a run are not checked: folders of OUTPUT, and data files without a folder (`points.csv`).

Usage: pointers.py REPOSITORY_ROOT
"""
import itertools
import pathlib
import re
import subprocess
import sys

QUOTED = re.compile(r"`([^`\n]+)`")
COMMENT = re.compile(r"(?://|#)[^\n]*")
CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
SOURCE = r"(?:hpp|cpp|cuh|cu|py|sh|cmake|bib|toml|md)"
PATH = re.compile(rf"[\w.*{{}},-]+(?:/[\w.*{{}},-]*)+|[\w*{{}},-]+\.{SOURCE}")
IN_COMMENT = re.compile(r"(?<![\w/.<])(?:core|scenario|analytic|sim|latency|logs|gpu_bench|experiments|plots|tests|docs|scripts|"
                        rf"include|cmake|benchmarks)/[\w/.*-]*\w\.{SOURCE}\b")
MADE_BY_GUIDES = re.compile(r"^--- (\S+)$", re.MULTILINE)
BRACES = re.compile(r"\{([^{}]*)\}")
OUTPUT = ("build/", "results/")
# Files that the program writes or users have, placeholders, and versions of formats (foredraft.sweep/1).
OTHERS = re.compile(r"summary\.md|report\.md|models\.toml|.*\b(?:NAME|ID)\b.*|foredraft(?:\.\w+)+/\d+")


def spelled(name):
    """Expands braces: a.{hpp,cpp} is a.hpp and a.cpp."""
    if not (match := BRACES.search(name)):
        return [name]
    return list(itertools.chain.from_iterable(
        spelled(name[:match.start()] + word + name[match.end():]) for word in match.group(1).split(",")))


def there(name, paths):
    """True if a file or folder has this name; `paths` has all of them with a leading slash."""
    pattern = re.escape(name.rstrip("/")).replace(r"\*", "[^/]*")
    return re.search(rf"^[^\n]*/{pattern}(?:\.{SOURCE})?$", paths, re.MULTILINE) is not None


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                            capture_output=True, text=True, check=False).stdout.split("\0")
    files = [pathlib.PurePosixPath(name) for name in listed if name and (root / name).exists()]
    if not files:
        print("not a checkout: nothing is known of its files")
        return 0
    folders = {parent for path in files for parent in path.parents}
    made = [name for guide in (root / "docs").glob("adding-*.md")
            for name in MADE_BY_GUIDES.findall(guide.read_text(encoding="utf-8"))]
    paths = "\n".join(f"/{path}" for path in [*files, *folders, *made])
    missing = []
    for path in files:
        if path.suffix == ".md":
            text = CODE_BLOCK.sub(lambda block: "\n" * block.group().count("\n"),
                                  (root / path).read_text(encoding="utf-8"))
            lines = text.split("\n")
        elif path.suffix in {".hpp", ".cpp", ".cu", ".cuh", ".py", ".sh", ".toml", ".cmake"} or path.name == "CMakeLists.txt":
            lines = [" ".join(COMMENT.findall(line)) for line in
                     (root / path).read_text(encoding="utf-8", errors="replace").split("\n")]
        else:
            continue
        for number, line in enumerate(lines, 1):
            names = [name for name in QUOTED.findall(line) if PATH.fullmatch(name)]
            if path.suffix != ".md":
                names += IN_COMMENT.findall(line)
            for quoted in dict.fromkeys(names):
                if quoted.startswith(OUTPUT) or OTHERS.fullmatch(quoted):
                    continue
                missing += [f"{path}:{number}: there is no {name}" for name in spelled(quoted) if not there(name, paths)]
    print("\n".join(missing) if missing else "every file that is named is there")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
