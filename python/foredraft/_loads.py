# SPDX-License-Identifier: Apache-2.0
"""What users of a server get, without and with speculation."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from foredraft import _core
from foredraft._logs import keywords_of, stated_value
from foredraft._values import Value

if TYPE_CHECKING:
    import pandas


class LoadPrediction(Value):
    """A server under a load: docs/load.md."""

    def __init__(self, document: dict[str, Any], text: str, notes: Iterable[str] = ()) -> None:
        self.document = document  #: schema foredraft.predict.load/1 (docs/schemas/predict.load.schema.json)
        self.text = text  #: as the program prints it; the same as str()
        self.notes = list(notes)  #: what was assumed of the models

    @property
    def best_gamma(self) -> int | None:
        """The draft length of the least mean request time; 0: no speculation; None: overloaded with every one."""
        found: int | None = self.document["best_gamma"]["latency"]
        return found

    @property
    def payoff(self) -> str | None:
        """"pays", "not_certain" or "does_not_pay": whether the interval of the speedup lies above 1, reaches 1, or lies
        below, of the asked draft length, else of the best one; None: the server is overloaded with it."""
        found: str | None = self.document["payoff"]
        return found

    @property
    def speedup(self) -> float | None:
        """Mean request time without speculation over that with `document["gamma"]`; at a fixed concurrency the ratio of
        output tokens/s too. None: one of the two servers is overloaded."""
        found: float | None = self.document["request_speedup"]
        return found

    @property
    def interval(self) -> tuple[float, float] | None:
        """What the errors of times and engine leave open of the speedup; None: not known."""
        found = self.document["request_speedup_interval"]
        return None if found is None else (found[0], found[1])

    def to_frame(self) -> pandas.DataFrame:
        """A row for each draft length, 0 first: means by closed form, simulated percentiles, speedups, memory, cost."""
        import pandas
        return pandas.json_normalize(self.document["gammas"])

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"LoadPrediction(best_gamma={self.best_gamma}, payoff={self.payoff!r}, speedup={self.speedup})"


def predict_load(*,
                 target: str,
                 draft: str | None = None,
                 device: str | None = None,
                 profile: str | os.PathLike[str] | None = None,
                 concurrency: int | None = None,
                 request_rate: float | None = None,
                 requests: str | os.PathLike[str] | None = None,
                 prompt: float | None = None,
                 output: float | None = None,
                 engine: str | os.PathLike[str] | None = None,
                 **options: object) -> LoadPrediction:
    """What users of a server get at a load, without and with speculation, prompts included.

    target, draft: models. device or profile: the times. concurrency (clients that send their next request when the last
    one is answered), request_rate (Poisson, 1/s) or requests (a trace: CSV or JSONL of prompt_tokens, output_tokens,
    arrival_s): the load. prompt, output: lengths in tokens, or their means with prompt_p95, output_p95 (lognormal).
    engine: "vllm", "sglang", "trtllm", "llama.cpp", "none" or a TOML file; None: the intervals cover the common ones.
    options: those of ``foredraft predict --help`` with underscores: alpha, marginal, gamma, prefix_hit, schedule,
    graph_sizes, slo_ttft_ms, slo_tpot_ms, gpu_hour_price, max_batch, target_tp, closed_form=True (no simulation), ...

    >>> answer = fd.predict_load(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b", alpha=0.75,
    ...                          concurrency=40, prompt=3000, output=500, engine="vllm")
    >>> answer.best_gamma, answer.payoff, answer.interval

    Runs without the GIL; Ctrl-C ends it. Raises ValueError with a line for each problem, all at once.
    Source: docs/load.md; [Little1961], [Kelly1979, Sec. 3.3].
    """
    for name in ("out", "json", "help"):
        if name in options:
            raise TypeError(f"foredraft: predict_load has no {name}")
    stated = {"target": target, "draft": draft, "device": device, "profile": profile, "concurrency": concurrency,
              "request_rate": request_rate, "requests": requests, "prompt": prompt, "output": output, "engine": engine}
    keywords = [(name.replace("_", "-"), _option(value)) for name, value in (stated | options).items()
                if value is not None and value is not False]
    try:
        document, text, notes = _core.load_prediction(keywords)
    except ValueError as error:
        raise ValueError(keywords_of(str(error))) from None
    return LoadPrediction(json.loads(document), text, notes)


def _option(value: object) -> bool | int | float | str:
    """A number or a word; lists as the program reads them: "0.7,0.5", "[[1, 8, 5]]"."""
    if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
        return stated_value(value)
    entries = [entry.tolist() if isinstance(entry, np.ndarray) else entry for entry in value]
    if any(isinstance(entry, Sequence) and not isinstance(entry, str) for entry in entries):
        return json.dumps(entries)
    return ",".join(str(stated_value(entry)) for entry in entries)
