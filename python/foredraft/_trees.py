# SPDX-License-Identifier: Apache-2.0
"""Trees of drafted tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy.typing as npt

from foredraft import _core
from foredraft._core import Estimate
from foredraft._scenarios import plain
from foredraft._values import checked_array


@dataclass(frozen=True)
class JudgedTree:
    """A tree with its expected tokens and speedup.

    >>> chain = fd.tree([[0.6, 0.2], [0.5, 0.2]], nodes=4).chain
    >>> chain.paths, round(chain.tokens, 3)
    ([[0], [0, 0]], 1.9)
    """
    paths: list[list[int]]  #: ranks on the path to each drafted node: [0, 1] is the second candidate after the first
    nodes: int  #: including the root, which is the target's own token
    depth: int  #: drafted tokens of the longest path
    tokens: float  #: expected tokens of one iteration
    variance: float  #: variance of the tokens of one iteration
    iteration_cost: float | None  #: in autoregressive decode steps; None without times
    speedup: float | None  #: over autoregressive decoding; None without times


@dataclass(frozen=True)
class DynamicTree:
    """A tree that grows while drafting, with as many nodes as the chosen tree.

    >>> dynamic = fd.tree([[0.6, 0.2], [0.5, 0.2]], nodes=4, expand=2, spread=0.5).dynamic
    >>> dynamic.static_tree.tokens <= dynamic.exact <= dynamic.bound
    True
    """
    depth: int  #: number of drafted depths
    tokens: Estimate  #: expected tokens of one iteration, simulated
    variance: float  #: variance of the tokens of one iteration
    exact: float | None  #: expected tokens by enumeration of all contexts; None if there are too many
    bound: float  #: maximum expected tokens with this number of nodes on average
    static_tree: JudgedTree  #: the best tree within the same nodes, depth and width that ignores contexts
    iteration_cost: float | None  #: in autoregressive decode steps; None without times
    speedup: Estimate | None  #: over autoregressive decoding; None without times


@dataclass(frozen=True)
class Tree:
    """The tree with the most tokens or the maximum speedup, or the given one, with simpler ones to compare.

    >>> answer = fd.tree([[0.6, 0.2], [0.5, 0.2]], nodes=4)
    >>> round(answer.chosen.tokens, 3), round(answer.dense.tokens, 3)
    (2.1, 2.02)
    """
    chosen: JudgedTree
    best: JudgedTree | None  #: with a given tree: the best one within its nodes
    dense: JudgedTree  #: of equal widths
    dense_widths: list[int]
    chain: JudgedTree  #: only first candidates
    pmf: list[float]  #: pmf[k - 1] = P(tokens = k) for the chosen tree
    probabilities: list[float]  #: acceptance probability of each node of the chosen tree, the root first
    notes: list[str]
    dynamic: DynamicTree | None = None  #: if asked for with expand


def tree(accuracies: Sequence[Sequence[float]] | npt.ArrayLike,
         nodes: int,
         *,
         depth: int | None = None,
         paths: Sequence[Sequence[int]] | None = None,
         c: float | None = None,
         drafter: str = "autoregressive",
         verify_growth: float = 0.0,
         verification: npt.ArrayLike | None = None,
         expand: int | None = None,
         spread: float | None = None,
         confidence_temperature: float = 1.0,
         iterations: int = 100_000,
         seed: int = 1) -> Tree:
    """The token tree with the most expected tokens [Cai2024, Sec. 2.3.3], or with costs the maximum speedup [Chen2024].

    accuracies: [depth, rank], the probability that candidate ``rank`` of a depth is the accepted token, given that the
    token before it was accepted; rows may differ in length, and each sums to at most 1. nodes: maximum, the root
    included, 1 to 10^6. paths: a tree to evaluate instead. Costs, in any of these: ``c``, draft/target time of one
    step; ``verify_growth``, target steps for each node but the first; ``verification`` [nodes], the time of a target
    pass over 1, 2, ... nodes in any unit, > 0. drafter: "autoregressive" (depth passes) or "block" (one).

    expand: also a tree that grows while drafting [Li2024eagle2], whose drafter expands the ``expand`` best nodes of a
    depth (1 to 1024) by as many candidates each. spread: how much the accuracies of contexts differ, 0 (all alike) to 1.
    confidence_temperature: of the drafter's confidences; 1: calibrated, below: overconfident. iterations, seed: of its
    simulation.

    >>> fd.tree([[0.6, 0.2], [0.5, 0.2]], nodes=4, c=0.05).chosen.paths
    [[0], [1], [0, 0]]

    Raises ValueError for values out of range and a tree with a node that has no accuracy or no time.
    """
    if (expand is None) != (spread is None):
        missing, given_name = ("expand", "spread") if expand is None else ("spread", "expand")
        raise ValueError(f"foredraft: {missing}: missing (must be given with {given_name})")
    growth = None if expand is None or spread is None else (expand, spread, confidence_temperature, iterations, seed)
    rows = [[float(entry) for entry in row] for row in plain(accuracies)]
    given = None if paths is None else [list(path) for path in paths]
    size = nodes if given is None else max(nodes, len(given) + 1)
    times: list[float] | None = None
    if verification is not None:
        if verify_growth:
            raise ValueError("foredraft: verify_growth: mutually exclusive with verification - keep one")
        times = [float(time) for time in checked_array("verification", verification).ravel()]
    elif c is not None or verify_growth:
        times = [1.0 + verify_growth * node for node in range(size)]
    answer = _core.find_tree(rows, size, len(rows) if depth is None else depth, given, times, c or 0.0, drafter, growth)
    judged = {name: JudgedTree(**answer.pop(name)) for name in ("chosen", "best", "dense", "chain") if name in answer}
    grown = answer.pop("dynamic", None)
    dynamic = None if grown is None else DynamicTree(**grown | {"static_tree": JudgedTree(**grown["static_tree"])})
    return Tree(**({"best": None} | judged | answer), dynamic=dynamic)
