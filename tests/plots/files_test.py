# SPDX-License-Identifier: Apache-2.0
"""Properties of the files that printing and comparing need: embedded TrueType, text as text, 300 dpi, no dates, equal
bytes."""

import errno
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from unittest import mock

import sample_data
from support import PLOTS, InDirectory, run_main

from plots import command, load, plot, report, style


def draw(directory, **environment):
    """Runs plot.py as a user does."""
    subprocess.run([sys.executable, str(PLOTS / "plot.py"), str(directory)], check=True, capture_output=True,
                   env={**os.environ, **environment})


class OneFigure(unittest.TestCase):
    """Its files, drawn once."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.directory = Path(folder.name)
        sample_data.write_small_sweep(cls.directory)
        assert run_main(plot.main, cls.directory)[0] == 0

    def test_svg_keeps_text_as_text_and_carries_no_date(self):
        svg = (self.directory / "speedup.svg").read_text(encoding="utf-8")
        self.assertIn(">draft length γ (tokens)</text>", svg)
        self.assertIn("sans-serif", svg)
        self.assertNotIn("<dc:date>", svg)

    def test_png_has_300_dots_an_inch_and_the_width_of_the_column(self):
        png = (self.directory / "speedup.png").read_bytes()
        width, = struct.unpack(">I", png[16:20])
        place = png.index(b"pHYs")
        per_metre, = struct.unpack(">I", png[place + 4:place + 8])
        self.assertEqual(width, round(300 * style.WIDTH_IN["single_column"]))
        self.assertAlmostEqual(per_metre * 0.0254, 300, places=1)


class Files(InDirectory):

    def test_two_runs_in_different_surroundings_give_the_same_bytes(self):
        runs = []
        for name, environment in (("one", {"PYTHONHASHSEED": "1", "TZ": "UTC"}),
                                  ("two", {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "SOURCE_DATE_EPOCH": "86400",
                                           "MATPLOTLIBRC": str(self.directory)})):
            folder = self.directory / name
            folder.mkdir()
            sample_data.write_small_sweep(folder)
            sample_data.write_figure3(folder)
            sample_data.write_figure5(folder)
            sample_data.write_ngram(folder, temperatures=(0,))
            (self.directory / "matplotlibrc").write_text("font.size: 20\nxtick.direction: in\n", encoding="utf-8")
            draw(folder, **environment)
            runs.append({path.name: path.read_bytes() for path in folder.iterdir()})
        self.assertEqual(len(runs[0]), 4 * 4 + 1)
        self.assertEqual(runs[0].keys(), runs[1].keys())
        for name, content in runs[0].items():
            self.assertEqual(content, runs[1][name], name)
        for name in runs[0]:
            if name.endswith(".pdf"):
                self.check_fonts(name, runs[0][name])

    def check_fonts(self, name, content):
        """TrueType fonts are embedded, and no Type 3 font; objects in compressed streams of a PDF count too."""
        streams = []
        for found in re.finditer(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL):
            try:
                streams.append(zlib.decompress(found[1]))
            except zlib.error:
                pass
        everything = content + b"".join(streams)
        self.assertIn(b"/FontFile2", everything, name)
        self.assertIn(b"/CIDFontType2", everything, name)
        self.assertNotIn(b"/Type3", everything, name)
        self.assertNotIn(b"/CreationDate", everything, name)

    def test_a_file_that_cannot_be_written_leaves_the_old_one_and_no_remains(self):
        path = self.directory / "x.pdf"
        command.write(path, b"old")
        for error in (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), KeyboardInterrupt, SystemExit):
            with mock.patch("os.replace", side_effect=error), self.assertRaises((load.BadFile, KeyboardInterrupt,
                                                                                 SystemExit)):
                command.write(path, b"new")
            self.assertEqual({path.name: path.read_bytes() for path in self.directory.iterdir()}, {"x.pdf": b"old"})

    def test_a_full_disk_ends_in_one_line_and_status_1_without_remains(self):
        sample_data.write_small_sweep(self.directory)
        sample_data.write_manifest(self.directory)
        names = sorted(os.listdir(self.directory))
        for main, name in ((plot.main, "plot: {}/speedup.pdf"), (report.main, "report: {}/report.html")):
            limits = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
            try:
                status, out, err = run_main(main, self.directory)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            self.assertEqual((status, out), (1, ""))
            self.assertEqual(err, f"{name.format(self.directory)}: cannot be written (File too large)\n")
            self.assertEqual(sorted(os.listdir(self.directory)), names)

    def test_a_link_in_the_place_of_a_file_is_replaced_and_what_it_leads_to_stays(self):
        sample_data.write_small_sweep(self.directory)
        sample_data.write_manifest(self.directory)
        victim = self.directory / "victim"
        victim.write_text("mine", encoding="utf-8")
        for name in ("speedup.pdf", "speedup.pdf.unfinished", "report.html", "report.html.unfinished"):
            (self.directory / name).symlink_to(victim)
        for main in (plot.main, report.main):
            self.assertEqual(run_main(main, self.directory)[0], 0)
        self.assertEqual(victim.read_text(encoding="utf-8"), "mine")
        for name in ("speedup.pdf", "report.html"):
            self.assertFalse((self.directory / name).is_symlink())

    def test_a_new_file_has_the_mode_that_the_user_wants(self):
        before = os.umask(0o027)
        self.addCleanup(os.umask, before)
        command.write(self.directory / "x.pdf", b"new")
        self.assertEqual((self.directory / "x.pdf").stat().st_mode & 0o777, 0o640)

    def test_one_function_reads_files_and_one_writes_them(self):
        found = {(path.name, line.strip()) for path in PLOTS.glob("*.py")
                 for line in path.read_text(encoding="utf-8").splitlines()
                 if re.search(r"\bopen\(|read_text|read_bytes|write_text|write_bytes|\bprint\(|sys\.std(out|err)\.write",
                              line)}
        self.assertEqual(sorted(name for name, _ in found), ["command.py"] * 3 + ["load.py"], sorted(found))


if __name__ == "__main__":
    unittest.main()
