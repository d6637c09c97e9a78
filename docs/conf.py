# SPDX-License-Identifier: Apache-2.0
"""The documentation site: sphinx -W --keep-going -b html docs build/site (needs pip install .[docs] and doxygen).

The site has all pages of docs/, ARCHITECTURE.md and gpu_bench/README.md, and the notebooks with the outputs that they
hold. README.md, CONTRIBUTING.md and pages of other folders are read in the repository. Not nitpicky: types of standard
libraries and of numpy have no page here.
"""

import pathlib
import re
import shutil
import subprocess
from xml.etree import ElementTree

import numpy.typing
import pygments.lexers
from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

# In signatures its name, and not the union of a dozen types that it stands for.
numpy.typing.ArrayLike = type("ArrayLike", (), {"__module__": "numpy.typing"})

import foredraft  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent

project = "foredraft"
author = "The foredraft developers"
copyright = f"2026, {author}"
release = version = foredraft.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "breathe"]
html_theme = "furo"
html_title = f"foredraft {version}"
html_copy_source = False
html_show_sourcelink = False
PAGE = ROOT / "build" / "page" / "foredraft.html"  # where scripts/page.sh built it
html_extra_path = [str(PAGE)] if PAGE.exists() else []

myst_heading_anchors = 3

nb_execution_mode = "off"  # they hold their outputs, which tests/python/documents_test.py compares with a run

autodoc_preserve_defaults = True
add_module_names = False

breathe_default_project = "foredraft"


# Designators go: Sphinx cannot parse {.tokens = 1.0}, and {1.0} means the same.
DOXYGEN = rf"""
INPUT = "{ROOT}/include/foredraft"
OUTPUT_DIRECTORY = "{ROOT}/build/doxygen"
INPUT_FILTER = "sed -E 's/([{{,] ?)\.[a-z_]+ = /\1/g'"
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
WARN_AS_ERROR = FAIL_ON_WARNINGS
"""


def _read_headers():
    """The folder of doxygen's XML, in which each header has all that it declares, as breathe shows it."""
    xml = ROOT / "build" / "doxygen" / "xml"
    shutil.rmtree(xml, ignore_errors=True)
    xml.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["doxygen", "-"], input=DOXYGEN, text=True, check=True)
    sections = ElementTree.parse(xml / "namespaceforedraft.xml").findall(".//sectiondef")
    for path in xml.glob("*_8hpp.xml"):
        header = ElementTree.parse(path)
        compound = header.find("compounddef")
        for namespace in compound.findall("innernamespace"):
            compound.remove(namespace)
        name = compound.find("location").get("file")
        for section in sections:
            own = ElementTree.SubElement(compound, "sectiondef", section.attrib)
            own.extend(member for member in section.findall("memberdef") if member.find("location").get("file") == name)
            if len(own) == 0:
                compound.remove(own)
        header.write(path)
    return str(xml)


breathe_projects = {"foredraft": _read_headers()}


class RepositoryLinks(SphinxTransform):
    """Links to files of the repository outside of docs/ become their names: the site does not have them."""

    default_priority = 5

    def apply(self, **_):
        page = DOCS / self.env.docname
        for kind in (addnodes.pending_xref, addnodes.download_reference):
            for link in list(self.document.findall(kind)):
                target = link.get("reftarget", "").partition("#")[0] + (".md" if link.get("refdomain") == "doc" else "")
                # ROOT, ROOT / "gpu_bench": pages that are included from there.
                for base in (page.parent, ROOT, ROOT / "gpu_bench"):
                    path = (base / target).resolve()
                    if target and path.is_file() and not path.is_relative_to(DOCS):
                        name = str(path.relative_to(ROOT))
                        link.replace_self(nodes.literal(name, name))
                        break


# Pages of docs/ that include a document of another folder.
_INCLUDED = {"../ARCHITECTURE.md": "architecture.md", "../gpu_bench/README.md": "gpu-bench.md"}
_LINK = re.compile(r"\]\(([\w./-]+)\.(?:md|ipynb)\)")


def _add_navigation(_app, page, source):
    """The navigation is what index.md links to, a group for each of its sections: the page itself is plain Markdown."""
    if page != "index":
        return
    text = source[0]
    for outside, own in _INCLUDED.items():
        text = text.replace(f"]({outside})", f"]({own})")
    for section in re.split(r"^## ", text, flags=re.MULTILINE):
        caption = "Begin" if section.startswith("# ") else section.partition("\n")[0]
        text += "\n".join(["", "```{toctree}", f":caption: {caption}", ":hidden:", ":maxdepth: 1", "",
                           *_LINK.findall(section), "```", ""])
    source[0] = text


def _link_page(_app, page, source):
    """page.md begins with a link to the page itself, which only the site has beside it."""
    if page == "page" and html_extra_path:
        title, _, text = source[0].partition("\n")
        source[0] = f'{title}\n\n<a href="{PAGE.name}">Open the page</a>\n{text}'


def _shorten_signature(_app, _what, _name, _object, _options, signature, returned):
    """Omits the meaningless signature of compiled classes without a constructor."""
    return ("", returned) if signature == "(*args, **kwargs)" else None


def _shorten_text(_app, what, _name, _object, _options, lines):
    """Compiled properties begin with a signature."""
    if what == "property" and lines and lines[0].startswith("(self) -> "):
        del lines[0]


def setup(app):
    app.add_transform(RepositoryLinks)
    app.connect("source-read", _add_navigation)
    app.connect("source-read", _link_page)
    app.connect("autodoc-process-signature", _shorten_signature)
    app.connect("autodoc-process-docstring", _shorten_text)
    app.add_lexer("csv", pygments.lexers.TextLexer)
