# SPDX-License-Identifier: Apache-2.0
"""scripts/reproduce.sh with the program replaced by one that records its calls: what runs, and what continues if this
machine cannot be measured."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "reproduce.sh"
PROGRAM = """#!/usr/bin/env bash
echo "$@" >> calls
code=0
case $1 in
  calibrate) echo "{\\"complete\\": ${COMPLETE:-true}}" > "$3"; code=${CALIBRATE:-0} ;;
  validate) mkdir "$5" || exit 2; echo '{"state": "complete"}' > "$5/manifest.json"; code=${VALIDATE:-0} ;;
  *) exit 0 ;;
esac
[[ -z ${NOISY:-} || $* == *--accept-noise* ]] || exit 1
exit "$code"
"""
CALIBRATE = "calibrate --out r/cpu.json --minutes 1.5 --accept-noise"
VALIDATE = "validate --profile r/cpu.json --out r/validation --minutes 2 --accept-noise"
REPRODUCE = "reproduce --all --out r/papers"
ENGINE = "plot r/engines/e/"


class Reproduce(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for path, text in (("scripts/setup.sh", "#!/bin/sh\n"), ("bin/cmake", "#!/bin/sh\n"),
                           ("build/release/foredraft", PROGRAM)):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, encoding="utf-8")
            (self.root / path).chmod(0o755)
        (self.root / "r").mkdir()
        (self.root / "gpu_bench/data/engines/e").mkdir(parents=True)
        shutil.copy(SCRIPT, self.root / "scripts")

    def run_script(self, **environment):
        """Exit status, stderr and the calls after the first sweep."""
        (self.root / "calls").unlink(missing_ok=True)
        done = subprocess.run([self.root / "scripts" / "reproduce.sh", "r"], capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}", **environment})
        calls = (self.root / "calls").read_text(encoding="utf-8").splitlines()
        self.assertTrue(calls[0].startswith("sweep "), calls)
        return done.returncode, done.stderr, calls[1:]

    def test_this_machine_is_measured_validated_and_taken_into_the_report_once(self):
        status, _, calls = self.run_script()
        taken = f"{REPRODUCE} --validation r/validation"
        self.assertEqual((status, calls), (0, [CALIBRATE, VALIDATE, taken, ENGINE]))
        self.assertEqual(self.run_script()[2], [taken, ENGINE])

    def test_a_noisy_machine_stands_in_the_report_too(self):
        status, err, calls = self.run_script(NOISY="1")
        self.assertEqual((status, calls[-2]), (0, f"{REPRODUCE} --validation r/validation"))
        self.assertNotIn("not in the report", err)

    def test_what_was_not_finished_goes_on(self):
        self.run_script(COMPLETE="false")
        (self.root / "r/validation/manifest.json").write_text('{"state": "running"}', encoding="utf-8")
        self.assertEqual(self.run_script()[2], [CALIBRATE, VALIDATE, f"{REPRODUCE} --validation r/validation", ENGINE])
        aside, = (self.root / "r").glob("validation.unfinished.*/manifest.json")
        self.assertIn("running", aside.read_text(encoding="utf-8"))
        (self.root / "r/validation/manifest.json").unlink()
        self.assertEqual(self.run_script()[2][0], VALIDATE)

    def test_a_machine_that_cannot_be_validated_does_not_keep_the_papers_back_and_it_is_said(self):
        for environment, tried in (({"CALIBRATE": "1"}, [CALIBRATE]), ({"VALIDATE": "2"}, [CALIBRATE, VALIDATE])):
            shutil.rmtree(self.root / "r")
            (self.root / "r").mkdir()
            status, err, calls = self.run_script(**environment)
            self.assertEqual((status, calls), (0, [*tried, REPRODUCE, ENGINE]))
            self.assertIn("this machine is not in the report", err)

    def test_an_interruption_ends_everything(self):
        status, _, calls = self.run_script(VALIDATE="130")
        self.assertEqual((status, calls), (130, [CALIBRATE, VALIDATE]))


if __name__ == "__main__":
    unittest.main()
