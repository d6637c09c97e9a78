# SPDX-License-Identifier: Apache-2.0
"""A results folder in which every file and text tries to become markup or code in report.html."""

from sample_data import write_csv, write_manifest

MARKUP = """'"></script></style></title><script>document.title = "hostile"</script><img src=x onerror="document.title=1">"""


def write_hostile(directory, origin):
    """A folder in which every file and text tries to run a script in report.html or to load something from `origin`."""
    script = f'document.title = "hostile"; fetch("{origin}/leak-fetch");'
    name = """a'"><b onclick=x>&amp; javascript:x"""
    drawing = f"""<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="300pt" height="100pt"
  viewBox="0 0 300 100" onload='{script}'><metadata></metadata>
<style>@import url("{origin}/leak-import"); rect {{ fill: url("{origin}/leak-fill") }}</style>
<script>{script}</script><script href="{origin}/leak-script"/>
<rect width="300" height="100" onclick='{script}'/>
<image href="{origin}/leak-image" width="9" height="9"/><use xlink:href="{origin}/leak-use#a"/>
<a href="javascript:document.title=1"><text y="50">link</text></a>
<foreignObject width="99" height="99"><body xmlns="http://www.w3.org/1999/xhtml"><img src="{origin}/leak-foreign"/>
<iframe src="{origin}/leak-frame"/><script>{script}</script></body></foreignObject></svg>
"""
    for stem in (name, "leviathan-table1", "validation"):
        (directory / f"{stem}.svg").write_text(drawing, encoding="utf-8")
    tables = f"""# {MARKUP}

[link](javascript:document.title=1) ![image]({origin}/leak-markdown) <{origin}> `{MARKUP}` \\<script>

| {MARKUP} | a_b |
|--:|--|
| {MARKUP} | 1 pass |
| `</code>{MARKUP}` | {MARKUP} pass |
"""
    for stem in (name, "leviathan-table1"):
        (directory / f"{stem}.md").write_text(tables, encoding="utf-8")
    header = ["experiment", "row", "column", "published", "published_low", "published_high", "ours", "ours_low",
              "ours_high", "kind", "verdict", "note"]
    write_csv(directory / "scorecard.csv", header,
              [[experiment, *[MARKUP] * 8, kind, verdict, MARKUP] for experiment in ("leviathan-table1", MARKUP)
               for kind, verdict in (("exact", "finding"), ("fitted", "pass"), ("input", "shown"))])
    write_csv(directory / "points.csv", [MARKUP, "b"], [[MARKUP, "2"]] * 3)
    sides = [f"{side}_{what}" for side in ("predicted", "measured") for what in ("speedup", "low", "high")]
    write_csv(directory / "validation.csv", ["target", "drafter", "gamma", *sides, "signed_error", "between_runs"],
              [[MARKUP, MARKUP, MARKUP, 2, 1.9, 2.1, 2, 1.9, 2.1, 0.01, ""]])
    write_manifest(directory, **{
        MARKUP: MARKUP, "seed": MARKUP, "program": {"version": MARKUP}, "run": {"ended": MARKUP},
        "experiments": ["leviathan-table1", MARKUP, {MARKUP: MARKUP}], "half": "\ud800",
        "summaries": {MARKUP: MARKUP}, f"nested {MARKUP}": {MARKUP: [{MARKUP: MARKUP}]}, "measured_by": MARKUP})
