# SPDX-License-Identifier: Apache-2.0
"""Closed forms and simulation of scenarios."""

from __future__ import annotations

import enum
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from foredraft import _core
from foredraft._rules import question_of_distributions
from foredraft._scenarios import Scenario, plain, quantities, question_of, takes_number
from foredraft._values import RealArray, Value, checked_array

if TYPE_CHECKING:
    import pandas


class Best(enum.Enum):
    """Placeholder for a draft length to be optimized."""
    BEST = "best"

    def __repr__(self) -> str:
        return "foredraft.best"


best = Best.BEST  #: ``gamma=best``: each point at its draft length of the greatest speedup


class Predictions(Value):
    """Closed forms of many points: each attribute is an array of float64 in the shape that the arguments broadcast to.

    The attributes are those of Prediction, all NaN if a quantity is not known at any point, and ``gamma`` under
    ``gamma=best``.

    >>> grid = fd.predict(alpha=[0.6, 0.8], gamma=[[1], [3]], c=0.05)
    >>> grid.shape, grid.speedup.round(2).tolist()
    ((2, 2), [[1.52, 1.71], [1.89, 2.57]])
    """

    def __init__(self, inputs: dict[str, Any], known: dict[str, RealArray], shape: tuple[int, ...]) -> None:
        self._inputs, self._known, self.shape = inputs, known, shape

    def __getattr__(self, name: str) -> RealArray:
        known: dict[str, RealArray] = self.__dict__.get("_known", {})
        if name in known:
            return known[name]
        if name.startswith("_") or name not in quantities():
            raise AttributeError(f"Predictions has no {name!r} (quantities: {', '.join(known)})")
        return np.full(self.shape, np.nan)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *quantities()]

    def to_dict(self) -> dict[str, RealArray]:
        """The quantities that are known at some point."""
        return dict(self._known)

    def to_frame(self) -> pandas.DataFrame:
        """One row per point in the order of the arrays, a column for each argument and each known quantity."""
        import pandas
        columns = {name: np.broadcast_to(value, self.shape).ravel() for name, value in self._inputs.items()}
        columns |= {name: values.ravel() for name, values in self._known.items()}
        return pandas.DataFrame(columns)

    def __repr__(self) -> str:
        return f"Predictions(shape={self.shape}, {', '.join(self._known)})"


def _numbers(name: str, value: object) -> RealArray:
    """One parameter's values as doubles; ValueError for anything but an array of numbers."""
    array = checked_array(name, value)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"foredraft: {name}: wrong type (must be numbers, is an array of {array.dtype})")
    return array.astype(np.float64, copy=False)


def _is_array(name: str, value: object) -> bool:
    several = isinstance(value, (list, tuple, range)) or np.ndim(value) > 0  # type: ignore[arg-type]
    return several and takes_number(name)


def _predict_arrays(parameters: dict[str, Any], threads: int) -> Predictions:
    arrays = {name: _numbers(name, value) for name, value in parameters.items() if _is_array(name, value)}
    fixed = {name: plain(value) for name, value in parameters.items() if name not in arrays}
    best_asked = fixed.get("gamma") is best
    if best_asked:
        fixed["gamma"] = 1
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"foredraft: shapes do not broadcast: {shapes}") from None
    points = int(np.prod(shape))
    columns = [(name, np.ascontiguousarray(np.broadcast_to(array, shape).ravel())) for name, array in arrays.items()]
    first = {name: _first_legal(values) for name, values in columns}
    base = _core.Question(fixed | first)
    known = _core.predict_arrays(base, columns, best_asked, threads) if points else {}
    inputs = {name: arrays.get(name, value) for name, value in parameters.items()}
    if best_asked:
        inputs.pop("gamma")
    return Predictions(inputs, {name: values.reshape(shape) for name, values in known.items()}, shape)


def _first_legal(values: RealArray) -> float | int:
    """A representative of an array for the check of all parameters together: an integer if possible."""
    first = float(values[0]) if values.size else 1.0
    return int(first) if first.is_integer() else first


@overload
def predict(scenario: Scenario, /) -> _core.Prediction:
    ...


@overload
def predict(*, threads: int = ..., **parameters: float | str) -> _core.Prediction:  # type: ignore[overload-overlap]
    ...


@overload
def predict(*, threads: int = ..., **parameters: npt.ArrayLike | range | Best) -> Predictions:
    ...


def predict(scenario: Scenario | None = None, /, *, threads: int = 0, **parameters: Any) -> Any:
    """Closed forms of a scenario, or of many at once.

    Any parameter of one number may be an array (list, range, numpy array of any shape); arrays broadcast as in numpy,
    and the answer is Predictions with arrays of that shape. ``gamma=best`` evaluates each point at its best draft
    length.

    >>> round(fd.predict(alpha=0.8, gamma=5, c=0.05).speedup, 4)
    2.9514
    >>> fd.predict(alpha=[0.6, 0.8], gamma=fd.best, c=0.05).gamma
    array([4., 8.])

    The points are computed on ``threads`` threads (0: one per hardware thread) without the GIL; Ctrl-C ends
    them.

    Raises ValueError with a line for each problem: values out of range (for arrays with the first index), arrays that
    do not broadcast or hold no numbers, parameters that contradict each other.
    Source: [Leviathan2023, Eq. 1, Thm. 3.8, Thm. 3.11]; docs/model.md for the other quantities.
    """
    if scenario is None:
        answer = _core.predict_plain(parameters)
        if answer is not None:
            return answer
        if parameters.get("gamma") is best or any(_is_array(name, value) for name, value in parameters.items()):
            return _predict_arrays(parameters, threads)
    return _core.predict(question_of(scenario, parameters))


@overload
def best_gamma(scenario: Scenario, /) -> _core.BestGamma:
    ...


@overload
def best_gamma(**parameters: object) -> _core.BestGamma:
    ...


def best_gamma(scenario: Scenario | None = None, /, **parameters: object) -> _core.BestGamma:
    """The constant draft length with the maximum speedup, over all draft lengths. [after Leviathan2023, Sec. 3.4]

    For process fidelity in endless text with a stated cost; ValueError for any other scenario.

    >>> fd.best_gamma(alpha=0.8, c=0.05)
    BestGamma(gamma=8, speedup=3.09208)
    """
    if scenario is None:
        parameters.setdefault("gamma", 1)
    return _core.best_gamma(question_of(scenario, parameters))


def simulate(scenario: Scenario | None = None,
             /,
             *,
             iterations: int = 0,
             sequences: int = 0,
             requests: int = 0,
             replicas: int | None = None,
             warmup_requests: int | None = None,
             seed: int = 1,
             path: str = "fast",
             threads: int = 0,
             acceptances: npt.ArrayLike | None = None,
             target: npt.ArrayLike | None = None,
             draft: npt.ArrayLike | None = None,
             rule: Any = None,
             **parameters: object) -> _core.Simulation:
    """A Monte-Carlo simulation: every quantity is an Estimate with its standard error.

    Exactly one of ``iterations`` (draft-and-verify rounds), ``sequences`` (with sequence_length) and ``requests`` (of a
    server: measured ones, over all ``replicas``, ``warmup_requests`` served first in each; both follow from how many are
    served at once unless they are given) is required. The answer depends only on the scenario, these counts and ``seed``, not on the number of threads (0: one
    per hardware thread). ``path="reference"`` draws once per drafted token. Runs without the GIL; Ctrl-C ends it.

    >>> fd.simulate(alpha=0.8, gamma=5, c=0.05, iterations=100_000).speedup
    Estimate(2.94575 +- 0.005)

    ``acceptances``: recorded outcomes that are replayed instead of an acceptance process, [sequences, positions] of
    int: 1 accepted, 0 rejected, -1 not observed (after a sequence that ended or a fully accepted draft).

    ``target``, ``draft``: distributions p and q over a vocabulary, [contexts, vocabulary], each row sums to one; every
    position takes a random context. ``rule``: a verification rule by name, or your own function
    (foredraft.Rule), which is called once for all rows; check_rule() tests it against the contract.

    Raises ValueError with a line for each problem, RuntimeError if threads cannot be started.
    """
    if target is not None or draft is not None or callable(rule):
        if acceptances is not None or scenario is not None:
            raise TypeError("foredraft: target and draft are mutually exclusive with acceptances and with a Scenario - keep one")
        for name, value in (("target", target), ("draft", draft)):
            if value is None:
                raise ValueError(f"foredraft: {name}: missing")
        question = question_of_distributions(parameters, target, draft, rule)  # type: ignore[arg-type]
    elif acceptances is None:
        question = question_of(scenario, parameters if rule is None else parameters | {"rule": rule})
    else:
        question = _replay(scenario, parameters, acceptances)
    of_server = requests != 0
    replicas = _core.as_load_needs if replicas is None else replicas
    warmup_requests = _core.as_load_needs if warmup_requests is None else warmup_requests
    return _core.simulate(question, _count("iterations", iterations), _count("sequences", sequences),
                          _count("requests", requests), _count("replicas", replicas if of_server else 0),
                          _count("warmup_requests", warmup_requests if of_server else 0), _count("seed", seed), path,
                          threads)


def _count(name: str, value: object) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"foredraft: {name}: wrong type (must be a whole number, is {value!r})") from None
    if not 0 <= number < 2**63:
        raise ValueError(f"foredraft: {name}: invalid {name}={number} (must lie in [0, 2^63))")
    return number


def _replay(scenario: Scenario | None, parameters: Mapping[str, object], acceptances: npt.ArrayLike) -> _core.Question:
    stated: dict[str, object] = dict(scenario.parameters if scenario is not None else parameters)
    for name in ("process", "process.file", "process_file", "alpha"):
        if name in stated:
            raise ValueError(f"foredraft: {name}: mutually exclusive with acceptances - remove one")
    outcomes = checked_array("acceptances", acceptances)
    if outcomes.ndim != 2 or outcomes.size == 0:
        raise ValueError(f"foredraft: acceptances: wrong shape {outcomes.shape} (must be [sequences, positions])")
    if outcomes.dtype.kind not in "iub":
        raise ValueError(f"foredraft: acceptances: wrong type (must be whole numbers, is an array of {outcomes.dtype})")
    bad = np.argwhere(~np.isin(outcomes, (-1, 0, 1)))
    if len(bad):
        at = tuple(int(index) for index in bad[0])
        raise ValueError(f"foredraft: acceptances: invalid outcome {outcomes[at]} at index {at} "
                         "(must be 1, 0 or -1 for not observed)")
    stated |= {"process": "trace", "process.file": "acceptances"}
    return _core.Question.replay({name: plain(value) for name, value in stated.items()},
                                 np.ascontiguousarray(outcomes, dtype=np.int8))
