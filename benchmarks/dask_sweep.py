# SPDX-License-Identifier: Apache-2.0
"""A sweep of 10^5 points x 10^6 iterations on Dask, with one worker, with two, and with a worker that is killed.

Prints for each the time, the processor time of this process (client, scheduler and merge) and of the workers, the
digest of points.csv, and the data that a task sends and returns. Needs the package and `dask[distributed]`. Workers are
processes of one thread on this machine; other load lengthens the time, but hardly the processor time.

Usage: dask_sweep.py [--iterations N] [--shards N] [--workers N,...]
"""

import argparse
import hashlib
import os
import pathlib
import pickle
import signal
import tempfile
import threading
import time

import distributed
import numpy

import foredraft
from foredraft import _sweeps

ALPHAS, GAMMAS, COSTS = 1000, 10, 10


def config(iterations):
    return {"axes": {"alpha": (numpy.arange(1, ALPHAS + 1) / (ALPHAS + 1)).tolist(), "gamma": list(range(1, GAMMAS + 1)),
                     "c": [(i + 1) / 100 for i in range(COSTS)]},
            "simulation": {"iterations": iterations, "seed": 1}}


def timed(name, work):
    begun, spent = time.perf_counter(), time.process_time()
    result = work()
    print(f"{name:34} {time.perf_counter() - begun:8.2f} s, {time.process_time() - spent:8.2f} s here", flush=True)
    return result


def digest(folder):
    return hashlib.sha256((pathlib.Path(folder) / "points.csv").read_bytes()).hexdigest()[:16]


def kill_one(client, after_s):
    """Kills one worker once, some time after the sweep began; its nanny starts another one."""
    pid = next(iter(client.run(os.getpid).values()))
    timer = threading.Timer(after_s, os.kill, (pid, signal.SIGKILL))
    timer.start()
    return timer


def on_dask(options, workers, folder, kill_after_s=None):
    with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None,
                                  silence_logs="CRITICAL") as cluster:
        with distributed.Client(cluster) as client:
            client.run(lambda: __import__("foredraft"))  # importing is not part of the time
            before = client.run(time.process_time)
            what = f"{workers} workers" + ("" if kill_after_s is None else f", one killed after {kill_after_s:.0f} s")
            timer = None if kill_after_s is None else kill_one(client, kill_after_s)
            timed(what, lambda: foredraft.sweep(config(options.iterations), out=folder, executor=client,
                                                shards=options.shards, progress=False))
            spent = {worker: after - before.get(worker, 0.0) for worker, after in client.run(time.process_time).items()}
            print(f"{'  workers, processor time':34} {', '.join(f'{one:.2f}' for one in spent.values())} s")
            if timer is not None:
                timer.cancel()
    print(f"{'  points.csv':34} {digest(folder)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=1_000_000)
    parser.add_argument("--shards", type=int, default=100)
    parser.add_argument("--workers", default="1,2")
    options = parser.parse_args()
    merge = _sweeps._Shards.merge
    _sweeps._Shards.merge = lambda self, folder: timed("  of it merging", lambda: merge(self, folder))
    points = ALPHAS * GAMMAS * COSTS
    print(f"foredraft {foredraft.__version__}, dask {distributed.__version__}; {points} points x {options.iterations} "
          f"iterations, {options.shards} shards; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    document = _sweeps._document(config(options.iterations), {})
    with tempfile.TemporaryDirectory() as folder:
        here = os.path.join(folder, "here")
        begun = time.perf_counter()
        timed("no executor, one thread", lambda: foredraft.sweep(config(options.iterations), out=here, threads=1,
                                                                 progress=False))
        whole_s = time.perf_counter() - begun
        print(f"{'  points.csv':34} {digest(here)} ({(pathlib.Path(here) / 'points.csv').stat().st_size} bytes)")
        files = timed("one shard", lambda: _sweeps.run_shard(document, 1, options.shards, 1))
        print(f"{'  sent, returned':34} {len(pickle.dumps((document, 1, options.shards, 1)))}, "
              f"{len(pickle.dumps(files))} bytes")
        for workers in map(int, options.workers.split(",")):
            on_dask(options, workers, os.path.join(folder, str(workers)))
        on_dask(options, 2, os.path.join(folder, "killed"), kill_after_s=whole_s / 4)
        with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                timed("1000 tasks that do nothing", lambda: client.gather(client.map(int, range(1000), pure=False)))
        print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
