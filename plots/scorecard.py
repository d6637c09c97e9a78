# SPDX-License-Identifier: Apache-2.0
"""The scorecard of a reproduction as HTML: counts, the table of papers and kinds, findings, and cells side by side."""

import html
import itertools
import math
import re

from . import load

COLUMNS = ("experiment", "row", "column", "published", "published_low", "published_high", "ours", "ours_low",
           "ours_high", "kind", "verdict", "note")
# A symbol and a word in addition to the color: a verdict must be readable in a gray print.
VERDICTS = {"pass": "✓", "fail": "✗", "finding": "!", "shown": "·"}
_VERDICT_MEANS = {"pass": "our interval meets the rounding of the printed number",
                  "fail": "it does not",
                  "finding": "the printed number contradicts itself or another one; the arithmetic stands beside it",
                  "shown": "no agreement is claimed"}
_KIND_MEANS = {"exact": "follows from a formula and printed inputs, their rounding propagated",
               "predicted": "from a model that was fitted on other printed numbers, or not at all",
               "simulated": "Monte-Carlo with a stated synthetic model",
               "measured": "our own measurement on another device, as a ratio",
               "fitted": "the number was used to fit: never agreement",
               "out_of_reach": "needs trained networks or their data",
               "input": "a printed parameter that we start from; not scored"}
_FINDING = ("experiment", "row", "column", "published", "note")
_FIRST_FINDINGS = 3
_SCORED = tuple(kind for kind in _KIND_MEANS if kind != "input")


def read(path):
    """The rows of scorecard.csv, or None if there is no file or no row (figures have no printed cells)."""
    if not load.exists(path) or len(list(itertools.islice(load.rows(path), 2))) < 2:
        return None
    table = load.table(path, dict.fromkeys(COLUMNS, load.TEXT))
    for column, known in (("verdict", VERDICTS), ("kind", _KIND_MEANS)):
        unknown = [cell for cell in table.values(column) if cell not in known]
        if unknown:
            raise load.BadFile(path, f"{column}: '{unknown[0]}' (must be {', '.join(known)})")
    return table


def results(table):
    """The rows that are scored: all except printed inputs without a contradiction."""
    return table.keep((table["kind"] != "input") | (table["verdict"] == "finding"))


def chip(verdict, text=None):
    return f'<span class="chip {verdict}">{VERDICTS[verdict]} {text or verdict}</span>'


def mark(verdict):
    """Only the symbol, for narrow tables; its word is a tooltip."""
    return f'<span class="chip {verdict}" title="{verdict}" aria-label="{verdict}">{VERDICTS[verdict]}</span>'


def counted(table):
    """One chip for each verdict that the scored rows of `table` have."""
    scored = results(table)
    counts = {verdict: sum(scored["verdict"] == verdict) for verdict in VERDICTS}
    return " ".join(chip(verdict, f"{count} {verdict}") for verdict, count in counts.items() if count)


def verdict(table):
    """Summary of the scored rows."""
    scored = list(results(table)["verdict"])
    agree, fail, found = (scored.count(name) for name in ("pass", "fail", "finding"))
    judged = f"{agree} of {agree + fail} checked results agree with the printed numbers." if agree + fail else ""
    contradict = f" {found} printed numbers or statements contradict themselves or others." if found else ""
    return (judged + contradict).strip()


def tiles(table):
    """How many results have each verdict."""
    scored = list(results(table)["verdict"])
    counts = {name: scored.count(name) for name in VERDICTS}
    return [f'<ul class="tiles">{"".join(_tile(name, count) for name, count in counts.items())}</ul>']


def _tile(name, count):
    return f'<li class="{name if count else "none"}"><strong>{VERDICTS[name]} {count}</strong>{name}</li>'


def overview(table, paper_of, anchor_of):
    """Counts by paper and kind. `paper_of`: the name of the paper of an experiment; `anchor_of`: the
    id of its section."""
    scored = results(table)
    inputs = len(table) - len(scored)
    papers = {}
    for experiment in table.values("experiment"):
        papers.setdefault(paper_of(experiment), []).append(experiment)
    kinds = [kind for kind in [*_SCORED, "input"] if kind in table["kind"]]
    body = []
    for paper, experiments in papers.items():
        own = table.keep([experiment in experiments for experiment in table["experiment"]])
        body.append(f'<tr><td><a href="#{anchor_of(paper)}">{html.escape(paper)}</a></td>'
                    + "".join(_kind_cell(own, kind) for kind in kinds) + "</tr>")
    return ["<h2 id=\"overview\">Overview</h2>",
            f"<p>{len(scored)} results and {inputs} printed inputs, which are not scored.</p>",
            '<div class="wide"><table>', "<thead><tr><th>paper</th>"
            + "".join(f"<th>{kind.replace('_', ' ')}</th>" for kind in kinds) + "</tr></thead>",
            "<tbody>", *body, "</tbody>", "</table></div>",
            "<details><summary>What kinds and verdicts mean</summary>", "<dl>",
            *(f"<dt>{kind.replace('_', ' ')}</dt><dd>{means}</dd>" for kind, means in _KIND_MEANS.items()),
            *(f"<dt>{chip(verdict)}</dt><dd>{means}</dd>" for verdict, means in _VERDICT_MEANS.items()), "</dl>",
            "</details>"]


def _kind_cell(table, kind):
    own = table.where(kind=kind)
    if not len(own):
        return "<td></td>"
    # Only these two kinds of row are judged; the others only have numbers.
    judged = [verdict for verdict in ("pass", "fail", "finding") if verdict in own["verdict"]]
    parts = [chip(verdict, str(sum(own["verdict"] == verdict))) for verdict in judged]
    rest = len(own) - sum(sum(own["verdict"] == verdict) for verdict in judged)
    return f"<td>{' '.join(parts + ([str(rest)] if rest else []))}</td>"


def findings(table, anchor_of):
    """Contradictions in the papers' printed numbers, with the arithmetic. `anchor_of`: the id of an experiment's
    section."""
    found = table.where(verdict="finding")
    if not len(found):
        return []
    groups = {}
    for experiment, row, column, published, note in zip(*(found[name] for name in _FINDING)):
        item = f"<strong>{html.escape(row)}</strong>{' prints ' if published else ''}{html.escape(published)}: "
        groups.setdefault((experiment, column), []).append(f"<li>{item}{html.escape(note)}</li>")
    parts = ['<h2 id="findings">Findings</h2>',
             f"<p>{len(found)} printed numbers or statements that contradict themselves or others.</p>"]
    for (experiment, column), items in groups.items():
        parts.append(f'<h4><a href="#{anchor_of(experiment)}">{html.escape(experiment)}</a>, '
                     f"{words(html.escape(column))}</h4>")
        first, more = items[:_FIRST_FINDINGS], items[_FIRST_FINDINGS:]
        parts.append(f'<ul class="findings">{"".join(first)}</ul>')
        if more:
            parts.append(f'<details><summary>{len(more)} more in this column</summary><ul class="findings">'
                         f'{"".join(more)}</ul></details>')
    return parts


def cells(table):
    """Every cell of one experiment: published, ours, difference, kind, verdict, note; inputs in a separate table."""
    scored, given = results(table), table.where(kind="input", verdict="shown")
    parts = []
    if len(scored):
        parts += ["<details>", f"<summary>{len(scored)} results cell by cell, with differences</summary>",
                  *_cell_table(scored), "</details>"]
    if len(given):
        parts += ["<details>", f"<summary>{len(given)} printed inputs</summary>", *_input_table(given), "</details>"]
    return parts


def _cell_table(table):
    yield '<div class="wide"><table>'
    yield ('<thead><tr><th>row</th><th>column</th><th class="number">published</th><th class="number">ours</th>'
           '<th class="number">difference</th><th>kind</th><th>verdict</th><th>note</th></tr></thead>')
    yield "<tbody>"
    for line in zip(*(table[name] for name in COLUMNS)):
        plain = dict(zip(COLUMNS, line))
        row = {name: html.escape(cell) for name, cell in plain.items()}
        yield (f"<tr><td>{row['row']}</td><td>{words(row['column'])}</td>"
               f"<td class=\"number\">{_with_range(row, 'published')}</td>"
               f"<td class=\"number\">{_with_range(row, 'ours')}</td>"
               f"<td class=\"number\">{_difference(plain['published'], plain['ours'])}</td>"
               f"<td>{row['kind'].replace('_', ' ')}</td>"
               f"<td>{chip(row['verdict'])}</td><td class=\"note\">{row['note']}</td></tr>")
    yield "</tbody>"
    yield "</table></div>"


def _input_table(table):
    yield '<div class="wide"><table>'
    yield '<thead><tr><th>row</th><th>column</th><th class="number">published</th><th>note</th></tr></thead>'
    yield "<tbody>"
    for row, column, published, note in zip(*(table[name] for name in ("row", "column", "published", "note"))):
        yield (f"<tr><td>{html.escape(row)}</td><td>{words(html.escape(column))}</td>"
               f'<td class="number">{html.escape(published)}</td><td class="note">{html.escape(note)}</td></tr>')
    yield "</tbody>"
    yield "</table></div>"


def _difference(published, ours):
    """Ours minus published, also in percent of the published value if that is meaningful."""
    try:
        given, found = float(published), float(ours)
    except ValueError:
        return ""
    step = found - given
    if not math.isfinite(step):
        return ""
    if step == 0:
        return "0"
    share = f' <span class="range">{100 * step / given:+.1f} %</span>' if given else ""
    return f"{step:+.2g}{share}".replace("-", "−")


def _with_range(row, name):
    low, high = short(row[f"{name}_low"]), short(row[f"{name}_high"])
    return short(row[name]) + (f' <span class="range">[{low}, {high}]</span>' if low and high and low != high else "")


def short(cell):
    """A number with at most five digits; any other text unchanged."""
    if len(cell) <= 7:
        return cell
    try:
        return f"{float(cell):.5g}"
    except ValueError:
        return cell


def words(column):
    """A column name as words; an index, as in t_d, is kept."""
    return re.sub(r"(?<!\bt)_", " ", column)
