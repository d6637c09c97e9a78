# SPDX-License-Identifier: Apache-2.0
"""Each figure of a paper shows the data it was given."""

import unittest

import numpy
import sample_data
from matplotlib.collections import PolyCollection
from matplotlib.patches import StepPatch
from support import Drawn, drawn_texts, rows_of

from plots import (emnlp_figure5, emnlp_figure6, iclr_figure2, iclr_figure4, iclr_figure5, leviathan_figure2,
                   leviathan_figure3, leviathan_figure4, leviathan_figure5, load, ngram_iid_check, plot, rule_lossiness,
                   sampling_acceptance, style, survey_batch_context, survey_medusa_tree, token_tree, wagner_figure3,
                   wagner_figure4, wagner_figure5)


class Axes(Drawn):
    def test_every_axis_says_what_lies_along_it_and_by_factors_if_batches_double(self):
        plain, batches = ("linear", "linear"), ("log", "linear")
        for module, write, titles, scales in (
                (leviathan_figure2, sample_data.write_figure2, ["acceptance rate α", "tokens per iteration"], plain),
                (leviathan_figure3, sample_data.write_figure3, ["acceptance rate α", "fastest draft length γ (tokens)"], plain),
                (leviathan_figure4, sample_data.write_figure4,
                 ["acceptance rate α", "speedup over autoregressive decoding",
                  "operations over autoregressive decoding"], plain),
                (leviathan_figure5, sample_data.write_figure5, ["time (target steps)", ""], plain),
                (ngram_iid_check, sample_data.write_ngram,
                 ["draft length γ (tokens)", "tokens per iteration", "formula − measured (%)"], plain),
                (rule_lossiness, sample_data.write_rule_lossiness,
                 ["acceptance rate", "total variation distance from the target",
                  "fraction of tokens that differ from greedy decoding"], plain),
                (sampling_acceptance, sample_data.write_sampling_acceptance,
                 ["temperature", "synthetic: acceptance", "5-gram and bigram, prose: acceptance"], plain),
                (emnlp_figure5, sample_data.write_batch_latencies,
                 ["throughput (tokens/s)", "latency of a sentence (ms)"], ("log", "log")),
                (emnlp_figure6, sample_data.write_sentence_speedups,
                 ["speedup of a sentence", "share of sentences (%)"], plain),
                (iclr_figure2, sample_data.write_quality, ["speedup over beam search", "BLEU, EN-DE, as printed"], plain),
                (iclr_figure5, sample_data.write_device_speedups, ["batch size (sequences)", "speedup over beam search"],
                 batches),
                (survey_batch_context, sample_data.write_batch_context,
                 ["batch size (sequences)", "speedup over autoregressive decoding"], batches),
                (survey_medusa_tree, sample_data.write_medusa_tree,
                 ["candidates of a node from the left by rank, 0 the most probable", "drafted tokens"], plain),
                (wagner_figure3, sample_data.write_verification_time,
                 ["draft length γ (tokens)", "time of one call (µs), counted", "bytes moved (MB)"], plain),
                (wagner_figure5, lambda directory: sample_data.write_verification_memory(directory, wagner_figure5.ID),
                 ["draft length γ (tokens)", "memory of one verification call (MB): counted, not measured"], plain)):
            with self.subTest(module.ID):
                figure, _ = self.experiment(module, write)
                self.assertEqual(self.titles(figure), titles)
                self.assertEqual(self.scales(figure), {scales})


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
        for label, gamma, curve in zip(self.labels(figure), (1, 3, 5, 7, 10), curves):
            self.assertAlmostEqual(curve.get_ydata()[50], sample_data.tokens(0.5, gamma))
            self.assertEqual(self.handle(figure, label).get_color(), curve.get_color())

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

    def test_figure_5_rejects_what_is_no_block(self):
        for row, words in ((["a", "drafft", 0, 1, ""], "kind: 'drafft'"), (["a", "target", 2, 1, ""], "from 2 to 1"),
                           (["a", "token", 1, 1, "maybe"], "label: 'maybe'")):
            sample_data.write_csv(self.directory / "leviathan-figure5.csv", list(leviathan_figure5.COLUMNS), [row])
            with self.assertRaisesRegex(load.BadFile, f"leviathan-figure5.csv: .*{words}"):
                plot.read(leviathan_figure5, self.directory)

    def test_a_tree_draws_every_node_under_its_parent_by_rank_with_the_chance_to_reach_its_depth(self):
        sample_data.write_tree(self.directory)
        table = load.table(self.directory / "tree.csv", token_tree.COLUMNS)
        figure = token_tree.figure(table)
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

    def test_a_tree_rejects_what_is_no_tree(self):
        header = list(token_tree.COLUMNS)
        root = [0, "", 0, 0, 1]
        for row, words in (([1, 1, 1, 0, 0.5], "hangs on no earlier"), ([1, 0, 2, 0, 0.5], "one depth above"),
                           ([2, 0, 1, 0, 0.5], "nodes count from 0"), ([1, 0, 1, 0, 1.5], "in \\[0, 1\\]")):
            sample_data.write_csv(self.directory / "tree.csv", header, [root, row])
            with self.assertRaisesRegex(load.BadFile, f"tree.csv: .*{words}"):
                plot.read(token_tree, self.directory)

    def test_a_root_alone_and_a_thousand_nodes_are_drawn(self):
        header = list(token_tree.COLUMNS)
        chain = [[i, i - 1, i, 0, 0.9**i] for i in range(1, 90)]
        wide = [[i, 0, 1, i - 1, 0.001] for i in range(1, 1000)]
        sample_data.write_csv(self.directory / "tree.csv", header, [[0, "", 0, 0, 1]])
        self.assertEqual(len(style.save(plot.read(token_tree, self.directory), self.directory / "tree")), 3)
        for rows in (chain, wide):
            sample_data.write_csv(self.directory / "tree.csv", header, [[0, "", 0, 0, 1], *rows])
            table = load.table(self.directory / "tree.csv", token_tree.COLUMNS)
            drawn_texts(token_tree.figure(table, [token_tree.FILLED] * len(table)))

    def test_the_medusa_trees_tell_shared_nodes_from_those_of_one_tree_and_count_the_greedy_one(self):
        figure, _ = self.experiment(survey_medusa_tree, sample_data.write_medusa_tree)
        axes = self.panels(figure)[0]
        nodes = [line for line in axes.lines if line.get_marker() in ("o", "s")]
        self.assertEqual("".join(line.get_marker() for line in nodes), "ooosooo")
        self.assertEqual([line.get_markerfacecolor() == "white" for line in nodes],
                         [False, False, False, True, False, True, True])
        self.assertEqual([text.get_text() for text in axes.texts if "%" in text.get_text()],
                         ["100 %", "70 %", "30 %", "1 %"])
        self.assertIn("only in the shipped tree", self.labels(figure))

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
        below = rows_of(panels[7])[2]  # two formulas per drafter: the i.i.d. one of the second drafter
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
            # 28 tokens per sentence, 2 ms per sentence and batch: both double with the batch until the third.
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
                 "slower than autoregressive decoding")):
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
            self.assertEqual(self.labels(figure), ["baseline", "exact", "sigmoid", "logits only"])

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

    def test_there_is_room_for_rules_to_come(self):
        figure, _ = self.experiment(rule_lossiness, lambda folder: sample_data.write_rule_lossiness(folder, more=12))
        self.assertEqual(len({line.get_marker() for line in self.panels(figure)[0].lines} - {"None", "|", "_"}), 16)

    def test_rules_with_thresholds_have_panels_of_their_own(self):
        def write(folder):
            sample_data.write_rule_lossiness(folder, more=12)
            with open(folder / "rule-lossiness.csv", "a", encoding="utf-8") as file:
                for vocabulary in (256, 32_000):
                    file.write(f"{vocabulary},\"top_beta, judged by q\",0.8,0.8,0.25,0.01,0.6,0.01\n")
        figure, _ = self.experiment(rule_lossiness, write)
        panels = self.panels(figure)
        self.assertEqual([axes.get_title(loc="left") for axes in panels[::4]],
                         ["p against q, vocabulary of 256 tokens", "thresholds, vocabulary of 256 tokens"])
        points = [sorted(point[:2] for series in rows_of(panels[place]) for point in series) for place in (4, 6)]
        numpy.testing.assert_allclose(points, [[(0.8, 0.25)], [(0.8, 0.4)]], atol=1e-12)
        self.assertIn("top_beta, judged by q", self.labels(figure))
        bounds = [line for line in panels[4].lines if line.get_color() == rule_lossiness.style.GREY]
        numpy.testing.assert_allclose(bounds[0].get_xydata(), [(0, 0), (0.7, 0), (1, 0.3)])

    def test_the_bound_begins_where_the_exact_rule_stands(self):
        figure, _ = self.experiment(rule_lossiness, sample_data.write_rule_lossiness)
        bounds = [line for line in self.panels(figure)[0].lines if line.get_color() == rule_lossiness.style.GREY]
        self.assertEqual(len(bounds), 1)
        numpy.testing.assert_allclose(bounds[0].get_xydata(), [(0, 0), (0.7, 0), (1, 0.3)])


class SamplingAcceptance(Drawn):
    def test_acceptance_stands_against_the_temperature_a_panel_for_each_pair_and_choice_of_tokens(self):
        figure, _ = self.experiment(sampling_acceptance, sample_data.write_sampling_acceptance)
        panels = self.panels(figure)
        self.assertEqual([axes.get_title(loc="left") for axes in panels], ["all tokens", "target: top-p 0.9", "", ""])
        for axes, less in zip(panels, (0, 0, 0.2, 0.2)):
            drawn = sorted(point[:2] for series in rows_of(axes) for point in series)
            expected = sorted((t, 0.9 - less - fall * t) for fall in (0, 0.2) for t in (0, 0.5, 1))
            numpy.testing.assert_allclose(drawn, expected, atol=1e-12)
            self.assertTrue(all(list(line.get_xdata()) == sorted(line.get_xdata()) for line in axes.lines))
        self.assertEqual(self.labels(figure), ["drafts at the same temperature", "argmax drafts"])


if __name__ == "__main__":
    unittest.main()
