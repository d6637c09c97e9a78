# SPDX-License-Identifier: Apache-2.0
import itertools
import subprocess
import sys
import unittest

import numpy
from support import PLOTS

import matplotlib
from plots import style

# Linear RGB with one kind of cone missing: Machado, Oliveira & Fernandes, IEEE TVCG 15(6), 2009, severity 1.
NO_RED_CONE = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
NO_GREEN_CONE = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
NO_BLUE_CONE = [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]

# A difference in CIE L* that is easy to see between two neighboring lines.
PLAIN_STEP = 10
# With more series the marker must help; the lightness must still differ.
SMALL_STEP = 3.5


def seen(color, matrix):
    rgb = numpy.array(matplotlib.colors.to_rgb(color))
    linear = numpy.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055)**2.4)
    linear = numpy.clip(numpy.array(matrix) @ linear, 0, 1)
    return tuple(numpy.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear**(1 / 2.4) - 0.055))


class Looks(unittest.TestCase):
    def steps(self, count, change=lambda color: color):
        return numpy.diff([style.lightness(change(look.color)) for look in style.looks(count)])

    def test_six_series_keep_apart_in_grey_and_all_keep_their_order(self):
        self.assertGreater(min(self.steps(6)), PLAIN_STEP)
        self.assertGreater(min(self.steps(style.MAX_SERIES)), SMALL_STEP)

    def test_six_series_keep_apart_for_eyes_without_one_kind_of_cone(self):
        for matrix in (NO_RED_CONE, NO_GREEN_CONE, NO_BLUE_CONE):
            self.assertGreater(min(self.steps(6, lambda color: seen(color, matrix))), 0.7 * PLAIN_STEP)

    def test_the_lightest_series_still_reads_on_white(self):
        self.assertLess(max(style.lightness(look.color) for look in style.looks(style.MAX_SERIES)), 78)

    def test_no_two_series_share_a_marker_and_neighbours_share_no_dash(self):
        looks = style.looks(style.MAX_SERIES)
        self.assertEqual(len({look.marker for look in looks}), len(looks))
        for one, next_one in itertools.pairwise(looks):
            self.assertNotEqual(one.dash, next_one.dash)

    def test_lightness_agrees_with_known_values(self):
        self.assertAlmostEqual(style.lightness("white"), 100, places=3)
        self.assertAlmostEqual(style.lightness("black"), 0, places=3)
        self.assertAlmostEqual(style.lightness("#777777"), 50.03, places=1)  # the usual middle gray
        for color, known in (("#ff0000", 53.24), ("#00ff00", 87.73), ("#0000ff", 32.30)):  # primaries of sRGB
            self.assertAlmostEqual(style.lightness(color), known, places=1)


class Parameters(unittest.TestCase):
    def test_importing_the_plots_leaves_the_parameters_of_matplotlib_to_the_user(self):
        code = (f"import sys; sys.path.insert(0, {str(PLOTS.parent)!r})\n"
                "import matplotlib\n"
                "before = dict(matplotlib.rcParams)\n"
                "from plots import plot, report\n"
                "sys.exit(before != dict(matplotlib.rcParams))\n")
        self.assertEqual(subprocess.run([sys.executable, "-B", "-c", code], check=False).returncode, 0)


class Words(unittest.TestCase):
    def test_values_read_as_people_write_them(self):
        self.assertEqual([style.value_text(v) for v in (0.1, 3.0, float("inf"), "block")], ["0.1", "3", "∞", "block"])

    def test_symbols_are_letters_and_other_columns_words(self):
        self.assertEqual([style.symbol(c) for c in ("alpha", "gamma", "rule_name")], ["α", "γ", "rule name"])

    def test_control_characters_and_mathematics_do_not_reach_a_figure(self):
        self.assertEqual(style.plain("a\x00b $x$"), r"ab \$x\$")


if __name__ == "__main__":
    unittest.main()
