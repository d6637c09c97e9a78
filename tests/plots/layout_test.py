# SPDX-License-Identifier: Apache-2.0
"""No figure overlaps, clips or shrinks its text, whatever its content; the widths are exact."""

import itertools

import sample_data
from matplotlib import pyplot
from support import InDirectory, drawn_texts

from plots import (acceptance_length, batch_speedup, decision_map, emnlp_figure5, emnlp_figure6, figure_specification,
                   iclr_figure2, iclr_figure5, layout, leviathan_figure2, leviathan_figure3, leviathan_figure4,
                   leviathan_figure5, load, load_curves, load_time, methods, ngram_iid_check, rule_lossiness,
                   sampling_acceptance, speedup_by_load, speedup_chain, step_time, style, survey_batch_context,
                   survey_medusa_tree, sweep_figure, validation, verification_cost, wagner_figure3, wagner_figure5)

LONG = ("a very long description of the quantity on this axis, with its unit in full and then some more words, so that "
        "it cannot possibly fit on one line of a printed figure")
UNBROKEN = "simulated_speedup_over_plain_decoding_standard_error" * 3


class Given(InDirectory):
    """Figures in the caller's axes."""

    def table(self, write, module):
        write(self.directory)
        return load.table(self.directory / f"{module.ID}.csv", module.COLUMNS)

    def test_a_figure_of_one_panel_keeps_to_the_axes_and_every_word_to_the_page(self):
        table = self.table(lambda directory: sample_data.write_load(directory, gammas=(0, 6, 7, 8)), load_time)
        table = table.keep(table["gamma"] > 0)  # bars of one height
        page, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4))
        self.addCleanup(pyplot.close, page)
        box = left.get_position().bounds
        with layout.drawing(axes=left):
            self.assertIs(load_time.figure(table), page)
        self.assertEqual(page.axes, [left, right])
        self.assertEqual(left.get_position().bounds, box)
        self.assertEqual((left.get_xlabel(), left.get_ylabel()),
                         ("draft length γ (tokens); 0: no speculation", "time per token of a request (ms)"))
        self.assertEqual([text.get_text() for text in left.get_legend().get_texts()],
                         ["verification", "drafting", "prompts", "engine"])
        self.assertFalse(left.spines["top"].get_visible())
        self.assertEqual((right.get_xlabel(), right.get_legend()), ("", None))
        legend, bars = left.get_legend().get_window_extent(), [bar.get_window_extent() for bar in left.patches]
        self.assertFalse(any(legend.overlaps(bar) for bar in bars), "the legend covers a bar")
        for text, extent in drawn_texts(page):
            self.assertTrue(page.bbox.x0 <= extent.x0 and extent.x1 <= page.bbox.x1, text.get_text())

    def test_a_figure_of_several_panels_is_refused_and_the_next_one_has_a_page_of_its_own(self):
        page, axes = pyplot.subplots()
        self.addCleanup(pyplot.close, page)
        table = self.table(sample_data.write_load, load_curves)
        with self.assertRaisesRegex(ValueError, "4 panels, ax holds one"), layout.drawing(axes=axes):
            load_curves.figure(table)
        self.assertIsNot(load_curves.figure(table), page)


class Layout(InDirectory):
    def sweep(self, **changes):
        sample_data.write_sweep(self.directory, **changes)
        return self.sweep_of_folder()

    def sweep_of_folder(self):
        spec = figure_specification.read(self.directory / "speedup.figure.json")
        return sweep_figure.figure(spec, sweep_figure.data(self.directory, spec))

    def experiment(self, module, write):
        write(self.directory)
        if module is validation:
            return module.figure(validation.read(self.directory))
        return module.figure(load.table(self.directory / f"{module.ID}.csv", module.COLUMNS))

    def check(self, figure, width):
        self.assertEqual(figure.get_size_inches()[0], style.WIDTH_IN[width])
        texts = drawn_texts(figure)
        self.assertGreater(len(texts), 5)
        page = figure.bbox
        for text, box in texts:
            name = text.get_text()
            self.assertGreaterEqual(text.get_size(), style.SMALLEST_PT, name)
            self.assertTrue(box.x0 >= page.x0 and box.x1 <= page.x1 and box.y0 >= page.y0 and box.y1 <= page.y1,
                            f"'{name}' is clipped")
        for (one, one_box), (other, other_box) in itertools.combinations(texts, 2):
            self.assertFalse(one_box.padded(-1).overlaps(other_box.padded(-1)),
                             f"'{one.get_text()}' and '{other.get_text()}' overlap")
        renderer = figure.canvas.get_renderer()
        panels = [axes.get_window_extent(renderer) for axes in figure.axes]
        inside = {text for axes in figure.axes for text in axes.texts}
        for text, box in texts:
            self.assertFalse(text not in inside and any(box.padded(-2).overlaps(panel) for panel in panels),
                             f"'{text.get_text()}' runs into a panel")
        for legend in figure.legends:
            box = legend.get_window_extent(renderer)
            self.assertTrue(box.x0 >= page.x0 and box.x1 <= page.x1, "a legend is wider than the figure")
            self.assertFalse(any(box.overlaps(panel) for panel in panels), "a legend covers a panel")
        for one, other in itertools.combinations(panels, 2):
            self.assertFalse(one.overlaps(other), "two panels overlap")
        self.assertEqual(len({(round(panel.width), round(panel.height)) for panel in panels}), 1)

    def test_the_quickstart_sweep_in_both_widths(self):
        for width in style.WIDTH_IN:
            with self.subTest(width):
                self.check(self.sweep(width=width), width)

    def test_as_many_series_and_panels_as_a_figure_takes(self):
        alphas, cs = [i / 20 for i in range(8, 20)], [i / 100 for i in range(1, 13)]
        for width in style.WIDTH_IN:
            with self.subTest(width):
                self.check(self.sweep(width=width, alphas=alphas, cs=cs, gammas=(1, 12)), width)

    def test_panels_that_leave_the_last_row_unfilled(self):
        figure = self.sweep(cs=(0.01, 0.02, 0.03, 0.04, 0.05), gammas=(1, 6, 12))
        self.check(figure, "single_column")
        numbered = [axes.get_title(loc="left") for axes in figure.axes if axes.get_xticklabels()]
        self.assertEqual(numbered, ["c = 0.04", "c = 0.05"])  # the lowest of each column

    def test_long_labels_and_marks_are_wrapped_and_cut(self):
        for words, cs in ((LONG, (0.02,)), (LONG, (0.02, 0.05, 0.1)), (UNBROKEN, (0.02,))):
            labels = dict.fromkeys(("gamma", "speedup", "alpha", "c"), words)
            with self.subTest(words=words[:20], panels=len(cs)):
                figure = self.sweep(cs=cs, gammas=(1, 6, 12), labels=labels, marks=[{"y": 3, "text": words}])
                self.check(figure, "single_column")
                self.assertTrue(any("…" in text.get_text() for text, _ in drawn_texts(figure)))

    def test_long_words_on_the_x_axis(self):
        rules = ("greedy_match", "rejection_sampling", "typical_acceptance", "sigmoid_approximation_of_a_long_name")
        for count in (2, 4):
            with self.subTest(count):
                sample_data.write_specification(self.directory, x="rule", series="drafter", panel=None)
                sample_data.write_csv(self.directory / "speedup.csv",
                                      ["rule", "drafter", "analytic_speedup", "simulated_speedup",
                                       "simulated_speedup_standard_error"],
                                      [[rule, drafter, 2, 2.1, 0.1] for rule in rules[:count]
                                       for drafter in ("autoregressive", "block_drafter_with_a_very_long_name" * 3)])
                self.check(self.sweep_of_folder(), "single_column")

    def test_a_logarithmic_axis(self):
        figure = self.sweep(x="c", panel=None, gammas=[5], cs=[0.0001 * 2**i for i in range(12)])
        self.assertEqual(figure.axes[0].get_xscale(), "log")
        self.check(figure, "single_column")

    def test_a_single_point(self):
        self.check(self.sweep(alphas=[0.8], gammas=[5], cs=[0.02]), "single_column")

    def test_one_quantity_against_another(self):
        for width in style.WIDTH_IN:
            for simulated in (True, False):
                with self.subTest(width=width, simulated=simulated):
                    sample_data.write_trade_off(self.directory, id="speedup", width=width, simulated=simulated)
                    self.check(self.sweep_of_folder(), width)

    def test_the_figures_of_the_papers(self):
        for module, write, width in ((leviathan_figure2, sample_data.write_figure2, "single_column"),
                                     (leviathan_figure3, sample_data.write_figure3, "single_column"),
                                     (leviathan_figure4, sample_data.write_figure4, "single_column"),
                                     (leviathan_figure5, sample_data.write_figure5, "double_column"),
                                     (ngram_iid_check, sample_data.write_ngram, "double_column"),
                                     (rule_lossiness, sample_data.write_rule_lossiness, "double_column"),
                                     (sampling_acceptance, sample_data.write_sampling_acceptance, "double_column"),
                                     (emnlp_figure5, sample_data.write_batch_latencies, "double_column"),
                                     (iclr_figure5, sample_data.write_device_speedups, "double_column"),
                                     (survey_batch_context, sample_data.write_batch_context, "double_column"),
                                     (emnlp_figure6, sample_data.write_sentence_speedups, "single_column"),
                                     (iclr_figure2, sample_data.write_quality, "single_column"),
                                     (wagner_figure3, sample_data.write_verification_time, "double_column"),
                                     (wagner_figure5, sample_data.write_verification_memory, "single_column"),
                                     (validation, sample_data.write_validation, "single_column"),
                                     (survey_medusa_tree, sample_data.write_medusa_tree, "double_column")):
            with self.subTest(module.ID):
                self.check(self.experiment(module, write), width)

    def test_series_too_long_to_stand_side_by_side_begin_below_each_other(self):
        figure = self.experiment(validation, lambda directory: sample_data.write_validation(directory, drafter="two layers of it"))
        self.check(figure, "single_column")
        texts = figure.legends[0].get_texts()
        self.assertEqual((len(texts), len({round(text.get_window_extent().x0) for text in texts})), (2, 1))

    def test_methods_with_little_and_with_much_to_hold(self):
        for changes in ({"temperatures": (1,), "exact": 1, "relaxed": 0},
                        {"temperatures": (0, 1), "exact": 16, "relaxed": 16},
                        {"pairs": ("easy", "a pair of a long name"), "values": 4}):
            with self.subTest(changes=changes):
                figure = self.experiment(methods, lambda directory: sample_data.write_methods(directory, **changes))
                self.check(figure, "double_column")

    def test_a_panel_for_each_pair_and_a_name_for_all_values_of_a_method(self):
        figure = self.experiment(methods, lambda directory: sample_data.write_methods(
            directory, temperatures=(0, 1), exact=1, relaxed=2, pairs=("easy", "prose"), values=3))
        self.assertEqual([axes.get_title(loc="left") for axes in figure.axes],
                         [f"{pair}, temperature {temperature}" for pair in ("easy", "prose") for temperature in (0, 1)])
        for axes in figure.axes:
            names = [text.get_text() for text in axes.texts]
            self.assertEqual(sorted(names), ["an_exact_method_no_0", "relaxed_no_0", "relaxed_no_1"])
            joined = [line for line in axes.lines if len(line.get_xdata()) == 3]
            self.assertEqual(len([line for line in joined if line.get_linestyle() == "-"]), 2)

    def test_the_figures_of_a_prediction_with_little_and_with_much_to_hold(self):
        little = {"batches": (4,), "contexts": (512,)}
        much = {"batches": (1, 2, 4, 8, 16, 32, 64, 128), "contexts": (128, 512, 1024, 2048, 4096, 8192),
                "gammas": range(1, 17)}
        for changes, width in ((little, "single_column"), ({}, "double_column"), (much, "double_column")):
            for module in (step_time, batch_speedup, verification_cost, decision_map):
                if changes is little and module is decision_map:
                    continue
                with self.subTest(figure=module.ID, changes=changes):
                    figure = self.experiment(module, lambda directory: sample_data.write_prediction(directory,
                                                                                                    **changes))
                    self.check(figure, "single_column" if module is decision_map else width)

    def test_the_figures_of_an_advice_with_little_and_with_much_to_hold(self):
        little = {"loads": ("1 request",), "gammas": (3,), "split": False}
        much = {"loads": tuple(f"{2**i} requests of a category with a long name" for i in range(14)),
                "gammas": range(1, 33)}
        named = {"loads": ("8 requests of mtbench",), "split": False}
        for changes, wide in ((little, ()), ({**named, "gammas": range(1, 4)}, ()),
                              ({**named, "gammas": range(1, 8)}, (speedup_by_load,)), ({}, (speedup_chain, speedup_by_load)), (much, (speedup_chain,
                                                                                         speedup_by_load))):
            for module in (acceptance_length, speedup_chain, speedup_by_load):
                with self.subTest(figure=module.ID, changes=changes):
                    figure = self.experiment(module,
                                             lambda directory: sample_data.write_advice(directory, **changes))
                    self.check(figure, "double_column" if module in wide else "single_column")

    def test_the_figures_of_a_load_with_little_and_with_much_to_hold(self):
        little = {"loads": (8,), "gammas": range(2), "priced": False, "intervals": False}
        much = {"loads": tuple(2**i for i in range(12)), "gammas": range(33), "unit": "requests/s"}
        for changes in (little, {}, much):
            for module in (load_curves, load_time):
                with self.subTest(figure=module.ID, changes=changes):
                    self.check(self.experiment(module, lambda directory: sample_data.write_load(directory, **changes)),
                               "single_column")

    def test_wrapping_keeps_every_word_and_balances_the_lines(self):
        lines = layout.wrap("operations relative to autoregressive decoding", 1.7).split("\n")
        self.assertEqual(" ".join(lines), "operations relative to autoregressive decoding")
        self.assertEqual(len(lines), 2)
        broken = layout.wrap(UNBROKEN, 1.0, max_lines=99).split("\n")
        self.assertEqual("".join(broken), UNBROKEN)
        self.assertTrue(all(0.5 < layout.text_width_in(line, style.LABEL_PT) <= 1.0 for line in broken[:-1]))
        self.assertLess(abs(len(lines[0]) - len(lines[1])), 6)
        self.assertEqual(layout.wrap("", 1.0), "")
