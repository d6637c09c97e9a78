# SPDX-License-Identifier: Apache-2.0
"""The figures of a sweep: their points, error bars, curves and best points."""

import re
import unittest

import numpy
import sample_data
from support import PLOTS, Drawn, rows_of

from plots import figure_specification, load, style, sweep_figure, sweep_panels


class Sweep(Drawn):
    def figure(self, figure_id="speedup"):
        spec = figure_specification.read(self.directory / f"{figure_id}.figure.json")
        return self.once("sweep", lambda: sweep_figure.figure(spec, sweep_figure.data(self.directory, spec)),
                         f"{figure_id}.figure.json", f"{figure_id}.csv")

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
            shaded, = axes.patches
            corners = shaded.get_patch_transform().transform(shaded.get_path().vertices)
            self.assertAlmostEqual(corners[:, 1].max(), 1.0)
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
        sample_data.write_sweep(self.directory, units={"gamma": "tokens^2", "speedup": "autoregressive"})
        texts = [text.get_text() for text in self.figure().texts]
        self.assertEqual(texts, ["speedup over autoregressive decoding", "draft length γ (tokens) (tokens²)"])

    def test_requests_per_second_need_no_unit_and_a_letter_follows_the_words_it_stands_for(self):
        sample_data.write_sweep(self.directory, x="c", series="gamma", panel="alpha", units={"speedup": "1/s"}, labels={
            "speedup": "tokens per second", "c": "cost", "gamma": "drafted tokens", "alpha": "acceptance"})
        figure = self.figure()
        self.assertEqual(self.titles(figure), ["cost c", "tokens per second"])
        self.assertEqual(figure.legends[0].get_title().get_text(), "drafted tokens γ")
        self.assertEqual(self.panels(figure)[0].get_title(loc="left"), "α = 0.5")

    def test_a_letter_stands_alone_if_its_words_exceed_a_line_and_a_column_without_one_keeps_its_name(self):
        long = {"labels": {"alpha": "words " * 20, "drafter": "what drafts"}}
        sample_data.write_small_sweep(self.directory, **long)
        self.assertEqual(self.figure().legends[0].get_title().get_text(), "α")
        spec = {**sample_data.figure_specification(**long), "series": "drafter"}
        self.assertEqual(sweep_panels.legend_title(spec, "drafter"), "drafter")

    def test_without_any_closed_form_the_simulated_points_are_joined(self):
        sample_data.write_small_sweep(self.directory)
        path = self.directory / "speedup.csv"
        header, *rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
        sample_data.write_csv(path, header, [[*row[:3], "", *row[4:]] for row in rows])
        figure = self.figure()
        self.assertIn([float(row[4]) for row in rows], [list(line.get_ydata()) for line in
                                                        self.panels(figure)[0].lines if line.get_zorder() == 2])
        self.assertNotIn("closed form", self.labels(figure))

    def test_marks_are_lines_at_their_values_with_their_text_in_the_legend(self):
        sample_data.write_sweep(self.directory, marks=[{"x": 7, "text": "paper"}, {"y": 3, "text": "wanted"}])
        figure = self.figure()
        for axes in self.panels(figure):
            self.assertIn([7, 7], [list(line.get_xdata()) for line in axes.lines])
            self.assertIn([3, 3], [list(line.get_ydata()) for line in axes.lines])
        self.assertTrue({"paper", "wanted"} <= set(self.labels(figure)))


class TradeOff(Drawn):
    def figure(self):
        spec = figure_specification.read(self.directory / "trade.figure.json")
        return sweep_figure.figure(spec, sweep_figure.data(self.directory, spec))

    def test_points_have_bars_both_ways_and_are_joined_in_the_order_of_the_axis_along_which_they_lie(self):
        sample_data.write_trade_off(self.directory)
        figure = self.figure()
        axes = self.panels(figure)[0]
        for gamma, fastest, line in zip((0, 2), (10, 6), [line for line in axes.lines if line.get_zorder() == 2]):
            latency = [fastest * (1 + clients / 16) for clients in (1, 8, 64)]
            numpy.testing.assert_allclose(line.get_ydata(), latency)
            numpy.testing.assert_allclose(line.get_xdata(), [100 * n / t for n, t in zip((1, 8, 64), latency)])
        for container in axes.containers:
            bars = container.lines[2]
            if len(container.lines[0].get_xdata()):
                self.assertEqual(len(bars), 2)
                for segment in bars[0].get_segments():
                    self.assertAlmostEqual(segment[1, 0] - segment[0, 0], 2 * 1.96 * 2.0)
                for segment in bars[1].get_segments():
                    self.assertAlmostEqual(segment[1, 1] - segment[0, 1], 2 * 1.96 * 0.1)
        self.assertIn("simulated, 95 %; arrivals.clients: 1, 8, 64", " ".join(self.labels(figure)).replace("\n", " "))

    def test_a_logarithmic_axis_has_ticks_in_decimals(self):
        for largest, ticks in ((3000, ["100", "300", "1000", "3000"]), (60_000, ["100", "1000", "10000"])):
            sample_data.write_trade_off(self.directory)
            path = self.directory / "trade.csv"
            header, *rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
            for row in rows:
                row[header.index("simulated_tokens_per_s")] = largest if row[1] == "64" else 100
            sample_data.write_csv(path, header, rows)
            axes = self.panels(self.figure())[0]
            axes.figure.canvas.draw()
            low, high = axes.get_xlim()
            shown = [tick.label1.get_text() for tick in axes.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
            self.assertEqual(shown, ticks)

    def test_a_closed_form_alone_is_a_line_and_says_so(self):
        sample_data.write_trade_off(self.directory, simulated=False)
        figure = self.figure()
        self.assertEqual(rows_of(self.panels(figure)[0]), [])
        self.assertEqual(len([line for line in self.panels(figure)[0].lines if line.get_zorder() == 2]), 2)
        self.assertTrue(any("closed form" in text for text in self.labels(figure)))

    def test_without_values_of_both_quantities_there_is_nothing_to_draw(self):
        sample_data.write_trade_off(self.directory)
        text = (self.directory / "trade.csv").read_text(encoding="utf-8")
        lines = [line.split(",") for line in text.splitlines()]
        (self.directory / "trade.csv").write_text(
            "\n".join([",".join(lines[0])] + [",".join([*cells[:3], "", "", *cells[5:]]) for cells in lines[1:]]),
            encoding="utf-8")
        with self.assertRaisesRegex(load.BadFile, "no value of tokens_per_s to draw"):
            self.figure()


class Keys(unittest.TestCase):
    def test_the_page_for_users_has_every_key_of_a_figure(self):
        reader = (PLOTS.parent / "experiments/config/sweep_config.cpp").read_text(encoding="utf-8")
        known = re.search(r'reject_unread\(std::vector<std::string>\{("id", [^}]*)\}', reader)[1]
        section = (PLOTS.parent / "docs/papers.md").read_text(encoding="utf-8").partition("### Its figures")[2]
        table = section.partition("| key |")[2].partition("\n\n")[0]
        self.assertEqual(sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)), sorted(re.findall(r"\w+", known)))
        for most in (style.MAX_SERIES, sweep_panels.MAX_PANELS):
            self.assertIn(f"at most {most} |", table)
        for name, inches in style.WIDTH_IN.items():
            self.assertRegex(table, rf'"{name}"` \({inches:g} in')


if __name__ == "__main__":
    unittest.main()
