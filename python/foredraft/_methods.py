# SPDX-License-Identifier: Apache-2.0
"""Methods of speculative decoding side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from foredraft import _core
from foredraft._scenarios import plain
from foredraft._values import Answer, checked_array

if TYPE_CHECKING:
    import pandas


class Methods(Answer):
    """Each method at each temperature. Schema foredraft.methods/1 (docs/schemas/methods.schema.json).

    >>> fd.methods(["block_verification", "pearl"], temperature=1.0, iterations=1000)
    Methods(rows=2, acceptances=[0.8])
    """

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each method, sorted by pair, temperature and descending speedup."""
        return list(self.document["rows"])

    def to_frame(self) -> pandas.DataFrame:
        """A row for each method, pair and temperature: estimates with 95 % intervals, and a column for each parameter."""
        import pandas
        return pandas.DataFrame([_flat(row) for row in self.rows])

    def __repr__(self) -> str:
        if pairs := self.document.get("pairs"):
            return f"Methods(rows={len(self.rows)}, pairs={[pair['name'] for pair in pairs]})"
        acceptances = [round(acceptance, 3) for acceptance in self.document["acceptances"]]
        return f"Methods(rows={len(self.rows)}, acceptances={acceptances})"


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if key == "parameters":
            flat |= {parameter["name"]: parameter["value"] for parameter in value}
            continue
        if key not in ("tokens_per_iteration", "speedup"):
            flat[key] = value
            continue
        low, high = (value or {}).get("ci95") or (None, None)
        flat |= {key: value and value["mean"], f"{key}_low": low, f"{key}_high": high}
    return flat


def methods(methods: Iterable[str] | None = None,
            *,
            alpha: float = 0.8,
            vocabulary: int = 1000,
            pool: int = 64,
            temperature: float | Iterable[float] = (0.0, 0.7, 1.0),
            gamma: int | None = None,
            pairs: Mapping[str, Mapping[str, Any]] | None = None,
            parameters: Mapping[str, Mapping[str, Any]] | None = None,
            c: float = 0.05,
            verify_growth: float = 0.01,
            positions: int = 64,
            verification: npt.ArrayLike | None = None,
            width: int = 10,
            servers: int = 7,
            iterations: int = 50_000,
            seed: int = 1,
            threads: int = 0) -> Methods:
    """Compares methods for pairs of models and one cost: speedup, loss, and the bound of each method.

    methods: names or aliases, by default all that are compared; ``catalog("methods")`` says what each is. alpha:
    acceptance rate of the pair at temperature 1; vocabulary: its tokens; pool: its contexts. temperature: of both models.
    gamma: drafts of an iteration, by default the fastest for each method. c: draft/target time of one step; verify_growth:
    target steps for each verified position but the first, of at most ``positions``; or ``verification``, the time of a
    target pass over 1, 2, ... positions in any unit. width: of token trees. servers: copies of the target that DSI may
    use. pairs: several pairs in place of that of alpha, by name, each with the keys of a configuration's table
    (docs/methods.md): ``{"prose": {"kind": "ngram", "corpus": "prose"}}``. parameters: values for a method in place of
    its defaults, a row each: ``{"lenience": {"lenience": [0.3, 0.5, 0.8]}}``.

    >>> table = fd.methods(["speculative_sampling", "block_verification"], temperature=1.0, gamma=5).to_frame()
    >>> list(table.method), bool((table.speedup <= 1.02 * table.bound).all())
    (['block_verification', 'speculative_sampling'], True)

    Raises ValueError for an unknown method and values out of range.
    """
    temperatures = [float(one) for one in (temperature if isinstance(temperature, Iterable) else [temperature])]
    times = [1.0 + verify_growth * position for position in range(positions)]
    if verification is not None:
        times = [float(time) for time in checked_array("verification", verification).ravel()]
    tables = {"pairs": pairs or {}, "parameters": parameters or {}}
    question: dict[str, Any] = {
        "schema": "foredraft.methods/1", "methods": list(methods or ()) or None, "temperature": temperatures,
        "gamma": gamma, "models": {"alpha": alpha, "vocabulary": vocabulary, "pool": pool}, "c": c, "width": width,
        "servers": servers, "iterations": iterations, "seed": seed}
    question |= {name: {key: dict(table) for key, table in stated.items()} for name, stated in tables.items()}
    given = {name: value for name, value in question.items() if value is not None}
    document, text, _, _ = _core.compare_methods(json.dumps(given, default=plain), times, threads)
    return Methods(json.loads(document), text)
