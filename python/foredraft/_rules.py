# SPDX-License-Identifier: Apache-2.0
"""User-defined distributions and verification rules, and the lossiness of rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from foredraft import _core
from foredraft._core import Estimate
from foredraft._scenarios import Scenario, plain, question_of, toml_name
from foredraft._values import RealArray, Value, checked_array

Rule = Callable[[RealArray, RealArray], tuple[npt.ArrayLike, ...]]
"""``rule(p, q)`` -> (acceptance, replacement) or (acceptance, replacement, bonus), arrays of the shape of p and q.

p, q: [contexts, vocabulary], the target's and the drafter's distributions. acceptance: the probability in [0, 1] that
a drafted token is accepted. replacement: the distribution that a token is drawn from after a rejection. bonus: the one
after gamma accepted drafts (default: p). Every row may depend only on the same row of p and q.
"""

ROUND_OFF = 1e-12  # of sums over a vocabulary
NARROW_ROUND_OFFS = 64  # of sums in a type narrower than double precision


@dataclass(frozen=True, eq=False)
class Lossiness(Value):
    """Lossiness of a verification rule, exact at each context; standard errors are over contexts (NaN for one).

    >>> fd.lossiness(target=[[0.5, 0.5]], draft=[[0.9, 0.1]], rule="rejection_sampling").lossless
    True
    """
    acceptance: Estimate  #: probability that a draft is accepted
    acceptance_gain: Estimate  #: acceptance minus sum min(p, q), the acceptance of one draft under a lossless rule
    total_variation: Estimate  #: sum abs(e - p) / 2
    kl_divergence: Estimate  #: sum e ln(e / p), in nat; infinite if e emits a token of probability 0 under p
    entropy_change: Estimate  #: entropy of e minus that of p, in nat; negative if the rule sharpens
    top1_agreement: Estimate  #: fraction of contexts where the target's most probable token is also e's
    top1_probability: Estimate  #: e at the target's most probable token
    joint_total_variation: Estimate  #: for the joint distribution of ``tokens`` successive tokens
    emitted: RealArray  #: e, [contexts, vocabulary]: the distribution that a tested position emits

    @property
    def lossless(self) -> bool:
        """Whether e is p at every context, up to rounding."""
        return abs(self.total_variation.mean) < ROUND_OFF


def _matrix(name: str, value: object) -> RealArray:
    array = checked_array(name, value)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"foredraft: {name}: wrong shape {array.shape} (must be [contexts, vocabulary])")
    if array.dtype.kind not in "iuf":
        raise ValueError(f"foredraft: {name}: wrong type (must be numbers, is an array of {array.dtype})")
    return np.ascontiguousarray(array, dtype=np.float64)


def _distributions(name: str, value: object) -> RealArray:
    """The rows in double precision; those of a narrower type that sum to one within its rounding are normalized."""
    matrix = _matrix(name, value)
    dtype = np.asarray(value).dtype
    if dtype.kind != "f" or dtype.itemsize >= matrix.dtype.itemsize:
        return matrix
    sums = matrix.sum(axis=1, keepdims=True)
    rounded = np.abs(sums - 1.0) <= NARROW_ROUND_OFFS * np.finfo(dtype).eps
    np.divide(matrix, sums, out=matrix, where=rounded)
    return matrix


def _rows_of_rule(rule: Rule, p: RealArray, q: RealArray) -> list[RealArray]:
    answer = rule(p.copy(), q.copy())
    if not isinstance(answer, tuple) or len(answer) not in (2, 3):
        raise ValueError("foredraft: rule: must return (acceptance, replacement) or (acceptance, replacement, bonus), "
                         f"returned {type(answer).__name__}")
    rows = [_matrix("acceptance of the rule", answer[0])]
    rows += [_distributions(f"{name} of the rule", value) for name, value in zip(("replacement", "bonus"), answer[1:])]
    if any(one.shape != p.shape for one in rows):
        raise ValueError(f"foredraft: rule: wrong shapes {[one.shape for one in rows]} (must be {p.shape}, as target)")
    return rows


def question_of_distributions(parameters: Mapping[str, object], target: npt.ArrayLike, draft: npt.ArrayLike,
                              rule: Rule | str | None) -> _core.Question:
    p, q = _distributions("target", target), _distributions("draft", draft)
    if p.shape != q.shape:
        raise ValueError(f"foredraft: draft: wrong shape {q.shape} (must be {p.shape}, as target)")
    stated = {toml_name(name): plain(value) for name, value in parameters.items()}
    for name in stated:
        if name.startswith("models.") or name == "contexts":
            raise ValueError(f"foredraft: {name}: mutually exclusive with target and draft - remove one")
        if name.startswith("rule.") and callable(rule):
            raise ValueError(f"foredraft: {name}: mutually exclusive with your own rule - make it part of the function")
    if stated.setdefault("fidelity", "token") != "token":
        raise ValueError(f"foredraft: fidelity: invalid {stated['fidelity']!r} (must be token for distributions)")
    stated |= {"models.alpha": 1.0}  # of the models that target and draft replace
    if rule is None or isinstance(rule, str):
        return _core.Question.of_distributions(stated | ({} if rule is None else {"rule": rule}), p, q, [])
    return _core.Question.of_distributions(stated, p, q, _rows_of_rule(rule, p, q))


def lossiness(scenario: Scenario | None = None,
              /,
              *,
              target: npt.ArrayLike | None = None,
              draft: npt.ArrayLike | None = None,
              rule: Rule | str | None = None,
              seed: int = 1,
              tokens: int = 1,
              **parameters: object) -> Lossiness:
    """How far a verification rule departs from the target's distribution, and how much acceptance it gains; exact.

    Of ``target`` and ``draft`` [contexts, vocabulary], whose rows sum to one, or of synthetic models (models_alpha=0.8,
    ...) whose pool is drawn from ``seed``. rule: a name, with its parameters (rule_lenience=0.5), or your own
    function (foredraft.Rule). tokens: those of joint_total_variation, 1 to 3, the first ones of an iteration of
    ``gamma`` drafts (1 by default) and of the iterations after it, bonus tokens included, in successive contexts.

    >>> loss = fd.lossiness(target=[[0.5, 0.5]], draft=[[0.9, 0.1]], rule="lenient", rule_lenience=0.5)
    >>> round(loss.acceptance.mean, 3), round(loss.total_variation.mean, 3)
    (1.0, 0.4)
    >>> loss = fd.lossiness(target=[[0.5, 0.5]], draft=[[0.9, 0.1]], rule="accept_all", gamma=2, tokens=2)
    >>> round(loss.joint_total_variation.mean, 3)  # both tokens are heads: 0.81 instead of 0.25
    0.56

    Raises ValueError for rows that are no distributions, more outcomes than can be enumerated (vocabulary^tokens above
    2^21), and as Scenario does.
    """
    if target is None and draft is None:
        if callable(rule):
            raise ValueError("foredraft: rule: a function needs target and draft")
        stated = parameters if rule is None else parameters | {"rule": rule}
        if scenario is None:
            stated = {"fidelity": "token", "gamma": 1} | stated
        question = question_of(scenario, stated)
    else:
        if scenario is not None:
            raise TypeError("foredraft: target and draft are mutually exclusive with a Scenario - give its parameters as keywords")
        if target is None or draft is None:
            raise ValueError(f"foredraft: {'target' if target is None else 'draft'}: missing")
        question = question_of_distributions({"gamma": 1} | parameters, target, draft, rule)
    return Lossiness(**_core.lossiness(question, seed, tokens))


def _awkward_rows() -> list[tuple[RealArray, RealArray]]:
    """Pairs that a rule must handle: equal ones, disjoint ones, ties, point masses, zeros, tiny probabilities."""
    pairs: list[tuple[list[float], list[float]]] = [
        ([0.2, 0.3, 0.5, 0.0], [0.2, 0.3, 0.5, 0.0]),
        ([0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.3, 0.7]),
        ([0.25, 0.25, 0.25, 0.25], [0.1, 0.2, 0.3, 0.4]),
        ([0.0, 1.0, 0.0, 0.0], [0.2, 0.3, 0.4, 0.1]),
        ([0.2, 0.3, 0.4, 0.1], [1.0, 0.0, 0.0, 0.0]),
        ([0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]),
        ([1e-300, 1.0, 0.0, 0.0], [1e-12, 1.0 - 1e-12, 0.0, 0.0]),
    ]
    random = np.random.default_rng(1)
    for _ in range(20):
        drawn = random.random((2, 4))**3 * (random.random((2, 4)) > 0.2)
        drawn[:, 0] += 0.01
        p, q = (drawn / drawn.sum(axis=1, keepdims=True)).tolist()
        pairs.append((p, q))
    return [(np.array([p]), np.array([q])) for p, q in pairs]


def check_rule(rule: Rule, *, lossless: bool | None = None) -> None:
    """Tests your own verification rule against the contract of the built-in ones.

    On rows with zeros, ties, point masses, equal and disjoint distributions: acceptances are probabilities, the emitted
    distribution sums to one, calls are reproducible, and each row depends only on itself. lossless: whether it claims
    to emit p exactly everywhere (None: no claim). Raises ValueError with a line for each broken promise.

    >>> def accept_all(p, q):
    ...     return np.ones_like(p), p
    >>> fd.check_rule(accept_all, lossless=False)
    """
    pairs = _awkward_rows()
    problems: list[str] = []
    alone: list[list[RealArray]] = []
    losses: list[bool] = []
    for p, q in pairs:
        where = f"at p={p[0].tolist()}, q={q[0].tolist()}"
        try:
            alone.append(_rows_of_rule(rule, p, q))
            losses.append(lossiness(target=p, draft=q, rule=rule).lossless)
            if any((one != other).any() for one, other in zip(alone[-1], _rows_of_rule(rule, p, q))):
                problems.append(f"foredraft: rule: gives different results for the same arguments {where}")
        except ValueError as error:
            problems += [f"{line} {where}" for line in str(error).splitlines()]
    if not problems:
        together = _rows_of_rule(rule, *(np.concatenate(rows) for rows in zip(*pairs)))
        for name, rows, single in zip(("acceptance", "replacement", "bonus"), together, zip(*alone)):
            if not np.allclose(rows, np.concatenate(single), rtol=0.0, atol=ROUND_OFF):
                problems.append(f"foredraft: rule: {name} of a row depends on other rows")
    if not problems and lossless is not None and lossless != all(losses):
        problems.append("foredraft: rule: claims to be lossless but does not emit p"
                        if lossless else "foredraft: rule: claims a loss but emits p everywhere")
    if problems:
        raise ValueError("\n".join(problems))
