# SPDX-License-Identifier: Apache-2.0
"""report.html in a real browser: no console errors, everything drawn, nothing fetched, no sideways scrolling.

Needs a headless Chromium; without one it is skipped with a message. One browser start covers phone and desktop: a page
with a frame of each width, whose script records the layout.
"""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

import hostile_folder
import sample_data
from support import InDirectory, run_main

from plots import plot, report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PHONE, DESKTOP = 390, 1280

PROBE = """<!DOCTYPE html>
<meta charset="utf-8">
<body>
<script>
const widths = %s;
let left = widths.length;
const seen = {};
for (const width of widths) {
  const frame = document.createElement("iframe");
  frame.style.width = width + "px";
  frame.style.height = "900px";
  frame.onload = () => {
    const page = frame.contentDocument;
    page.querySelectorAll("details").forEach(details => { details.open = true; });
    const box = element => element.getBoundingClientRect();
    seen[width] = {
      scroll: page.documentElement.scrollWidth,
      client: page.documentElement.clientWidth,
      loaded: [...page.images].filter(image => image.complete && image.naturalWidth > 0).length,
      images: page.images.length,
      drawings: [...page.querySelectorAll("figure img")].map(image => [box(image).width, box(image).height]),
      frames: [...page.querySelectorAll("figure img")].map(image => box(image.parentElement).width),
      links: [...page.querySelectorAll("a")].filter(a => {
        const target = a.getAttribute("href");
        return !/^#[-\\w]+$/.test(target) || !page.querySelector(target);
      }).length,
      text: page.body.innerText.length,
      title: page.title,
      scripts: page.querySelectorAll("script").length,
    };
    if (--left === 0) {
      const result = document.createElement("pre");
      result.id = "seen";
      result.textContent = JSON.stringify(seen);
      document.body.append(result);
    }
  };
  frame.src = "report.html";
  document.body.append(frame);
}
</script>
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        self.server.requested.append(self.path)


@unittest.skipUnless(BROWSER, "skipped: no chromium, chromium-browser or google-chrome on the path")
class Browser(InDirectory):
    def look(self, widths=(PHONE, DESKTOP), prepare=lambda origin: None):
        """The layout by width, as the page's script recorded it, the console's lines, and the requested paths.

        `prepare` is called once the server listens, with its address.
        """
        (self.directory / "probe.html").write_text(PROBE % json.dumps(widths), encoding="utf-8")
        handler = functools.partial(Quiet, directory=str(self.directory))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, \
                tempfile.TemporaryDirectory() as profile:
            server.requested = []
            prepare(f"http://127.0.0.1:{server.server_port}")
            threading.Thread(target=server.serve_forever, daemon=True).start()
            sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
            run = subprocess.run(
                [BROWSER, "--headless=new", *sandbox, "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 f"--user-data-dir={profile}", "--enable-logging=stderr", "--window-size=1600,1200",
                 "--virtual-time-budget=20000", "--dump-dom", f"http://127.0.0.1:{server.server_port}/probe.html"],
                capture_output=True, text=True, timeout=240, check=False)
            server.shutdown()
        found = re.search(r'<pre id="seen">(.*?)</pre>', run.stdout)
        self.assertTrue(found, f"the page was not looked at: {run.stdout[-500:]} {run.stderr[-1500:]}")
        console = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
        return {int(width): what for width, what in json.loads(found[1]).items()}, console, server.requested

    def whole_folder(self):
        sample_data.write_scorecard(self.directory)
        sample_data.write_manifest(self.directory)
        sample_data.write_figure5(self.directory)
        sample_data.write_sweep(self.directory, "speedup-wide", "double_column", gammas=(1, 2))
        (self.directory / "points.csv").write_bytes((self.directory / "speedup-wide.csv").read_bytes())
        (self.directory / "leviathan-table1.md").write_text(
            "A caption.\n\n|" + " a_rather_long_column_name |" * 12 + "\n|" + "---|" * 12 + "\n|" + " 1.96 pass |" * 12
            + "\n", encoding="utf-8")
        self.assertEqual(run_main(plot.main, self.directory)[0], 0)
        self.assertEqual(run_main(report.main, self.directory)[0], 0)

    def test_a_phone_and_a_desktop_show_all_of_it_without_errors_or_sideways_scrolling(self):
        self.whole_folder()
        seen, console, requested = self.look()
        self.assertEqual(console, [])
        self.assertEqual({path for path in requested if path != "/favicon.ico"}, {"/probe.html", "/report.html"})
        self.assertEqual(set(seen), {PHONE, DESKTOP})
        for width, what in seen.items():
            with self.subTest(width=width):
                self.assertLessEqual(what["scroll"], what["client"])
                self.assertEqual(what["loaded"], what["images"])
                self.assertEqual(len(what["drawings"]), 2)
                # Both are as wide as two columns: readable, and on a phone scrollable in a frame that fits.
                for drawing, frame in zip(what["drawings"], what["frames"]):
                    self.assertGreater(drawing[0], 600)
                    self.assertGreater(drawing[1], 100)
                    self.assertLessEqual(frame, width)
                self.assertEqual(what["links"], 0)
                self.assertGreater(what["text"], 1000)

    def test_a_hostile_folder_runs_no_script_and_loads_nothing(self):
        def prepare(origin):
            hostile_folder.write_hostile(self.directory, origin)
            self.assertEqual(run_main(report.main, self.directory)[0], 0)

        seen, console, requested = self.look(prepare=prepare)
        self.assertEqual(console, [])
        self.assertEqual({path for path in requested if path != "/favicon.ico"}, {"/probe.html", "/report.html"})
        for width, what in seen.items():
            with self.subTest(width=width):
                self.assertEqual((what["title"], what["scripts"]), (f"{self.directory.name}: foredraft report", 0))
                self.assertEqual((what["loaded"], what["images"]), (3, 3))
                self.assertLessEqual(what["scroll"], what["client"])

    def test_the_policy_alone_stops_what_is_markup(self):
        def prepare(origin):
            hostile_folder.write_hostile(self.directory, origin)
            self.assertEqual(run_main(report.main, self.directory)[0], 0)
            path = self.directory / "report.html"
            drawing = (self.directory / "validation.svg").read_text(encoding="utf-8").partition("?>")[2]
            markup = ('<script>document.title = "hostile"</script><img src="/leak.png" onerror="document.title = 1">'
                      f'<link rel="stylesheet" href="/leak.css">{drawing}')
            path.write_text(path.read_text(encoding="utf-8").replace("</main>", markup + "</main>"), encoding="utf-8")

        seen, _, requested = self.look((DESKTOP,), prepare)
        self.assertEqual({path for path in requested if path != "/favicon.ico"}, {"/probe.html", "/report.html"})
        self.assertEqual(seen[DESKTOP]["title"], f"{self.directory.name}: foredraft report")
        self.assertGreater(seen[DESKTOP]["scripts"], 0)

    def test_the_probe_sees_what_it_is_there_for(self):
        (self.directory / "report.html").write_text(
            '<!DOCTYPE html><body><img src="missing.png"><a href="#nowhere">x</a><p style="width: 900px">wide</p>'
            "<script>console.error('broken')</script>", encoding="utf-8")
        seen, console, requested = self.look((PHONE,))
        self.assertIn("/missing.png", requested)
        self.assertTrue(any("broken" in line for line in console), console)
        what = seen[PHONE]
        self.assertGreater(what["scroll"], what["client"])
        self.assertEqual((what["loaded"], what["images"], what["links"]), (0, 1, 1))


if __name__ == "__main__":
    unittest.main()
