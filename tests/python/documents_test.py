# SPDX-License-Identifier: Apache-2.0
"""What documents show of the package runs: examples print what stands below them, notebooks execute, the site builds.

Needs pip install .[docs,plot] and doxygen.
"""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import foredraft

os.environ["MPLBACKEND"] = "Agg"
ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
# A block of Python, and the text below it, which is what it prints.
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:\n?```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


class Examples(unittest.TestCase):
    def test_blocks_of_python_run_in_order_and_print_what_stands_below_them(self):
        for page in ("README.md", "docs/python.md"):
            text = (ROOT / page).read_text(encoding="utf-8")
            names = {}
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                for example in EXAMPLE.finditer(text):
                    with self.subTest(page=page, line=text.count("\n", 0, example.start()) + 1):
                        printed = io.StringIO()
                        with contextlib.redirect_stdout(printed):
                            exec(compile(example[1], page, "exec"), names)
                        if example[2] is not None:
                            self.assertEqual(printed.getvalue(), example[2])


class Site(unittest.TestCase):
    def test_notebooks_are_kept_without_outputs(self):
        self.assertEqual(len(NOTEBOOKS), 5)
        for path in NOTEBOOKS:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            for number, cell in enumerate(cells, 1):
                with self.subTest(notebook=path.name, cell=number):
                    self.assertIn("id", cell)
                    self.assertFalse(cell.get("outputs"))
                    self.assertIsNone(cell.get("execution_count"))

    def test_the_site_builds_without_warnings_and_executes_the_notebooks(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "docs", folder]
            built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            self.assertEqual(built.returncode, 0, built.stderr)
            for path in NOTEBOOKS:
                page = (pathlib.Path(folder) / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8")
                self.assertIn("cell_output", page, path.name)
            headers = {path.name for path in (ROOT / "include" / "foredraft").glob("*.hpp")}
            page = (pathlib.Path(folder) / "cpp-reference.html").read_text(encoding="utf-8")
            self.assertEqual({name for name in headers if f">{name}<" not in page}, set())
            page = (pathlib.Path(folder) / "python-reference.html").read_text(encoding="utf-8")
            shown = set(re.findall(r'id="(?:module-)?foredraft\.(?:_\w+\.)?(\w+)"', page))
            self.assertEqual(set(foredraft.__all__) - shown, set())


if __name__ == "__main__":
    unittest.main()
