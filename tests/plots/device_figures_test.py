# SPDX-License-Identifier: Apache-2.0
"""The figures of a prediction and of its validation show the data they were given."""

import unittest

import numpy
import sample_data
from support import Drawn, rows_of

from plots import batch_speedup, decision_map, load, plot, step_time, style, validation, verification_cost


class Axes(Drawn):
    def test_every_axis_says_what_lies_along_it_and_by_factors_if_batches_or_tokens_double(self):
        sample_data.write_prediction(self.directory)
        sample_data.write_validation(self.directory)
        for module, titles, scales in (
                (step_time, ["draft length γ (tokens); 0: autoregressive",
                             "time per token (decode steps) at context 512; bars: 95 %"], ("linear", "linear")),
                (batch_speedup, ["batch size (sequences)",
                                 "predicted speedup over autoregressive decoding (bars: 95 %)"], ("log", "linear")),
                (verification_cost, ["tokens per sequence in one forward pass",
                                     "time of a forward pass of the target over that of one token (bars: 95 %, of the "
                                     "last point)"], ("log", "log")),
                (decision_map, ["batch size (sequences)", "context length (tokens)"], ("linear", "linear")),
                (validation, ["speedup predicted from the profile", "measured speedup"], ("linear", "linear"))):
            with self.subTest(module.ID):
                table = load.table(self.directory / f"{module.ID}.csv", module.COLUMNS)
                table = validation.measured(table) if module is validation else table
                figure = self.once(module.ID, lambda: module.figure(table), f"{module.ID}.csv")
                self.assertEqual(self.titles(figure), titles)
                self.assertEqual(self.scales(figure), {scales})


class Prediction(Drawn):
    def figure(self, module, **changes):
        return self.experiment(module, lambda directory: sample_data.write_prediction(directory, **changes))[0]

    def points(self, axes):
        return sorted(point for series in rows_of(axes) for point in series)

    def test_the_parts_of_an_iteration_are_stacked_over_its_tokens_beside_a_decode_step(self):
        figure = self.figure(step_time)
        panels = self.panels(figure)
        self.assertEqual([axes.get_title(loc="left").replace("\n", " ") for axes in panels],
                         ["batch 1, step 1.01 ms: 1.75× at γ = 4", "batch 8, step 1.08 ms: 1.55× at γ = 3",
                          "batch 32, step 1.32 ms: 1.25× at γ = 2"])
        bars = panels[1].patches
        self.assertEqual((bars[0].get_height(), len(bars)), (1, 1 + 4 * 4))
        two = [bar for bar in bars if abs(bar.get_x() + bar.get_width() / 2 - 2) < 1e-9]
        scale = sample_data.tokens(0.7, 2) * 1080
        numpy.testing.assert_allclose([bar.get_height() * scale for bar in two], [200, 1240, 50, 100])
        numpy.testing.assert_allclose([bar.get_y() * scale for bar in two], [0, 200, 1440, 1490])
        x, top, low, high = self.points(panels[1])[1]
        numpy.testing.assert_allclose((x, top, low, high), (2, 1590 / scale, 0.97 * 1590 / scale, 1.03 * 1590 / scale))

    def test_the_title_says_the_fastest_draft_length_and_none_if_all_lose(self):
        title = self.panels(self.figure(step_time))[0].get_title(loc="left")
        best = max((float(row["speedup"]), row["gamma"]) for row in self.records("batch-speedup.csv")
                   if row["batch"] == "1")
        self.assertTrue(title.endswith(f": {best[0]:.2f}× at γ = {best[1]}"), title)
        losing = self.figure(step_time, alpha=0.05)
        self.assertEqual([axes.get_title(loc="left") for axes in self.panels(losing)],
                         ["batch 1, step 1.01 ms", "batch 8, step 1.08 ms", "batch 32, step 1.32 ms"])

    def test_of_one_batch_the_speedup_stands_against_the_draft_length_with_a_line_a_context(self):
        figure = self.figure(batch_speedup, batches=(8,))
        self.assertEqual(self.titles(figure)[0], "draft length γ (tokens)")
        self.assertEqual(self.labels(figure)[:2], ["512", "4096"])
        axes, = self.panels(figure)
        self.assertEqual(axes.get_title(loc="left"), "batch 8")
        wanted = [float(row["speedup"]) for row in self.records("batch-speedup.csv") if row["context"] == "512"]
        self.assertIn(wanted, [list(line.get_ydata()) for line in axes.lines])

    def test_many_draft_lengths_have_the_bars_of_the_fastest_only(self):
        figure = self.figure(batch_speedup, gammas=range(1, 6), contexts=(512,))
        self.assertIn("(bars: 95 %, of the fastest)", self.titles(figure)[1])
        barred = {(2**round(numpy.log2(x)), y) for x, y, low, high in self.points(self.panels(figure)[0]) if high > y}
        rows = [(int(row["batch"]), float(row["speedup"])) for row in self.records("batch-speedup.csv")]
        self.assertEqual(barred, {max(row for row in rows if row[0] == batch) for batch, _ in rows})

    def test_of_eight_draft_lengths_the_fastest_ones_and_the_smallest_are_drawn(self):
        figure = self.figure(batch_speedup, gammas=range(1, 9))
        rows = self.records("batch-speedup.csv")
        places = {(row["context"], row["batch"]) for row in rows}
        fastest = {max((row for row in rows if (row["context"], row["batch"]) == place),
                       key=lambda row: float(row["speedup"]))["gamma"] for place in places}
        shown = [label for label in self.labels(figure) if label.isdigit()]
        self.assertEqual(len(shown), 5)
        self.assertLessEqual(fastest | {"1"}, set(shown))
        self.assertIn("draft length γ (tokens): 5 of 8", [legend.get_title().get_text() for legend in figure.legends])

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
                                               "outside the domain of the fit", "slower than autoregressive decoding"])
        crosses = [line for line in panels[0].lines if line.get_marker() == "x" and len(line.get_xdata())]
        self.assertEqual(len(crosses), 1)

    def test_the_line_of_a_draft_length_and_of_a_batch_stands_beside_its_own_number_in_the_legend(self):
        for module, series, y in ((batch_speedup, "gamma", "speedup"), (verification_cost, "batch", "growth")):
            figure = self.figure(module)
            lines = [line for line in self.panels(figure)[0].lines if line.get_zorder() == 2]
            rows = [row for row in self.records(f"{module.ID}.csv") if row["context"] == "512"]
            for value in dict.fromkeys(row[series] for row in rows):
                wanted = [float(row[y]) for row in rows if row[series] == value]
                (line,) = [line for line in lines if list(line.get_ydata()) == wanted]
                self.assertEqual(self.handle(figure, value).get_color(), line.get_color(), (module.ID, value))

    def test_bars_of_unknown_intervals_are_left_out_and_it_is_said(self):
        figure = self.figure(batch_speedup, spread="")
        self.assertTrue(all(low == y == high for axes in self.panels(figure) for _, y, low, high in self.points(axes)))
        self.assertIn("no intervals known", " ".join(text.get_text() for text in figure.texts).replace("\n", " "))
        self.assertEqual({x for axes in self.panels(figure) for x, *_ in self.points(axes)}, {1, 8, 32})

    def test_the_interval_of_an_estimate_is_called_what_it_holds(self):
        for module in (step_time, batch_speedup, verification_cost):
            self.assertIn("bars: 90 %", " ".join(" ".join(self.titles(self.figure(module, level=0.9))).split()))

    def test_a_bar_does_not_reach_below_zero(self):
        lows = [low for axes in self.panels(self.figure(batch_speedup, spread=1.5)) for *_, low, _ in self.points(axes)]
        self.assertEqual(min(lows), 0)

    def test_the_cost_of_verification_grows_from_one_and_has_a_ring_at_each_knee(self):
        figure = self.figure(verification_cost, contexts=(512,))
        axes = self.panels(figure)[0]
        numpy.testing.assert_allclose([y for x, y, *_ in self.points(axes) if x == 1], 1)
        last = sorted((1 + 0.16 * batch) / (1 + 0.01 * batch) for batch in (1, 8, 32))
        numpy.testing.assert_allclose([y for x, y, low, high in self.points(axes) if x == 16 and low == high], last)
        barred = sorted((y, low, high, x) for x, y, low, high in self.points(axes) if high > low)
        numpy.testing.assert_allclose([bar[:3] for bar in barred], [(y, 0.97 * y, 1.03 * y) for y in last])
        numpy.testing.assert_allclose([x for *_, x in barred], 16, rtol=0.06)
        rings = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines
                 if line.get_markersize() > 6 and line.get_marker() == "o" and numpy.isfinite(line.get_xdata()).all()]
        numpy.testing.assert_allclose(rings, [(11.1, 1.1), (2.35, 1.1), (1.4125, 1.1)])
        self.assertEqual(self.labels(figure)[:3], ["1: 11.1", "8: 2.35", "32: 1.41"])

    def test_a_curve_without_a_knee_says_how_far_it_was_looked_for(self):
        sample_data.write_prediction(self.directory, batches=(1,), contexts=(512,))
        path = self.directory / "verification-cost.csv"
        path.write_text(path.read_text(encoding="utf-8").replace(",11.1,0.95\n", ",,0.95\n"), encoding="utf-8")
        figure = verification_cost.figure(load.table(path, verification_cost.COLUMNS))
        self.assertEqual(self.labels(figure)[0], "1: above 16")

    def test_the_decision_map_has_a_strip_a_context_whose_ranges_meet_between_batches(self):
        figure = self.figure(decision_map)
        axes = self.panels(figure)[0]
        ranges = sorted((patch.get_y(), patch.get_x(), patch.get_x() + patch.get_width()) for patch in axes.patches)
        lower = [(start, end) for y, start, end in ranges if y < 0]
        edges = [0, (numpy.log2(8) + numpy.log2(9)) / 2, (numpy.log2(10) + numpy.log2(11)) / 2, 5]
        numpy.testing.assert_allclose(lower, list(zip(edges, edges[1:])))
        self.assertEqual([text.get_text() for text in axes.get_yticklabels()], ["512", "4096"])
        self.assertEqual(self.labels(figure), ["off", "1", "3"])

    def test_batches_beyond_the_end_of_a_strip_do_not_fit_in_memory(self):
        sample_data.write_prediction(self.directory)
        path = self.directory / "decision-map.csv"
        path.write_text("context,first_batch,last_batch,gamma\n512,1,32,3\n4096,1,8,3\n", encoding="utf-8")
        figure = decision_map.figure(load.table(path, decision_map.COLUMNS))
        self.assertEqual(self.labels(figure), ["3", "does not fit in memory"])
        (patch,) = [patch for patch in self.panels(figure)[0].patches if patch.get_zorder() == 1]
        edge = (numpy.log2(8) + numpy.log2(9)) / 2
        numpy.testing.assert_allclose((patch.get_x(), patch.get_width(), patch.get_y()), (edge, 5 - edge, 0.58))

    def test_words_that_no_prediction_has_and_ranges_that_are_none_are_rejected(self):
        for name, module, before, after, words in (
                ("batch-speedup", batch_speedup, "fitted", "guessed", "origin: 'guessed'"),
                ("verification-cost", verification_cost, ",yes,", ",perhaps,", "inside_domain: 'perhaps'"),
                ("step-time", step_time, "interpolated", "", "origin: ''"),
                ("decision-map", decision_map, "512,1,8,3", "512,9,8,3", "gamma 3 from batch 9 to 8 is no range")):
            sample_data.write_prediction(self.directory)
            path = self.directory / f"{name}.csv"
            path.write_text(path.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")
            with self.assertRaisesRegex(load.BadFile, f"{name}.csv: {words}"):
                plot.read(module, self.directory)

    def test_more_batches_and_contexts_than_a_figure_holds_are_thinned_from_end_to_end(self):
        many = {"batches": tuple(range(1, 15)), "contexts": tuple(range(100, 1400, 100)), "gammas": (1,)}
        self.assertEqual([axes.get_title(loc="left")[:8] for axes in self.panels(self.figure(step_time, **many))][::7],
                         ["batch 1,", "batch 14"])
        titles = [axes.get_title(loc="left") for axes in self.panels(self.figure(batch_speedup, **many))]
        self.assertEqual((len(titles), titles[0], titles[-1]), (6, "context 100", "context 1300"))
        self.assertEqual(len(self.panels(self.figure(decision_map, **many))[0].get_yticklabels()), 12)


class Validation(Drawn):
    def setUp(self):
        super().setUp()
        sample_data.write_validation(self.directory)
        self.table = validation.read(self.directory)

    def figure(self):
        return self.once("validation", lambda: validation.figure(self.table), "validation.csv")

    def test_every_measured_cell_stands_at_its_prediction_with_intervals_both_ways(self):
        axes = self.panels(self.figure())[0]
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
        axes = self.panels(self.figure())[0]
        for band, width in zip(axes.collections, (0.15, 0.05)):
            vertices = band.get_paths()[0].vertices
            ratios = vertices[:, 0] / vertices[:, 1] - 1  # predicted over measured
            numpy.testing.assert_allclose((ratios.min(), ratios.max()), (-width, width))

    def test_the_errors_and_the_spread_between_runs_are_printed_in_the_figure(self):
        titles = [legend.get_title().get_text() for legend in self.figure().legends]
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
        figure = self.figure()
        self.assertEqual(self.labels(figure)[:2], ["t5-base / t5-small", "transformer-base / t5-small"])
        markers = {}
        for container in self.panels(figure)[0].containers:
            predicted = container.lines[0].get_xdata()[0]
            target = next(row["target"] for row in self.records("validation.csv")
                          if float(row["predicted_speedup"]) == predicted)
            markers[target] = container.lines[0].get_marker()
        self.assertEqual(len(set(markers.values())), 2)
        for target, marker in markers.items():
            self.assertEqual(self.handle(figure, f"{target} / t5-small").get_marker(), marker)

    def test_as_many_pairs_are_drawn_as_there_are_markers(self):
        self.table.columns["target"] = numpy.array([f"target {i % style.MAX_SERIES}"
                                                    for i in range(len(self.table["target"]))], dtype=object)
        containers = self.panels(validation.figure(self.table))[0].containers
        self.assertEqual({container.lines[0].get_marker() for container in containers}, set(style.MARKERS))


if __name__ == "__main__":
    unittest.main()
