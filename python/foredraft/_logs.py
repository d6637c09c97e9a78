# SPDX-License-Identifier: Apache-2.0
"""Logs of engines, and advice from them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from foredraft import _core
from foredraft._scenarios import plain as plain_value
from foredraft._values import Value

if TYPE_CHECKING:
    import pandas


class Log(Value):
    """The contents of one or several logs; values that were not logged are None, never guessed."""

    def __init__(self, paths: list[str], format: str, document: dict[str, Any]) -> None:
        self.paths = paths
        self.format = format  #: as requested; "": recognized by the content
        self.document = document  #: schema foredraft.observations/1 (docs/logs.md)

    @property
    def observations(self) -> list[dict[str, Any]]:
        """Windows, requests and runs, in order, each with its file; None: not logged."""
        return [{"file": log["source"]["file"]} | observation
                for log in self.document["logs"] for observation in log["observations"]]

    @property
    def warnings(self) -> list[Any]:
        """Warnings, with stable codes."""
        return [warning for log in self.document["logs"] for warning in log["warnings"]]

    def to_frame(self) -> pandas.DataFrame:
        """One row per observation."""
        import pandas
        return pandas.json_normalize(self.observations)

    def __repr__(self) -> str:
        return f"Log({self.paths}, {len(self.observations)} observations)"


class Advice(Value):
    """Recommended settings: docs/advise.md."""

    def __init__(self, document: dict[str, Any], text: str, notes: Iterable[str] = ()) -> None:
        self.document = document  #: schema foredraft.advise/1 (docs/schemas/advise.schema.json)
        self.text = text  #: about ten lines, as the program prints them; the same as str()
        self.notes = list(notes)  #: what was assumed of the models of `target` and `draft`

    @property
    def recommendation(self) -> dict[str, Any] | None:
        """gamma, schedule, low, high, ties; None if nothing can be recommended: see why_not."""
        found: dict[str, Any] | None = self.document["recommendation"]
        return found

    @property
    def gamma(self) -> int | None:
        """The draft length to set; 0: no speculation; None: nothing can be recommended."""
        return None if self.recommendation is None else self.recommendation["gamma"]

    @property
    def schedule(self) -> list[tuple[int, int, int]]:
        """(first batch, last batch, gamma), if a schedule pays; else empty."""
        rows = (self.recommendation or {}).get("schedule") or []
        return [(row["first_batch"], row["last_batch"], row["gamma"]) for row in rows]

    @property
    def why_not(self) -> str | None:
        """Why there is no recommendation, and the cheapest measurement that would give one."""
        reason: str | None = self.document.get("why_not")
        return reason

    @property
    def causes(self) -> list[str]:
        """What limits the gain of speculation, the main cause first."""
        return list(self.document["causes"])

    @property
    def warnings(self) -> list[Any]:
        """Warnings, with stable codes."""
        return list(self.document["warnings"])

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Advice(gamma={self.gamma}, schedule={self.schedule})"


class LoggingPlan(Value):
    """What to log: the fewest runs that decide, as commands."""

    def __init__(self, document: dict[str, Any], text: str) -> None:
        self.document = document  #: schema foredraft.plan/1 (docs/schemas/plan.schema.json)
        self.text = text  #: as the program prints it; the same as str()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"LoggingPlan(engine={self.document['engine']!r}, order={self.document['order']})"


Paths = str | os.PathLike[str] | Log


def _paths(logs: Paths | Iterable[Paths]) -> list[str]:
    if isinstance(logs, Log):
        return list(logs.paths)
    if isinstance(logs, (str, os.PathLike)):
        return [os.fspath(logs)]
    return [path for one in logs for path in _paths(one)]


def read_log(*paths: str | os.PathLike[str], format: str | None = None) -> Log:
    """Reads logs of engines and load generators, plain or gzip; the format is recognized by the content unless given.

    Raises ValueError with the problems of all files: one that cannot be read or is no log, two with the same bytes.
    """
    names = [os.fspath(path) for path in paths]
    return Log(names, format or "", json.loads(_core.observations_document(names, format or "")))


def advise(logs: Paths | Iterable[Paths],
           *,
           plain: Paths | Iterable[Paths] | None = None,
           engine: str | None = None,
           **options: object) -> Advice:
    """Whether speculation pays, what limits it, and what to set.

    logs: files or Logs of an engine that speculates; plain: the same load without speculation; without it there
    is no speedup. engine: Advice.text ends with its settings ("vllm", "sglang", ...). options: those of
    ``foredraft advise --help`` with underscores: format, engine_version, profile or device with target and draft (times
    at draft lengths that were not logged), batch, context, target_tp, ...; True for a switch.

    Raises ValueError for files and options that cannot be used, all at once.
    """
    stated = dict(options)
    if engine is not None:
        stated["for"] = engine
    if isinstance(logs, Log) and logs.format:
        stated.setdefault("format", logs.format)
    for name in ("out", "json", "help"):
        if name in stated:
            raise TypeError(f"foredraft: advise has no {name}")
    keywords = [(name.replace("_", "-"), stated_value(value)) for name, value in stated.items()
                if value is not None and value is not False]
    try:
        document, text, notes = _core.advice(_paths(logs), [] if plain is None else _paths(plain), keywords)
    except ValueError as error:
        raise ValueError(keywords_of(str(error))) from None
    return Advice(json.loads(document), text, notes)


def plan(engine: str,
         *,
         current_k: int | None = None,
         concurrency: int | Iterable[int] = (),
         target: str = "",
         draft: str = "") -> LoggingPlan:
    """What to log so that advise() can decide.

    engine: "vllm", "sglang", "trtllm" or "llama.cpp". current_k: the draft length of the server as it runs.
    concurrency: requests at once. target, draft: models, as the engine is told them.

    Raises ValueError for values that are unknown or out of range, all at once.
    """
    loads = list(concurrency) if isinstance(concurrency, Iterable) else [concurrency]
    try:
        document, text = _core.logging_plan(engine, current_k, loads, target, draft)
    except ValueError as error:
        raise ValueError(keywords_of(str(error).replace("--plan:", "engine:"))) from None
    return LoggingPlan(json.loads(document), text)


def stated_value(value: object) -> bool | int | float | str:
    """A number or a word."""
    held = os.fspath(value) if isinstance(value, os.PathLike) else plain_value(value)
    return held if isinstance(held, (bool, int, float, str)) else str(held)


def keywords_of(message: str) -> str:
    """The message with option names as in Python: --target-tp becomes target_tp."""
    return re.sub(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)",
                  lambda match: "engine" if match[1] == "for" else match[1].replace("-", "_"), message)
