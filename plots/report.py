# SPDX-License-Identifier: Apache-2.0
"""Writes report.html for a results directory, from its files alone: report.py DIR.

One file that needs no network and no script. For a reproduction: an overview by paper and kind, the findings, the
errors of a validation on this machine if there is one, then every paper with its tables and figures. For a sweep:
figures, tables and the first points. For advice and for a load: text and figures. Each begins with the answer and its
figure, and ends with its provenance. No file is included as markup: text is escaped, and drawings are images, which
cannot run scripts or load files. Exit status: 0 written; 1 a file could not be used or the report could not be written;
2 bad usage or nothing to report; 130 interrupted (an earlier report stays).
"""

import base64
import html
import itertools
import json
import os
import re
import sys
import types

if __name__ == "__main__":  # started by its path: its folder becomes the package `plots`
    sys.dont_write_bytecode = True  # a full disk could leave a truncated file, which Python would load
    __package__ = "plots"
    sys.modules["plots"] = types.ModuleType("plots")
    sys.modules["plots"].__path__ = [os.path.dirname(os.path.realpath(__file__))]

from . import command

if __name__ == "__main__":
    command.start()

from . import load, markdown_tables, opening, papers, report_look, scorecard, validation, validation_report

_FIRST_POINTS = 10
_LONGEST_CELL = 200
_ENLARGED = 1.4
_BRIEF = 14  # characters: such a cell does not break
_NUMBERS = re.compile(r"[-\d.,x*%± ]+")
_ADVICE_WORDS = (("Cause", "cause"), ("Next", "next"), ("Evidence", "evidence"))
# The width is in the first tag of a drawing, after the XML header.
_WIDTH = re.compile(rb'<svg\s[^>]*?\bwidth="(\d{1,5}(?:\.\d+)?)pt"')
_HEAD = 2000
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_CELL = re.compile(r"<td>([^<]*)</td>")
_VERDICT = re.compile(rf"(.*?)\b({'|'.join(scorecard.VERDICTS)})")


def main(arguments):
    return command.run("report", write, arguments)


def write(directory):
    """Writes report.html into `directory`; returns the exit status."""
    text = page(directory)
    if text is None:
        command.say(f"report: {directory}: nothing to report (no manifest, scorecard, points, tables or figures)",
                    problem=True)
        return 2
    # A file name or a manifest may contain a surrogate, which UTF-8 cannot encode.
    command.write(directory / "report.html", text.encode("utf-8", "replace"))
    command.say("report.html")
    return 0


def page(directory):
    """The whole report as text, or None when the directory holds nothing to report."""
    manifest = load.manifest(directory)
    score = scorecard.read(directory / "scorecard.csv")
    drawings, tables = _by_stem(directory, "*.svg"), _by_stem(directory, "*.md")
    experiments = _experiments(manifest, score)
    summaries = _of_kind(manifest, "summaries", dict)
    contents, parts = [], []
    verdict, stem = opening.opening(directory, manifest, score, list(drawings))
    lead = [f'<p class="verdict">{_prose(verdict)}</p>'] if verdict else []
    lead += [] if score is None else scorecard.tiles(score)
    lead += [] if stem is None else [_figure(drawings.pop(stem), False)]

    def add(anchor, title, section):
        if section:
            contents.append(f'<li><a href="#{anchor}">{title}</a></li>')
            parts.extend(section)

    if load.exists(directory / "advice.json"):
        add("advice", "Findings", _advice(directory))
    for anchor in ("load", "prediction"):
        printed = directory / f"{anchor}.txt"
        if load.exists(printed):
            add(anchor, "Answer", [f'<h2 id="{anchor}">Answer</h2>',
                                   f'<pre class="wide">{html.escape(load.text(printed))}</pre>'])
    if score is not None:
        add("overview", "Overview", scorecard.overview(score, lambda experiment: papers.paper(experiment)[0], _anchor))
        add("findings", "Findings", scorecard.findings(score, _anchor))
    if load.exists(directory / f"{validation.ID}.csv"):
        figure = [_figure(drawings.pop(validation.ID), False)] if validation.ID in drawings else []
        add("this-machine", validation_report.title(directory),
            validation_report.section(directory, "this-machine", figure))
    for name, title, own in papers.by_paper(experiments):
        entries = "".join(f'<li><a href="#{_anchor(experiment)}">{html.escape(_short_id(experiment))}</a></li>'
                          for experiment in own)
        anchor = _anchor(name)
        contents.append(f'<li><a class="paper" href="#{anchor}">{html.escape(name)}</a><ul>{entries}</ul></li>')
        parts += [f'<h2 id="{anchor}">{html.escape(name)}</h2>', f'<p class="soft">{html.escape(title)}</p>']
        for experiment in own:
            parts += _experiment(experiment, score, summaries.get(experiment, ""),
                                 _own(drawings, experiment, experiments), _own(tables, experiment, experiments))
    add("figures", "Figures", _section("figures", "Figures", [_figure(path) for path in drawings.values()]))
    add("tables", "Tables", _section("tables", "Tables", [
        f"<h3>{html.escape(stem)}</h3>\n{_table(path)}" for stem, path in tables.items()]))
    add("points", "Points", _points(directory))
    add("manifest", "Provenance", [] if manifest is None else _manifest(manifest))
    if not (lead or parts):
        return None
    name = html.escape(directory.resolve().name)
    return "\n".join(["<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
                      f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
                      '<meta name="viewport" content="width=device-width, initial-scale=1">',
                      f"<title>{name}: foredraft report</title>", f"<style>{report_look.STYLE}</style>", "</head>",
                      "<body>", '<div class="page">', f"<header><h1>foredraft: {name}</h1>", *lead, "</header>",
                      f'<nav aria-label="Contents"><ul>{"".join(contents)}</ul></nav>', "<main>", *parts,
                      "</main>", "</div>", "</body>", "</html>", ""])


def _prose(text):
    return html.escape(text).replace("+-", "±")


def _by_stem(directory, pattern):
    """Sorts by the stem: full paths would put `id-more.md` before `id.md`."""
    return {path.stem: path for path in sorted(directory.glob(pattern), key=lambda path: path.stem)}


def _experiments(manifest, score):
    """The experiments of a reproduction in the order in which they ran."""
    listed = _of_kind(manifest, "experiments", list)
    scored = [] if score is None else score.values("experiment")
    return list(dict.fromkeys([*map(str, listed), *scored]))


def _of_kind(manifest, key, kind):
    """A list or object of the manifest, empty if it has none."""
    value = (manifest or {}).get(key)
    return value if isinstance(value, kind) else kind()


def _anchor(name):
    return "at-" + re.sub(r"\W+", "-", name)


def _short_id(experiment):
    """An id without the word of its paper, which is above it in the contents."""
    word, _, rest = experiment.partition("-")
    return rest if rest and word in papers.PAPERS else experiment


def _own(files, experiment, experiments):
    """Removes those of an experiment from `files` and returns them: its id, or its id and a further word, unless that
    is another id."""
    names = [stem for stem in files if stem == experiment or (stem.startswith(experiment + "-")
                                                              and stem not in experiments)]
    return {stem: files.pop(stem) for stem in names}


def _experiment(experiment, score, summary, drawings, tables):
    own = None if score is None else score.where(experiment=experiment)
    has_cells = own is not None and len(own)
    chips = scorecard.counted(own) if has_cells else ""
    # The caption of a table is more detailed than the summary.
    words = [] if tables or not summary else [f"<p>{html.escape(str(summary))}</p>"]
    return [f'<h3 id="{_anchor(experiment)}">{html.escape(experiment)} {chips}</h3>', *words,
            *(_figure(path, stem != experiment) for stem, path in drawings.items()),
            *(_table(path) for path in tables.values()),
            *(scorecard.cells(own) if has_cells else [])]


def _section(anchor, title, parts):
    return [f'<h2 id="{anchor}">{title}</h2>', *parts] if parts else []


def _provenance(manifest):
    """One line on the program and configuration of the results."""
    program, run = manifest.get("program"), manifest.get("run")
    words = [f"foredraft {program['version']}" if isinstance(program, dict) and "version" in program else "",
             f"seed {manifest['seed']}" if "seed" in manifest else "",
             str(run["ended"]) if isinstance(run, dict) and run.get("ended") else ""]
    line = " · ".join(html.escape(word) for word in words if word)
    return [f'<p class="soft">{line}</p>'] if line else []


def _figure(path, has_caption=True):
    """The drawing of an SVG file, enlarged for a screen."""
    content = load.content(path)
    if b"<svg" not in content:
        raise load.BadFile(path, "is not an SVG drawing")
    width = _WIDTH.search(content, 0, _HEAD)
    natural = f' style="--natural: {_ENLARGED * float(width[1]):.1f}pt"' if width else ""
    name = html.escape(path.stem)
    caption = f"<figcaption>{name}</figcaption>\n" if has_caption else ""
    return (f'<figure>\n<div class="wide">\n<img alt="{name}"{natural} '
            f'src="data:image/svg+xml;base64,{base64.b64encode(content).decode()}">\n</div>\n{caption}</figure>')


def _table(path):
    """A table as printed by the program: column names as words, a verdict at the end of a cell as its symbol."""
    text = markdown_tables.to_html(load.text(path))
    text = re.sub(r"<th[^<]*", lambda found: scorecard.words(found[0]), text)
    return _CELL.sub(lambda found: _cell(found[1]), text)


def _cell(text):
    verdict = _VERDICT.fullmatch(text)
    shown = f"{verdict[1]}{scorecard.mark(verdict[2])}" if verdict else text
    shown = shown.replace("+-", "±")
    brief = len(text) <= _BRIEF or _NUMBERS.fullmatch(shown)
    return f'<td class="brief">{shown}</td>' if brief else f"<td>{shown}</td>"


def _advice(directory):
    """Reasons: cause, what to log next, evidence and warnings; below them the command's output."""
    advice = load.document(directory / "advice.json", "foredraft.advise/1")
    words = [(title, str(advice[key])) for title, key in _ADVICE_WORDS if advice.get(key)]
    words += [(str(warning.get("code", "")), str(warning.get("message", "")))
              for warning in _of_kind(advice, "warnings", list) if isinstance(warning, dict)]
    entries = "".join(f"<dt>{html.escape(title)}</dt><dd>{_prose(text)}</dd>" for title, text in words)
    return ['<h2 id="advice">Findings</h2>', *([f"<dl>{entries}</dl>"] if entries else []),
            "<h3>As printed</h3>", f'<pre class="wide">{html.escape(load.text(directory / "advice.txt"))}</pre>']


def _points(directory):
    path = directory / "points.csv"
    if not load.exists(path):
        return []
    rows = load.rows(path)
    _, header = next(rows)
    first = list(itertools.islice(rows, _FIRST_POINTS))
    count = len(first) + sum(1 for _ in rows)
    parts = ['<h2 id="points">Points</h2>', f"<p>The first {len(first)} of {count} rows of "
             "<code>points.csv</code>.</p>", '<div class="wide"><table>',
             "<thead><tr>" + "".join(f'<th class="name">{_breakable(name)}</th>' for name in header)
             + "</tr></thead>", "<tbody>"]
    for _, line in first:
        cells = (f'<td class="number">{html.escape(scorecard.short(cell))}</td>' for cell in line)
        parts.append(f"<tr>{''.join(cells)}</tr>")
    return [*parts, "</tbody>", "</table></div>"]


def _breakable(name):
    """A column name that may break after its underscores."""
    return html.escape(name).replace("_", "_<wbr>")


def _manifest(manifest):
    parts = ["<details>", "<summary>the whole manifest</summary>", '<div class="wide"><table>', "<tbody>"]
    long = []
    for key, value in manifest.items():
        if isinstance(value, (dict, list)):
            long += ["<details>", f"<summary>{html.escape(key)} ({len(value)})</summary>",
                     '<div class="wide"><table>', "<tbody>",
                     *(_manifest_row(name, item) for name, item in _flat(value)),
                     "</tbody>", "</table></div>", "</details>"]
        else:
            parts.append(_manifest_row(key, value))
    return ['<h2 id="manifest">Provenance</h2>', *_provenance(manifest), *parts, "</tbody>", "</table></div>", *long,
            "</details>"]


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
    command.finish(main(sys.argv[1:]))
