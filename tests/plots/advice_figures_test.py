# SPDX-License-Identifier: Apache-2.0
"""The figures of an advice show the data they were given."""

import unittest

import numpy
import sample_data
from support import Drawn, rows_of

from plots import acceptance_length, load, plot, speedup_by_load, speedup_chain


class Advice(Drawn):
    def figure(self, module, **changes):
        return self.experiment(module, lambda directory: sample_data.write_advice(directory, **changes))[0]

    def bars(self, axes):
        """The place, start and end of each bar."""
        return [(round(bar.get_y() + bar.get_height() / 2), bar.get_x(), bar.get_x() + bar.get_width())
                for bar in axes.patches if hasattr(bar, "get_height") and 0.69 < bar.get_height() < 0.71]

    def test_every_axis_says_what_lies_along_it(self):
        for module, titles, scales in (
                (acceptance_length, ["draft length γ (tokens)", "acceptance length (tokens per iteration)"],
                 ("linear", "linear")),
                (speedup_chain, ["speedup over autoregressive decoding (bar: 95 %)", "factors"], ("log", "linear")),
                (speedup_by_load, ["draft length γ (tokens); in each cell the speedup", "load"], ("linear", "linear"))):
            with self.subTest(module.ID):
                figure = self.figure(module)
                self.assertEqual(self.titles(figure), titles)
                self.assertEqual(self.scales(figure), {scales})

    def test_the_curve_has_its_band_and_a_point_where_it_was_logged(self):
        figure = self.figure(acceptance_length)
        axes = self.panels(figure)[0]
        records = self.records("acceptance-length.csv")
        (curve,) = [line for line in axes.lines if line.get_zorder() == 2]
        numpy.testing.assert_allclose(curve.get_ydata(), [float(row["tokens_per_iteration"]) for row in records])
        exact = sample_data.tokens(0.7, 3)
        ((point,),) = rows_of(axes)
        numpy.testing.assert_allclose(point, (3, exact, 0.98 * exact, 1.02 * exact))
        vertices = axes.collections[0].get_paths()[0].vertices
        numpy.testing.assert_allclose((vertices[:, 1].min(), vertices[:, 1].max()),
                                      (0.98 * sample_data.tokens(0.7, 1), 1.02 * sample_data.tokens(0.7, 12)))
        self.assertEqual(self.labels(figure), ["logged", "acceptance model", "95 %"])

    def test_each_factor_starts_where_the_one_before_ended_and_the_last_ends_at_the_measured_speedup(self):
        figure = self.figure(speedup_chain)
        first, second = self.panels(figure)
        self.assertEqual([axes.get_title(loc="left") for axes in (first, second)],
                         ["1 request, γ = 3", "64 requests, γ = 3"])
        for axes, name in ((first, "1 request"), (second, "64 requests")):
            values = [float(row["value"]) for row in self.records("speedup-chain.csv") if row["load"] == name]
            steps = sorted(bar for bar in self.bars(axes) if 0 < bar[0] < 5)
            level = values[0]
            for (_, start, end), factor in zip(steps, values[1:-1]):
                numpy.testing.assert_allclose((start, end), (level, level * factor))
                level *= factor
            self.assertAlmostEqual(level, values[-1])
            numpy.testing.assert_allclose(sorted(self.bars(axes))[-1], (5, 1, values[-1]))
            line, _, (interval,) = axes.containers[-1].lines
            numpy.testing.assert_allclose(line.get_xydata(), [(values[-1], 5)])
            numpy.testing.assert_allclose(interval.get_segments()[0][:, 0], values[-1] + numpy.array((-0.0196, 0.0196)))

    def test_the_measured_speedup_is_written_beyond_its_interval(self):
        sample_data.write_advice(self.directory)
        path = self.directory / "speedup-chain.csv"
        header, *rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            row[header.index("standard_error")] = "0.2"
        sample_data.write_csv(path, header, rows)
        axes = self.panels(speedup_chain.figure(load.table(path, speedup_chain.COLUMNS)))[0]
        measured = float(next(row[header.index("value")] for row in rows if "measured" in row))
        self.assertAlmostEqual(next(text.xy[0] for text in axes.texts if text.xy[1] == 5), measured + 1.96 * 0.2)
        self.assertGreater(axes.get_xlim()[1], measured + 1.96 * 0.2)

    def test_small_losses_have_ticks_on_both_sides_of_break_even(self):
        sample_data.write_advice(self.directory, loads=("4 requests",))
        path = self.directory / "speedup-chain.csv"
        header = path.read_text(encoding="utf-8").splitlines()[0]
        path.write_text(f"{header}\n4 requests,4,3,promised,1.13,,\n4 requests,4,3,iteration_cost,0.735,,\n"
                        "4 requests,4,3,measured,0.83,0.005,\n", encoding="utf-8")
        axes = self.panels(speedup_chain.figure(load.table(path, speedup_chain.COLUMNS)))[0]
        self.assertEqual([round(tick, 6) for tick in axes.get_xticks()], [0.8, 0.9, 1, 1.1, 1.2, 1.3])

    def test_a_log_that_splits_nothing_has_one_factor(self):
        figure = self.figure(speedup_chain, split=False)
        names = [text.get_text() for text in self.panels(figure)[0].get_yticklabels()]
        self.assertEqual(names, ["promised", "iteration cost", "measured"])

    def test_each_cell_says_its_speedup_or_its_bound_and_the_one_to_use_has_a_frame(self):
        figure = self.figure(speedup_by_load)
        axes = self.panels(figure)[0]
        rows = self.records("speedup-by-load.csv")
        texts = {(round(text.get_position()[0]), round(text.get_position()[1])): text.get_text() for text in axes.texts}
        self.assertEqual(len(texts), len(rows))
        for row in rows:
            wanted = f"{float(row['speedup']):.2f}" if row["speedup"] else f"≤{float(row['high']):.2f}"
            self.assertEqual(texts[int(row["gamma"]) - 1, ("1 request", "64 requests").index(row["load"])], wanted)
        frames = [patch for patch in axes.patches if patch.get_linewidth() == 1.4]
        self.assertEqual([(round(frame.get_x() + frame.get_width() / 2), round(frame.get_y() + frame.get_height() / 2))
                          for frame in frames],
                         [(2, 0)])
        hatched = [patch for patch in axes.patches if patch.get_hatch()]
        losing = [row for row in rows if row["speedup"] and float(row["speedup"]) < 1]
        self.assertEqual((len(hatched), len(losing) > 0), (len(losing), True))
        self.assertEqual(self.labels(figure), ["best at its load", "slower than autoregressive decoding",
                                               "not logged: at most"])

    def test_without_a_draft_length_to_use_the_legend_has_none(self):
        figure = self.figure(speedup_by_load, loads=("64 requests",), bounded=False, gammas=range(3, 5))
        self.assertEqual(self.labels(figure), ["best at its load"])
        path = self.directory / "speedup-by-load.csv"
        path.write_text(path.read_text(encoding="utf-8").replace(",yes\n", ",no\n"), encoding="utf-8")
        self.assertEqual(self.labels(speedup_by_load.figure(load.table(path, speedup_by_load.COLUMNS))), [])

    def test_words_that_no_advice_has_and_chains_without_ends_are_rejected(self):
        for name, module, before, after, words in (
                ("acceptance-length", acceptance_length, "observed", "seen", "source: 'seen'"),
                ("speedup-by-load", speedup_by_load, "logged", "seen", "iteration_time: 'seen'"),
                ("speedup-chain", speedup_chain, "drafting", "waiting", "factor: 'waiting'"),
                ("speedup-chain", speedup_chain, "measured", "drafting", "load '1 request' does not go from promised"),
                ("speedup-chain", speedup_chain, "drafting,0.9", "drafting,-1", "load '1 request': value must be > 0")):
            sample_data.write_advice(self.directory)
            path = self.directory / f"{name}.csv"
            path.write_text(path.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")
            with self.assertRaisesRegex(load.BadFile, f"{name}.csv: {words}"):
                plot.read(module, self.directory)


if __name__ == "__main__":
    unittest.main()
