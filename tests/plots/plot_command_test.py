# SPDX-License-Identifier: Apache-2.0
"""plot.py: its output, its exit status, and its messages about files that it cannot use."""

import json
import unittest

import sample_data
from support import InDirectory, run_main

from plots import plot


class PlotCommand(InDirectory):
    def plot(self):
        return run_main(plot.main, self.directory)

    def rejected(self, *words, status=1):
        found, out, err = self.plot()
        self.assertEqual(found, status, err)
        self.assertEqual(err.count("\n"), 1, err)
        for word in ("plot: ", *words):
            self.assertIn(word, err)
        return out

    def test_one_line_a_figure_and_three_files(self):
        sample_data.write_small_sweep(self.directory)
        sample_data.write_figure5(self.directory)
        status, out, err = self.plot()
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, "leviathan-figure5.{pdf,svg,png}\nspeedup.{pdf,svg,png}\n")
        for name in ("leviathan-figure5", "speedup"):
            for kind in ("pdf", "svg", "png"):
                self.assertGreater((self.directory / f"{name}.{kind}").stat().st_size, 1000)

    def test_usage(self):
        for arguments in ((), ("a", "b")):
            status, _, err = run_main(plot.main, *arguments)
            self.assertEqual((status, err), (2, "usage: plot.py DIR\n"))

    def test_what_is_no_directory_and_a_directory_without_figures(self):
        status, _, err = run_main(plot.main, self.directory / "nowhere")
        self.assertEqual(status, 2)
        self.assertIn("nowhere: is not a directory", err)
        self.rejected("nothing to draw (no figure of a sweep, no data of a known figure)", status=2)

    def test_a_manifest_of_another_version_stops_everything(self):
        sample_data.write_sweep(self.directory)
        sample_data.write_manifest(self.directory, schema="foredraft.manifest/2")
        self.rejected("manifest.json", 'unknown schema "foredraft.manifest/2"')
        self.assertFalse((self.directory / "speedup.pdf").exists())

    def test_a_figure_of_another_version_is_rejected(self):
        sample_data.write_sweep(self.directory, schema="foredraft.figure/2")
        self.rejected("speedup.figure.json", 'unknown schema "foredraft.figure/2"', "foredraft.figure/1")

    def test_one_bad_figure_does_not_stop_the_others(self):
        sample_data.write_small_sweep(self.directory)
        (self.directory / "leviathan-figure2.csv").write_text("gamma,alpha\n", encoding="utf-8")
        out = self.rejected("leviathan-figure2.csv", "has no column analytic_tokens_per_iteration")
        self.assertEqual(out, "speedup.{pdf,svg,png}\n")

    def test_an_error_that_nobody_thought_of_is_one_line_and_does_not_stop_the_others(self):
        sample_data.write_small_sweep(self.directory)
        sample_data.write_prediction(self.directory)
        for path in self.directory.glob("*-*.csv"):
            path.unlink() if path.stem != "batch-speedup" else None
        path = self.directory / "batch-speedup.csv"
        path.write_text(path.read_text(encoding="utf-8").replace("512,1,", "512,many,"), encoding="utf-8")
        self.assertEqual(self.rejected(f"{self.directory}/batch-speedup: TypeError: "), "speedup.{pdf,svg,png}\n")

    def test_names_of_files_cannot_control_the_terminal(self):
        (self.directory / "a\n\x1b[31m\udcff\u202e.figure.json").write_text("{}", encoding="utf-8")
        self.rejected("/a\\n\\x1b[31m\\udcff\\u202e.figure.json: unknown schema null")
        (self.directory / "speedup.figure.json").write_text('{"schema": "%s"}' % ("x" * 10**6), encoding="utf-8")
        (self.directory / "a\n\x1b[31m\udcff\u202e.figure.json").unlink()
        self.assertLess(len(self.plot()[2]), 1100)

    def test_links_in_the_folder_are_errors_that_name_them(self):
        sample_data.write_small_sweep(self.directory)
        (self.directory / "leviathan-figure2.csv").symlink_to("/etc/passwd")
        out = self.rejected("leviathan-figure2.csv: is a link; links in a results folder are not followed")
        self.assertEqual(out, "speedup.{pdf,svg,png}\n")

    def test_data_that_are_missing_empty_or_lack_a_column(self):
        sample_data.write_specification(self.directory)
        self.rejected("speedup.csv: is missing")
        (self.directory / "speedup.csv").write_text("", encoding="utf-8")
        self.rejected("speedup.csv: is empty")
        header = "c,alpha,gamma,analytic_speedup,simulated_speedup"
        (self.directory / "speedup.csv").write_text(f"{header}\n1,1,1,1,1\n", encoding="utf-8")
        self.rejected("speedup.csv: has no column simulated_speedup_standard_error")
        (self.directory / "speedup.csv").write_text(f"{header},simulated_speedup_standard_error\n", encoding="utf-8")
        self.rejected("speedup.csv: has a header but no rows")
        (self.directory / "speedup.csv").write_text(f"{header},simulated_speedup_standard_error\n1,1,1,,,\n",
                                                    encoding="utf-8")
        self.rejected("speedup.csv: no value of speedup to draw")

    def test_every_experiment_says_when_there_is_nothing_to_draw(self):
        for figure in plot.EXPERIMENTS:
            if figure.ID == "leviathan-figure5":
                continue
            with self.subTest(figure.ID):
                path = self.directory / f"{figure.ID}.csv"
                numbers = {"gamma", "c", "alpha", "temperature", "corpus", "drafter", "batch", "device", "context", "load"}
                sample_data.write_csv(path, list(figure.COLUMNS),
                                      [["1" if name in numbers else "" for name in figure.COLUMNS]])
                self.rejected(f"{figure.ID}.csv: no value of")
                path.unlink()

    def test_a_point_with_two_rows_is_rejected_with_its_place(self):
        sample_data.write_sweep(self.directory, panel=None)
        self.rejected("speedup.csv", "more than one row for alpha = 0.5, gamma = 1", "another axis varies")

    def test_more_series_or_panels_than_can_be_told_apart_are_rejected_with_their_number(self):
        sample_data.write_sweep(self.directory, alphas=[i / 20 for i in range(1, 18)])
        self.rejected("alpha has 17 values", "at most 16 series")
        sample_data.write_sweep(self.directory, cs=[i / 100 for i in range(1, 15)])
        self.rejected("c has 14 values", "at most 12 panels")

    def test_a_specification_that_makes_no_sense_is_rejected_key_by_key(self):
        for change, words in (({"width": "triple"}, "width: 'triple' (must be single_column or double_column)"),
                              ({"x": None}, "x: None (must be a text)"), ({"y": ""}, "y: '' (must be a text)"),
                              ({"series": 3}, "series: 3"), ({"panel": "gamma"}, "must differ (gamma, alpha, gamma)"),
                              ({"labels": {"x": 1}}, "labels: "), ({"labels": None}, "labels: "),
                              ({"units": {"gamma": 2}}, "units: "),
                              ({"marks": [{"x": 1}]}, "marks: "),
                              ({"marks": [{"x": 1, "y": 2, "text": "a"}]}, "marks: "),
                              ({"marks": [{"y": "3", "text": "a"}]}, "marks: ")):
            with self.subTest(change):
                sample_data.write_sweep(self.directory, gammas=(1, 2), **change)
                self.rejected("speedup.figure.json", words)

    def test_an_id_that_is_not_the_name_of_the_file_is_rejected(self):
        spec = sample_data.figure_specification(id="../elsewhere")
        (self.directory / "speedup.figure.json").write_text(json.dumps(spec), encoding="utf-8")
        self.rejected("id: '../elsewhere' (must be the name of the file)")


if __name__ == "__main__":
    unittest.main()
