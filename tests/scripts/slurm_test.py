# SPDX-License-Identifier: Apache-2.0
"""The jobs that scripts/slurm submits, run by a scheduler of twenty lines."""
import os
import pathlib
import re
import stat
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "slurm"
PROGRAM = os.environ["FOREDRAFT"]

CONFIG = """schema = "foredraft.sweep/1"
[axes]
alpha = [0.5, 0.7, 0.9]
gamma = [1, 3, 5, 7]
[fixed]
c = 0.05
[simulation]
iterations = 1000
seed = 1
"""

# Runs jobs as they are submitted; %a in the log's name is the task; a job whose dependency failed is not run.
SBATCH = """#!/usr/bin/env bash
cd "$JOBS" || exit 1
job=$(($(cat last 2>/dev/null || echo 0) + 1))
echo $job >last
array=""
while [[ $1 == --* ]]; do
  case $1 in
    --array=1-*) array=${1#--array=1-} ;;
    --output=*) log=${1#--output=} ;;
    --dependency=afterok:*) [ "$(cat "state-${1#--dependency=afterok:}")" = ok ] || exit 0 ;;
    --parsable | --partition=short) ;;
    *) echo "unknown option $1" >&2; exit 1 ;;
  esac
  shift
done
state=ok
for task in $(seq ${array:-1}); do
  [ "$task" != "$LOSE" ] || [ -z "$array" ] || { state=failed; continue; }
  SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=$array SLURM_CPUS_PER_TASK=1 "$@" >"${log/\\%a/$task}" 2>&1 || state=failed
done
echo $state >"state-$job"
echo $job
"""


class Slurm(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "jobs").mkdir()
        sbatch = self.root / "sbatch"
        sbatch.write_text(SBATCH, encoding="utf-8")
        sbatch.chmod(sbatch.stat().st_mode | stat.S_IXUSR)
        self.config = self.root / "config.toml"
        self.config.write_text(CONFIG, encoding="utf-8")
        self.out = self.root / "a folder"

    def submit(self, lose=""):
        environment = os.environ | {"PATH": f"{self.root}:{os.environ['PATH']}", "JOBS": str(self.root / "jobs"),
                                    "LOSE": lose, "FOREDRAFT": PROGRAM}
        return subprocess.run([SCRIPTS / "submit.sh", self.config, self.out, "5", "--partition=short"],
                              env=environment, capture_output=True, text=True, check=True)

    def test_the_merge_has_the_bytes_of_the_run_without_shards(self):
        self.submit(lose="3")
        self.assertEqual(len(list((self.out / "shards").iterdir())), 4)
        self.assertFalse((self.out / "whole").exists())
        self.submit()  # what is missing
        subprocess.run([PROGRAM, "sweep", self.config, "--out", self.root / "here", "--no-figures"], capture_output=True,
                       check=True)
        self.assertEqual((self.out / "whole" / "points.csv").read_bytes(), (self.root / "here" / "points.csv").read_bytes())
        self.assertIn("is complete", (self.out / "logs" / "1.log").read_text(encoding="utf-8"))

    def test_usage_is_said(self):
        done = subprocess.run([SCRIPTS / "submit.sh", self.config], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("Usage: scripts/slurm/submit.sh", done.stderr)

    def test_options_of_the_scripts_are_those_of_the_program(self):
        for name in ("sweep", "merge"):
            text = (SCRIPTS / f"{name}.sbatch").read_text(encoding="utf-8")
            stated = set(re.findall(r" (--[a-z]+) ", text.split("exec ")[1].replace("\\\n", " ")))
            known = subprocess.run([PROGRAM, name, "--help"], capture_output=True, text=True, check=True).stdout
            self.assertTrue(stated)
            for option in stated:
                self.assertIn(option, known)


if __name__ == "__main__":
    unittest.main()
