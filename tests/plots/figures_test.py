"""Each figure shows the data it was given: which points, how long their bars, which curve, which best point."""

import csv
import unittest

import numpy
import sample_data
from matplotlib.collections import PolyCollection
from support import InDirectory, rows_of

import figure_specification
import leviathan_figure2
import leviathan_figure3
import leviathan_figure4
import leviathan_figure5
import load
import ngram_iid_check
import sweep_figure


class Drawn(InDirectory):
    def panels(self, figure):
        return [axes for axes in figure.axes if axes.get_visible()]

    def experiment(self, module, write):
        write(self.directory)
        table = load.table(self.directory / f"{module.ID}.csv", module.COLUMNS)
        return module.figure(table), table

    def records(self, name):
        with open(self.directory / name, encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def labels(self, figure):
        return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


class Sweep(Drawn):
    def figure(self, figure_id="speedup"):
        spec = figure_specification.read(self.directory / f"{figure_id}.figure.json")
        return sweep_figure.figure(spec, sweep_figure.data(self.directory, spec))

    def best_marks(self, axes):
        """(marker, x) of every mark drawn on top of the points."""
        return sorted((line.get_marker(), float(line.get_xdata()[0])) for line in axes.lines
                      if line.get_zorder() == 4)

    def test_every_point_of_the_quickstart_is_drawn_with_a_bar_of_1_96_standard_errors_to_each_side(self):
        sample_data.write_sweep(self.directory)
        drawn = [point for axes in self.panels(self.figure()) for series in rows_of(axes) for point in series]
        wanted = self.records("speedup.csv")
        self.assertEqual(len(wanted), 180)
        self.assertEqual(len(drawn), 180)
        for (x, y, low, high), row in zip(drawn, wanted):
            half = 1.96 * float(row["simulated_speedup_standard_error"])
            numpy.testing.assert_allclose((x, y, y - low, high - y), (float(row["gamma"]),
                                          float(row["simulated_speedup"]), half, half), rtol=1e-9)

    def test_a_panel_a_value_with_one_scale_for_all(self):
        sample_data.write_sweep(self.directory)
        panels = self.panels(self.figure())
        self.assertEqual([axes.get_title(loc="left") for axes in panels], ["c = 0.02", "c = 0.05", "c = 0.1"])
        self.assertEqual(len({(axes.get_xlim(), axes.get_ylim()) for axes in panels}), 1)

    def test_the_best_draft_length_of_each_series_is_marked_and_an_end_of_the_axis_marked_otherwise(self):
        sample_data.write_sweep(self.directory)
        ends, inside = "s", "o"
        first = self.best_marks(self.panels(self.figure())[0])
        self.assertEqual(first, [(inside, 4), (inside, 6), (inside, 8), (inside, 11), (ends, 12)])

    def test_acceptance_is_nothing_to_choose_and_so_has_no_best_value(self):
        sample_data.write_sweep(self.directory, x="alpha", series="gamma")
        self.assertEqual([self.best_marks(axes) for axes in self.panels(self.figure())], [[], [], []])

    def test_break_even_and_the_losing_side_are_in_every_panel(self):
        sample_data.write_sweep(self.directory, alphas=(0.8, 0.9), gammas=(2, 3))  # every point above 1
        for axes in self.panels(self.figure()):
            self.assertIn([1.0, 1.0], [list(line.get_ydata()) for line in axes.lines])
            self.assertEqual([patch.get_xy()[:, 1].max() for patch in axes.patches], [1.0])
            self.assertLess(axes.get_ylim()[0], 1)

    def test_another_quantity_has_neither_break_even_nor_best_point(self):
        sample_data.write_sweep(self.directory, y="tokens_per_iteration")
        text = (self.directory / "speedup.csv").read_text(encoding="utf-8")
        (self.directory / "speedup.csv").write_text(text.replace("_speedup", "_tokens_per_iteration"), encoding="utf-8")
        axes = self.panels(self.figure())[0]
        self.assertEqual(self.best_marks(axes), [])
        self.assertEqual(len(axes.patches), 0)

    def test_empty_and_nan_cells_are_left_out(self):
        sample_data.write_specification(self.directory, panel=None, series=None)
        sample_data.write_csv(self.directory / "speedup.csv",
                              ["gamma", "analytic_speedup", "simulated_speedup", "simulated_speedup_standard_error"],
                              [[1, 1.1, 1.2, 0.1], [2, "", "nan", 0.1], [3, "nan", 1.4, ""], [4, 1.5, "", ""],
                               ["unbounded", 2, 2, 0.1]])
        axes = self.panels(self.figure())[0]
        numpy.testing.assert_allclose(rows_of(axes), [[(1, 1.2, 1.004, 1.396), (3, 1.4, 1.4, 1.4)]])
        self.assertIn([1.0, 4.0], [list(line.get_xdata()) for line in axes.lines])

    def test_a_series_of_one_point_is_visible(self):
        sample_data.write_sweep(self.directory, alphas=[0.8], gammas=[5], cs=[0.02])
        axes = self.panels(self.figure())[0]
        self.assertEqual(len(rows_of(axes)[0]), 1)
        self.assertEqual([line.get_marker() for line in axes.lines if list(line.get_xdata()) == [5]][0], "_")
        low, high = axes.get_ylim()
        self.assertTrue(low < 1 and high > sample_data.speedup(0.8, 5, 0.02))

    def test_rows_in_any_order_give_the_same_lines(self):
        sample_data.write_sweep(self.directory)
        lines = [list(line.get_xdata()) for line in self.panels(self.figure())[0].lines]
        header, *rows = (self.directory / "speedup.csv").read_text(encoding="utf-8").splitlines()
        (self.directory / "speedup.csv").write_text("\n".join([header, *reversed(rows)]) + "\n", encoding="utf-8")
        self.assertEqual([list(line.get_xdata()) for line in self.panels(self.figure())[0].lines], lines)

    def test_factors_make_a_logarithmic_axis_and_steps_a_linear_one(self):
        sample_data.write_sweep(self.directory, gammas=(1, 2, 4, 8, 16, 32))
        self.assertEqual(self.panels(self.figure())[0].get_xscale(), "log")
        sample_data.write_sweep(self.directory)
        self.assertEqual(self.panels(self.figure())[0].get_xscale(), "linear")

    def test_words_on_the_x_axis_stand_apart_and_are_not_joined(self):
        sample_data.write_specification(self.directory, x="rule", series="drafter", panel=None)
        sample_data.write_csv(self.directory / "speedup.csv",
                              ["rule", "drafter", "analytic_speedup", "simulated_speedup",
                               "simulated_speedup_standard_error"],
                              [[rule, drafter, 2, 2.1, 0.1] for rule in ("greedy_match", "lenient")
                               for drafter in ("block", "heads")])
        figure = self.figure()
        axes = self.panels(figure)[0]
        self.assertEqual([text.get_text() for text in axes.get_xticklabels()], ["greedy match", "lenient"])
        self.assertEqual(len({x for series in rows_of(axes) for x, *_ in series}), 4)
        self.assertEqual({line.get_linestyle() for line in axes.lines if len(line.get_xdata()) == 2
                          and list(line.get_ydata()) == [2, 2]}, {"None"})

    def test_a_unit_is_added_to_words_that_do_not_name_it(self):
        sample_data.write_sweep(self.directory, units={"gamma": "tokens^2", "speedup": "plain"})
        texts = [text.get_text() for text in self.figure().texts]
        self.assertEqual(texts, ["speedup over plain decoding", "draft length γ (tokens) (tokens²)"])

    def test_marks_are_lines_at_their_values_with_their_text_in_the_legend(self):
        sample_data.write_sweep(self.directory, marks=[{"x": 7, "text": "paper"}, {"y": 3, "text": "wanted"}])
        figure = self.figure()
        for axes in self.panels(figure):
            self.assertIn([7, 7], [list(line.get_xdata()) for line in axes.lines])
            self.assertIn([3, 3], [list(line.get_ydata()) for line in axes.lines])
        self.assertTrue({"paper", "wanted"} <= set(self.labels(figure)))


class Papers(Drawn):
    def test_figure_2_draws_a_curve_a_draft_length_and_lets_the_unbounded_one_leave_the_figure(self):
        figure, table = self.experiment(leviathan_figure2, sample_data.write_figure2)
        axes = self.panels(figure)[0]
        self.assertEqual(self.labels(figure)[:6], ["1", "3", "5", "7", "10", "∞"])
        curves = [line for line in axes.lines if len(line.get_xdata()) > 50]
        self.assertEqual([len(line.get_xdata()) for line in curves], [101] * 5 + [100])
        self.assertEqual([len(series) for series in rows_of(axes)], [11] * 5 + [10])
        self.assertAlmostEqual(curves[3].get_ydata()[80], sample_data.tokens(0.8, 7))
        self.assertTrue(11 < axes.get_ylim()[1] < 13)

    def test_figure_3_draws_steps_and_whiskers_to_the_ends_of_the_tie(self):
        figure, table = self.experiment(leviathan_figure3, sample_data.write_figure3)
        axes = self.panels(figure)[0]
        self.assertEqual({line.get_drawstyle() for line in axes.lines if len(line.get_xdata()) > 50}, {"steps-mid"})
        rows = [row for row in self.records("leviathan-figure3.csv") if row["simulated_best_gamma"]]
        drawn = [point for series in rows_of(axes) for point in series]
        self.assertEqual(drawn, [tuple(float(row[name]) for name in ("alpha", "simulated_best_gamma",
                                 "simulated_best_gamma_low", "simulated_best_gamma_high")) for row in rows])

    def test_figure_3_leaves_an_unbounded_optimum_out(self):
        sample_data.write_csv(self.directory / "leviathan-figure3.csv", list(leviathan_figure3.COLUMNS),
                              [[0, 0.5, "unbounded", "", "", ""], [0.1, 0.5, 2, 2, 1, 3], [0.1, 0.6, 3, "", "", ""]])
        table = load.table(self.directory / "leviathan-figure3.csv", leviathan_figure3.COLUMNS)
        axes = self.panels(leviathan_figure3.figure(table))[0]
        self.assertLess(axes.get_ylim()[1], 4)

    def test_figure_4_draws_speedup_above_and_operations_below(self):
        figure, table = self.experiment(leviathan_figure4, sample_data.write_figure4)
        upper, lower = self.panels(figure)
        for axes, y in ((upper, "speedup"), (lower, "operations_factor")):
            rows = [row for row in self.records("leviathan-figure4.csv") if row[f"simulated_{y}"]]
            drawn = [point[1] for series in rows_of(axes) for point in series]
            self.assertEqual(drawn, [float(row[f"simulated_{y}"]) for row in rows])
        self.assertGreater(upper.lines[0].get_ydata()[-1], 1.5)
        self.assertAlmostEqual(lower.lines[0].get_ydata()[-1], 1)

    def test_figure_5_draws_every_block_in_its_lane_and_tokens_under_the_step_that_yields_them(self):
        figure, table = self.experiment(leviathan_figure5, sample_data.write_figure5)
        axes = self.panels(figure)[0]
        rows = self.records("leviathan-figure5.csv")
        self.assertEqual(len(axes.patches), len(rows))
        plain = [patch for patch in axes.patches if patch.get_y() < 1]
        self.assertEqual(len(plain), 48)
        first_target = next(row for row in rows if row["kind"] == "target")
        tokens = [patch for patch in axes.patches if 2 < patch.get_y() < 2.3
                  and patch.get_x() < float(first_target["end"]) - 1e-9]
        count = sum(row["kind"] == "token" and row["start"] == first_target["end"] for row in rows)
        self.assertEqual(len(tokens), count)
        self.assertAlmostEqual(tokens[0].get_x(), float(first_target["start"]))
        self.assertAlmostEqual(sum(patch.get_width() for patch in tokens), 1)
        self.assertIn("plain decoding: 24 tokens in 24 target steps", [text.get_text() for text in axes.texts])

    def test_figure_5_refuses_what_is_no_block(self):
        for row, words in ((["a", "drafft", 0, 1, ""], "kind: 'drafft'"), (["a", "target", 2, 1, ""], "from 2 to 1"),
                           (["a", "token", 1, 1, "maybe"], "label: 'maybe'")):
            sample_data.write_csv(self.directory / "leviathan-figure5.csv", list(leviathan_figure5.COLUMNS), [row])
            with self.assertRaisesRegex(load.BadFile, f"leviathan-figure5.csv: .*{words}"):
                leviathan_figure5.draw(self.directory)

    def test_the_ngram_check_draws_the_run_the_formulas_the_band_and_the_signed_difference(self):
        figure, table = self.experiment(ngram_iid_check, sample_data.write_ngram)
        panels = self.panels(figure)
        self.assertEqual(len(panels), 8)
        self.assertEqual(panels[3].get_title(loc="left"), "code, temperature 1")
        rows = [row for row in self.records("ngram-iid-check.csv")
                if (row["corpus"], row["temperature"], row["drafter"]) == ("code", "1", "bigram")]
        run = [float(row["simulated_tokens_per_iteration"]) for row in rows]
        self.assertEqual([y for _, y, *_ in rows_of(panels[3])[1]], run)
        bands = [band.get_paths()[0].vertices[:, 1] for band in panels[3].collections
                 if isinstance(band, PolyCollection)]
        self.assertEqual((bands[1].min(), bands[1].max()), (min(float(row["bound_low"]) for row in rows),
                                                            max(float(row["bound_high"]) for row in rows)))
        iid = [float(row["iid_tokens_per_iteration"]) for row in rows]
        below = rows_of(panels[7])[2]  # two formulas a drafter: the i.i.d. one of the second drafter
        numpy.testing.assert_allclose([y for _, y, *_ in below], [100 * (f / r - 1) for f, r in zip(iid, run)])
        self.assertLess(below[-1][1], 0)
        self.assertTrue(all(low < y < high for _, y, low, high in below))


if __name__ == "__main__":
    unittest.main()
