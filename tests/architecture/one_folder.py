#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a product folder is not one target and one namespace: a second library, a header that declares names in
another namespace, or a header without a target, which is never compiled by itself.

Usage: one_folder.py REPOSITORY_ROOT BUILD_FOLDER
"""
import pathlib
import re
import sys

# folder -> its namespace. The words that everyone shares need no prefix.
NAMESPACES = {
    "core": "foredraft",
    "scenario": "foredraft::scenario",
    "analytic": "foredraft::analytic",
    "sim": "foredraft::sim",
    "latency": "foredraft::latency",
    "logs": "foredraft::logs",
    "gpu_bench": "foredraft::gpu_bench",
    "answers": "foredraft::answers",
    "inputs": "foredraft::inputs",
    "experiments": "foredraft::experiments",
    "app": "foredraft::app",
}
# Public headers of all folders: one namespace and a separate target (include/CMakeLists.txt).
PUBLIC_HEADERS = ("include", "foredraft")
# header or folder -> the one other namespace that it may declare names in, and why
OTHER_NAMESPACES = {
    "core/check.hpp": ("foredraft::detail", "what macros expand to"),
    "analytic/numerics": ("foredraft::analytic::exact", "comparisons without rounding, internal"),
    "analytic/numerics/stable_forms.hpp": ("foredraft::analytic::stable", "functions that keep their digits, internal"),
    "sim/ngram": ("foredraft::ngram", "language models, with a Token and a Drafter of their own"),
    "gpu_bench/kernels/operation_kernels.hpp": ("foredraft::gpu_bench::detail", "what templates are made of"),
    "gpu_bench/verify": ("foredraft::gpu_bench::detail", "what templates are made of"),
    "gpu_bench/verify/published": ("foredraft::gpu_bench::published", "what verifiers of others are made of"),
    "scenario/family.hpp": ("foredraft::scenario::detail", "what templates are made of"),
    "scenario/cost.hpp": ("foredraft", "a member of the public Scenario"),
    "sim/token/models/model_pair.hpp": ("foredraft", "a member of the public Scenario"),
    "sim/token/rules/verification_rule.hpp": ("foredraft::sim::rules", "one overload for each rule"),
}
# folder inside a product folder -> its own target, and why
OTHER_TARGETS = {"gpu_bench/cuda": ("gpu_bench_cuda", "needs a CUDA compiler, and is left out without one")}

LIBRARY = re.compile(r"\bforedraft_library\(\s*(\w+)([^)]*)\)")
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'|"""
                   r"""^[ \t]*\#(?:[^\n\\]|\\.)*|[A-Za-z_]\w*|\d[\w'.]*|::|[^\s]""", re.DOTALL | re.MULTILINE)
MARKS = re.compile(r"HWY_(BEFORE|AFTER)_NAMESPACE\s*\(\s*\)\s*;")


def declaring_namespaces(text):
    """The namespaces in which a header declares names; "" is the global one."""
    tokens = [token for token in TOKEN.findall(MARKS.sub("", text)) if not token.startswith(("//", "/*", "#"))
              and not token.lstrip().startswith("#")]
    found, stack, at = set(), [], 0  # of the names of open namespaces, and None for other braces
    while at < len(tokens):
        token = tokens[at]
        if token == "namespace" and None not in stack:
            end = at + 1
            while tokens[end] not in ("{", ";"):
                end += 1
            if tokens[end] == "{":
                stack.append("".join(tokens[at + 1:end]))
            at = end + 1
            continue
        if token == "}":
            stack.pop()
        else:
            if None not in stack and token != ";":
                found.add("::".join(name for name in stack if name))
            if token == "{":
                stack.append(None)
        at += 1
    return found


def allowed_namespaces(folder, header):
    """The namespaces of the folder, of the header and of the folders that contain it, from the tables."""
    places = [header.as_posix()] + [place.as_posix() for place in header.parents]
    return {dict([*NAMESPACES.items(), PUBLIC_HEADERS])[folder]} | {OTHER_NAMESPACES[place][0] for place in places if place in OTHER_NAMESPACES}


def namespace_problems(root):
    used = set()
    for folder, namespace in [*NAMESPACES.items(), PUBLIC_HEADERS]:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".hpp", ".cuh"}:
                continue
            header = path.relative_to(root)
            for found in sorted(declaring_namespaces(path.read_text(encoding="utf-8"))):
                if found not in allowed_namespaces(folder, header):
                    yield f"{header}: declares names in {found or 'the global namespace'}, not in {namespace}"
                used |= {place for place, (other, _) in OTHER_NAMESPACES.items()
                         if found == other and (header.as_posix() == place or pathlib.PurePosixPath(place) in header.parents)}
    for place in sorted(set(OTHER_NAMESPACES) - used):
        yield f"{place}: declares nothing in {OTHER_NAMESPACES[place][0]}: the list of this test is out of date"


def target_problems(root):
    for folder in NAMESPACES:
        for path in sorted((root / folder).rglob("CMakeLists.txt")):
            here = path.parent.relative_to(root).as_posix()
            expected = [folder] if here == folder else [OTHER_TARGETS[here][0]] if here in OTHER_TARGETS else []
            libraries = LIBRARY.findall(path.read_text(encoding="utf-8"))
            if [name for name, _ in libraries] != expected:
                yield f"{here}/CMakeLists.txt: libraries {[name for name, _ in libraries]} instead of {expected}"
            if any(".hpp" in arguments for _, arguments in libraries):
                yield f"{here}/CMakeLists.txt: names a header, where foredraft_library finds them all"


def header_set_problems(root, build):
    for folder in NAMESPACES:
        houses = {folder: folder} | {place: target for place, (target, _) in OTHER_TARGETS.items()
                                     if place.startswith(folder + "/")}
        for header in sorted((root / folder).rglob("*.hpp")):
            house = max((place for place in houses if root / place in header.parents), key=len)
            listed = build / "header_sets" / f"{houses[house]}.txt"
            if not listed.exists() and house in OTHER_TARGETS:
                continue  # left out of this build
            if header not in {pathlib.Path(line).resolve() for line in listed.read_text(encoding="utf-8").split()}:
                yield f"{header.relative_to(root)}: not in the header set of foredraft_{houses[house]}"


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    found = [*namespace_problems(root), *target_problems(root), *header_set_problems(root, build)]
    print("\n".join(found) if found else f"{len(NAMESPACES)} folders, each one target and one namespace")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
