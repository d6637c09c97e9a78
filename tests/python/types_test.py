# SPDX-License-Identifier: Apache-2.0
"""Type checkers accept a user's file with the types that it states, and report mistakes."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import foredraft as fd

ROOT = pathlib.Path(__file__).resolve().parents[2]
USERS_FILE = pathlib.Path(__file__).with_name("users_file.py")
MISTAKES = """import foredraft as fd
fd.predict(alpha=0.8, gamma=5, c=0.05).speedup.mean
fd.simulate(alpha=0.8, gamma=5, iterations="many")
fd.compare("a.log", "b.log").passes.real_name
fd.check(3)
fd.validate("h200")
fd.Profile("h100").speed
fd.advise("a.log").gamma + 1
"""


class Types(unittest.TestCase):

    def mypy(self, file, *options):
        """Installed packages are not checked, so the folder must not be that of the package."""
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file=", f"--cache-dir={folder}",
                       *options, str(file)]
            return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    def test_a_users_file_has_the_types_that_it_claims(self):
        checked = self.mypy(USERS_FILE, "--warn-unreachable", "--disallow-any-unimported")
        self.assertEqual((checked.returncode, checked.stdout), (0, ""), checked.stdout + checked.stderr)

    def test_it_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, str(USERS_FILE), str(ROOT / "docs" / "examples" / "advise")]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_it_uses_everything(self):
        used = set(re.findall(r"\bfd\.(\w+)", USERS_FILE.read_text(encoding="utf-8")))
        unused = {"Advice", "BestGamma", "Comparison", "Explanation", "LoadPrediction", "LoggingPlan", "Lossiness", "Page",
                  "RepeatedRun", "Reproduction", "TimesPrediction", "Tree", "Validation", "devices", "models", "page",
                  "plot"}
        self.assertEqual(set(fd.__all__) - used, unused)

    def test_mistakes_are_told(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "mistakes.py")
            file.write_text(MISTAKES, encoding="utf-8")
            checked = self.mypy(file)
        lines = {int(number) for number in re.findall(r"mistakes\.py:(\d+): error", checked.stdout)}
        self.assertEqual(lines, set(range(2, 9)), checked.stdout)


if __name__ == "__main__":
    unittest.main()
