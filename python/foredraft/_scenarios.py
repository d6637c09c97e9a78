# SPDX-License-Identifier: Apache-2.0
"""Parameters and scenarios, the questions for closed forms and simulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from foredraft import _core


class Parameter(NamedTuple):
    """A parameter of scenarios.

    >>> next(parameter for parameter in fd.parameters() if parameter.name == "rule.lenience")
    Parameter(name='rule.lenience', type='real', summary='lenient: l, the fraction of q that p is compared with; 1: rejection_sampling')
    """
    name: str  #: as in TOML, "rule.lenience"; the keyword is rule_lenience
    type: str  #: real, integer, choice, text, reals, texts or schedule
    summary: str  #: one line, with the unit


_PARAMETERS = {name: Parameter(name, kind, summary) for name, kind, summary in _core.parameters()}
_NAMES = {name.replace(".", "_"): name for name in _PARAMETERS}


def parameters() -> list[Parameter]:
    """All parameters of scenarios, sorted by topic.

    >>> [parameter.name for parameter in fd.parameters()][:2]
    ['fidelity', 'gamma']
    """
    return list(_PARAMETERS.values())


def quantities() -> list[str]:
    """The names of all output quantities: attributes of Prediction and Simulation, stems of columns.

    >>> fd.quantities()[:3]
    ['tokens_per_iteration', 'tokens_variance', 'speedup']
    """
    return _core.quantities()


def toml_name(keyword: str) -> str:
    """The name as in TOML; an unknown keyword is returned unchanged."""
    return _NAMES.get(keyword, keyword)


def takes_number(name: str) -> bool:
    """Whether the parameter takes one number, so that several make an array."""
    parameter = _PARAMETERS.get(toml_name(name))
    return parameter is not None and parameter.type in ("real", "integer")


def is_number_or_choice(name: str) -> bool:
    """Whether the parameter is a number or one of the words that the package knows, never a file."""
    parameter = _PARAMETERS.get(toml_name(name))
    return parameter is not None and parameter.type in ("real", "integer", "choice")


def plain(value: object) -> Any:
    """Converts numbers, words and lists of numpy, and columns and frames of pandas and polars, to those of Python; anything
    else is returned unchanged."""
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (np.generic, np.ndarray)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple, range)):
        return [plain(entry) for entry in value]
    if hasattr(value, "__array__"):
        return plain(np.asarray(value))
    return value


class Scenario:
    """One question: the drafter, the acceptance and length of drafts, the cost of forward passes.

    Keywords are parameters (module docstring). Checked on construction: ValueError with a line for each problem,
    unknown keywords with the nearest known one. Files that it names are read. A value: comparable, not hashable,
    picklable.

    >>> scenario = fd.Scenario(alpha=0.8, gamma=5, c=0.05)
    >>> scenario.replace(gamma=3)
    Scenario(alpha=0.8, gamma=3, c=0.05)
    """

    __slots__ = ("_question",)
    _question: _core.Question

    def __init__(self, **parameters: object) -> None:
        self._question = _core.Question({name: plain(value) for name, value in parameters.items()})

    @property
    def parameters(self) -> dict[str, Any]:
        """The given parameters, with names as in TOML."""
        return self._question.parameters

    def replace(self, **parameters: object) -> Scenario:
        """The same scenario with other values of these parameters; None removes one."""
        stated = self.parameters | {toml_name(name): value for name, value in parameters.items()}
        return Scenario(**{name: value for name, value in stated.items() if value is not None})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.parameters == other.parameters

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Scenario({', '.join(f'{name}={value!r}' for name, value in self.parameters.items())})"

    def __reduce__(self) -> tuple[object, ...]:
        return _scenario_of, (self.parameters,)


def _scenario_of(parameters: Mapping[str, object]) -> Scenario:
    return Scenario(**parameters)


def question_of(scenario: Scenario | None, parameters: Mapping[str, object]) -> _core.Question:
    if scenario is None:
        return _core.Question({name: plain(value) for name, value in parameters.items()})
    if not isinstance(scenario, Scenario):
        raise TypeError(f"foredraft: must be a Scenario, is {type(scenario).__name__} - give parameters as keywords")
    if parameters:
        raise TypeError(f"foredraft: {', '.join(parameters)} mutually exclusive with a Scenario - use Scenario.replace")
    return scenario._question


def table_rows(parameters: Mapping[str, object]) -> Iterator[tuple[str, Any, bool]]:
    """(name as in TOML, Python value, whether it is an axis of a sweep) of each parameter."""
    for keyword, value in parameters.items():
        name = toml_name(keyword)
        values = plain(value)
        known = _PARAMETERS.get(name)
        axis = isinstance(values, list) if known is None or known.type in ("real", "integer", "choice", "text") else (
            isinstance(values, list) and len(values) > 0 and isinstance(values[0], list) and known.type != "schedule")
        yield name, values, axis
