# SPDX-License-Identifier: Apache-2.0
"""Workflows of .github/ call existing scripts, and together all parts of the tests; scripts reject bad arguments."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


class Workflows(unittest.TestCase):
    def test_scripts_that_they_call_can_be_started(self):
        called = {script for path in WORKFLOWS
                  for script in re.findall(r"run: (scripts/\S+)", path.read_text(encoding="utf-8"))}
        self.assertGreaterEqual(len(called), 5)
        for script in called:
            self.assertTrue(os.access(ROOT / script, os.X_OK), script)

    def test_every_part_of_the_tests_has_a_job(self):
        parts = re.search(r"^parts=\((.*)\)$", (ROOT / "scripts/test.sh").read_text(encoding="utf-8"), re.MULTILINE)
        jobs = re.search(r"part: \[(.*)\]", (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))
        self.assertEqual(jobs[1].split(", "), parts[1].split())


class BadArguments(unittest.TestCase):
    def test_they_are_named_before_anything_is_done(self):
        with tempfile.TemporaryDirectory() as folder:
            for script, *arguments in (("test.sh", "no-such-part"), ("wheel.sh", folder, "no-such-python"),
                                       ("try_install.sh", f"{folder}/no-such-folder")):
                with self.subTest(script):
                    done = run(ROOT / "scripts" / script, *arguments)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn("no-such" if script != "try_install.sh" else "FOLDER", done.stderr)


if __name__ == "__main__":
    unittest.main()
