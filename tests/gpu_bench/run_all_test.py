# SPDX-License-Identifier: Apache-2.0
"""gpu_bench/run_all.sh with a program that only records how it was called.

Usage: run_all_test.py REPOSITORY_ROOT
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()

PROGRAM = """#!/bin/sh
printf '%s\\n' "$*" >> "$(dirname "$0")/calls"
echo "output of $1"
exit ${MEASURE_CODE:-0}
"""


class RunAll(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copy(ROOT / "gpu_bench/run_all.sh", self.folder)
        program = self.folder / "foredraft-gpu"
        program.write_text(PROGRAM, encoding="utf-8")
        program.chmod(0o755)
        self.out = self.folder / "out"
        (self.folder / "bin").mkdir()
        self.python_does("exit 1")  # without the libraries, whatever this machine has

    def python_does(self, text):
        python = self.folder / "bin" / "python3"
        python.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        python.chmod(0o755)

    def run_all(self, *arguments, **environment):
        begin = time.monotonic()
        result = subprocess.run([str(self.folder / "run_all.sh"), *map(str, arguments)], text=True, capture_output=True,
                                env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", **environment},
                                cwd=self.folder, check=False)
        self.took_s = time.monotonic() - begin
        return result

    def calls(self):
        file = self.folder / "calls"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def check_minutes(self, budget):
        """Only the script's own time is subtracted, in whole seconds."""
        minutes = self.minutes_given()
        self.assertLessEqual(minutes, budget)
        self.assertGreaterEqual(minutes, budget - (self.took_s + 2.0) / 60.0)

    def minutes_given(self):
        (measure,) = self.calls()
        command, option, out, name, minutes = measure.split()
        self.assertEqual([command, option, out, name], ["measure", "--out", str(self.out), "--minutes"])
        return float(minutes)

    def rejected(self, message, *arguments):
        result = self.run_all(*arguments)
        self.assertEqual(result.returncode, 2, result)
        self.assertIn(message, result.stderr)
        self.assertEqual(self.calls(), [])

    def test_the_program_is_called_once_and_its_output_is_the_result(self):
        result = self.run_all(self.out)
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(result.stdout, "output of measure\n")
        self.assertEqual(len(self.calls()), 1)

    def test_eight_minutes_unless_said_otherwise(self):
        self.run_all(self.out)
        self.check_minutes(8.0)

    def test_fractions_of_minutes(self):
        for given, largest in (("2.5", 2.5), ("0.75", 0.75), ("08", 8.0), ("0.5", 0.5)):
            (self.folder / "calls").unlink(missing_ok=True)
            self.assertEqual(self.run_all(self.out, given).returncode, 0)
            self.check_minutes(largest)

    def test_codes_of_the_measurement_pass_through(self):
        for code in ("0", "1", "2", "130"):
            self.assertEqual(self.run_all(self.out, MEASURE_CODE=code).returncode, int(code))

    def test_bad_arguments_are_rejected(self):
        self.rejected("takes OUT")
        self.rejected("takes OUT", "")
        self.rejected("takes OUT", self.out, "8", "fast")
        self.rejected("unknown option", "--quick", self.out)
        for bad in ("0", "0.0", "ten", "1e3", ".5", "8m", "nan", "999999"):
            self.rejected("MINUTES must be", self.out, bad)
        self.rejected("unknown option", self.out, "-3")

    def test_folders_with_other_content_are_rejected(self):
        self.out.mkdir()
        (self.out / "thesis.tex").touch()
        self.rejected("no unfinished profile", self.out)
        (self.out / "profile.json").write_text('{\n "complete": true\n}', encoding="utf-8")
        self.rejected("no unfinished profile", self.out)
        self.rejected("is a file", self.out / "thesis.tex")

    def test_an_empty_folder_and_an_unfinished_profile_are_taken(self):
        self.out.mkdir()
        self.assertEqual(self.run_all(self.out).returncode, 0)
        (self.out / "profile.json").write_text('{\n "complete": false\n}', encoding="utf-8")
        self.assertEqual(self.run_all(self.out).returncode, 0)

    def test_the_library_is_timed_after_the_measurement_if_python_has_it(self):
        self.python_does('[ "$1" = -c ] || printf \'%s\\n\' "$*" >> "$(dirname "$0")/../calls"')
        self.assertEqual(self.run_all(self.out).returncode, 0)
        measure, library = self.calls()
        self.assertTrue(measure.startswith("measure"), measure)
        self.assertLessEqual(float(measure.split()[-1]), 7.5)
        self.assertEqual(library, f"{self.folder}/time_transformers.py {self.out}-transformers.csv --seconds 30")

    def test_the_library_is_not_timed_if_it_is_absent_or_the_measurement_failed(self):
        self.assertEqual(self.run_all(self.out, MEASURE_CODE="1").stderr, "")
        result = self.run_all(self.out)
        self.assertEqual(result.returncode, 0)
        self.assertIn("transformers library was not timed", result.stderr)

    def test_a_library_that_cannot_be_timed_is_said_and_the_measurement_stands(self):
        self.python_does('[ "$1" = -c ] || { echo "its reason" >&2; exit 1; }')
        result = self.run_all(self.out)
        self.assertEqual(result.returncode, 0)
        self.assertIn("its reason\nrun_all.sh: the transformers library was not timed", result.stderr)
        self.assertIn(f"the measurement in {self.out} stands", result.stderr)

    def test_help_does_nothing_else(self):
        for option in ("--help", "-h"):
            result = self.run_all(self.out, option)
            self.assertEqual(result.returncode, 0)
            self.assertIn("usage: run_all.sh OUT [MINUTES]", result.stdout)
        self.assertEqual(self.calls(), [])

    @unittest.skipIf(any(map(os.path.exists, ("/dev/nvidiactl", "/dev/dxg"))), "this machine has a driver")
    def test_without_a_driver_nothing_is_built(self):
        checkout = self.folder / "checkout"
        (checkout / "gpu_bench").mkdir(parents=True)
        shutil.copy(ROOT / "gpu_bench/run_all.sh", checkout / "gpu_bench")
        (checkout / "CMakeLists.txt").touch()
        for name, text in (("nvidia-smi", "exit 9"), ("cmake", f"touch '{self.folder}/built'; exit 1")):
            program = self.folder / "bin" / name
            program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            program.chmod(0o755)
        result = subprocess.run([str(checkout / "gpu_bench/run_all.sh"), str(self.out)], text=True, capture_output=True,
                                env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}, check=False)
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("run_all.sh: no NVIDIA driver found", result.stderr)
        self.assertFalse((self.folder / "built").exists())

    def test_without_program_and_checkout_it_says_so(self):
        (self.folder / "foredraft-gpu").unlink()
        self.rejected("holds no foredraft-gpu", self.out)


if __name__ == "__main__":
    unittest.main()
