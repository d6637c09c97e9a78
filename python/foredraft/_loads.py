# SPDX-License-Identifier: Apache-2.0
"""Further answers of `foredraft predict`: servers under load, times of devices, and parameters that explain a measured
number. Keywords are its options."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from foredraft import _core
from foredraft._keywords import named_as_keywords, options_of
from foredraft._values import Answer, FiledAnswer

if TYPE_CHECKING:
    import pandas


class LoadPrediction(Answer):
    """A server under a load: docs/load.md. Schema foredraft.predict.load/1 (docs/schemas/predict.load.schema.json).

    >>> answer = fd.predict_load(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b", alpha=0.75, concurrency=8,
    ...                          prompt=1000, output=200, engine="none", closed_form=True)
    >>> answer.best_gamma, round(answer.speedup, 2)
    (3, 1.35)
    """

    def __init__(self, document: dict[str, Any], text: str, notes: Iterable[str] = ()) -> None:
        super().__init__(document, text)
        self.notes = list(notes)  #: assumptions about the models

    @property
    def best_gamma(self) -> int | None:
        """The draft length with the minimum mean request time; 0: no speculation; None: overloaded with all of them."""
        found: int | None = self.document["best_gamma"]["latency"]
        return found

    @property
    def payoff(self) -> str | None:
        """"pays", "not_certain" or "does_not_pay": whether the interval of the speedup lies above 1, contains 1, or lies
        below, for the given draft length, else for the best one; None: the server is overloaded with it."""
        found: str | None = self.document["payoff"]
        return found

    @property
    def speedup(self) -> float | None:
        """Mean request time without speculation divided by that with `document["gamma"]`; at a fixed concurrency also the
        ratio of output tokens/s. None: one of the two servers is overloaded."""
        found: float | None = self.document["request_speedup"]
        return found

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the speedup from the errors of the times and of the engine; None: unknown."""
        found = self.document["request_speedup_interval"]
        return None if found is None else (found[0], found[1])

    def to_frame(self) -> pandas.DataFrame:
        """A row for each draft length from 0: closed-form means, simulated percentiles, speedups, memory, cost."""
        import pandas
        return pandas.json_normalize(self.document["gammas"])

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
    """A server under a load, without and with speculation, including prompts.

    target, draft: models. device or profile: the times. concurrency (clients that send their next request when the last
    one is answered), request_rate (Poisson, 1/s) or requests (a trace: CSV or JSONL of prompt_tokens, output_tokens,
    arrival_s): the load. prompt, output: lengths in tokens, or their means with prompt_p95, output_p95 (lognormal).
    engine: "vllm", "sglang", "trtllm", "llama.cpp", "none" or a TOML file; None: the intervals cover the common ones.
    options: those of ``foredraft predict --help`` with underscores: alpha, marginal, gamma, prefix_hit, schedule,
    graph_sizes, slo_ttft_ms, slo_tpot_ms, gpu_hour_price, max_batch, target_tp, closed_form=True (no simulation), ...

    >>> answer = fd.predict_load(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b", alpha=0.75,
    ...                          concurrency=40, prompt=3000, output=500, engine="vllm", closed_form=True)
    >>> answer.best_gamma, answer.payoff
    (2, 'pays')

    Runs without the GIL; Ctrl-C ends it. Raises ValueError with a line for each problem, all at once.
    Source: docs/load.md; [Little1961], [Kelly1979, Sec. 3.3].
    """
    stated = {"target": target, "draft": draft, "device": device, "profile": profile, "concurrency": concurrency,
              "request_rate": request_rate, "requests": requests, "prompt": prompt, "output": output, "engine": engine}
    keywords = options_of("predict_load", stated | options)
    with named_as_keywords():
        document, text, notes, _ = _core.load_prediction(keywords)
    return LoadPrediction(json.loads(document), text, notes)


class TimesPrediction(FiledAnswer):
    """Speedups by batch size, context length and draft length from the times of a device: docs/step-times.md.

    >>> answer = fd.predict_times(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b", alpha=0.75)
    >>> answer
    TimesPrediction(best_gamma=3, best_speedup=1.49358)
    """

    @property
    def best_gamma(self) -> int | None:
        """The smallest draft length within 1 % of the best at the first batch size and context length; 0: no
        speculation; None: the models do not fit into memory."""
        found: int | None = self.document["cells"][0]["best_gamma"]
        return found

    @property
    def best_speedup(self) -> float | None:
        """The speedup there; None likewise."""
        found: float | None = self.document["cells"][0]["best_speedup"]
        return found

    def to_frame(self) -> pandas.DataFrame:
        """A row for each batch size, context length and draft length: times in ms, tokens, speedup with its interval."""
        import pandas
        frames = [pandas.json_normalize(cell["gammas"]).assign(batch=cell["batch"], context=cell["context"])
                  for cell in self.document["cells"]]
        table = pandas.concat(frames, ignore_index=True)
        return table[["batch", "context", *(name for name in table.columns if name not in ("batch", "context"))]]

    def __repr__(self) -> str:
        speedup = None if self.best_speedup is None else f"{self.best_speedup:.6g}"  # nothing fits into the memory
        return f"TimesPrediction(best_gamma={self.best_gamma}, best_speedup={speedup})"


def predict_times(*,
                  target: str,
                  draft: str | None = None,
                  device: str | None = None,
                  profile: str | os.PathLike[str] | None = None,
                  batch: npt.ArrayLike | None = None,
                  context: npt.ArrayLike | None = None,
                  **options: object) -> TimesPrediction:
    """Speedups on a device by batch size, context length and draft length, without prompts.

    target, draft: models. device or profile: the times. batch, context: one or several (default 1 and 512). options:
    those of ``foredraft predict --help`` with underscores: alpha, marginal, process, gamma, overhead_us, target_format,
    target_tp, memory_utilization, ...; True for a switch.

    >>> answer = fd.predict_times(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b", alpha=0.75, batch=[1, 64])
    >>> answer.to_frame().groupby("batch").speedup.max().round(3)
    batch
    1     1.494
    64    1.309
    Name: speedup, dtype: float64

    Raises ValueError with a line for each problem, all at once.
    """
    stated = {"target": target, "draft": draft, "device": device, "profile": profile, "batch": batch, "context": context}
    keywords = options_of("predict_times", stated | options)
    with named_as_keywords():
        document, text, notes, files = _core.times_prediction(keywords)
    return TimesPrediction(json.loads(document), text, notes, files)


class Explanation(Answer):
    """The parameter that explains a measured number. Schema foredraft.predict.inverse/1.

    >>> fd.explain(measured_speedup=1.8, gamma=5, c=0.05)
    Explanation(alpha=0.570952, interval=(0.556424, 0.584878))
    """

    @property
    def sought(self) -> str:
        """"alpha", "c" or "overhead" (in decode steps of the target): what was left out."""
        found: str = self.document["sought"]
        return found

    @property
    def value(self) -> float | None:
        """The value; None: no value explains the measured number."""
        found: float | None = self.document["value"]
        return found

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of values for all numbers that round to the measured one; None: no value explains them."""
        found = self.document["interval"]
        return None if found is None else (found[0], found[1])

    def __repr__(self) -> str:
        value = "None" if self.value is None else f"{self.value:.6g}"
        between = "None" if self.interval is None else f"({self.interval[0]:.6g}, {self.interval[1]:.6g})"
        return f"Explanation({self.sought}={value}, interval={between})"


def explain(*,
            measured_speedup: float | str | None = None,
            acceptance_length: float | str | None = None,
            **options: object) -> Explanation:
    """The alpha, c or overhead that explains a measured speedup, or the alpha that explains a measured acceptance length.

    The digits of the measured number state its rounding: 1.8 stands for 1.75 to 1.85; pass a string to keep zeros,
    "1.80". options: gamma, and whichever of alpha (or marginal, conditional) and c are known; the one that is left out
    is solved for.

    >>> fd.explain(acceptance_length=3.2, gamma=5)
    Explanation(alpha=0.73798, interval=(0.730964, 0.744854))

    Raises ValueError with a line for each problem, all at once.
    """
    keywords = options_of("explain", {"measured_speedup": measured_speedup, "acceptance_length": acceptance_length} | options)
    if measured_speedup is None and acceptance_length is None:
        raise ValueError("foredraft: measured_speedup: missing (or acceptance_length: the measured number)")
    with named_as_keywords():
        document, text, _, _ = _core.explanation(keywords)
    return Explanation(json.loads(document), text)
