# SPDX-License-Identifier: Apache-2.0
"""Comparisons of logs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from foredraft import _core
from foredraft._keywords import named_as_keywords, options_of
from foredraft._logs import Log, Paths, paths_of
from foredraft._values import Answer

if TYPE_CHECKING:
    import pandas


class Comparison(Answer):
    """Two logs, or the runs of one, side by side. Schema foredraft.compare/1 (docs/schemas/compare.schema.json).

    >>> comparison = fd.compare("k3.log", "k1.log", plain="plain.log")
    >>> comparison
    Comparison(A='k3.log', B='k1.log', passes=True)
    >>> comparison.to_frame()[["run", "metric", "value"]].head(2)
                               run             metric      value
    0  A, eagle3, K = 3, 1 request  acceptance_length   2.417913
    1  A, eagle3, K = 3, 1 request       iteration_ms  12.206286
    """

    def __init__(self, document: dict[str, Any], text: str, passes: bool) -> None:
        super().__init__(document, text)
        self.passes = passes  #: something was compared and every requirement is met; False is exit code 1 of the program

    @property
    def answer(self) -> str:
        """The result in one or two sentences."""
        found: str = self.document["answer"]
        return found

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """An entry per requirement and run: ``outcome`` ("met", "not shown", "not met"), the value, its interval."""
        return list(self.document["requirements"])

    @property
    def warnings(self) -> list[Any]:
        """Warnings, with stable codes."""
        return list(self.document["warnings"])

    def to_frame(self) -> pandas.DataFrame:
        """A row for each run and metric: value with its 95 % interval."""
        import pandas
        return pandas.DataFrame([{"run": run["name"], "log": run["log"], "gamma": run["gamma"], "batch": run["batch"]}
                                 | {"metric": one["metric"], "value": one["value"]} | _ends(one, "ci95")
                                 for run in self.document["runs"] for one in run["metrics"]])

    def differences(self) -> pandas.DataFrame:
        """A row for each pair of compared runs and each metric: difference and ratio with 95 % intervals."""
        import pandas
        return pandas.DataFrame([{"run": pair["candidate"], "against": pair["reference"], "metric": one["metric"]}
                                 | {key: value for key, value in one.items() if not isinstance(value, list)}
                                 | {f"{key}_{end}": value for key in ("difference", "ratio")
                                    for end, value in _ends(one, f"{key}_ci95").items()}
                                 for pair in self.document["comparisons"] for one in pair["metrics"]])

    def __repr__(self) -> str:
        logs = ", ".join(f"{log['name']}={log['file']!r}" for log in self.document["logs"])
        return f"Comparison({logs}, passes={self.passes})"


def _ends(entry: dict[str, Any], key: str) -> dict[str, float | None]:
    low, high = entry[key] or (None, None)
    return {"low": low, "high": high}


def compare(a: str | os.PathLike[str] | Log,
            b: str | os.PathLike[str] | Log | None = None,
            *,
            plain: Paths | Iterable[Paths] | None = None,
            require: str | Iterable[str] = (),
            baseline: str | os.PathLike[str] | None = None,
            save_baseline: str | os.PathLike[str] | None = None,
            gpu_hour_price: float | None = None,
            gpus: int | None = None) -> Comparison:
    """Compares the acceptance and speed of two logs, or of the runs of one, with intervals.

    a, b: logs; without b the runs of a are compared with its first one. plain: the same load without speculation; without
    it there is no speedup. require: ``METRIC>=X`` (or >, <=, <) of every run of b, without b of a; with x at its end
    ("tpot<=1.02x") relative to a. baseline: a file that save_baseline wrote, in place of a: then ``a`` is the log to
    compare with it. save_baseline: a new file for the runs of a, written if every requirement is met. gpu_hour_price:
    of one of ``gpus`` GPUs, for the cost of a million output tokens.

    >>> comparison = fd.compare("k3.log", require=["acceptance_length>=2.0", "speedup>=3"])
    >>> comparison.passes
    False
    >>> [verdict["outcome"] for verdict in comparison.verdicts]
    ['met', 'met', 'not shown', 'not shown']

    Raises ValueError for files and requirements that cannot be used, all at once.
    """
    named = options_of("compare", {"gpu_hour_price": gpu_hour_price, "gpus": gpus})
    requirements = [require] if isinstance(require, str) else list(require)
    logs = [_path_of(name, log) for name, log in (("a", a), ("b", b)) if log is not None]
    with named_as_keywords():
        document, text, passes = _core.comparison(logs, [] if plain is None else paths_of(plain), requirements,
                                                  None if baseline is None else os.fspath(baseline),
                                                  None if save_baseline is None else os.fspath(save_baseline), named)
    return Comparison(json.loads(document), text, passes)


def _path_of(name: str, log: str | os.PathLike[str] | Log) -> str:
    paths = paths_of(log)
    if len(paths) != 1:
        raise ValueError(f"foredraft compare: {name}: has {len(paths)} files (one log is compared with one)")
    return paths[0]
