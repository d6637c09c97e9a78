# SPDX-License-Identifier: Apache-2.0
"""The figures of a load show the data they were given."""

import unittest

import numpy
import sample_data
from support import Drawn, rows_of

from plots import load_curves, load_time


class Load(Drawn):
    def figure(self, module, **changes):
        return self.experiment(module, lambda directory: sample_data.write_load(directory, **changes))[0]

    def test_every_panel_says_what_it_shows_against_the_load(self):
        figure = self.figure(load_curves)
        self.assertEqual(self.titles(figure), ["concurrent requests (bars: 90 %, of the fastest)", "speedup", "TPOT (ms)",
                                               "TTFT (ms)", "cost per 1M tokens"])
        self.assertEqual(self.scales(figure), {("log", "linear")})
        self.assertEqual(self.titles(self.figure(load_curves, priced=False, intervals=False, unit="requests/s")),
                         ["requests/s", "speedup", "TPOT (ms)", "TTFT (ms)"])

    def test_a_line_stands_beside_its_draft_length_and_only_the_fastest_have_bars(self):
        figure = self.figure(load_curves)
        rows = self.records("load-curves.csv")
        speedup, tpot, *_ = self.panels(figure)
        for gamma in [label for label in self.labels(figure) if label.isdigit()]:
            wanted = [float(row["speedup"]) for row in rows if row["gamma"] == gamma]
            (line,) = [line for line in speedup.lines if list(line.get_ydata()) == wanted]
            self.assertEqual(self.handle(figure, gamma).get_color(), line.get_color(), gamma)
        plain = [float(row["tpot_ms"]) for row in rows if row["gamma"] == "0"]
        self.assertIn(plain, [list(line.get_ydata()) for line in tpot.lines])
        best = {}
        for row in rows:
            if row["speedup"] and float(row["speedup"]) > best.get(row["load"], (0,))[0]:
                best[row["load"]] = (float(row["speedup"]), float(row["low"]), float(row["high"]))
        drawn = sorted(point for series in rows_of(speedup) for point in series)
        numpy.testing.assert_allclose([point[1:] for point in drawn],
                                      [best[load] for load in sorted(best, key=float)])
        self.assertIn([8.0, 8.0], [list(line.get_xdata()) for line in speedup.lines])

    def test_of_nine_draft_lengths_the_fastest_and_the_smallest_are_drawn_and_the_legend_says_how_many(self):
        figure = self.figure(load_curves)
        rows = [row for row in self.records("load-curves.csv") if row["speedup"]]
        at = {row["load"] for row in rows}
        fastest = {max((row for row in rows if row["load"] == load), key=lambda row: float(row["speedup"]))["gamma"]
                   for load in at}
        shown = {label for label in self.labels(figure) if label.isdigit()}
        self.assertEqual(len(shown), 4)
        self.assertLessEqual(fastest | {"1"}, shown)
        self.assertIn("draft length γ (tokens): 4 of 8", [legend.get_title().get_text() for legend in figure.legends])

    def test_the_parts_of_a_token_are_stacked_and_the_title_names_the_fastest(self):
        figure = self.figure(load_time)
        axes, = self.panels(figure)
        self.assertEqual(axes.get_title(loc="left"), "8 concurrent requests, fastest at γ = 3")
        self.assertEqual(self.labels(figure), ["verification", "drafting", "prompts", "engine"])
        row = self.records("load-time.csv")[3]
        three = [bar for bar in axes.patches if abs(bar.get_x() + bar.get_width() / 2 - 3) < 1e-9]
        parts = [float(row[name]) for name in ("verification_ms", "drafting_ms", "prompts_ms", "engine_ms")]
        numpy.testing.assert_allclose([bar.get_height() for bar in three], parts)
        numpy.testing.assert_allclose([bar.get_y() for bar in three], [0, *numpy.cumsum(parts)[:-1]])


if __name__ == "__main__":
    unittest.main()
