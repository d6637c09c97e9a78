#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Combines the page's modules, its style sheet, the examples and the program as WebAssembly into one HTML file."""

import argparse
import base64
import gzip
import json
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parent
REPOSITORY = PAGE.parent
EXAMPLES = [*(f"docs/examples/advise/{name}" for name in
              ("k3.log", "k1.log", "plain.log", "busy.log", "broken.log", "old.csv", "new.csv", "plain.csv")),
            "experiments/configs/medusa_heads.csv"]
PIECE = 1 << 17  # characters of base64, a multiple of 4; the page unpacks each while the browser reads the next ones
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([\w-]+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|const|class) (\w+)", re.MULTILINE)


def modules(first, seen=None):
    """Paths of `first` and of the modules that it needs, each after those it imports."""
    seen = [] if seen is None else seen
    for _, name in _IMPORT.findall(first.read_text()):
        if first.with_name(f"{name}.js") not in seen:
            modules(first.with_name(f"{name}.js"), seen)
    if first not in seen:
        seen.append(first)
    return seen


def variable(name):
    """The variable with the exports of the module `name`."""
    return "module_" + name.replace("-", "_")


def script(paths):
    """The modules as one plain script: each is a function that returns its exports."""
    def one(path):
        text = path.read_text()
        exports = ", ".join(name for _, name in _EXPORT.findall(text))
        body = _IMPORT.sub(lambda match: f"const {match[1]} = {variable(match[2])};", text)
        body = _EXPORT.sub(lambda match: match[0].removeprefix("export "), body)
        return f"const {variable(path.stem)} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();\n"

    return "".join(map(one, paths))


def inert(text):
    """`text` as the content of a script element, without an end tag in it."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def page(glue, wasm):
    """The HTML of the page: `glue` is the JavaScript of Emscripten, `wasm` the bytes of the program."""
    examples = json.dumps({pathlib.PurePath(name).name: (REPOSITORY / name).read_text() for name in EXAMPLES})
    packed = base64.b64encode(gzip.compress(wasm, 9, mtime=0)).decode()
    pieces = (packed[at:at + PIECE] for at in range(0, len(packed), PIECE))
    worker = glue + script(modules(PAGE / "worker.js"))
    parts = {
        "style": f"<style>\n{(PAGE / 'style.css').read_text()}</style>",
        "examples": '<script type="application/json" id="examples">' + examples.replace("<", "\\u003c") + "</script>",
        "worker": f'<script type="text/plain" id="worker">{inert(worker)}</script>',
        "script": f'<script>\n"use strict";\n{inert(script(modules(PAGE / "main.js")))}</script>',
        "program": "\n".join(f'<script>unpack("{piece}")</script>' for piece in pieces),
    }
    return re.sub(r"<!-- (\w+) -->", lambda match: parts[match[1]], (PAGE / "page.html").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--glue", type=pathlib.Path, required=True, help="the JavaScript that Emscripten wrote")
    parser.add_argument("--wasm", type=pathlib.Path, required=True, help="the program")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the page to write")
    options = parser.parse_args()
    options.out.write_text(page(options.glue.read_text(), options.wasm.read_bytes()))


if __name__ == "__main__":
    main()
