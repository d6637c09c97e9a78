# SPDX-License-Identifier: Apache-2.0
"""scripts/predictions.py: a record with a changed prediction is rejected, and its table counts every row."""

import contextlib
import csv
import io
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import predictions  # noqa: E402

ROWS = """gamma,speedup,speedup_low,speedup_high,seen
1,1.2,1.1,1.3,1.0
2,1.5,1.2,1.8,1.2
3,0.8,0.7,0.9,1.6
4,1.4,,,
"""


class Records(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "rows").write_text(ROWS, encoding="utf-8")

    def run_script(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = predictions.main(["--folder", str(self.folder), *words])
        return status, out.getvalue() + err.getvalue()

    def record(self, *more, name="2026-11-26-a"):
        return self.run_script("import", name, "--rows", str(self.folder / "rows"), "--setting", "gamma",
                               "--predicted-in", "speedup", "--low", "speedup_low", "--high", "speedup_high", "--title", "a",
                               "--kind", "k", "--quantity", "speedup", "--predicted", "2026-11-26", "--program", "p",
                               "--command", "c", *more)

    def measured(self):
        return self.record("--measured-in", "seen", "--measured", "2026-11-27", "--measured-by", "them")

    def change(self, old, new, name="2026-11-26-a"):
        path = self.folder / f"{name}.csv"
        text = path.read_text(encoding="utf-8")
        self.assertEqual(text.count(old), 1, text)
        path.write_text(text.replace(old, new), encoding="utf-8")
        return self.run_script("check")

    def test_the_records_of_the_project_are_sound(self):
        self.assertEqual(predictions.main(["check"]), 0)

    def test_the_table_counts_losses_and_what_was_sure_and_wrong(self):
        self.assertEqual(self.measured(), (0, "1 records, 4 predictions, 3 measured\n"))
        status, text = self.run_script("table")
        self.assertEqual(status, 0)
        # Errors 20, 25 and 50 %. 1.2 lies in [1.2, 1.8]. 1.0 is no gain although one was sure, 1.6 a gain although a
        # loss was.
        self.assertIn("| speedup | a | 3 | 25.0 | 50.0 | 1 of 3 | 2 | - | 2026-11-27 | predicted first | - |\n", text)
        self.assertIn("| k | 3 | 25.0 | 50.0 | 1 of 3 | 2 | - | 2026-11-27 |\n", text)
        self.assertIn("| speedup | a | 1 | 2026-11-26 | `2026-11-26-a.csv` |\n", text)

    def test_a_prediction_is_filled_in_and_never_changed(self):
        self.assertEqual(self.record(), (0, "1 records, 4 predictions, 0 measured\n"))
        self.assertNotIn("| k |", self.run_script("table")[1])  # no record of its kind is measured
        self.assertEqual(self.change("gamma 1,1.2,1.1,1.3,,", "gamma 1,1.2,1.1,1.3,1.25,")[0], 1)  # by whom, and when
        self.change("# measured_by:\n", "# measured_by: them\n")
        self.assertEqual(self.change("# measured:\n", "# measured: 2026-12-01\n"),
                         (0, "1 records, 4 predictions, 1 measured\n"))
        for old, new in (("gamma 2,1.5,", "gamma 2,1.6,"), ("1.2,1.8", "1.1,1.8"), ("gamma 3,", "gamma 5,"),
                         ("gamma 4,1.4,,,,,\n", "")):
            with self.subTest(old):
                status, text = self.change(old, new)
                self.assertEqual(status, 1)
                self.assertIn("2026-11-26-a.csv: a prediction was changed", text)
                self.change(new, old) if new else self.record(name="2026-11-26-b")
        self.assertIn("is there; a record is never written over", self.record()[1])

    def test_dates_are_in_the_order_that_is_stated(self):
        self.measured()
        status, text = self.change("# measured: 2026-11-27", "# measured: 2026-11-25")
        self.assertEqual(status, 1)
        self.assertIn("not in the order that it states", text)
        self.assertEqual(self.change("# order: predicted first", "# order: measured first")[0], 0)
        self.assertEqual(self.change("# order: measured first", "# order: whatever")[0], 1)
        self.assertEqual(self.change("# predicted: 2026-11-26", "# predicted: yesterday")[0], 1)

    def test_what_is_no_record_is_named(self):
        self.measured()
        for old, new, said in (("# title: a\n", "", "title is missing"), ("# kind: k", "# kin: k", 'unknown or repeated key "kin"'),
                               ("gamma 4,1.4,,,,,", "gamma 4,x,,,,,", "row 4: predicted: x is no number"),
                               ("gamma 4,1.4,,,,,", "gamma 4,1.4,1.3,,,,", "row 4: an interval has two ends"),
                               ("gamma 4,1.4,,,,,", "gamma 4,1.4,1.5,1.6,,,", "row 4: the prediction lies outside"),
                               ("gamma 4,1.4,,,,,", "gamma 4,1.4,,,", "row 4: has another number of cells"),
                               ("setting,predicted", "settings,predicted", "the columns must be")):
            with self.subTest(new):
                status, text = self.change(old, new)
                self.assertEqual(status, 1)
                self.assertIn(said, text)
                path = self.folder / "2026-11-26-a.csv"
                path.unlink()
                self.measured()
        (self.folder / "2026-11-26-a.csv").rename(self.folder / "2026-11-25-a.csv")
        self.assertIn("its name must be the day of the prediction", self.run_script("check")[1])

    def test_rows_are_chosen_and_intervals_made_of_spreads(self):
        (self.folder / "rows").write_text("half,gamma,speedup,spread\nfit,1,1.5,0.5\njudge,2,2,0.25\njudge,3,3,\n",
                                          encoding="utf-8")
        self.run_script("import", "2026-11-26-a", "--rows", str(self.folder / "rows"), "--setting", "half,gamma", "--where",
                        "half=judge", "--predicted-in", "speedup", "--spread", "spread", "--title", "a", "--kind", "k",
                        "--quantity", "speedup", "--predicted", "2026-11-26", "--program", "p", "--command", "c", "--input",
                        "scripts/predictions.py")
        record = predictions.Record(self.folder / "2026-11-26-a.csv")
        self.assertEqual([list(row.values())[:4] for row in record.rows],
                         [["half judge gamma 2", "2", "1.5", "2.5"], ["half judge gamma 3", "3", "", ""]])
        self.assertEqual(record.inputs[0][1], "scripts/predictions.py")
        self.assertEqual(record.problems(), [])


if __name__ == "__main__":
    unittest.main()
