# SPDX-License-Identifier: Apache-2.0
"""What documents show of the package runs: examples print what stands below them, notebooks execute, the site builds.

Needs pip install .[docs,plot] and doxygen.
"""

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
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
import documents  # noqa: E402


class Examples(unittest.TestCase):
    def test_pages_with_blocks_of_python_print_what_they_show(self):
        problems, count, _ = documents.check(pathlib.Path(sys.executable).with_name("foredraft"), python=True)
        self.assertEqual(problems, [], "\n\n".join(problems))
        self.assertGreater(count, 9)


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
