# SPDX-License-Identifier: Apache-2.0
"""Keywords that are options of the program: hyphens become underscores."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping

from foredraft._scenarios import plain

Option = bool | int | float | str


def options_of(function: str, stated: Mapping[str, object]) -> list[tuple[str, Option]]:
    """The program's options for these keywords; None and False give none. TypeError for options of the program only."""
    for name in ("out", "json", "help"):
        if name in stated:
            raise TypeError(f"foredraft: {function} has no {name}")
    return [(name.replace("_", "-"), _option(value)) for name, value in stated.items()
            if value is not None and value is not False]


def _option(value: object) -> Option:
    """A number or a word; lists as the program reads them: "0.7,0.5", "[[1, 8, 5]]"."""
    held = os.fspath(value) if isinstance(value, os.PathLike) else plain(value)
    if not isinstance(held, list):
        return held if isinstance(held, (bool, int, float, str)) else str(held)
    if any(isinstance(entry, list) for entry in held):
        return json.dumps(held)
    return ",".join(str(entry) for entry in held)


@contextlib.contextmanager
def named_as_keywords() -> Iterator[None]:
    """Errors raised inside name keywords instead of options: --target-tp becomes target_tp."""
    try:
        yield
    except ValueError as error:
        raise ValueError(_keywords_of(str(error))) from None


def _keywords_of(message: str) -> str:
    return re.sub(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)",
                  lambda match: "engine" if match[1] == "for" else match[1].replace("-", "_"), message)
