# SPDX-License-Identifier: Apache-2.0
"""A user's file, which is type-checked (types_test.py) and runs. Arguments: the folder of logs."""

import concurrent.futures
import sys
from collections.abc import Sequence
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl

import foredraft as fd

Reals = npt.NDArray[np.float64]


def scenarios() -> float:
    scenario = fd.Scenario(alpha=0.8, gamma=5, c=0.05)
    assert_type(scenario.replace(gamma=3), fd.Scenario)
    assert_type(scenario.parameters, dict[str, Any])
    point = fd.predict(alpha=0.8, gamma=5, c=0.05)
    assert_type(point, fd.Prediction)
    assert_type(fd.predict(scenario), fd.Prediction)
    assert_type(point.speedup, float)
    assert_type(point.to_dict(), dict[str, float])
    for alpha in ([0.5, 0.8], np.linspace(0.5, 0.8, 2), pd.Series([0.5, 0.8]), pl.Series([0.5, 0.8])):
        grid = fd.predict(alpha=alpha, gamma=fd.best, c=0.05)
        assert_type(grid, fd.Predictions)
    assert_type(grid.speedup, Reals)
    assert_type(grid.to_dict(), dict[str, Reals])
    assert_type(grid.to_frame(), pd.DataFrame)
    best = fd.best_gamma(alpha=0.8, c=0.05)
    assert_type(best.gamma, int | None)
    assert_type(best.speedup, float)
    run = fd.simulate(scenario, iterations=1000)
    assert_type(run, fd.Simulation)
    assert_type(run.speedup, fd.Estimate)
    assert_type(run.speedup.ci95, tuple[float, float])
    assert_type(run.to_dict(), dict[str, fd.Estimate])
    assert_type(fd.quantities(), list[str])
    assert_type(fd.parameters(), list[fd.Parameter])
    return run.speedup.mean


def rules() -> bool:
    target = np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]])

    def accept_all(p: Reals, q: Reals) -> tuple[Reals, Reals]:
        return np.ones_like(p), p

    rule: fd.Rule = accept_all
    fd.check_rule(rule, lossless=False)
    loss = fd.lossiness(target=target, draft=target[::-1], rule=accept_all)
    assert_type(loss.acceptance, fd.Estimate)
    assert_type(loss.emitted, Reals)
    return loss.lossless


def sweeps(folder: str) -> pd.DataFrame:
    frame = fd.sweep(alpha=[0.6, 0.8], gamma=range(1, 3), c=0.05, out=folder, progress=False)
    assert_type(frame, pd.DataFrame)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        fd.sweep(alpha=[0.6, 0.8], gamma=3, c=0.05, executor=pool, progress=False)
    parts = [f"{folder}{i}" for i in (1, 2)]
    for i, part in enumerate(parts, 1):
        fd.sweep(alpha=[0.6, 0.8], gamma=3, c=0.05, shard=(i, 2), out=part, progress=False)
    assert_type(fd.merge(parts, out=f"{folder}-whole"), pd.DataFrame)
    run = fd.check(folder, progress=False)
    assert_type(run.points, int)
    return frame


def devices() -> Sequence[int | None]:
    profile = fd.Profile("h100")
    assert_type(profile.valid, bool)
    table = profile.speedups("llama-3.1-8b", "llama-3.2-1b", alpha=0.8)
    assert_type(table, fd.Speedups)
    assert_type(table.lengths, pd.DataFrame)
    assert_type(fd.Device("h100").figures, dict[str, float])
    assert_type(fd.Model("llama-3.1-8b").layers, int)
    load = fd.predict_load(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b", alpha=0.75, concurrency=8, prompt=100,
                           output=50, closed_form=True)
    assert_type(load.best_gamma, int | None)
    assert_type(load.interval, tuple[float, float] | None)
    times = fd.predict_times(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b", alpha=0.75, batch=[1, 8])
    assert_type(times.to_frame(), pd.DataFrame)
    assert_type(times.best_speedup, float | None)
    explanation = fd.explain(measured_speedup=1.8, gamma=5, c=0.05)
    assert_type(explanation.value, float | None)
    answer = fd.tree([[0.6, 0.2], [0.5, 0.2]], 4, c=0.05)
    assert_type(answer.chosen, fd.JudgedTree)
    assert_type(answer.chosen.paths, list[list[int]])
    assert_type(answer.dynamic, fd.DynamicTree | None)
    compared = fd.methods(["block_verification", "pearl"], temperature=1.0, iterations=1000)
    assert_type(compared, fd.Methods)
    assert_type(compared.to_frame(), pd.DataFrame)
    assert_type(fd.catalog("rules"), pd.DataFrame)
    return [times.best_gamma, table.best_gamma]


def logs(folder: str) -> str:
    log = fd.read_log(f"{folder}/k3.log")
    assert_type(log, fd.Log)
    assert_type(log.observations, list[dict[str, Any]])
    advice = fd.advise([log, f"{folder}/k1.log"], plain=f"{folder}/plain.log", engine="vllm")
    assert_type(advice.gamma, int | None)
    assert_type(advice.schedule, list[tuple[int, int, int]])
    comparison = fd.compare(log, f"{folder}/k1.log", require=["acceptance_length>=1"])
    assert_type(comparison.passes, bool)
    assert_type(comparison.to_dict(), dict[str, Any])
    assert_type(comparison.to_frame(), pd.DataFrame)
    assert_type(fd.plan("vllm", concurrency=[1, 16]).text, str)
    return str(advice)


def papers() -> list[str]:
    study = fd.reproduce("leviathan-table1", progress=False)
    assert_type(study.to_frame(), pd.DataFrame)
    assert_type(study.tables, dict[str, pd.DataFrame])
    measured = pl.DataFrame({"target": ["qwen1.5-7b"], "draft": ["qwen1.5-0.5b"], "gamma": [4], "alpha": [0.8], "batch": [1],
                             "context": [512], "speedup": [1.4]})
    validation = fd.validate(fd.Profile("h200"), against=measured)
    assert_type(validation.median_error, float)
    return list(study.texts)


if __name__ == "__main__":
    print(scenarios(), rules(), len(sweeps("kept")), devices(), logs(sys.argv[1]), papers())
