# SPDX-License-Identifier: Apache-2.0
"""report.py: one file that shows everything, needs no other file, and names files that it cannot read."""

import base64
import html.parser
import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import hostile_folder
import sample_data
from support import InDirectory, run_main

from plots import markdown_tables, plot, report

# Elements without an end tag.
VOID = {"meta", "wbr", "img"}
# All that a page may contain, whatever is in its folder: elements, and the values of attributes.
ELEMENTS = set("""html head meta title style body div header nav main h1 h2 h3 h4 p ul li a figure figcaption img table
  thead tbody tr th td code wbr details summary dl dt dd strong span pre""".split())
ATTRIBUTES = {"lang": "en", "charset": "utf-8", "name": "viewport", "http-equiv": "Content-Security-Policy",
              "content": "width=device-width, initial-scale=1|default-src 'none'; img-src data:; style-src "
                         "'unsafe-inline'; base-uri 'none'; form-action 'none'",
              "class": r"[a-z]+( [a-z]+)?", "id": r"[\w-]+", "href": r"#[\w-]+", "aria-label": "Contents|[a-z]+",
              "title": "[a-z]+", "alt": None, "style": r"--natural: [0-9.]+pt",
              "src": r"data:image/svg\+xml;base64,[A-Za-z0-9+/=]+"}


class Outline(html.parser.HTMLParser):
    """Checks that elements nest and collects ids and references."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.targets, self.tags, self.sources, self.names = [], [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        assert tag in ELEMENTS, tag
        self.tags.append(tag)
        for name, value in attributes:
            assert name in ATTRIBUTES and (name == "alt" or re.fullmatch(ATTRIBUTES[name], value)), (tag, name, value)
            if name == "id":
                self.ids.append(value)
            elif name == "href":
                self.targets.append(value)
            elif name == "src":
                self.sources.append(value)
            elif name == "alt":
                self.names.append(value)
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

    def rejected(self, *words, status=1):
        found, _, err = run_main(report.main, self.directory)
        self.assertEqual(found, status, err)
        for word in words:
            self.assertIn(word, err)
        self.assertFalse((self.directory / "report.html").exists())

    @classmethod
    def setUpClass(cls):
        """A folder with all files of plot.py, drawn once; the other tests need only the name of a drawing."""
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.whole = Path(folder.name)
        sample_data.write_scorecard(cls.whole)
        sample_data.write_manifest(cls.whole)
        sample_data.write_sweep(cls.whole, gammas=(1, 2))
        sample_data.write_small_sweep(cls.whole, "speedup-wide", width="double_column")
        assert run_main(plot.main, cls.whole)[0] == 0
        (cls.whole / "points.csv").write_bytes((cls.whole / "speedup.csv").read_bytes())
        (cls.whole / "leviathan-table1.md").write_text("| α | speed |\n|--|--:|\n| 0.6 | 1.96 |\n", encoding="utf-8")

    def whole_folder(self):
        shutil.copytree(self.whole, self.directory, dirs_exist_ok=True)

    def stand_ins(self, *stems):
        for stem in stems:
            (self.directory / f"{stem}.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="300pt"/>',
                                                        encoding="utf-8")

    def opens_with(self, text, verdict, figure):
        """Only the answer and its figure are above the contents."""
        header = text[text.index("<header>"):text.index("</header>")]
        self.assertEqual(re.findall(r'<p class="verdict">(.*?)</p>', header), [verdict])
        self.assertEqual(re.findall(r'<img alt="(.*?)"', header), [figure] if figure else [])
        self.assertEqual(text.count(f'<img alt="{figure}"'), 1)
        self.assertLess(text.index("</header>"), text.index("<nav"))

    def test_a_prediction_opens_with_its_largest_speedup_and_the_smallest_of_the_best(self):
        sample_data.write_prediction(self.directory)
        self.stand_ins("batch-speedup", "step-time")
        self.opens_with(self.report(), "Predicted speedup: up to 1.75x with draft length 4 at batch size 1, context 512 "
                                       "(95 % interval 1.70 to 1.80). Smallest of 6 combinations: 1.25x with draft length "
                                       "2 at batch size 32, context 512 (95 % interval 1.21 to 1.29).", "batch-speedup")
        sample_data.write_prediction(self.directory, batches=(32,), contexts=(512,), alpha=0.05, spread="")
        self.opens_with(self.report(), "Speculative decoding is predicted to lose: at best 0.73x with draft length 1 at "
                                       "batch size 32, context 512.", "batch-speedup")

    def test_a_tree_opens_with_its_tokens_beside_those_of_a_chain(self):
        found = {"schema": "foredraft.tree/1", "tree": "best", "nodes": 16, "tokens_per_iteration": 2.2109,
                 "speedup": 1.5, "chain": {"tokens_per_iteration": 1.7792}}
        for changes, words in (({}, "the best tree of 16 nodes, speedup 1.500x. A chain has 1.779."),
                               ({"tree": "given", "speedup": None, "chain": None}, "the given tree of 16 nodes.")):
            (self.directory / "tree.json").write_text(json.dumps({**found, **changes}), encoding="utf-8")
            self.stand_ins("tree")
            self.opens_with(self.report(), f"2.211 tokens per iteration with {words}", "tree")

    def test_a_sweep_opens_with_its_largest_answer_and_how_far_both_sides_are_apart(self):
        sample_data.write_manifest(self.directory)  # its axis is alpha
        self.stand_ins("speedup")
        header = ["alpha", "analytic_speedup", "simulated_speedup", "speedup_deviation_in_se"]
        for rows, words in (([[0.5, 1.5, 1.4, -2.25], [0.9, 3.25, 3.2, 1], [0.7, "", "inf", ""]],
                             "Largest speedup: 3.25x at alpha = 0.9. Simulation and closed form differ by at most 2.2 "
                             "standard errors in 2 comparisons."),
                            ([[0.5, "", 1.5, ""], [0.9, "", 0.5, ""]], "Largest speedup: 1.5x at alpha = 0.5."),
                            ([[0.7899999999999999, "", 1.5, ""]], "Largest speedup: 1.5x at alpha = 0.79.")):
            sample_data.write_csv(self.directory / "points.csv", header, rows)
            self.opens_with(self.report(), words, "speedup")
        sample_data.write_csv(self.directory / "points.csv", ["alpha", "simulated_tokens_per_s"], [[1, 20], [2, 10]])
        self.opens_with(self.report(), "Largest throughput: 20 tokens/s at alpha = 1.", "speedup")

    def test_it_stands_alone_nests_and_every_reference_meets_one_id(self):
        self.whole_folder()
        text = self.report()
        outline = Outline()
        outline.feed(text)
        self.assertEqual(outline.open, [])
        self.assertEqual(outline.tags.count("img"), 2)
        self.assertEqual(len(outline.ids), len(set(outline.ids)))
        self.assertGreater(len(outline.targets), 5)
        for target in outline.targets:
            self.assertTrue(target.startswith("#") and target[1:] in outline.ids, target)
        self.assertEqual(len(outline.sources), 2)
        for name, source in zip(("speedup", "speedup-wide"), outline.sources):
            self.assertEqual(source, "data:image/svg+xml;base64,"
                             + base64.b64encode((self.directory / f"{name}.svg").read_bytes()).decode())
        self.assertNotIn("@import", text)
        self.assertEqual(self.report(), text)

    def test_nothing_of_a_hostile_folder_becomes_markup(self):
        folder = self.directory / hostile_folder.MARKUP.replace("/", "")
        folder.mkdir()
        self.directory = folder
        hostile_folder.write_hostile(folder, "http://127.0.0.1:1")
        text = self.report()
        outline = Outline()
        outline.feed(text)
        self.assertEqual(outline.open, [])
        self.assertEqual(sorted(outline.names), ["""a'"><b onclick=x>&amp; javascript:x""", "leviathan-table1",
                                                 "validation"])
        self.assertEqual(text.count("<script"), 0)
        self.assertGreater(text.count("&lt;script&gt;"), 60)

    def test_an_error_that_nobody_thought_of_is_one_line(self):
        sample_data.write_manifest(self.directory)
        with mock.patch("plots.report.page", side_effect=RecursionError("too deep")):
            status, _, err = run_main(report.main, self.directory)
        self.assertEqual((status, err), (1, f"report: {self.directory}: RecursionError: too deep\n"))

    def test_links_in_the_folder_are_not_followed(self):
        for name in ("x.md", "x.svg", "points.csv", "scorecard.csv", "manifest.json", "validation.csv"):
            path = self.directory / name
            path.symlink_to("/etc/passwd")
            self.rejected(f"report: {path}: is a link; links in a results folder are not followed\n")
            path.unlink()

    def test_the_overview_counts_by_paper_and_kind_and_is_read_without_colour(self):
        sample_data.write_scorecard(self.directory)
        text = self.report()
        overview = text[text.index('<h2 id="overview">'):text.index('<h2 id="findings">')]
        header = text[text.index("<header>"):text.index("</header>")]
        self.assertIn('<p class="verdict">1 of 2 checked results agree with the printed numbers. 1 printed numbers or '
                      "statements contradict themselves or others.</p>", header)
        self.assertIn("4 results and 1 printed inputs, which are not scored.", overview)
        for verdict, sign in (("pass", "✓"), ("fail", "✗"), ("finding", "!"), ("shown", "·")):
            self.assertIn(f'<li class="{verdict}"><strong>{sign} 1</strong>{verdict}</li>', header)
        self.assertIn("<th>exact</th><th>fitted</th><th>input</th>", overview)
        row = re.search(r"<tr><td><a[^>]*>Leviathan et al. 2023</a></td>(.*?)</tr>", overview)[1]
        self.assertEqual(row, '<td><span class="chip pass">✓ 1</span> <span class="chip fail">✗ 1</span></td>'
                              '<td><span class="chip finding">! 1</span> 1</td><td>1</td>')

    def test_a_verdict_that_nothing_has_is_not_painted(self):
        sample_data.write_scorecard(self.directory)
        path = self.directory / "scorecard.csv"
        path.write_text(path.read_text(encoding="utf-8").replace(",fail,", ",pass,"), encoding="utf-8")
        self.assertIn('<li class="none"><strong>✗ 0</strong>fail</li>', self.report())

    def test_findings_stand_together_with_their_arithmetic_and_lead_to_their_table(self):
        sample_data.write_scorecard(self.directory)
        text = self.report()
        findings = text[text.index('<h2 id="findings">'):text.index('<h2 id="at-Leviathan')]
        self.assertIn('<a href="#at-leviathan-table2">leviathan-table2</a>, speed</h4>', findings)
        self.assertIn("<strong>CNNDM T5-small T=0</strong> prints 3.1: above &lt;any&gt; process &amp; rounding",
                      findings)
        self.assertEqual(findings.count("<li>"), 1)
        self.assertNotIn("<any>", text)

    def test_more_than_three_findings_of_a_column_fold(self):
        sample_data.write_scorecard(self.directory)
        path = self.directory / "scorecard.csv"
        lines = path.read_text(encoding="utf-8").splitlines()
        found = next(line for line in lines if ",finding," in line)
        path.write_text("\n".join([*lines, *[found] * 4]) + "\n", encoding="utf-8")
        self.assertIn("<summary>2 more in this column</summary>", self.report())

    def test_an_input_that_something_contradicts_counts_as_a_finding(self):
        sample_data.write_scorecard(self.directory)
        path = self.directory / "scorecard.csv"
        path.write_text(path.read_text(encoding="utf-8").replace(",input,shown,", ",input,finding,"), encoding="utf-8")
        text = self.report()
        self.assertIn("5 results and 0 printed inputs, which are not scored.", text)
        self.assertIn("<strong>! 2</strong>finding", text)
        self.assertIn("<p>2 printed numbers or statements", text)
        self.assertNotIn("printed inputs</summary>", text)

    def test_every_cell_stands_beside_ours_with_difference_and_verdict_and_inputs_apart(self):
        sample_data.write_scorecard(self.directory)
        text = self.report()
        self.assertEqual(re.findall(r"<h3[^>]*>([\w-]+)", text), ["leviathan-table1", "leviathan-table2"])
        self.assertEqual(text.count("cell by cell, with differences</summary>"), 2)
        self.assertIn("<summary>1 printed inputs</summary>", text)
        self.assertIn('3.69 <span class="range">[3.685, 3.695]</span>', text)
        # 1.7 - 1.60 and 3.68928 - 3.69.
        self.assertIn('<td class="number">+0.1 <span class="range">+6.2 %</span></td>', text)
        self.assertIn('<td class="number">−0.00072 <span class="range">−0.0 %</span></td>', text)
        for cell in ("✓ pass", "✗ fail", "! finding", "· shown"):
            self.assertIn(f"{cell}</span></td>", text)

    def test_an_experiment_has_its_figures_its_tables_and_its_place_in_the_contents(self):
        sample_data.write_scorecard(self.directory)
        sample_data.write_figure5(self.directory)
        sample_data.write_ngram(self.directory)
        sample_data.write_manifest(self.directory, experiments=["leviathan-table1", "leviathan-table10",
                                                                "leviathan-figure5", "ngram-iid-check"],
                                   summaries={"leviathan-figure5": "a <trace>"})
        for name in ("leviathan-table1", "leviathan-table1-more", "leviathan-table10"):
            (self.directory / f"{name}.md").write_text(f"Caption of {name}.\n", encoding="utf-8")
        self.stand_ins("leviathan-figure5", "ngram-iid-check")
        text = self.report()
        contents = text[text.index("<nav"):text.index("</nav>")]
        self.assertEqual(re.findall(r'<a class="paper"[^>]*>(.*?)</a>', contents),
                         ["Leviathan et al. 2023", "Further experiments"])
        self.assertEqual(re.findall(r'<li><a href="#at-[^>]*>(.*?)</a>', contents),
                         ["table1", "table10", "figure5", "table2", "ngram-iid-check"])
        sections = dict(re.findall(r'<h3 id="at-([\w-]+)">(.*?)(?=<h[23]|</main>)', text, re.DOTALL))
        self.assertEqual(re.findall(r"Caption of ([\w-]+)", sections["leviathan-table1"]),
                         ["leviathan-table1", "leviathan-table1-more"])
        self.assertEqual(re.findall(r"Caption of ([\w-]+)", sections["leviathan-table10"]), ["leviathan-table10"])
        self.assertIn("<p>a &lt;trace&gt;</p>", sections["leviathan-figure5"])
        self.assertEqual(sections["leviathan-figure5"].count("<img"), 1)
        self.assertEqual(sections["ngram-iid-check"].count("<img"), 1)

    def test_a_verdict_at_the_end_of_a_cell_becomes_its_sign_and_column_names_words(self):
        (self.directory / "some-table.md").write_text(
            "| speed_x, t_d | ours |\n|--:|--|\n| 1.2 | 1.21 pass |\n| 3 | shown |\n| 4 | overpass |\n",
            encoding="utf-8")
        text = self.report()
        self.assertIn("speed x, t_d</th>", text)
        self.assertIn('>1.21 <span class="chip pass" title="pass" aria-label="pass">✓</span></td>', text)
        self.assertIn('><span class="chip shown" title="shown" aria-label="shown">·</span></td>', text)
        self.assertIn(">overpass</td>", text)

    def test_a_sweep_folder_shows_its_first_points_its_figure_and_its_manifest(self):
        self.whole_folder()
        (self.directory / "scorecard.csv").unlink()
        text = self.report()
        self.assertNotIn('id="overview"', text)
        self.assertIn("The first 10 of 30 rows", text)
        points = text[text.index('<h2 id="points">'):text.index('<h2 id="manifest">')]
        self.assertEqual(points.count("<tr>"), 11)
        self.assertIn("<code>foredraft.manifest/1</code>", text)
        folded = text[text.index('<h2 id="manifest">'):].partition("<details>")
        self.assertNotIn("<table>", folded[0])
        self.assertIn("<code>foredraft.manifest/1</code>", folded[2])
        self.assertIn("<td>axes.alpha</td><td><code>[0.5, 0.9]</code></td>", text)
        self.assertIn("<td>1.sha256</td>", text)

    def test_this_machine_has_its_errors_its_figure_and_every_measured_cell(self):
        sample_data.write_validation(self.directory)
        sample_data.write_manifest(self.directory, schema="foredraft.validation/1", valid=True)
        self.stand_ins("validation")
        text = self.report()
        section = text[text.index('<h2 id="this-machine">'):text.index('<h2 id="manifest">')]
        self.assertIn('<li><a href="#this-machine">This machine</a></li>', text)
        self.assertIn("24 cells: error median", section)
        self.assertEqual(section.count("<img"), 0)
        self.opens_with(text, "The predicted speedups are off by 2.0 % (median) and at most 9.0 % over 24 cells. Two runs of "
                              "a cell differ by 2.0 % (median).", "validation")
        self.assertEqual(section.count("<tr><td>t5-base</td>"), 12)
        self.assertIn('<td class="number">+9.0</td><td class="number">2.0</td></tr>', section)
        self.assertNotIn("noisy", section)
        self.assertNotIn('id="figures"', text)

    def test_an_engine_is_not_called_this_machine(self):
        sample_data.write_validation(self.directory, between_runs="", intervals=False)
        sample_data.write_manifest(self.directory, schema="foredraft.validation/1", valid=True, measured_by="user")
        self.stand_ins("validation")
        text = self.report()
        self.assertIn('<li><a href="#this-machine">An engine</a></li>', text)
        self.assertIn("What it does besides decoding is in the measured numbers", text)
        self.assertNotIn("This machine", text)
        self.assertNotIn("how forward-pass timings compose", text)
        self.assertNotIn("noisy", text)

    def test_an_engine_that_has_a_name_is_called_by_it(self):
        sample_data.write_validation(self.directory, between_runs="", intervals=False)
        sample_data.write_manifest(self.directory, schema="foredraft.validation/1", measured_by="user", engine="a<b")
        self.stand_ins("validation")
        self.assertIn('<li><a href="#this-machine">a&lt;b</a></li>', self.report())

    def test_a_noisy_machine_is_marked_also_beside_results_of_something_else(self):
        sample_data.write_scorecard(self.directory)
        sample_data.write_manifest(self.directory)
        sample_data.write_validation(self.directory)
        self.assertNotIn("noisy", self.report())
        (self.directory / "validation.json").write_text('{"schema": "foredraft.validation/1", "valid": false}',
                                                        encoding="utf-8")
        self.assertIn('<span class="chip finding">! noisy</span>', self.report())
        (self.directory / "validation.json").unlink()
        sample_data.write_validation(self.directory, between_runs=0.021)
        self.assertIn("noisy", self.report())

    def test_an_advice_begins_with_what_to_do_and_has_its_text_and_figures(self):
        sample_data.write_advice(self.directory)
        sample_data.write_manifest(self.directory, schema="foredraft.advice/1")
        self.stand_ins("speedup-chain")
        text = self.report()
        self.assertIn('<li><a href="#advice">Findings</a></li>', text)
        self.opens_with(text, "Keep K = 3: &lt;1.00x&gt;.", "speedup-chain")
        self.assertIn('<pre class="wide">Keep K = 3: &lt;1.00x&gt;.\n</pre>', text)
        self.stand_ins("acceptance-length", "speedup-by-load")
        self.opens_with(self.report(), "Keep K = 3: &lt;1.00x&gt;.", "speedup-by-load")
        (self.directory / "advice.json").write_text(
            '{"schema": "foredraft.advise/1", "action": "K = 7: 0.65x +- 0.01", "cause": "a <b>", "next": null, '
            '"warnings": [{"code": "W1", "line": null, "message": "late & slow"}]}', encoding="utf-8")
        text = self.report()
        self.opens_with(text, "K = 7: 0.65x ± 0.01", "speedup-by-load")
        self.assertIn("<dl><dt>Cause</dt><dd>a &lt;b&gt;</dd><dt>W1</dt><dd>late &amp; slow</dd></dl>", text)
        self.assertLess(text.index('id="advice"'), text.index('id="figures"'))
        (self.directory / "advice.json").write_text("{}", encoding="utf-8")
        (self.directory / "report.html").unlink()
        self.rejected("advice.json", "unknown schema null")

    def test_an_answer_at_a_load_begins_with_the_choice_and_has_its_text_and_figures(self):
        sample_data.write_load(self.directory)
        sample_data.write_manifest(self.directory, schema="foredraft.load_prediction/1")
        self.stand_ins("load-curves", "load-time")
        text = self.report()
        self.assertIn('<li><a href="#load">Answer</a></li>', text)
        self.opens_with(text, "At 8 concurrent requests use K = 3: 1.39x (1.10 to 1.68), instead of &lt;none&gt;.",
                        "load-curves")
        self.assertIn("evidence    data sheet: 20 %", text)

    def test_a_prediction_shows_what_was_printed_and_an_invalid_profile_is_the_first_word(self):
        sample_data.write_prediction(self.directory, batches=(1,), contexts=(512,))
        (self.directory / "prediction.txt").write_text("Use gamma 1 <here>.\n", encoding="utf-8")
        sample_data.write_manifest(self.directory, schema="foredraft.prediction/1", valid=True)
        self.stand_ins("batch-speedup")
        text = self.report()
        self.assertIn('<li><a href="#prediction">Answer</a></li>', text)
        self.assertIn('<pre class="wide">Use gamma 1 &lt;here&gt;.\n</pre>', text)
        self.assertNotIn("NOT VALID", text)
        sample_data.write_manifest(self.directory, schema="foredraft.prediction/1", valid=False)
        self.assertIn('<p class="verdict">NOT VALID by the profile&#x27;s own A/A test. Predicted speedup: ', self.report())
        sample_data.write_validation(self.directory)
        self.assertIn('<p class="verdict">NOT VALID by the profile&#x27;s own A/A test. The predicted speedups are off by ',
                      self.report())

    def test_what_it_cannot_use_is_named(self):
        self.rejected("nothing to report", status=2)
        sample_data.write_manifest(self.directory, schema="foredraft.manifest/2")
        self.rejected("manifest.json", "unknown schema")
        sample_data.write_manifest(self.directory)
        text = "experiment,row\na,b\n"
        (self.directory / "scorecard.csv").write_text(text, encoding="utf-8")
        self.rejected("scorecard.csv", "has no column column, published")
        sample_data.write_scorecard(self.directory)
        path = self.directory / "scorecard.csv"
        path.write_text(path.read_text(encoding="utf-8").replace(",shown,", ",maybe,"), encoding="utf-8")
        self.rejected("scorecard.csv", "verdict: 'maybe' (must be pass, fail, finding, shown)")
        path.write_text(path.read_text(encoding="utf-8").replace(",maybe,", ",shown,").replace(",fitted,", ",guess,"),
                        encoding="utf-8")
        self.rejected("scorecard.csv", "kind: 'guess' (must be exact, predicted")
        path.unlink()
        (self.directory / "broken.svg").write_text("no drawing", encoding="utf-8")
        self.rejected("broken.svg: is not an SVG drawing")

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

    def test_a_backslash_frees_every_sign_that_the_program_escapes(self):
        self.assertEqual(markdown_tables.to_html(r"a\_b \| \* \\ c\d"), r"<p>a_b | * \ c\d</p>")

    def test_markup_in_the_text_does_not_reach_the_page(self):
        self.assertEqual(markdown_tables.to_html("<script>x</script>"), "<p>&lt;script&gt;x&lt;/script&gt;</p>")

    def test_a_line_with_a_pipe_and_no_rule_is_a_paragraph(self):
        self.assertEqual(markdown_tables.to_html("a | b\nc | d"), "<p>a | b c | d</p>")


if __name__ == "__main__":
    unittest.main()
