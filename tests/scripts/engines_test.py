# SPDX-License-Identifier: Apache-2.0
"""Measurements with engines: each recorded error follows from the recorded prediction and runs."""

import hashlib
import json
import pathlib
import statistics
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts" / "engines"))

import held_against  # noqa: E402
import llama_cpp_validation  # noqa: E402

ENGINES = ROOT / "gpu_bench" / "data" / "engines"
# Terms that a prediction can omit; the columns of a cell in runs.csv, in the order of prediction.csv.
RECORDS = {"llama.cpp": (("logits", "catch_up", "in_loop", "draws"), ("pair", "format", "gamma")),
           "transformers": (("plain_host", "draft_host", "draft_set_up", "verify_host"),
                            ("pair", "mode", "drafter", "gamma"))}
TOLERANCE = 2e-5  # prediction.csv has six digits


class Records(unittest.TestCase):
    def test_every_error_follows_from_prediction_and_runs(self):
        for engine, (terms, names) in RECORDS.items():
            with self.subTest(engine):
                predicted = held_against.read_rows(ENGINES / engine / "prediction.csv")
                recorded = held_against.read_rows(ENGINES / engine / "validation.csv")
                cells = {}
                for run in held_against.read_rows(ENGINES / engine / "runs.csv"):
                    cells.setdefault(tuple(run[name] for name in names), []).append(run)
                self.assertEqual(len(predicted), len(recorded))
                self.assertEqual(len(predicted), len(cells))
                for before, runs, row in zip(predicted, cells.values(), recorded):
                    self.assertEqual(before["gamma"], runs[0]["gamma"])
                    again = held_against.compared(before, runs, terms)
                    for name, value in again.items():
                        if name.startswith("signed_error") or name in ("predicted_speedup", "measured_speedup"):
                            self.assertAlmostEqual(float(row[name]), float(value), delta=TOLERANCE * 10)
                        else:
                            self.assertEqual(row[name], str(value), name)

    def test_the_prediction_is_the_one_written_before_measuring(self):
        for engine in RECORDS:
            with self.subTest(engine):
                about = json.loads((ENGINES / engine / "manifest.json").read_text())
                data = (ENGINES / engine / "prediction.csv").read_bytes()
                self.assertEqual(hashlib.sha256(data).hexdigest(), about["prediction_sha256"])
                self.assertLessEqual(about["predicted"], about["measured"][0])

    def test_the_page_bounds_what_no_term_of_llama_cpp_explains(self):
        found = llama_cpp_validation.unexplained(held_against.read_rows(ENGINES / "llama.cpp" / "validation.csv"))
        ms, readings = zip(*found)
        page = " ".join((ROOT / "docs" / "validation.md").read_text().split())
        self.assertIn(f"takes {min(ms):.1f} to {max(ms):.1f} ms longer than predicted (median "
                      f"{statistics.median(ms):.1f})", page)
        self.assertIn(f"In all {len(found)} cells", page)
        self.assertIn(f"{min(readings):.2f} to {max(readings):.2f} of it, median {statistics.median(readings):.2f}", page)
        self.assertLess(max(readings), 1)

    def test_documents_show_these_errors(self):
        page = (ROOT / "docs" / "validation.md").read_text()
        for engine, (terms, _) in RECORDS.items():
            with self.subTest(engine):
                rows = held_against.read_rows(ENGINES / engine / "validation.csv")
                for line in held_against.error_table(rows, terms).splitlines():
                    if line.startswith("| ") and not line.startswith("| prediction"):
                        numbers = line[line.index("|", 2):]
                        self.assertIn(numbers, page, line)


if __name__ == "__main__":
    unittest.main()
