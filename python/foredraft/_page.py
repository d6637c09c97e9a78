# SPDX-License-Identifier: Apache-2.0
"""The page: the program in a browser."""

from __future__ import annotations

import html
from dataclasses import dataclass

from foredraft import _core


@dataclass(frozen=True, repr=False)
class Page:
    """The program as one HTML document. A notebook shows it. It sends no data.

    >>> fd.page().save("foredraft.html")  # doctest: +SKIP
    """

    html: str
    height: int  #: pixels, in a notebook

    def save(self, path: str) -> None:
        """Writes the document to a file, which opens in any browser."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="{self.height}" '
                'style="border: 0" sandbox="allow-scripts allow-downloads"></iframe>')

    def __repr__(self) -> str:
        return f"Page({len(self.html)} characters)"


def page(*, height: int = 800) -> Page:
    """The page that the package was built with (docs/page.md), shown by a notebook ``height`` pixels high.

    >>> fd.page().save("foredraft.html")  # doctest: +SKIP

    Raises RuntimeError for a package without it, which says how to build it.
    """
    return Page(_core.page_text(), height)
