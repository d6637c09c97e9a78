#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times fd.predict() on arrays and the expressions that a researcher would write in numpy, in turn in one run.

Usage: arrays.py [--rounds 7] [--points 100000000]; run it by a Python that has the package and pyarrow:
build/python-env/bin/python after scripts/python_environment.sh.

Speedup: (1 - a^(g+1)) / ((1-a) (c g + 1)) [Leviathan2023, Thm. 3.8]. Best gamma: the maximum of a grid of 32 gammas.
Each number is the best of the rounds, in ns per point: other work on the machine only adds to it. Then `points` points
of three open axes are written to a Parquet file, and the memory for this is printed.
"""
import argparse
import os
import resource
import tempfile
import time

import numpy as np

import foredraft as fd


def best_of(rounds, *works):
    """The minimum time of each function in seconds; the functions take turns."""
    least = [float("inf")] * len(works)
    for _ in range(rounds):
        for i, work in enumerate(works):
            begin = time.perf_counter()
            work()
            least[i] = min(least[i], time.perf_counter() - begin)
    return least


def row(name, points, numpy, one_thread, all_threads):
    per_point = [seconds / points * 1e9 for seconds in (numpy, one_thread, all_threads)]
    print(f"{name:44s} {per_point[0]:8.2f} {per_point[1]:10.2f} {per_point[2]:11.2f}   {numpy / one_thread:6.1f}x "
          f"{numpy / all_threads:6.1f}x", flush=True)


def speedups(name, rounds, alpha, gamma, c):
    points = np.broadcast(alpha, gamma, c).size

    def ours(threads):
        return lambda: fd.predict(alpha=alpha, gamma=gamma, c=c, threads=threads).speedup

    row(name, points, *best_of(rounds, lambda: (1 - alpha**(gamma + 1)) / ((1 - alpha) * (c * gamma + 1)), ours(1), ours(0)))


def best_gammas(name, rounds, alpha, c):
    gamma = np.arange(32)

    def grid():
        a, cost = alpha[:, None], c[:, None]
        return ((1 - a**(gamma + 1)) / ((1 - a) * (gamma * cost + 1))).argmax(axis=1)

    def ours(threads):
        return lambda: fd.predict(alpha=alpha, gamma=fd.best, c=c, threads=threads).gamma

    row(name, alpha.size, *best_of(rounds, grid, ours(1), ours(0)))


def stream(points):
    side = round((points / 100)**0.5)
    scenario = dict(alpha=np.linspace(0.01, 0.99, side)[:, None, None], gamma=np.arange(1, 101)[:, None],
                    c=np.linspace(0.001, 0.5, side))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "points.parquet")
        begin = time.perf_counter()
        fd.predict(**scenario).to_parquet(path, quantities=["speedup"], progress=False)
        seconds = time.perf_counter() - begin
        print(f"{side * side * 100:.0f} speedups of {side} alphas, 100 gammas and {side} costs to Parquet: {seconds:.1f} s, "
              f"{os.path.getsize(path) / 1e6:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--points", type=int, default=100_000_000, help="of the Parquet file; 0: none")
    options = parser.parse_args()
    if options.points:  # first, because memory is the maximum of the process so far
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        stream(options.points)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"memory: at most {after / 1024:.0f} MB, {before / 1024:.0f} MB of them before it began\n")
    print(f"{'ns a point; the numpy time over ours':44s} {'numpy':>8s} {'one thread':>10s} {'all threads':>11s}")
    random = np.random.default_rng(1)
    for points in (100_000, 1_000_000, 10_000_000):
        alpha, c = random.uniform(0.5, 0.95, points), random.uniform(0.01, 0.2, points)
        speedups(f"speedup of {points:.0e} points, gamma 5", options.rounds, alpha, 5, c)
        speedups(f"speedup of {points:.0e} points, gammas 1 to 10", options.rounds, alpha,
                 random.integers(1, 11, points).astype(float), c)
        speedups(f"speedup of {points:.0e} points, gamma 40", options.rounds, alpha, 40, c)
    speedups("speedup of 200 x 10 x 2000 open axes", options.rounds, np.linspace(0.5, 0.95, 200)[:, None, None],
             np.arange(1.0, 11.0)[:, None], np.linspace(0.01, 0.2, 2000))
    points = 200_000
    alpha, c = random.uniform(0.05, 0.95, points), random.uniform(0.01, 0.5, points)
    best_gammas(f"best gamma of {points:.0e} points", options.rounds, alpha, c)


if __name__ == "__main__":
    main()
