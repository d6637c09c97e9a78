"""Writes report.html for a results directory, from its files alone: report.py DIR.

One file that needs no network and no script: the scorecard, every figure (as SVG), every table (*.md), the manifest
and the first points. Exit status: 0 written; 1 a file could not be used; 2 bad usage or nothing to report.
"""

import html
import json
import os
import re
import sys
from pathlib import Path

import load
import markdown_tables

_SCORECARD = ("experiment", "row", "column", "published", "published_low", "published_high", "ours", "ours_low",
              "ours_high", "kind", "verdict", "note")
# A sign and a word besides the colour: a verdict must survive a grey print.
_VERDICTS = {"pass": "✓", "fail": "✗", "finding": "!", "shown": "·"}
_FIRST_POINTS = 10
_LONGEST_CELL = 200
_ENLARGED = 1.4

_LOOK = """
body { font: 15px/1.45 "DejaVu Sans", Verdana, sans-serif; color: #222; background: #fff; max-width: 62rem;
       margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #ccc; }
h3 { font-size: 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; margin: 0.6rem 0; }
th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #888; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th.name { text-align: right; vertical-align: bottom; }
.range { color: #595959; font-size: 0.8em; }
.verdict { white-space: nowrap; font-weight: bold; }
.pass { background: #d9efe4; color: #0b4a30; } .fail { background: #8f1d1d; color: #fff; }
.finding { background: #ffe9b8; color: #573b00; } .shown { background: #ececec; color: #333; }
figure { margin: 1.2rem 0; } figure svg { max-width: 100%; height: auto; }
figcaption { font-size: 0.85rem; color: #595959; }
code { overflow-wrap: anywhere; }
@media print { body { margin: 0; max-width: none; } h2, h3 { break-after: avoid; } figure, tr { break-inside: avoid; } }
"""


def main(arguments):
    if len(arguments) != 1:
        print("usage: report.py DIR", file=sys.stderr)
        return 2
    directory = Path(arguments[0])
    if not directory.is_dir():
        print(f"report: {directory}: is not a directory", file=sys.stderr)
        return 2
    try:
        text = page(directory)
        if text is None:
            print(f"report: {directory}: nothing to report (no manifest, scorecard, points, tables or figures)",
                  file=sys.stderr)
            return 2
        unfinished = directory / "report.html.unfinished"
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, directory / "report.html")
    except (load.BadFile, OSError, UnicodeDecodeError) as error:
        print(f"report: {error}", file=sys.stderr)
        return 1
    print("report.html")
    return 0


def page(directory):
    """The whole report as text, or None when the directory holds nothing to report."""
    manifest = load.manifest(directory)
    parts = [*_scorecard(directory), *_figures(directory), *_tables(directory), *_points(directory),
             *([] if manifest is None else _manifest(manifest))]
    if not parts:
        return None
    name = html.escape(directory.resolve().name)
    return "\n".join(["<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
                      '<meta name="viewport" content="width=device-width, initial-scale=1">',
                      f"<title>{name}: foredraft report</title>", f"<style>{_LOOK}</style>", "</head>", "<body>",
                      f"<h1>foredraft: {name}</h1>", *parts, "</body>", "</html>", ""])


def _scorecard(directory):
    path = directory / "scorecard.csv"
    if not path.exists() or not load.rows(path)[1]:  # figures alone have no printed cells to score
        return []
    table = load.table(path, dict.fromkeys(_SCORECARD, load.TEXT))
    unknown = [verdict for verdict in table.values("verdict") if verdict not in _VERDICTS]
    if unknown:
        raise load.BadFile(path, f"verdict: '{unknown[0]}' (must be {', '.join(_VERDICTS)})")
    inputs = table["kind"] == "input"
    results = table.keep(~inputs)
    counts = ", ".join(f"{sum(results['verdict'] == verdict)} {verdict}" for verdict in _VERDICTS)
    parts = ["<h2>Scorecard</h2>",
             f"<p>{len(results)} printed results: {counts}; {sum(inputs)} printed inputs, not scored.</p>"]
    for experiment in table.values("experiment"):
        parts.append(f"<h3>{html.escape(experiment)}</h3>")
        scored, given = results.where(experiment=experiment), table.keep(inputs).where(experiment=experiment)
        if len(scored):
            parts += _scorecard_table(scored)
        if len(given):
            parts += ["<details>", f"<summary>{len(given)} printed inputs</summary>", *_scorecard_table(given),
                      "</details>"]
    return parts


def _scorecard_table(table):
    return ['<div class="wide"><table>',
            '<thead><tr><th>row</th><th>column</th><th class="number">published</th><th class="number">ours</th>'
            "<th>kind</th><th>verdict</th><th>note</th></tr></thead>",
            "<tbody>", *_scorecard_rows(table), "</tbody>", "</table></div>"]


def _scorecard_rows(table):
    for cells in zip(*(table[name] for name in _SCORECARD)):
        row = dict(zip(_SCORECARD, map(html.escape, cells)))
        verdict = row["verdict"]
        yield (f"<tr><td>{row['row']}</td><td>{row['column']}</td>"
               f"<td class=\"number\">{_with_range(row, 'published')}</td>"
               f"<td class=\"number\">{_with_range(row, 'ours')}</td><td>{row['kind']}</td>"
               f"<td class=\"verdict {verdict}\">{_VERDICTS[verdict]} {verdict}</td><td>{row['note']}</td></tr>")


def _with_range(row, name):
    low, high = _short(row[f"{name}_low"]), _short(row[f"{name}_high"])
    return _short(row[name]) + (f' <span class="range">[{low}, {high}]</span>' if low and high and low != high else "")


def _short(cell):
    """A number to six digits where it has more; anything else as it stands."""
    if len(cell) <= 8:
        return cell
    try:
        return f"{float(cell):.6g}"
    except ValueError:
        return cell


def _figures(directory):
    parts = []
    for number, path in enumerate(sorted(directory.glob("*.svg")), 1):
        name = html.escape(path.stem)
        parts += ["<figure>", _inline(path, f"figure{number}"), f"<figcaption>{name}</figcaption>", "</figure>"]
    return ["<h2>Figures</h2>", *parts] if parts else []


def _inline(path, prefix):
    """The drawing of an SVG file, enlarged for a screen; `prefix` makes its ids its own, as several share one page."""
    text = path.read_text(encoding="utf-8")
    start = text.find("<svg")
    if start < 0:
        raise load.BadFile(path, "is not an SVG drawing")
    text = re.sub(r"<metadata>.*?</metadata>", "", text[start:].rstrip(), flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'href="#', f'href="#{prefix}-', text)
    text = text.replace("url(#", f"url(#{prefix}-")
    text = re.sub(r'(<svg[^>]*?) width="([0-9.]+)pt" height="[0-9.]+pt"',
                  lambda found: f'{found[1]} width="{_ENLARGED * float(found[2]):.1f}pt"', text, count=1)
    return text.replace("<svg", f'<svg role="img" aria-label="{html.escape(path.stem)}"', 1)


def _tables(directory):
    parts = []
    for path in sorted(directory.glob("*.md")):
        parts += [f"<h3>{html.escape(path.stem)}</h3>",
                  markdown_tables.to_html(path.read_text(encoding="utf-8"))]
    return ["<h2>Tables</h2>", *parts] if parts else []


def _points(directory):
    path = directory / "points.csv"
    if not path.exists():
        return []
    header, body = load.rows(path)
    parts = ["<h2>Points</h2>", f"<p>The first {min(_FIRST_POINTS, len(body))} of {len(body)} rows of "
             "<code>points.csv</code>.</p>", '<div class="wide"><table>',
             "<thead><tr>" + "".join(f'<th class="name">{_breakable(name)}</th>' for name in header)
             + "</tr></thead>", "<tbody>"]
    for _, line in body[:_FIRST_POINTS]:
        cells = (f'<td class="number">{html.escape(_short(cell))}</td>' for cell in line)
        parts.append(f"<tr>{''.join(cells)}</tr>")
    return [*parts, "</tbody>", "</table></div>"]


def _breakable(name):
    """A column name that may break after its underscores."""
    return html.escape(name).replace("_", "_<wbr>")


def _manifest(manifest):
    parts = ["<h2>Manifest</h2>", "<table>", "<tbody>"]
    long = []
    for key, value in manifest.items():
        if isinstance(value, (dict, list)):
            long += ["<details>", f"<summary>{html.escape(key)} ({len(value)})</summary>", "<table>", "<tbody>",
                     *(_manifest_row(name, item) for name, item in _flat(value)), "</tbody>", "</table>", "</details>"]
        else:
            parts.append(_manifest_row(key, value))
    return [*parts, "</tbody>", "</table>", *long]


def _manifest_row(name, value):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) > _LONGEST_CELL:
        text = text[:_LONGEST_CELL] + "…"
    return f"<tr><td>{html.escape(name)}</td><td><code>{html.escape(text)}</code></td></tr>"


def _flat(value, prefix=""):
    """The leaves of nested objects and lists with their dotted names; a list of plain values stays one leaf."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        items = enumerate(value, 1)
    else:
        return [(prefix or "values", value)]
    return [leaf for key, item in items for leaf in _flat(item, f"{prefix}.{key}" if prefix else str(key))]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
