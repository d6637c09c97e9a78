# SPDX-License-Identifier: Apache-2.0
"""Logs of engines, and advice from them."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from foredraft import _core
from foredraft._keywords import named_as_keywords, options_of
from foredraft._scenarios import plain as plain_value
from foredraft._values import Answer, FiledAnswer, Value

if TYPE_CHECKING:
    import pandas


class Log(Value):
    """The contents of one or several logs; values that were not logged are None, never guessed.

    >>> log = fd.read_log("k3.log")
    >>> log.observations[0]["gamma"], log.to_frame().shape
    (3, (16, 45))
    """

    def __init__(self, paths: list[str], format: str, document: dict[str, Any]) -> None:
        self.paths = paths
        self.format = format  #: as given; "": recognized by the content
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

    def to_dict(self) -> dict[str, Any]:
        """A copy of the document."""
        return copy.deepcopy(self.document)

    def save(self, path: str | os.PathLike[str], format: str = "observations") -> None:
        """Writes a new file that read_log() reads, instead of the logs.

        format: "observations" keeps everything; "aiperf-records" and "speculation-profile" are those of other tools.
        Raises ValueError for an existing file, an unknown format, and a format that cannot hold these logs.
        """
        with named_as_keywords():
            _core.write_observations(json.dumps(self.document), os.fspath(path), format)

    def __repr__(self) -> str:
        return f"Log({self.paths}, {len(self.observations)} observations)"


class Advice(FiledAnswer):
    """Recommended settings: docs/advise.md. Schema foredraft.advise/1 (docs/schemas/advise.schema.json).

    >>> advice = fd.advise(["k3.log", "k1.log"], plain="plain.log")
    >>> advice
    Advice(gamma=2, schedule=[])
    """

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
        """(first batch, last batch, gamma) if a schedule pays, else empty."""
        rows = (self.recommendation or {}).get("schedule") or []
        return [(row["first_batch"], row["last_batch"], row["gamma"]) for row in rows]

    @property
    def why_not(self) -> str | None:
        """Why there is no recommendation, and the cheapest measurement that would give one."""
        reason: str | None = self.document.get("why_not")
        return reason

    @property
    def causes(self) -> list[str]:
        """The causes that limit the gain of speculation, main cause first."""
        return list(self.document["causes"])

    @property
    def warnings(self) -> list[Any]:
        """Warnings, with stable codes."""
        return list(self.document["warnings"])

    def __repr__(self) -> str:
        return f"Advice(gamma={self.gamma}, schedule={self.schedule})"


class LoggingPlan(Answer):
    """What to log: the minimum set of runs, as commands. Schema foredraft.plan/1 (docs/schemas/plan.schema.json).

    >>> fd.plan("vllm", current_k=3, concurrency=16)
    LoggingPlan(engine='vllm', order=['plain-1', 'k1-1', 'k3-1', 'k5-1', 'k5-2', 'k3-2', 'k1-2', 'plain-2'])
    """

    def __repr__(self) -> str:
        return f"LoggingPlan(engine={self.document['engine']!r}, order={self.document['order']})"


Paths = str | os.PathLike[str] | Log


def paths_of(logs: Paths | Iterable[Paths]) -> list[str]:
    if isinstance(logs, Log):
        return list(logs.paths)
    if isinstance(logs, (str, os.PathLike)):
        return [os.fspath(logs)]
    return [path for one in logs for path in paths_of(one)]


def read_log(*paths: str | os.PathLike[str], format: str | None = None) -> Log:
    """Reads logs of engines and load generators, plain or gzip; the format is recognized by the content unless given.

    >>> fd.read_log("k3.log", "plain.log")
    Log(['k3.log', 'plain.log'], 40 observations)

    Raises ValueError with the problems of all files: one that cannot be read or is no log, two with the same bytes.
    """
    names = [os.fspath(path) for path in paths]
    return Log(names, format or "", json.loads(_core.observations_document(names, format or "")))


def advise(logs: Paths | Iterable[Paths],
           *,
           plain: Paths | Iterable[Paths] | None = None,
           engine: str | None = None,
           **options: object) -> Advice:
    """Advice: whether speculation pays, what limits it, and which settings to use.

    logs: files or Logs of an engine that speculates; plain: the same load without speculation; without it there
    is no speedup. engine: Advice.text ends with its settings ("vllm", "sglang", ...). options: those of
    ``foredraft advise --help`` with underscores: format, engine_version, profile or device with target and draft (times
    at draft lengths that were not logged), batch, context, target_tp, ...; True for a switch.

    >>> print(fd.advise(["k3.log", "k1.log"], plain="plain.log", engine="vllm").text.splitlines()[0])
    Use K = 2, between those that were logged: 1.14x (0.99 to 1.39) for this traffic.

    Raises ValueError for files and options that cannot be used, all at once.
    """
    stated = dict(options)
    if engine is not None:
        stated["for"] = engine
    if isinstance(logs, Log) and logs.format:
        stated.setdefault("format", logs.format)
    options_stated = options_of("advise", stated)
    with named_as_keywords():
        document, text, notes, files = _core.advice(paths_of(logs), [] if plain is None else paths_of(plain), options_stated)
    return Advice(json.loads(document), text, notes, files)


def plan(engine: str,
         *,
         current_k: int | None = None,
         concurrency: int | Iterable[int] = (),
         target: str = "",
         draft: str = "") -> LoggingPlan:
    """Plans the runs to log so that advise() can decide.

    engine: "vllm", "sglang", "trtllm" or "llama.cpp". current_k: the current draft length of the server.
    concurrency: concurrent requests. target, draft: models, by the names that the engine takes.

    >>> fd.plan("vllm", current_k=3, concurrency=16).document["order"]
    ['plain-1', 'k1-1', 'k3-1', 'k5-1', 'k5-2', 'k3-2', 'k1-2', 'plain-2']

    Raises ValueError for values that are unknown or out of range, all at once.
    """
    loads = plain_value(list(concurrency) if isinstance(concurrency, Iterable) else [concurrency])
    with named_as_keywords():
        try:
            document, text, _, _ = _core.logging_plan(engine, current_k, loads, target, draft)
        except ValueError as error:
            raise ValueError(str(error).replace("--plan:", "engine:")) from None
    return LoggingPlan(json.loads(document), text)
