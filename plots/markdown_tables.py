# SPDX-License-Identifier: Apache-2.0
"""Turns the Markdown that the program writes (headings, paragraphs, pipe tables, `code`) into HTML."""

import html
import re

_RULE = re.compile(r"\|?(\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?")


def to_html(text):
    """The HTML of `text`: headings, tables and paragraphs. All markup in it is escaped."""
    lines = text.splitlines()
    parts, paragraph, place = [], [], 0

    def end_paragraph():
        if paragraph:
            parts.append(f"<p>{_inline(' '.join(paragraph))}</p>")
            paragraph.clear()

    while place < len(lines):
        line = lines[place].strip()
        if "|" in line and place + 1 < len(lines) and "-" in lines[place + 1] and _RULE.fullmatch(
                lines[place + 1].strip()):
            end_paragraph()
            last = place + 2
            while last < len(lines) and "|" in lines[last]:
                last += 1
            parts.append(_table(line, lines[place + 1], lines[place + 2:last]))
            place = last
            continue
        if not line or line.startswith("#"):
            end_paragraph()
        if line.startswith("#"):
            parts.append(f"<h4>{_inline(line.lstrip('#').strip())}</h4>")
        elif line:
            paragraph.append(line)
        place += 1
    end_paragraph()
    return "\n".join(parts)


def _table(header, rule, body):
    classes = [' class="number"' if cell.endswith(":") else "" for cell in _cells(rule)]

    def row(line, tag):
        cells = _cells(line)
        return "<tr>" + "".join(f"<{tag}{classes[i] if i < len(classes) else ''}>{_inline(cell)}</{tag}>"
                                for i, cell in enumerate(cells)) + "</tr>"

    return "\n".join(['<div class="wide"><table>', f"<thead>{row(header, 'th')}</thead>", "<tbody>",
                      *(row(line, "td") for line in body), "</tbody>", "</table></div>"])


def _cells(line):
    """The cells of a row; a pipe with a backslash before it belongs to its cell."""
    line = line.strip()
    line = line[1:] if line.startswith("|") else line
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
    return cells[:-1] if cells and cells[-1] == "" else cells


def _inline(text):
    text = re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", text)  # a backslash escapes the next character
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
