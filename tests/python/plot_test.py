# SPDX-License-Identifier: Apache-2.0
"""fd.plot draws the program's figures in axes of matplotlib, and rejects points that do not form a line."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import matplotlib
import numpy as np
import pandas as pd

import foredraft as fd

matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples" / "advise"
PAIR = dict(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b", alpha=0.75, prompt=3000, output=500, engine="vllm",
            closed_form=True)


class Figures(unittest.TestCase):
    def setUp(self):
        self.addCleanup(pyplot.close, "all")

    def labels(self, axes):
        return [text.get_text() for legend in axes.figure.legends for text in legend.get_texts()]

    def words(self, axes):
        return {" ".join(text.get_text().split()) for text in axes.figure.texts}


class Curves(Figures):
    @classmethod
    def setUpClass(cls):
        cls.frame = fd.sweep(alpha=[0.6, 0.8], gamma=range(1, 7), c=[0.02, 0.1], iterations=20_000, progress=False)
        cls.one_c = cls.frame[cls.frame["c"] == 0.1]

    def test_a_series_is_one_line_of_rising_places_with_words_and_units_at_the_axes(self):
        axes = fd.plot.curves(self.one_c.sample(frac=1, random_state=1), "gamma", "speedup", series="alpha")
        self.assertEqual(self.words(axes), {"drafted tokens per iteration γ", "speedup over autoregressive decoding"})
        self.assertEqual(self.labels(axes)[:4], ["0.6", "0.8", "closed form", "simulated, 95 %"])
        wanted = self.one_c[self.one_c["alpha"] == 0.8].sort_values("gamma")
        lines = [line for line in axes.lines if len(line.get_xdata()) == 6 and line.get_linestyle() != "None"]
        self.assertEqual(len(lines), 2)
        np.testing.assert_array_equal(lines[1].get_xdata(), wanted["gamma"])
        np.testing.assert_array_equal(lines[1].get_ydata(), wanted["analytic_speedup"])

    def test_an_open_axis_is_an_error_that_names_it_and_what_to_do(self):
        for series, words in ((None, r"4 rows for gamma = 1: alpha and c vary.*frame\[frame\[\"alpha\"\] == 0.6\] or series=\"alpha\""),
                              ("alpha", r"2 rows for alpha = 0.6, gamma = 1: c varies, .* or panel=\"c\"$")):
            with self.assertRaisesRegex(ValueError, f"^foredraft: curves: {words}"):
                fd.plot.curves(self.frame, "gamma", "speedup", series=series)
        self.assertEqual(pyplot.get_fignums(), [])
        twice = pd.concat([self.one_c, self.one_c])
        with self.assertRaisesRegex(ValueError, "2 rows for .* - keep one of them"):
            fd.plot.curves(twice, "gamma", "speedup", series="alpha")

    def test_panels_are_a_list_of_axes_and_need_a_page_of_their_own(self):
        panels = fd.plot.curves(self.frame, "gamma", "speedup", series="alpha", panel="c")
        self.assertEqual([axes.get_title(loc="left") for axes in panels], ["c = 0.02", "c = 0.1"])
        with self.assertRaisesRegex(ValueError, "foredraft: curves: the figure has 2 panels, ax holds one"):
            fd.plot.curves(self.frame, "gamma", "speedup", series="alpha", panel="c", ax=panels[0])

    def test_given_axes_are_drawn_on_and_returned(self):
        page, axes = pyplot.subplots()
        self.assertIs(fd.plot.curves(self.one_c, "gamma", "speedup", series="alpha", ax=axes), axes)
        self.assertEqual((axes.get_xlabel(), axes.get_legend().get_title().get_text()),
                         ("drafted tokens per iteration γ", "probability that a draft is accepted α"))
        self.assertEqual(page.axes, [axes])

    def test_predictions_and_plain_columns_are_frames_too(self):
        grid = fd.predict(alpha=[0.6, 0.7, 0.8], c=[[0.02], [0.1]], gamma=fd.best)
        axes = fd.plot.curves(grid, "alpha", "speedup", series="c")
        self.assertEqual(self.labels(axes)[:3], ["0.02", "0.1", "closed form"])
        axes = fd.plot.curves({"rule_lenience": [0.1, 0.2], "speedup": [1.5, 1.6]}, "rule.lenience", "speedup")
        np.testing.assert_array_equal(axes.lines[0].get_ydata(), [1.5, 1.6])

    def test_a_column_that_is_not_there_is_a_key_error_with_the_nearest_one(self):
        with self.assertRaisesRegex(KeyError, "no column gama - did you mean gamma?"):
            fd.plot.curves(self.frame, "gama", "speedup")
        with self.assertRaisesRegex(KeyError, "no column speedups - did you mean speedup?"):
            fd.plot.curves(self.one_c, "gamma", "speedups", series="alpha")

    def test_one_quantity_against_another_joins_the_points_along_an_axis(self):
        axes = fd.plot.trade_off(self.one_c, "tokens_per_iteration", "speedup", along="gamma", series="alpha")
        self.assertIn("tokens per iteration", self.words(axes))
        wanted = self.one_c[self.one_c["alpha"] == 0.6].sort_values("gamma")
        np.testing.assert_array_equal(axes.lines[0].get_xdata(), wanted["analytic_tokens_per_iteration"])

    def test_differences_of_both_sides_stand_beside_their_bounds(self):
        axes = fd.plot.agreement(self.frame)
        np.testing.assert_array_equal(axes.lines[-1].get_ydata(), self.frame["speedup_deviation_in_se"])
        self.assertEqual(self.labels(axes), ["±4"])


class Values(Figures):
    def test_a_tree_has_a_node_for_each_path_and_its_root(self):
        tree = fd.tree([[0.55, 0.14, 0.05], [0.45, 0.12]], nodes=6)
        axes = fd.plot.tree(tree)
        self.assertEqual(len([line for line in axes.lines if line.get_marker() == "o"]), 1 + len(tree.chosen.paths))

    def test_loads_have_a_line_a_draft_length_and_the_parts_of_a_token(self):
        answers = [fd.predict_load(concurrency=count, **PAIR) for count in (1, 8, 40)]
        speedup, tpot, ttft = fd.plot.load_curves(answers)
        best = answers[2].best_gamma
        self.assertIn(str(best), self.labels(speedup))
        frame = answers[2].to_frame().set_index("gamma")
        ends = [line.get_ydata()[-1] for line in tpot.lines if list(line.get_xdata()) == [1, 8, 40]]
        self.assertIn(frame.loc[best, "closed_form.tpot_ms"], ends)
        axes = fd.plot.load_time(answers[2])
        self.assertEqual(axes.get_title(loc="left"), f"40 concurrent requests, fastest at γ = {best}")

    def test_figures_of_advice_show_its_loads(self):
        advice = fd.advise([EXAMPLES / "k3.log", EXAMPLES / "k1.log"], plain=EXAMPLES / "plain.log")
        axes = fd.plot.speedup_by_load(advice)
        self.assertEqual([text.get_text() for text in axes.get_yticklabels()], ["1 request", "64 requests"])
        self.assertEqual(len(fd.plot.speedup_chain(advice)), 2)
        self.assertIn("logged", self.labels(fd.plot.acceptance_length(advice)))
        alone = fd.advise(EXAMPLES / "k3.log")
        with self.assertRaisesRegex(ValueError, r"speedup-chain: Advice does not give this figure \(it gives acceptance-length\)"):
            fd.plot.speedup_chain(alone)

    def test_figures_of_a_prediction_show_its_batches_and_contexts(self):
        answer = fd.predict_times(profile="h100-vllm-llama-3.1-8b", target="llama-3.1-8b", draft="eagle3-llama-3.1-8b",
                                  alpha=0.75, batch=[1, 8], context=[1024, 4096])
        self.assertEqual([axes.get_title(loc="left") for axes in fd.plot.speedup_by_batch(answer)],
                         ["context 1024", "context 4096"])
        self.assertEqual([axes.get_title(loc="left")[:7] for axes in fd.plot.step_time(answer)], ["batch 1", "batch 8"])
        self.assertEqual([text.get_text() for text in fd.plot.decision_map(answer).get_yticklabels()], ["1024", "4096"])
        self.assertIsNotNone(fd.plot.verification_cost(answer))
        one = fd.predict_times(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b", alpha=0.75)
        with self.assertRaisesRegex(ValueError, "decision-map: TimesPrediction does not give this figure"):
            fd.plot.decision_map(one)

    def test_a_validation_has_a_point_a_cell(self):
        measured = {"target": ["qwen1.5-7b"] * 2, "draft": ["qwen1.5-0.5b"] * 2, "gamma": [2, 4], "alpha": [0.6, 0.8],
                    "batch": [1, 1], "context": [512, 512], "speedup": [1.1, 1.4]}
        axes = fd.plot.validation(fd.validate("h200", against=measured))
        self.assertIn([1.1, 1.4], [list(line.get_ydata()) for line in axes.lines])

    def test_a_reproduction_gives_the_figures_of_its_papers(self):
        figures = fd.plot.reproduction(fd.reproduce("leviathan-figure3", progress=False))
        self.assertEqual(list(figures), ["leviathan-figure3"])
        with self.assertRaisesRegex(ValueError, "no figure among leviathan-table1"):
            fd.plot.reproduction(fd.reproduce("leviathan-table1", progress=False))


class Folders(Figures):
    def test_a_results_folder_gives_the_figures_that_the_program_drew(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = os.path.join(temporary, "out")
            command = [pathlib.Path(sys.executable).with_name("foredraft"), "predict", "--profile", "h100-vllm-llama-3.1-8b",
                       "--target", "llama-3.1-8b", "--draft", "eagle3-llama-3.1-8b", "--alpha", "0.75", "--batch", "1,8",
                       "--context", "1024,4096", "--out", folder]
            subprocess.run(command, check=True, capture_output=True)
            drawn = {path.stem for path in pathlib.Path(folder).glob("*.svg")}
            self.assertEqual(drawn, {"batch-speedup", "step-time", "verification-cost", "decision-map"})
            self.assertEqual(set(fd.plot.folder(folder)), drawn)
            self.assertEqual(list(fd.plot.folder(folder, only="step-time")), ["step-time"])
            axes = fd.plot.figure("decision-map", pd.read_csv(os.path.join(folder, "decision-map.csv")))
            self.assertEqual([text.get_text() for text in axes.get_yticklabels()], ["1024", "4096"])
            with self.assertRaisesRegex(ValueError, "nothing to draw"):
                fd.plot.folder(folder, only="curves")
        with self.assertRaisesRegex(ValueError, "no figure decision_map .*decision-map"):
            fd.plot.figure("decision_map", {})

    def test_the_parameters_of_matplotlib_stay_the_users(self):
        with matplotlib.rc_context({"axes.grid": False, "font.size": 20.0}):
            before = dict(matplotlib.rcParams)
            fd.plot.curves({"alpha": [0.1, 0.2], "speedup": [1.0, 1.5]}, "alpha", "speedup")
            self.assertEqual(dict(matplotlib.rcParams), before)

    def test_a_figure_looks_the_same_when_it_is_drawn_later_under_parameters_of_the_user(self):
        axes = fd.plot.speedup_by_batch(fd.predict_times(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b",
                                                         alpha=0.75, batch=[1, 8, 32]))
        ticks = [text.get_text() for text in axes.get_yticklabels()]
        with matplotlib.rc_context({"ytick.labelsize": 30.0, "font.size": 30.0}):
            axes.figure.canvas.draw()
            self.assertEqual([text.get_text() for text in axes.get_yticklabels()], ticks)


if __name__ == "__main__":
    unittest.main()
