#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executes the notebooks of docs/notebooks and compares the text they print with their stored outputs.

Pictures and HTML must only exist: they differ between versions of matplotlib and pandas.

Usage: notebooks.py [--update] [NOTEBOOK...]

  --update   writes the outputs of this run into the notebooks whose text differs, or that lack a picture
"""

import argparse
import difflib
import os
import pathlib
import sys

import nbclient
import nbformat

ROOT = pathlib.Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
TIMEOUT_S = 300


def executed(path):
    """The notebook with the outputs of a new run, without its times and counts."""
    notebook = nbformat.read(path, as_version=4)
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}  # embeds pictures
    nbclient.NotebookClient(notebook, timeout=TIMEOUT_S, kernel_name="python3",
                            resources={"metadata": {"path": str(path.parent)}}).execute(env=environment)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = _joined(cell.outputs)
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = None
                _without_address(output.get("data", {}))
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def _joined(outputs):
    """The pieces of a stream joined: the kernel cuts it at random places."""
    joined = []
    for output in outputs:
        if joined and output.output_type == joined[-1].output_type == "stream" and output.name == joined[-1].name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def _without_address(data):
    if "image/png" in data:
        data["text/plain"] = "<Figure>"  # else with its size in pixels


def shown(notebook):
    """The visible output, line by line: text, and a word for each picture."""
    lines = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            lines += [f"[{cell.id}]", *str(output.get("text", data.get("text/plain", ""))).splitlines()]
            lines += [f"({kind})" for kind in sorted(data) if kind != "text/plain"]
    return lines


def check(path, update=False):
    """The difference between a notebook's stored outputs and those of a run; "" if there is none or it was updated."""
    held, run = nbformat.read(path, as_version=4), executed(path)
    difference = "\n".join(difflib.unified_diff(shown(held), shown(run), f"{path.name} holds", "it prints", lineterm=""))
    if difference and update:
        path.write_text(nbformat.writes(run, indent=1) + "\n", encoding="utf-8")
        return ""
    return difference


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("notebooks", nargs="*", type=pathlib.Path, metavar="NOTEBOOK")
    options = parser.parse_args()
    problems = [difference for path in options.notebooks or NOTEBOOKS
                if (difference := check(path.resolve(), options.update))]
    print("\n\n".join(problems) or "the notebooks print what they hold")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
