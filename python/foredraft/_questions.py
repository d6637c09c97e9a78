# SPDX-License-Identifier: Apache-2.0
"""Closed forms and simulation of scenarios."""

from __future__ import annotations

import atexit
import contextlib
import enum
import math
import operator
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, overload

import numpy as np
import numpy.typing as npt

from foredraft import _core
from foredraft._rules import question_of_distributions
from foredraft._scenarios import Scenario, is_number_or_choice, plain, quantities, question_of, takes_number
from foredraft._sweeps import progress_bar
from foredraft._values import RealArray, Value, checked_array, same

if TYPE_CHECKING:
    import pandas


class Best(enum.Enum):
    """Placeholder for a draft length to be optimized."""
    BEST = "best"

    def __repr__(self) -> str:
        return "foredraft.best"


best = Best.BEST  #: ``gamma=best``: each point at its draft length with the maximum speedup


class Predictions(Value):
    """Closed forms of many points: each attribute is an array of float64 in the shape that the arguments broadcast to.

    The attributes are those of Prediction, all NaN if a quantity is not known at any point, and ``gamma`` under
    ``gamma=best``. Arguments are checked at the call. With a draft model, i.i.d. acceptance, a cost ratio and arrays of
    alpha, gamma and c only, a quantity is computed when it is first used; ValueError if an array has changed by then.

    >>> grid = fd.predict(alpha=[0.6, 0.8], gamma=[[1], [3]], c=0.05)
    >>> grid.shape, grid.speedup.round(2).tolist()
    ((2, 2), [[1.52, 1.71], [1.89, 2.57]])
    """

    def __init__(self, parameters: dict[str, Any], threads: int) -> None:
        self._parameters = {name: _numbers(name, value) if _is_array(name, value) else plain(value)
                            for name, value in parameters.items()}
        self._threads = threads
        self._known: dict[str, RealArray] = {}
        self._points, self.shape = _points_of(self._parameters, threads)
        if self._points is not None and not self._points.is_plain:
            self._known = self._answer([])
            self._points = None
            self._parameters = {name: value.copy() if isinstance(value, np.ndarray) else value
                                for name, value in self._parameters.items()}

    def __getattr__(self, name: str) -> RealArray:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._known and self._points is not None and name in self._names():
            # All quantities without a vectorized formula are computed together.
            self._known |= self._answer([name]) if name in _IN_VECTORS else self._answer_all()
        if name in self._known:
            return self._known[name]
        if name not in quantities():
            raise AttributeError(f"Predictions has no {name!r} (quantities: {', '.join(self._names())})")
        return np.full(self.shape, np.nan)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *quantities()]

    def to_dict(self) -> dict[str, RealArray]:
        """The quantities that are known at some point."""
        if self._points is not None:
            self._known |= self._answer_all()
        return {name: self._known[name] for name in self._names() if name in self._known}

    def to_frame(self) -> pandas.DataFrame:
        """One row per point in the order of the arrays, a column for each argument and each known quantity."""
        import pandas
        self._check_unchanged()
        columns = {name: self._column(name, 0, math.prod(self.shape)) for name in self._arguments()}
        columns |= {name: values.ravel() for name, values in self.to_dict().items()}
        return pandas.DataFrame(columns)

    def to_parquet(self,
                   path: str | os.PathLike[str],
                   *,
                   quantities: Sequence[str] | None = None,
                   progress: bool = True) -> None:
        """Writes the rows of to_frame() to a Parquet file, in pieces: memory does not grow with the number of points.

        ``quantities``: only these, by default all that are known. ``progress``: shown through tqdm if that is installed.
        The file appears when it is complete; Ctrl-C leaves none. Needs pyarrow (pip install 'foredraft[parquet]').
        """
        try:
            import pyarrow  # type: ignore[import-untyped]
            import pyarrow.parquet  # type: ignore[import-untyped]
        except ImportError:
            raise ImportError("foredraft: to_parquet needs pyarrow - pip install 'foredraft[parquet]'") from None
        asked = list(self._names() if quantities is None else dict.fromkeys(quantities))
        for name in asked:
            if name not in _core.quantities() and name not in self._names():
                raise ValueError(f"foredraft: quantities: unknown {name!r} (must be of {', '.join(self._names())})")
        self._check_unchanged()
        arguments = self._arguments()
        points = math.prod(self.shape)

        def table(first: int, count: int) -> pyarrow.Table:
            columns = {name: pyarrow.array(self._column(name, first, count)) for name in arguments}
            missing = [name for name in asked if name not in self._known]
            answer = self._answer(missing, first, count) if self._points is not None and missing else {}
            answer |= {name: values.ravel()[first:first + count] for name, values in self._known.items()}
            return pyarrow.table(columns | {name: answer.get(name, np.full(count, np.nan)) for name in asked})

        # Before there is a file: the first table makes pyarrow import pandas, and Ctrl-C is lost on it while it does.
        with contextlib.suppress(ImportError):
            import pandas
        schema = table(0, min(points, 1)).schema
        with _replacing(os.fspath(path)) as file, progress_bar("points") if progress else contextlib.nullcontext() as show:
            # Arguments repeat from row to row, results do not.
            with pyarrow.parquet.ParquetWriter(file, schema, use_dictionary=arguments) as writer:
                for first in range(0, points, _PIECE):
                    count = min(_PIECE, points - first)
                    writer.write_table(table(first, count))
                    if show is not None:
                        show(first + count, points)

    def __repr__(self) -> str:
        return f"Predictions(shape={self.shape}, {', '.join(self._names())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Predictions) and same(self._parameters, other._parameters)

    __hash__ = None

    def __getstate__(self) -> dict[str, Any]:
        self._check_unchanged()
        return self.__dict__ | {"_points": self._points is not None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if state["_points"]:
            self._points = _points_of(self._parameters, self._threads)[0]
        else:
            self._points = None

    def _check_unchanged(self) -> None:
        if self._points is not None:
            self._points.check_unchanged(self._threads)

    def _names(self) -> list[str]:
        """The quantities that are known at some point."""
        return list(self._known) if self._points is None else self._points.known()

    def _arguments(self) -> list[str]:
        return [name for name, value in self._parameters.items() if value is not best]

    def _column(self, name: str, first: int, count: int) -> npt.NDArray[Any]:
        """An argument at the points [first, first + count)."""
        value = self._parameters[name]
        if isinstance(value, np.ndarray):
            return np.broadcast_to(value, self.shape).flat[first:first + count]
        column = np.empty(count, dtype=object if isinstance(value, (str, list)) else type(value))
        column.fill(value)
        return column

    def _answer(self, names: list[str], first: int = 0, count: int | None = None) -> dict[str, RealArray]:
        """These quantities, or all; of all points in their shape, else of [first, first + count)."""
        assert self._points is not None
        points = math.prod(self.shape) if count is None else count
        answer: dict[str, RealArray] = self._points.answer(names, first, points, self._threads)
        return answer if count is not None else {name: values.reshape(self.shape) for name, values in answer.items()}

    def _answer_all(self) -> dict[str, RealArray]:
        missing = [name for name in self._names() if name not in self._known]
        return self._answer(missing) if missing else {}


_IN_VECTORS = ("tokens_per_iteration", "speedup", "gamma")
_PIECE = 1 << 18  # points of a piece of a Parquet file


@contextlib.contextmanager
def _replacing(path: str) -> Iterator[BinaryIO]:
    """A stream that becomes the file at the end: all or none."""
    temporary = os.path.join(os.path.dirname(path), f".foredraft-tmp-{os.urandom(8).hex()}")
    try:
        with open(temporary, "xb") as file:
            yield file
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _numbers(name: str, value: object) -> RealArray:
    """One parameter's values as doubles in C order; ValueError for anything but an array of numbers."""
    array = checked_array(name, value)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"foredraft: {name}: wrong type (must be numbers, is an array of {array.dtype})")
    return np.ascontiguousarray(array, dtype=np.float64)


def _is_array(name: str, value: object) -> bool:
    several = isinstance(value, (list, tuple, range)) or np.ndim(value) > 0  # type: ignore[arg-type]
    return several and takes_number(name)


def _points_of(parameters: dict[str, Any], threads: int) -> tuple[_core.Points | None, tuple[int, ...]]:
    """The checked points, None without any, and their shape."""
    arrays = {name: value for name, value in parameters.items() if isinstance(value, np.ndarray)}
    fixed = {name: value for name, value in parameters.items() if name not in arrays}
    best_asked = fixed.get("gamma") is best
    if best_asked:
        fixed["gamma"] = 1
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"foredraft: shapes do not broadcast: {shapes}") from None
    # The check of all parameters together has the same result for other numbers in the arrays, and reads no file again.
    can_repeat = all(is_number_or_choice(name) and isinstance(value, (int, float, str)) for name, value in fixed.items())
    key = (*fixed.items(), *arrays) if can_repeat else None
    base = _bases.get(key)
    if base is None:
        base = _core.Question(fixed | {name: _first_legal(array) for name, array in arrays.items()})
        if len(_bases) == _MAX_BASES:
            _bases.clear()
        if key is not None:
            _bases[key] = base
    if math.prod(shape) == 0:
        return None, shape
    return _core.Points.of(base, list(arrays.items()), list(shape), best_asked, threads), shape


_bases: dict[tuple[object, ...] | None, _core.Question] = {}
_MAX_BASES = 256
atexit.register(_bases.clear)  # before the module that made them


def _first_legal(values: RealArray) -> float | int:
    """A representative of an array for the check of all parameters together: an integer if possible."""
    first = float(values.flat[0]) if values.size else 1.0
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
            return Predictions(parameters, threads)
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

    Exactly one of ``iterations``, ``sequences`` (with sequence_length) and ``requests`` (of a server: measured ones over
    all ``replicas``, after ``warmup_requests`` in each; the defaults of both follow from the concurrency) is required.
    The answer depends only on the scenario, these counts and ``seed``, not on the number of threads (0: one per hardware
    thread). ``path="reference"`` draws once per drafted token. Runs without the GIL; Ctrl-C ends it.

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
