# SPDX-License-Identifier: Apache-2.0
"""Speculative decoding: closed forms, simulation, sweeps, and advice from the logs of engines.

Parameters are keywords with the names of the TOML configurations, whose dots become underscores:
``predict(alpha=0.8, gamma=5, c=0.05)``, ``Scenario(rule="lenient", rule_lenience=0.5, ...)``. ``parameters()`` lists
them. A mistake is a ``ValueError`` with a line for each problem.
"""

from foredraft import plot
from foredraft._catalog import catalog
from foredraft._comparisons import Comparison, compare
from foredraft._core import BestGamma, Estimate, Prediction, Simulation
from foredraft._core import version as _version
from foredraft._devices import Device, Model, Profile, Speedups, devices, models
from foredraft._loads import (Explanation, LoadPrediction, TimesPrediction, explain, predict_load, predict_times)
from foredraft._logs import Advice, Log, LoggingPlan, advise, plan, read_log
from foredraft._methods import Methods, methods
from foredraft._page import Page, page
from foredraft._questions import Predictions, best, best_gamma, predict, simulate
from foredraft._rules import Lossiness, Rule, check_rule, lossiness
from foredraft._scenarios import Parameter, Scenario, parameters, quantities
from foredraft._studies import Reproduction, Validation, reproduce, validate
from foredraft._sweeps import RepeatedRun, check, merge, sweep
from foredraft._trees import DynamicTree, JudgedTree, Tree, tree


__version__: str = _version()

__all__ = [
    "Advice", "BestGamma", "Comparison", "Device", "DynamicTree", "Estimate", "Explanation", "JudgedTree",
    "LoadPrediction", "Log", "LoggingPlan", "Lossiness", "Methods", "Model", "Page", "Parameter", "Prediction",
    "Predictions", "Profile", "RepeatedRun", "Reproduction", "Rule", "Scenario", "Simulation", "Speedups",
    "TimesPrediction", "Tree", "Validation", "advise", "best", "best_gamma", "catalog", "check", "check_rule",
    "compare", "devices", "explain", "lossiness", "merge", "methods", "models", "page", "parameters", "plan", "plot",
    "predict", "predict_load", "predict_times", "quantities", "read_log", "reproduce", "simulate", "sweep", "tree",
    "validate"
]
