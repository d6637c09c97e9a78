# SPDX-License-Identifier: Apache-2.0
"""Documents about the package are up to date: examples print the shown output, notebooks execute, the site builds.

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
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
import documents  # noqa: E402
import notebooks  # noqa: E402


class Examples(unittest.TestCase):
    def test_pages_with_blocks_of_python_print_what_they_show(self):
        problems, count, _ = documents.check(pathlib.Path(sys.executable).with_name("foredraft"), python=True)
        self.assertEqual(problems, [], "\n\n".join(problems))
        self.assertGreater(count, 9)


class Site(unittest.TestCase):
    def test_notebooks_print_what_they_hold(self):
        self.assertEqual(len(notebooks.NOTEBOOKS), 5)
        for path in notebooks.NOTEBOOKS:
            with self.subTest(notebook=path.name):
                self.assertEqual(notebooks.check(path), "", "update: scripts/notebooks.py --update")

    def test_notebooks_hold_pictures_and_text_and_nothing_that_differs_from_run_to_run(self):
        for path in notebooks.NOTEBOOKS:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            outputs = [output for cell in cells for output in cell.get("outputs", [])]
            self.assertTrue(any("image/png" in output.get("data", {}) for output in outputs), path.name)
            self.assertFalse([output for output in outputs if output.get("name") == "stderr"], path.name)
            for cell in cells:
                self.assertIn("id", cell)
                self.assertNotIn("execution", cell["metadata"])
                self.assertIsNone(cell.get("execution_count"))
        self.assertLess(sum(path.stat().st_size for path in notebooks.NOTEBOOKS), 1_500_000)

    def test_the_first_page_is_plain_markdown_and_leads_to_every_page(self):
        page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
        self.assertNotIn("```", page)
        for link in re.findall(r"\]\(([^)#]+)\)", page):
            self.assertTrue((ROOT / "docs" / link).is_file(), link)

    def test_the_site_builds_without_warnings_and_shows_the_notebooks(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "docs", folder]
            built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            self.assertEqual(built.returncode, 0, built.stderr)
            for path in notebooks.NOTEBOOKS:
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
