#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: every tab and control, hostile input, no message, no request. Prints times.

    browser.py PAGE [--program FOREDRAFT] [--pictures DIR] [TEST ...]

Needs Chromium and the Python package playwright; says that it was skipped where there is none.
"""

import argparse
import html
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE_WORDS = ["", "-1", "1e308", "0", "abc", "<img src=x onerror=alert(1)>", "1,2,,3", "9" * 400, "'; rm -rf /",
    "\u202e\u0000é𝛼"]
HOSTILE_NUMBERS = ["", "-1", "1e308", "0", "1e-300", "99999999999"]
HOSTILE_ADDRESSES = ["#", "#nothing", "#explore&alpha=NaN&c=-1", "#explore&alpha=1e999&gamma=x&shape=cube",
    "#constructor", "#__proto__&alpha=1",
                     "#log&example=__proto__", "#gpu&device=" + "a" * 50000,
                         "#gpu&device=%3Cscript%3Ealert(1)%3C/script%3E", "#explore&gamma=1e15&best=0",
                     "#explore&process=conditional&conditional=" + "0.5," * 3000, "#explore&alpha=%E0%A4%A",
                         "#explore&shape=tree&nodes=1e9"]
WIDTHS = (390, 800, 1400)
SETTINGS = argparse.Namespace(page=None, program=None, pictures=None)


class Page(unittest.TestCase):
    """One browser for all; one tab of it for each test."""

    @classmethod
    def setUpClass(cls):
        cls.driver = sync_playwright().start()
        cls.browser = cls.driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.driver.stop()

    def setUp(self):
        self.said = []
        self.context = None

    def tearDown(self):
        if self.context:
            self.context.close()
        self.assertEqual(self.said, [])

    def open(self, address="", width=1400, scheme="light", script=""):
        """Opens the page, waits for its first answer and returns its tab; its messages and requests are recorded."""
        self.context = self.browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme,
            accept_downloads=True)
        tab = self.context.new_page()
        tab.add_init_script(script)
        tab.on("console", lambda message: self.said.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        tab.on("dialog", lambda dialog: (self.said.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        tab.on("request", lambda request: None if request.url.startswith((SETTINGS.page, "blob:", "data:")) else
               self.said.append(f"request: {request.url}"))
        tab.goto(SETTINGS.page + address)
        tab.wait_for_selector("main[aria-busy]")
        self.settle(tab)
        return tab

    def settle(self, tab):
        """Waits until no question has been open for 160 ms: the page draws a map only when nothing moves."""
        tab.wait_for_function("""() => {
            const busy = document.querySelector("main").getAttribute("aria-busy") === "true";
            window.calmSince = busy ? undefined : window.calmSince ?? performance.now();
            return !busy && performance.now() - window.calmSince > 160;
        }""", polling=20, timeout=120000)
        tab.evaluate("window.calmSince = undefined")

    def verdict(self, tab):
        return tab.inner_text("section:not([hidden]) .verdict")

    def answered(self, tab):
        text = self.verdict(tab)
        self.assertNotIn(text.strip(), ("", "…"))
        self.assertNotIn("undefined", text)
        self.assertNotIn("program stopped", text)
        return text


    def saved(self, tab, button):
        """The bytes of the file that a button offers."""
        with tab.expect_download() as download:
            tab.click(button)
        return pathlib.Path(download.value.path()).read_bytes()


class Tabs(Page):
    def test_first_answer(self):
        # The frame that first shows a verdict.
        tab = self.open(script="""(function look() {
            if (/\\d/.test(document.querySelector(".verdict")?.textContent)) performance.mark("verdict");
            else requestAnimationFrame(look);
        })()""")
        self.assertEqual(self.verdict(tab), "Use γ = 8: 3.09× as fast.")
        verdict, charts = (tab.evaluate("name => performance.getEntriesByName(name)[0].startTime", name)
                           for name in ("verdict", "explore-answered"))
        print(f"\nfirst answer {verdict:.0f} ms after opening, its charts {charts:.0f} ms", end=" ")

    def test_tabs_by_keyboard_and_their_labels(self):
        tab = self.open()
        tab.focus("#tab-explore")
        for name in ("log", "gpu", "explore"):
            tab.keyboard.press("ArrowRight")
            self.settle(tab)
            self.assertEqual(tab.evaluate("document.activeElement.id"), f"tab-{name}")
            self.assertTrue(tab.is_visible(f"#panel-{name}"))
            self.answered(tab)
        unnamed = tab.evaluate("""() => [...document.querySelectorAll("button, input, select, textarea, svg")]
            .filter((part) => !part.getAttribute("aria-label") && !(part.labels ?? []).length
                && !(part.tagName === "BUTTON" && part.textContent.trim()))
            .map((part) => part.outerHTML.slice(0, 80))""")
        self.assertEqual(unnamed, [])

    def test_every_control_takes_every_value(self):
        tab = self.open()
        for name in ("explore", "log", "gpu"):
            tab.click(f"#tab-{name}")
            self.settle(tab)
            tab.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
            tried = set()
            for shape in self.shapes(name):
                for key, value in shape.items():
                    tab.select_option(f"#{name}-{key}", value)
                self.settle(tab)
                self.try_controls(tab, name, shape, tried)

    def shapes(self, name):
        """Choices that show different controls."""
        return {"explore": [{"shape": "chain", "process": process, "cost": cost} for process, cost in
                            (("iid", "ratio"), ("length", "times"), ("conditional", "ratio"), ("marginal", "times"),
                                ("runs", "ratio"))] + [{"shape": "tree"}],
                "log": [{"question": "advise", "example": "pays"}, {"question": "compare", "example": "compare"},
                    {"question": "plan"}],
                "gpu": [{"load": "batch"}, {"load": "users"}, {"load": "rate"}]}[name]

    def try_controls(self, tab, name, shape, tried):
        shown = f"#panel-{name} .controls .field:not([hidden])"
        for control in tab.query_selector_all(f"{shown} [id]:not(small):not(datalist)"):
            own = control.get_attribute("id").removeprefix(f"{name}-")
            if not control.is_visible() or own in shape or own in tried:
                continue
            tried.add(own)
            kind = control.evaluate("part => part.tagName === 'INPUT' ? part.type : part.tagName")
            before = control.is_checked() if kind == "checkbox" else control.input_value()
            if kind == "checkbox":
                for _ in range(2):
                    control.click()
                    self.settle(tab)
                    self.answered(tab)
            elif kind == "SELECT":
                for value in [*control.evaluate("part => [...part.options].map((option) => option.value)"), before]:
                    control.select_option(value)
                    self.settle(tab)
                    self.answered(tab)
            else:
                for value in [*(HOSTILE_NUMBERS if kind == "number" else HOSTILE_WORDS), before]:
                    control.fill(value)
                    self.settle(tab)
                    self.answered(tab)

    def test_sliders_answer_at_once(self):
        tab = self.open()
        found = tab.evaluate("""async () => {
            const range = document.querySelector("#explore-alpha").parentElement.querySelector("[type=range]");
            const said = document.querySelector("#panel-explore .verdict");
            const took = [];
            for (let step = 0; step < 40; step += 1) {
                await new Promise((resolve) => setTimeout(resolve, 400));
                const changed = new Promise((resolve) =>
                    new MutationObserver((_, watch) => { watch.disconnect(); resolve(performance.now()); })
                    .observe(said, { childList: true, characterData: true, subtree: true }));
                const start = performance.now();
                range.value = 0.5 + 0.01 * step;
                range.dispatchEvent(new Event("input", { bubbles: true }));
                took.push(await changed - start);
            }
            return took.sort((one, other) => one - other);
        }""")
        print(f"\na slider answers in {found[len(found) // 2]:.1f} ms (median), {found[-1]:.1f} ms (worst)", end=" ")

    def test_simulation_beside_the_closed_form(self):
        tab = self.open("#explore&simulate=1&alpha=0.7")
        figure = tab.inner_text("#panel-explore .charts .chart >> nth=0")
        self.assertIn("simulated, 95 %", figure)

    def test_map_is_clicked(self):
        tab = self.open()
        tab.wait_for_selector("#panel-explore .chart image")
        box = tab.query_selector("#panel-explore .chart:has(image) svg").bounding_box()
        tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + 80)
        self.settle(tab)
        self.assertNotEqual(tab.input_value("#explore-alpha"), "0.8")
        self.answered(tab)

    def test_downloads(self):
        tab = self.open()
        tab.wait_for_selector("#panel-explore .chart image")
        self.settle(tab)
        csv, svg, png = (self.saved(tab,
            f"#panel-explore .chart >> nth=1 >> .saves button >> nth={at}") for at in range(3))
        answer = json.loads(self.saved(tab, "#panel-explore >> text=Answer as JSON"))
        speedups = self.saved(tab, "#panel-explore .chart >> nth=0 >> text=CSV")
        self.assertEqual(answer["best_gamma"], 8)
        self.assertIn(b"closed form,8,3.09207954", speedups)
        self.assertTrue(csv.startswith(b"series,acceptance rate"))
        self.assertTrue(png.startswith(b"\x89PNG"))
        self.assertNotIn(b"var(", svg)


class FirstQuestions(Page):
    """A new user's questions, by clicking and typing only."""

    def copied(self, tab, way):
        """The text that `way` of the shown tab's share box copies to the clipboard, with the button in the page's
        header."""
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab.click("#share")
        tab.click(f"section:not([hidden]) .share >> text={way}")
        tab.click("section:not([hidden]) .share >> text=Copy")
        tab.wait_for_function("() => document.getElementById('told').textContent === 'Copied.'")
        return tab.evaluate("navigator.clipboard.readText()")

    def test_where_does_it_break_even_and_how_do_i_share_that(self):
        tab = self.open()
        self.assertRegex(tab.inner_text("#panel-explore dl.lines"), r"Break even\s+at γ 8: .* c below 0\.4161")
        self.assertIn("fd.predict(alpha=0.8, c=0.05, gamma=fd.best)", self.copied(tab, "Python"))
        tab.fill("#explore-alpha", "0.7")
        tab.wait_for_function("() => location.hash.includes('0.7')")
        self.assertEqual(self.copied(tab, "Link"), SETTINGS.page + "#explore&alpha=0.7")

    def test_a_tree_or_a_chain(self):
        tab = self.open()
        tab.select_option("#explore-shape", label="A tree of candidates")
        self.settle(tab)
        self.assertRegex(self.verdict(tab), r"The best tree has 64 nodes: 2\.\d\d× as fast\. The best chain: 1\.\d\d×\.")

    def test_eagle_for_my_model_at_32_users(self):
        tab = self.open()
        tab.click("text=Your GPU")
        self.settle(tab)
        for name, typed in (("device", "H100"), ("target", "Llama-3.1-8B"), ("draft", "EAGLE llama")):
            tab.fill(f"#gpu-{name}", typed)
        self.settle(tab)
        self.assertIn("neither a shipped model", self.verdict(tab))
        tab.click("#panel-gpu .lead >> text=eagle3-llama-3.1-8b")
        tab.select_option("#gpu-load", label="users at once, with prompts")
        tab.fill("#gpu-concurrency", "32")  # while the answer to the last step is under way
        self.settle(tab)
        self.assertIn("At 32 concurrent requests use K = ", self.verdict(tab))

    def test_a_search_field_lists_all_and_keeps_its_value(self):
        tab = self.open("#gpu")
        said = self.verdict(tab)
        tab.click("#gpu-device")
        self.assertEqual(tab.input_value("#gpu-device"), "")
        tab.keyboard.type("a")
        tab.keyboard.press("Backspace")
        tab.click("h1")
        self.settle(tab)
        self.assertEqual((tab.input_value("#gpu-device"), self.verdict(tab)), ("h100", said))

    def test_two_logs_compared(self):
        tab = self.open()
        tab.click("text=Your log")
        tab.click("#share")
        self.assertEqual(tab.inner_text("#told"), "Nothing to share yet: choose logs first.")
        tab.select_option("#log-question", label="Compare log A with log B")
        self.settle(tab)
        self.assertEqual(self.verdict(tab), "Drop two logs: A, then B.")
        tab.set_input_files("#panel-log .drop input",
                            [REPOSITORY / f"docs/examples/advise/{name}.csv" for name in ("old", "new")])
        self.settle(tab)
        self.assertIn("B accepts 0.09 more tokens per iteration than A", self.verdict(tab))

    def test_dark_on_a_phone(self):
        tab = self.open(width=390)
        tab.click("#look")
        self.assertEqual(tab.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(22, 24, 27)")


class Shared(Page):
    def test_an_address_opens_the_same_answer(self):
        tab = self.open()
        tab.fill("#explore-alpha", "0.65")
        tab.click("#explore-best")
        self.settle(tab)
        tab.wait_for_function("() => location.hash.includes('0.65')")
        said, address = self.verdict(tab), tab.evaluate("location.hash")
        self.context.close()
        self.assertEqual(self.verdict(self.open(address)), said)

    def test_the_program_gives_the_shared_answer(self):
        if not SETTINGS.program:
            self.skipTest("no --program")
        for address in ("#explore", "#explore&process=runs&best=0&gamma=3", "#explore&cost=times&convention=no_bonus",
            "#explore&process=marginal", "#gpu", "#gpu&load=users"):
            tab = self.open(address)
            name = tab.evaluate("location.hash.slice(1).split('&')[0]")
            line = shlex.split(tab.inner_text(f"#panel-{name} .share pre"))
            answer = subprocess.run([SETTINGS.program, *line[1:], "--json"], capture_output=True, text=True,
                check=True).stdout
            self.assertEqual(self.saved(tab, f"#panel-{name} .share >> text=Answer as JSON").decode(), answer, address)
            if tab.query_selector(f"#panel-{name} .share >> text=TOML"):
                tab.click(f"#panel-{name} .share >> text=TOML")
                with tempfile.TemporaryDirectory() as folder:
                    configuration = pathlib.Path(folder, "shared.toml")
                    configuration.write_text(tab.inner_text(f"#panel-{name} .share pre"))
                    command = ["simulate", str(configuration)] if name == "explore" else ["sweep", str(configuration),
                        "--out", f"{folder}/out"]
                    ran = subprocess.run([SETTINGS.program, *command], capture_output=True, text=True, check=False)
                    self.assertEqual(ran.returncode, 0, f"{address}: {ran.stderr}\n{configuration.read_text()}")
            self.context.close()

    def test_the_shared_lines_of_python_are_python(self):
        for name, address in (("explore", "#explore&process=runs"), ("explore", "#explore&shape=tree"),
            ("log", "#log&example=pays"),
                              ("log", "#log&question=compare&example=compare"), ("log",
                                  "#log&question=plan&currentK=3"),
                              ("gpu", "#gpu"), ("gpu", "#gpu&load=rate&marginal=0.7,0.5")):
            tab = self.open(address)
            tab.click(f"#panel-{name} .share >> text=Python")
            compile(tab.inner_text(f"#panel-{name} .share pre"), address, "exec")
            self.context.close()

    def test_hostile_addresses(self):
        for address in HOSTILE_ADDRESSES:
            tab = self.open(address)
            self.answered(tab)
            self.context.close()


class Logs(Page):
    def test_examples_say_what_the_program_says(self):
        tab = self.open("#log")
        for name in ("pays", "loses", "broken", "alone", "compare"):
            tab.select_option("#log-question", "compare" if name == "compare" else "advise")
            tab.select_option("#log-example", name)
            self.settle(tab)
            self.answered(tab)
            if SETTINGS.program:
                line = shlex.split(tab.inner_text("#panel-log .share pre"))
                ran = subprocess.run([SETTINGS.program, *line[1:]], capture_output=True, text=True, check=True,
                    cwd=REPOSITORY / "docs/examples/advise")
                self.assertEqual(tab.text_content("#panel-log details:has(summary:text('prints it')) pre"), ran.stdout)

    def test_pasted_text(self):
        tab = self.open("#log")
        tab.fill("#panel-log textarea[aria-label='Paste a log']",
            (REPOSITORY / "docs/examples/advise/k3.log").read_text())
        tab.click("text=Use the pasted text")
        self.settle(tab)
        self.assertIn("tokens per iteration", self.answered(tab))

    def test_hostile_files(self):
        files = sorted(path for path in (REPOSITORY / "tests/fuzz/corpus").rglob("*") if path.is_file())
        tab = self.open("#log")
        for path in files:
            tab.set_input_files("#panel-log .drop input", path)
            self.settle(tab)
            self.answered(tab)
            tab.click("#panel-log .files button")
            self.settle(tab)
        print(f"\n{len(files)} hostile files", end=" ")

    def test_hostile_models(self):
        tab = self.open("#gpu")
        tab.evaluate("document.querySelectorAll('#panel-gpu details').forEach((part) => { part.open = true; })")
        for path in sorted((REPOSITORY / "tests/fuzz/corpus/hugging_face").iterdir()):
            tab.set_input_files("#panel-gpu .drop input >> nth=0", path)
            self.settle(tab)
            self.answered(tab)

    def test_a_log_of_100_mb(self):
        text = (REPOSITORY / "docs/examples/advise/k3.log").read_bytes()
        with tempfile.NamedTemporaryFile(suffix=".log") as large:
            while large.tell() < 100e6:
                large.write(text)
            large.flush()
            tab = self.open("#log")
            start = time.monotonic()
            tab.set_input_files("#panel-log .drop input", large.name)
            tab.wait_for_function("() => performance.getEntriesByName('log-answered').length > 0", timeout=300000)
            self.settle(tab)
            took = tab.evaluate("performance.getEntriesByName('log-answered')[0].duration")
            whole = time.monotonic() - start
            print(f"\n100 MB of log in {took / 1000:.2f} s, {whole:.2f} s with choosing it:", self.answered(tab),
                end=" ")


class Looks(Page):
    def test_no_sideways_scrolling_at_any_width(self):
        for address, name in (("#explore", "explore"), ("#explore&shape=tree", "tree"), ("#log&example=pays", "log"),
            ("#log&question=compare&example=compare", "compare"),
                              ("#gpu", "gpu"), ("#gpu&load=users", "load")):
            for width in WIDTHS:
                for scheme in ("light", "dark"):
                    tab = self.open(address, width, scheme)
                    tab.wait_for_timeout(150)
                    self.assertLessEqual(tab.evaluate("document.documentElement.scrollWidth"), width,
                        f"{address} {width}")
                    self.answered(tab)
                    if SETTINGS.pictures:
                        tab.screenshot(path=f"{SETTINGS.pictures}/{name}-{width}-{scheme}.png", full_page=True)
                    self.context.close()

    def test_the_frame_of_a_notebook_answers(self):
        if not SETTINGS.page.startswith("file:"):
            self.skipTest("needs the page as a file")
        self.context = self.browser.new_context()
        tab = self.context.new_page()
        tab.on("console", lambda message: self.said.append(f"console: {message.text}"))
        text = html.escape(pathlib.Path(SETTINGS.page.removeprefix("file://")).read_text())
        tab.set_content(f'<iframe srcdoc="{text}" sandbox="allow-scripts allow-downloads"></iframe>')
        tab.frame_locator("iframe").get_by_text("3.09× as fast").first.wait_for(timeout=20000)

    def test_the_switch_of_looks_and_print(self):
        tab = self.open()
        back = "getComputedStyle(document.body).backgroundColor"
        light = tab.evaluate(back)
        tab.click("#look")
        self.assertNotEqual(tab.evaluate(back), light)
        tab.emulate_media(media="print")
        self.assertFalse(tab.is_visible("#panel-explore .controls"))
        self.assertTrue(tab.is_visible("#panel-explore .chart"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", help="the HTML file, or its address")
    parser.add_argument("--program", help="the native program, to compare with")
    parser.add_argument("--pictures", help="a folder for pictures of every tab at every width")
    arguments, rest = parser.parse_known_args()
    if sync_playwright is None or BROWSER is None:
        print(f"browser.py: skipped: {'no playwright' if sync_playwright is None else 'no Chromium'}")
        return
    page = arguments.page if "://" in arguments.page else pathlib.Path(arguments.page).resolve().as_uri()
    SETTINGS.page, SETTINGS.pictures = page, arguments.pictures
    SETTINGS.program = arguments.program and str(pathlib.Path(arguments.program).resolve())
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
