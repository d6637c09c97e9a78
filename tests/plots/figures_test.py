"""Each figure shows the data it was given: which points, how long their bars, which curve, which best point."""

import csv
import unittest

import numpy
import sample_data
from matplotlib.collections import PolyCollection
from matplotlib.patches import StepPatch
from support import InDirectory, rows_of

import batch_speedup
import decision_map
import emnlp_figure5
import emnlp_figure6
import figure_specification
import iclr_figure2
import iclr_figure4
import iclr_figure5
import leviathan_figure2
import leviathan_figure3
import leviathan_figure4
import leviathan_figure5
import load
import ngram_iid_check
import rule_lossiness
import step_time
import survey_batch_context
import survey_medusa_tree
import sweep_figure
import token_tree
import validation
import verification_cost
import wagner_figure3
import wagner_figure4
import wagner_figure5


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

    def test_a_tree_draws_every_node_under_its_parent_by_rank_with_the_chance_to_reach_its_depth(self):
        sample_data.write_tree(self.directory)
        table = load.table(self.directory / "tree.csv", token_tree.COLUMNS)
        figure = token_tree.figure(table, [token_tree.FILLED] * len(table))
        axes = self.panels(figure)[0]
        nodes = [line for line in axes.lines if line.get_marker() == "o"]
        place = [(float(line.get_xdata()[0]), -float(line.get_ydata()[0])) for line in nodes]
        self.assertEqual([depth for _, depth in place], [0, 1, 1, 1, 2, 2, 3])
        x = [x for x, _ in place]
        self.assertTrue(x[1] < x[2] < x[3] and x[4] < x[5])
        self.assertEqual((x[1], x[5]), ((x[4] + x[5]) / 2, x[6]))
        edges = [line for line in axes.lines if line.get_marker() == "None"]
        self.assertEqual(len(edges), 6)
        sizes = [line.get_markersize() for line in nodes]
        self.assertEqual(sorted(sizes, reverse=True), [sizes[i] for i in (0, 1, 4, 2, 5, 6, 3)])
        texts = [text.get_text() for text in axes.texts]
        self.assertEqual([text for text in texts if "%" in text], ["100 %", "70.4 %", "30 %", "1 %"])
        self.assertEqual(texts[:6], ["0", "1", "2", "0", "1", "0"])

    def test_a_tree_refuses_what_is_no_tree(self):
        header = list(token_tree.COLUMNS)
        root = [0, "", 0, 0, 1]
        for row, words in (([1, 1, 1, 0, 0.5], "hangs on no earlier"), ([1, 0, 2, 0, 0.5], "one depth above"),
                           ([2, 0, 1, 0, 0.5], "nodes count from 0"), ([1, 0, 1, 0, 1.5], "in \\[0, 1\\]")):
            sample_data.write_csv(self.directory / "tree.csv", header, [root, row])
            with self.assertRaisesRegex(load.BadFile, f"tree.csv: .*{words}"):
                token_tree.draw(self.directory)

    def test_a_root_alone_and_a_thousand_nodes_are_drawn(self):
        header = list(token_tree.COLUMNS)
        chain = [[i, i - 1, i, 0, 0.9**i] for i in range(1, 90)]
        wide = [[i, 0, 1, i - 1, 0.001] for i in range(1, 1000)]
        for rows in ([], chain, wide):
            sample_data.write_csv(self.directory / "tree.csv", header, [[0, "", 0, 0, 1], *rows])
            self.assertEqual(len(token_tree.draw(self.directory)), 3)

    def test_the_medusa_trees_tell_shared_nodes_from_those_of_one_tree_and_count_the_greedy_one(self):
        figure, _ = self.experiment(survey_medusa_tree, sample_data.write_medusa_tree)
        axes = self.panels(figure)[0]
        nodes = [line for line in axes.lines if line.get_marker() in ("o", "s")]
        self.assertEqual("".join(line.get_marker() for line in nodes), "ooosooo")
        self.assertEqual([line.get_markerfacecolor() == "white" for line in nodes],
                         [False, False, False, True, False, True, True])
        self.assertEqual([text.get_text() for text in axes.texts if "%" in text.get_text()],
                         ["100 %", "70 %", "30 %", "1 %"])
        self.assertIn("in the shipped tree alone", self.labels(figure))

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

    def test_the_speedups_of_sentences_are_steps_of_percent_with_bars_that_stand_apart(self):
        for module in (emnlp_figure6, iclr_figure4):
            sample_data.write_sentence_speedups(self.directory, module.ID)
            table = load.table(self.directory / f"{module.ID}.csv", module.COLUMNS)
            axes = self.panels(module.figure(table))[0]
            steps = [patch.get_data() for patch in axes.patches if isinstance(patch, StepPatch)]
            self.assertEqual(len(steps), 2)
            rows = self.records(f"{module.ID}.csv")
            shares = [100 * float(row["simulated_share"]) for row in rows]
            numpy.testing.assert_allclose([*steps[0].values, *steps[1].values], shares)
            self.assertEqual(list(steps[0].edges), [i / 2 for i in range(25)])
            bars = [segment for bar in axes.collections for segment in bar.get_segments()]
            numpy.testing.assert_allclose([high[1] - low[1] for low, high in bars],
                                          [2 * 196 * float(row["simulated_share_standard_error"]) for row in rows])
            self.assertEqual(len({round(low[0], 9) for low, _ in bars}), len(bars))

    def test_latency_stands_against_throughput_with_a_curve_a_system_and_a_panel_a_clock(self):
        figure, _ = self.experiment(emnlp_figure5, sample_data.write_batch_latencies)
        panels = self.panels(figure)
        self.assertEqual([axes.get_title(loc="left") for axes in panels], ["device alone", "device and program"])
        for axes, slower in zip(panels, (1, 10)):
            plain, speculation = (line for line in axes.lines if line.get_zorder() == 2)
            # 28 tokens a sentence, 2 ms a sentence and batch: both double with the batch until the third.
            numpy.testing.assert_allclose(plain.get_ydata(), [20 * slower, 20 * slower, 20 * slower, 40 * slower])
            numpy.testing.assert_allclose(plain.get_xdata() * slower, [1400, 2800, 5600, 5600])
            numpy.testing.assert_allclose(speculation.get_ydata(), numpy.array([5, 6, 12, 24]) * slower)
            (points,) = (row for row in rows_of(axes) if len(row) == 4)
            for (x, y, low, high), form in zip(points, (5, 6, 12, 24)):
                self.assertAlmostEqual(y, 1.01 * form * slower)
                self.assertAlmostEqual(high - low, 2 * 1.96 * 0.02 * form * slower)
            self.assertEqual(axes.get_xscale(), "log")
        self.assertIn("closed form, batches 1, 2, … 8", self.labels(figure))

    def test_speedups_by_batch_are_curves_above_and_below_break_even_with_a_panel_a_way(self):
        for module, write, panels, baseline in (
                (iclr_figure5, sample_data.write_device_speedups, ["device alone", "device and program"],
                 "slower than beam search"),
                (survey_batch_context, sample_data.write_batch_context, ["once a sequence", "by every token"],
                 "slower than plain decoding")):
            figure, table = self.experiment(module, write)
            axes = self.panels(figure)
            self.assertEqual([one.get_title(loc="left") for one in axes], panels)
            self.assertIn(baseline, self.labels(figure))
            for one, panel in zip(axes, panels):
                self.assertIn([1.0, 1.0], [list(line.get_ydata()) for line in one.lines])
                curves = [line for line in one.lines if line.get_zorder() == 2]
                drawn = numpy.concatenate([line.get_ydata() for line in curves])
                wanted = table.keep(table[next(iter(table.columns))] == panel)["analytic_speedup"]
                self.assertEqual(len(curves), 2)
                numpy.testing.assert_allclose(drawn, wanted)

    def test_the_quality_figure_draws_every_system_and_a_mark_for_every_predicted_speed(self):
        figure, _ = self.experiment(iclr_figure2, sample_data.write_quality)
        axes = self.panels(figure)[0]
        systems = [point for line in axes.lines if line.get_marker() not in ("|", "None") and
                   line.get_linestyle() == "None" for point in zip(line.get_xdata(), line.get_ydata())]
        self.assertEqual(systems, [(15.3, 25.2), (13.9, 27.5), (1.0, 28.9), (3.0, 28.7), (14.3, 26.5)])
        marks = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if line.get_marker() == "|"]
        self.assertEqual(marks, [(3.07, 28.7), (15.1, 26.5)])


    def test_the_memory_of_a_call_has_a_panel_a_pair_with_its_own_scale_and_a_line_a_variant_above_the_logits(self):
        for module in (wagner_figure4, wagner_figure5):
            sample_data.write_verification_memory(self.directory, module.ID)
            figure = module.figure(load.table(self.directory / f"{module.ID}.csv", module.COLUMNS))
            upper, lower = self.panels(figure)
            self.assertEqual([axes.get_title(loc="left").replace("\n", " ") for axes in (upper, lower)],
                             ["a large network with a small one", "others"])
            self.assertLess(4 * upper.get_ylim()[1], lower.get_ylim()[1])
            self.assertEqual([line.get_ydata()[-1] for line in lower.lines],
                             [4e-6 * 256_000 * rows for rows in (84, 124, 83, 41)])
            self.assertEqual(self.labels(figure), ["baseline", "exact", "sigmoid", "logits alone"])

    def test_the_time_of_a_call_stands_above_its_bytes_with_a_column_a_pair_and_a_line_a_variant(self):
        figure, _ = self.experiment(wagner_figure3, sample_data.write_verification_time)
        times, more_times, moved, more_moved = self.panels(figure)
        self.assertEqual(more_times.get_title(loc="left"), "others")
        self.assertEqual([round(line.get_ydata()[-1], 6) for line in more_times.lines],
                         [round(2 * launches + 0.256 * rows, 6) for launches, rows in ((29, 135), (26, 249), (1, 43))])
        self.assertEqual([round(line.get_ydata()[0], 6) for line in moved.lines],
                         [round(0.064 * rows, 6) for rows in (21, 21, 5)])
        self.assertEqual(times.get_ylim(), more_times.get_ylim())
        self.assertEqual(moved.get_ylim(), more_moved.get_ylim())
        self.assertEqual(self.labels(figure), ["baseline, 29 launches", "exact, 26 launches", "fused exact, 1 launch"])


class RuleLossiness(Drawn):
    def test_loss_stands_against_acceptance_above_and_what_greedy_decoding_would_not_emit_below(self):
        figure, _ = self.experiment(rule_lossiness, sample_data.write_rule_lossiness)
        panels = self.panels(figure)
        self.assertEqual([axes.get_title(loc="left") for axes in panels],
                         ["vocabulary of 256 tokens", "vocabulary of 32000 tokens", "", ""])
        above, below = (sorted(point[:2] for series in rows_of(panels[place]) for point in series)
                        for place in (1, 3))
        numpy.testing.assert_allclose(above, [(0.7, 0), (0.8, 0.1), (0.88, 0), (0.9, 0.2), (0.99, 0.295), (1.0, 0.3)],
                                      atol=1e-12)
        numpy.testing.assert_allclose(below, [(0.7, 0.64), (0.8, 0.65), (0.88, 0.64), (0.9, 0.65), (0.99, 0.67),
                                              (1.0, 0.65)], atol=1e-12)

    def test_the_bound_begins_where_the_exact_rule_stands(self):
        figure, _ = self.experiment(rule_lossiness, sample_data.write_rule_lossiness)
        bounds = [line for line in self.panels(figure)[0].lines if line.get_color() == rule_lossiness.style.GREY]
        self.assertEqual(len(bounds), 1)
        numpy.testing.assert_allclose(bounds[0].get_xydata(), [(0, 0), (0.7, 0), (1, 0.3)])


class Prediction(Drawn):
    def figure(self, module, **changes):
        return self.experiment(module, lambda directory: sample_data.write_prediction(directory, **changes))[0]

    def points(self, axes):
        return sorted(point for series in rows_of(axes) for point in series)

    def test_the_parts_of_an_iteration_are_stacked_over_its_tokens_beside_a_plain_step(self):
        figure = self.figure(step_time)
        panels = self.panels(figure)
        self.assertEqual([axes.get_title(loc="left") for axes in panels],
                         ["batch 1: plain 1.01 ms", "batch 8: plain 1.08 ms", "batch 32: plain 1.32 ms"])
        bars = panels[1].patches
        self.assertEqual((bars[0].get_height(), len(bars)), (1, 1 + 4 * 4))
        two = [bar for bar in bars if abs(bar.get_x() + bar.get_width() / 2 - 2) < 1e-9]
        scale = sample_data.tokens(0.7, 2) * 1080
        numpy.testing.assert_allclose([bar.get_height() * scale for bar in two], [200, 1240, 50, 100])
        numpy.testing.assert_allclose([bar.get_y() * scale for bar in two], [0, 200, 1440, 1490])
        x, top, low, high = self.points(panels[1])[1]
        numpy.testing.assert_allclose((x, top, low, high), (2, 1590 / scale, 0.97 * 1590 / scale, 1.03 * 1590 / scale))

    def test_the_fastest_bar_alone_says_its_speedup_and_none_where_all_lose(self):
        texts = [text.get_text() for axes in self.panels(self.figure(step_time)) for text in axes.texts]
        best = max(float(row["speedup"]) for row in self.records("batch-speedup.csv") if row["batch"] == "1")
        self.assertEqual((len(texts), texts[0]), (3, f"{best:.2f}×"))
        losing = self.figure(step_time, alpha=0.05)
        self.assertEqual([text for axes in self.panels(losing) for text in axes.texts], [])

    def test_a_speedup_has_its_batch_its_bar_and_a_marker_that_says_where_it_comes_from(self):
        figure = self.figure(batch_speedup)
        panels = self.panels(figure)
        self.assertEqual([axes.get_title(loc="left") for axes in panels], ["context 512", "context 4096"])
        wanted = [row for row in self.records("batch-speedup.csv") if row["context"] == "512"]
        drawn = self.points(panels[0])
        self.assertEqual(len(drawn), len(wanted))
        for x, y, low, high in drawn:
            row = min(wanted, key=lambda row: abs(float(row["speedup"]) - y))
            numpy.testing.assert_allclose((y, low, high), [float(row["speedup"]) * k for k in (1, 0.97, 1.03)])
            self.assertLess(abs(numpy.log2(x / float(row["batch"]))), 0.13)
        self.assertIn([1.0, 1.0], [list(line.get_ydata()) for line in panels[0].lines])
        self.assertEqual(self.labels(figure), ["1", "2", "3", "4", "measured", "interpolated", "fitted",
                                               "outside the domain of the fit", "slower than plain decoding"])
        crosses = [line for line in panels[0].lines if line.get_marker() == "x" and len(line.get_xdata())]
        self.assertEqual(len(crosses), 1)

    def test_bars_of_unknown_intervals_are_left_out_and_it_is_said(self):
        figure = self.figure(batch_speedup, spread="")
        self.assertTrue(all(low == y == high for axes in self.panels(figure) for _, y, low, high in self.points(axes)))
        self.assertIn("no intervals known", " ".join(text.get_text() for text in figure.texts).replace("\n", " "))
        self.assertEqual({x for axes in self.panels(figure) for x, *_ in self.points(axes)}, {1, 8, 32})

    def test_a_bar_does_not_reach_below_zero(self):
        lows = [low for axes in self.panels(self.figure(batch_speedup, spread=1.5)) for *_, low, _ in self.points(axes)]
        self.assertEqual(min(lows), 0)

    def test_the_cost_of_verification_grows_from_one_and_has_a_ring_at_each_knee(self):
        figure = self.figure(verification_cost, contexts=(512,))
        axes = self.panels(figure)[0]
        numpy.testing.assert_allclose([y for x, y, *_ in self.points(axes) if x == 1], 1)
        numpy.testing.assert_allclose([y for x, y, *_ in self.points(axes) if x == 16],
                                      sorted((1 + 0.16 * batch) / (1 + 0.01 * batch) for batch in (1, 8, 32)))
        rings = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines
                 if line.get_markersize() > 6 and line.get_marker() == "o" and numpy.isfinite(line.get_xdata()).all()]
        numpy.testing.assert_allclose(rings, [(11.1, 1.1), (2.35, 1.1), (1.4125, 1.1)])
        self.assertEqual(self.labels(figure)[:3], ["1: 11.1", "8: 2.35", "32: 1.41"])

    def test_a_curve_without_a_knee_says_how_far_it_was_looked_for(self):
        sample_data.write_prediction(self.directory, batches=(1,), contexts=(512,))
        path = self.directory / "verification-cost.csv"
        path.write_text(path.read_text(encoding="utf-8").replace(",11.1\n", ",\n"), encoding="utf-8")
        figure = verification_cost.figure(load.table(path, verification_cost.COLUMNS))
        self.assertEqual(self.labels(figure)[0], "1: beyond 16")

    def test_the_decision_map_has_a_strip_a_context_whose_ranges_meet_between_batches(self):
        figure = self.figure(decision_map)
        axes = self.panels(figure)[0]
        ranges = sorted((patch.get_y(), patch.get_x(), patch.get_x() + patch.get_width()) for patch in axes.patches)
        lower = [(start, end) for y, start, end in ranges if y < 0]
        edges = [0, (numpy.log2(8) + numpy.log2(9)) / 2, (numpy.log2(10) + numpy.log2(11)) / 2, 5]
        numpy.testing.assert_allclose(lower, list(zip(edges, edges[1:])))
        self.assertEqual([text.get_text() for text in axes.get_yticklabels()], ["512", "4096"])
        self.assertEqual(self.labels(figure), ["plain", "1", "3"])

    def test_words_that_no_prediction_has_and_ranges_that_are_none_are_refused(self):
        for name, module, before, after, words in (
                ("batch-speedup", batch_speedup, "fitted", "guessed", "origin: 'guessed'"),
                ("verification-cost", verification_cost, ",yes,", ",perhaps,", "inside_domain: 'perhaps'"),
                ("step-time", step_time, "interpolated", "", "origin: ''"),
                ("decision-map", decision_map, "512,1,8,3", "512,9,8,3", "gamma 3 from batch 9 to 8 is no range")):
            sample_data.write_prediction(self.directory)
            path = self.directory / f"{name}.csv"
            path.write_text(path.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")
            with self.assertRaisesRegex(load.BadFile, f"{name}.csv: {words}"):
                module.draw(self.directory)

    def test_more_batches_and_contexts_than_a_figure_holds_are_thinned_from_end_to_end(self):
        many = {"batches": tuple(range(1, 15)), "contexts": tuple(range(100, 1400, 100)), "gammas": (1,)}
        self.assertEqual([axes.get_title(loc="left")[:8] for axes in self.panels(self.figure(step_time, **many))][::7],
                         ["batch 1:", "batch 14"])
        titles = [axes.get_title(loc="left") for axes in self.panels(self.figure(batch_speedup, **many))]
        self.assertEqual((len(titles), titles[0], titles[-1]), (6, "context 100", "context 1300"))
        self.assertEqual(len(self.panels(self.figure(decision_map, **many))[0].get_yticklabels()), 12)


class Validation(Drawn):
    def setUp(self):
        super().setUp()
        sample_data.write_validation(self.directory)
        self.table = validation.read(self.directory)

    def test_every_measured_cell_stands_at_its_prediction_with_intervals_both_ways(self):
        axes = self.panels(validation.figure(self.table))[0]
        rows = self.records("validation.csv")[:-1]
        drawn = sorted((x, y) for container in axes.containers
                       for x, y in zip(container.lines[0].get_xdata(), container.lines[0].get_ydata()))
        numpy.testing.assert_allclose(drawn, sorted((float(row["predicted_speedup"]), float(row["measured_speedup"]))
                                                    for row in rows))
        across, along = axes.containers[0].lines[2]
        first = rows[0]
        numpy.testing.assert_allclose(across.get_segments()[0][:, 0],
                                      [float(first["predicted_low"]), float(first["predicted_high"])])
        numpy.testing.assert_allclose(along.get_segments()[0][:, 1],
                                      [float(first["measured_low"]), float(first["measured_high"])])
        self.assertEqual(axes.get_xlim(), axes.get_ylim())

    def test_a_point_on_the_edge_of_a_band_is_off_by_its_width(self):
        axes = self.panels(validation.figure(self.table))[0]
        for band, width in zip(axes.collections, (0.15, 0.05)):
            vertices = band.get_paths()[0].vertices
            ratios = vertices[:, 0] / vertices[:, 1] - 1  # predicted over measured
            numpy.testing.assert_allclose((ratios.min(), ratios.max()), (-width, width))

    def test_the_errors_and_the_spread_between_runs_are_printed_in_the_figure(self):
        titles = [legend.get_title().get_text() for legend in validation.figure(self.table).legends]
        found = validation.errors(self.table)
        sizes = sorted(abs(float(row["signed_error"])) for row in self.records("validation.csv")[:-1])
        self.assertEqual((found.cells, found.worst), (24, 0.09))
        self.assertAlmostEqual(found.median, (sizes[11] + sizes[12]) / 2)
        self.assertIn(f"24 cells: error median {100 * found.median:.1f} %, worst 9.0 %; between runs 2.0 %", titles)

    def test_speedups_of_an_engine_have_no_intervals_and_no_second_run(self):
        sample_data.write_validation(self.directory, between_runs="", intervals=False)
        table = validation.read(self.directory)
        figure = validation.figure(table)
        self.assertEqual(validation.words(validation.errors(table)).count("between runs"), 0)
        axes = self.panels(figure)[0]
        self.assertEqual(sum(len(container.lines[0].get_xdata()) for container in axes.containers), 24)
        for segments in axes.containers[0].lines[2]:
            self.assertEqual({tuple(numpy.ptp(segment, axis=0)) for segment in segments.get_segments()}, {(0.0, 0.0)})
        low, high = axes.get_xlim()
        self.assertLess(low, min(table["measured_speedup"]))
        self.assertGreater(high, max(table["predicted_speedup"]))

    def test_each_pair_of_models_has_a_marker_of_its_own(self):
        figure = validation.figure(self.table)
        self.assertEqual(self.labels(figure)[:2], ["t5-base / t5-small", "transformer-base / t5-small"])
        self.assertEqual(len({container.lines[0].get_marker() for container in self.panels(figure)[0].containers}), 2)


if __name__ == "__main__":
    unittest.main()
