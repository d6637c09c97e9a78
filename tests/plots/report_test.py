"""report.py: one file that shows everything, needs nothing else, and says what it cannot read."""

import html.parser
import re
import unittest

import sample_data
from support import InDirectory, run_main

import markdown_tables
import plot
import report

# Elements that HTML and SVG close by themselves.
VOID = {"meta", "wbr", "br", "path", "use", "rect"}


class Outline(html.parser.HTMLParser):
    """Checks that elements nest and collects what refers to what."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.targets, self.tags, self.attributes = [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attributes]
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "xlink:href"):
                self.targets.append(value)
            self.targets += re.findall(r"url\(([^)]*)\)", value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()


class Report(InDirectory):
    def report(self):
        status, out, err = run_main(report.main, self.directory)
        self.assertEqual((status, out, err), (0, "report.html\n", ""))
        return (self.directory / "report.html").read_text(encoding="utf-8")

    def refused(self, *words, status=1):
        found, _, err = run_main(report.main, self.directory)
        self.assertEqual(found, status, err)
        for word in words:
            self.assertIn(word, err)
        self.assertFalse((self.directory / "report.html").exists())

    def whole_folder(self):
        sample_data.write_scorecard(self.directory)
        sample_data.write_manifest(self.directory)
        sample_data.write_sweep(self.directory, gammas=(1, 2))
        sample_data.write_sweep(self.directory, "speedup-wide", "double_column", gammas=(1, 2))
        self.assertEqual(run_main(plot.main, self.directory)[0], 0)
        (self.directory / "points.csv").write_bytes((self.directory / "speedup.csv").read_bytes())
        (self.directory / "leviathan-table1.md").write_text("| α | speed |\n|--|--:|\n| 0.6 | 1.96 |\n",
                                                            encoding="utf-8")

    def test_it_stands_alone_nests_and_every_reference_meets_one_id(self):
        self.whole_folder()
        text = self.report()
        outline = Outline()
        outline.feed(text)
        self.assertEqual(outline.open, [])
        self.assertEqual(outline.tags.count("svg"), 2)
        self.assertEqual(len(outline.ids), len(set(outline.ids)))
        self.assertGreater(len(outline.targets), 10)
        for target in outline.targets:
            self.assertTrue(target.startswith("#") and target[1:] in outline.ids, target)
        self.assertFalse({"script", "link", "img", "iframe"} & set(outline.tags))
        self.assertNotIn("src", outline.attributes)
        self.assertNotIn("@import", text)
        self.assertEqual(self.report(), text)

    def test_the_scorecard_is_grouped_counted_and_read_without_colour(self):
        sample_data.write_scorecard(self.directory)
        text = self.report()
        self.assertIn("4 printed results: 1 pass, 1 fail, 1 finding, 1 shown; 1 printed inputs, not scored.", text)
        self.assertEqual(re.findall("<h3>(.*?)</h3>", text), ["leviathan-table1", "leviathan-table2"])
        self.assertEqual(text.count('<td class="verdict'), 5)
        self.assertEqual(text[text.index("<details>"):text.index("</details>")].count('<td class="verdict'), 1)
        for cell in ("✓ pass", "✗ fail", "! finding", "· shown"):
            self.assertIn(cell, text)
        self.assertIn('3.69 <span class="range">[3.685, 3.695]</span>', text)
        self.assertIn("above &lt;any&gt; process &amp; rounding", text)
        self.assertNotIn("<any>", text)

    def test_a_sweep_folder_shows_its_first_points_its_figure_and_its_manifest(self):
        self.whole_folder()
        (self.directory / "scorecard.csv").unlink()
        text = self.report()
        self.assertNotIn("Scorecard", text)
        self.assertIn("The first 10 of 30 rows", text)
        points = text[text.index("<h2>Points</h2>"):text.index("<h2>Manifest</h2>")]
        self.assertEqual(points.count("<tr>"), 11)
        self.assertIn("<code>foredraft.manifest/1</code>", text)
        self.assertIn("<td>axes.alpha</td><td><code>[0.5, 0.9]</code></td>", text)
        self.assertIn("<td>1.sha256</td>", text)

    def test_what_it_cannot_use_is_named(self):
        self.refused("nothing to report", status=2)
        sample_data.write_manifest(self.directory, schema="foredraft.manifest/2")
        self.refused("manifest.json", "unknown schema")
        sample_data.write_manifest(self.directory)
        text = "experiment,row\na,b\n"
        (self.directory / "scorecard.csv").write_text(text, encoding="utf-8")
        self.refused("scorecard.csv", "has no column column, published")
        sample_data.write_scorecard(self.directory)
        path = self.directory / "scorecard.csv"
        path.write_text(path.read_text(encoding="utf-8").replace(",shown,", ",maybe,"), encoding="utf-8")
        self.refused("scorecard.csv", "verdict: 'maybe' (must be pass, fail, finding, shown)")
        path.unlink()
        (self.directory / "broken.svg").write_text("no drawing", encoding="utf-8")
        self.refused("broken.svg: is not an SVG drawing")

    def test_usage(self):
        status, _, err = run_main(report.main)
        self.assertEqual((status, err), (2, "usage: report.py DIR\n"))
        status, _, err = run_main(report.main, self.directory / "nowhere")
        self.assertEqual(status, 2)
        self.assertIn("nowhere: is not a directory", err)


class Markdown(unittest.TestCase):
    def test_headings_paragraphs_tables_alignment_escaped_pipes_and_code(self):
        text = markdown_tables.to_html(
            "# Title\n\ntwo\\*\nlines\n\n| a | b |\n|:--|---:|\n| x\\|y | `1<2` |\n| 3 |\n\nafter\n")
        self.assertIn("<h4>Title</h4>\n<p>two* lines</p>", text)
        self.assertIn('<tr><th>a</th><th class="number">b</th></tr>', text)
        self.assertIn('<tr><td>x|y</td><td class="number"><code>1&lt;2</code></td></tr>', text)
        self.assertIn("<tr><td>3</td></tr>", text)
        self.assertTrue(text.endswith("<p>after</p>"))

    def test_markup_in_the_text_does_not_reach_the_page(self):
        self.assertEqual(markdown_tables.to_html("<script>x</script>"), "<p>&lt;script&gt;x&lt;/script&gt;</p>")

    def test_a_line_with_a_pipe_and_no_rule_is_a_paragraph(self):
        self.assertEqual(markdown_tables.to_html("a | b\nc | d"), "<p>a | b c | d</p>")


if __name__ == "__main__":
    unittest.main()
