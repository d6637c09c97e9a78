# SPDX-License-Identifier: Apache-2.0
"""Sweeps of the Python package, in this process and on executors whose workers die."""

import concurrent.futures
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import numpy as np
import pandas as pd

import foredraft as fd

AXES = dict(alpha=[0.5, 0.7, 0.9], gamma=[1, 3, 5, 7], c=0.05)
SLOW = dict(alpha=[0.5, 0.7, 0.9], gamma=[1, 3, 5, 7], c=0.05, iterations=10_000_000, path="reference")


class InProcess(concurrent.futures.Executor):
    """Runs tasks at once, but drops the first ones: their futures are canceled, or return nothing."""

    def __init__(self, dropped=0, empty=0, dead=False):
        self.dropped, self.empty, self.dead, self.tasks = dropped, empty, dead, 0

    def submit(self, function, /, *arguments, **keywords):
        if self.dead:
            raise RuntimeError("cannot schedule new futures after shutdown")
        self.tasks += 1
        future = concurrent.futures.Future()
        if self.dropped > 0:
            self.dropped -= 1
            future.cancel()
            future.set_running_or_notify_cancel()
        elif self.empty > 0:
            self.empty -= 1
            future.set_result(None)
        else:
            try:
                future.set_result(function(*arguments, **keywords))
            except BaseException as error:
                future.set_exception(error)
        return future


class Sweeps(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name, "out")
        self.other = pathlib.Path(folder.name, "other")

    def rows(self, folder):
        return (folder / "points.csv").read_bytes()

    def whole(self, **parameters):
        fd.sweep(out=self.other, progress=False, **parameters)
        return self.rows(self.other)

    def test_a_frame_has_a_row_a_point_and_errors_beside_means(self):
        frame = fd.sweep(**AXES, iterations=1000, progress=False)
        self.assertEqual(len(frame), 12)
        self.assertIn("simulated_speedup_standard_error", frame)
        np.testing.assert_array_equal(frame.analytic_speedup,
                                      fd.predict(alpha=frame.alpha, gamma=frame.gamma, c=0.05).speedup)
        closed = fd.sweep(dict(axes=dict(alpha=[0.5, 1.0]), fixed=dict(gamma=2, c=0.0)), progress=False)
        self.assertEqual(closed.analytic_best_gamma.iloc[1], np.inf)

    def test_a_folder_is_resumed_and_never_taken_by_another_sweep(self):
        first = fd.sweep(**AXES, out=self.out, progress=False)
        self.assertEqual(first.attrs["folder"], str(self.out))
        pd.testing.assert_frame_equal(fd.sweep(**AXES, out=self.out, progress=False), first)
        for executor in (None, InProcess()):
            with self.assertRaisesRegex(ValueError, "another configuration"):
                fd.sweep(**(AXES | dict(c=0.1)), out=self.out, executor=executor, progress=False)
        self.assertEqual(self.rows(self.out), self.whole(**AXES))

    def test_files_are_looked_for_beside_the_configuration(self):
        place = self.out.with_name("place")
        place.mkdir()
        (place / "trace.csv").write_text("sequence,outcome\n" + "0,1\n0,1\n0,0\n" * 20)
        config = place / "sweep.toml"
        config.write_text('schema = "foredraft.sweep/1"\n[axes]\ngamma = [2, 4]\n[fixed]\nprocess = "trace"\n'
                          '"process.file" = "trace.csv"\n[simulation]\niterations = 100\n')
        alone = fd.sweep(config, out=self.other, progress=False)
        self.assertTrue((alone.simulated_tokens_per_iteration > 1).all())
        fd.sweep(config, out=self.out, executor=InProcess(), shards=2, progress=False)
        self.assertEqual(self.rows(self.out), self.rows(self.other))

    def test_mistakes(self):
        for bad, message in ((dict(alph=[1]), "did you mean alpha"), (dict(c=[]), "c"), (dict(c=np.nan), "must be finite"),
                             (dict(executor=InProcess(), shards=13), "must lie in \\[1, 12\\]"),
                             (dict(iterations=-1), "iterations")):
            with self.subTest(bad), self.assertRaisesRegex(ValueError, message):
                fd.sweep(**(AXES | bad), out=self.out, progress=False)
            self.assertFalse(self.out.exists())
        with self.assertRaises(TypeError):
            fd.sweep(**AXES, executor=3)

    def test_an_executor_gives_the_bytes_of_the_run_without_one(self):
        wanted = self.whole(**AXES, iterations=1000)
        for shards in (1, 5, 12):
            out = self.out.with_name(f"out{shards}")
            fd.sweep(**AXES, iterations=1000, out=out, executor=InProcess(), shards=shards, progress=False)
            self.assertEqual(self.rows(out), wanted)
            self.assertFalse(out.with_name(out.name + ".shards").exists())

    def test_dropped_tasks_are_run_again(self):
        pool = InProcess(dropped=3, empty=2)
        fd.sweep(**AXES, out=self.out, executor=pool, shards=6, progress=False)
        self.assertEqual(pool.tasks, 6 + 3 + 2)
        self.assertEqual(self.rows(self.out), self.whole(**AXES))
        with self.assertRaisesRegex(RuntimeError, "was lost 3 times"):
            fd.sweep(**AXES, out=self.out.with_name("lost"), executor=InProcess(empty=99), shards=2, progress=False)

    def test_what_a_dead_executor_leaves_runs_here(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            fd.sweep(**AXES, out=self.out, executor=InProcess(dead=True), shards=3, progress=False)
        self.assertIn("takes no tasks", str(seen[0].message))
        self.assertEqual(self.rows(self.out), self.whole(**AXES))

    def test_finished_shards_survive_a_crash(self):
        with self.assertRaises(RuntimeError):
            pool = InProcess()
            original = pool.submit

            def submit(function, /, *arguments, **keywords):
                future = original(function, *arguments, **keywords)
                if pool.tasks > 3:
                    future = concurrent.futures.Future()
                    future.set_exception(RuntimeError("the machine went down"))
                return future

            pool.submit = submit
            fd.sweep(**AXES, out=self.out, executor=pool, shards=6, progress=False)
        kept = len(list(self.out.with_name("out.shards").glob("*-of-6")))
        self.assertGreater(kept, 0)
        with self.assertRaisesRegex(ValueError, "holds shards of another sweep"):
            fd.sweep(**(AXES | dict(c=0.1)), out=self.out, executor=InProcess(), shards=6, progress=False)
        rest = InProcess()
        fd.sweep(**AXES, out=self.out, executor=rest, shards=6, progress=False)
        self.assertEqual(rest.tasks, 6 - kept)
        self.assertEqual(self.rows(self.out), self.whole(**AXES))

    def test_two_sweeps_into_one_folder(self):
        inside, rejected = threading.Event(), []

        class Slow(InProcess):

            def submit(pool, function, /, *arguments, **keywords):
                if not inside.is_set():
                    inside.set()
                    try:
                        fd.sweep(**AXES, out=self.out, executor=InProcess(), shards=3, progress=False)
                    except RuntimeError as error:
                        rejected.append(str(error))
                return InProcess.submit(pool, function, *arguments, **keywords)

        fd.sweep(**AXES, out=self.out, executor=Slow(), shards=3, progress=False)
        self.assertIn("another sweep writes there", rejected[0])
        self.assertEqual(self.rows(self.out), self.whole(**AXES))

    def test_parquet_holds_what_the_csv_does(self):
        config = self.out.with_name("config.toml")
        config.write_text('schema = "foredraft.sweep/1"\n[axes]\nalpha = [0.5, 1.0]\ngamma = [1, 2]\n[fixed]\nc = 0.0\n',
                          encoding="utf-8")
        program = pathlib.Path(sys.executable).parent / "foredraft"
        victim = self.out.with_name("victim")
        victim.write_text("mine", encoding="utf-8")
        command = [program, "sweep", config, "--out", self.out, "--no-figures", "--format", "parquet"]
        subprocess.run(command, capture_output=True, check=True)
        (self.out / "points.parquet").unlink()
        (self.out / "points.parquet").symlink_to(victim)
        subprocess.run(command, capture_output=True, check=True)
        self.assertEqual(victim.read_text(encoding="utf-8"), "mine")
        frame = pd.read_parquet(self.out / "points.parquet")
        self.assertEqual(list(frame.columns), self.rows(self.out).decode().splitlines()[0].split(","))
        self.assertEqual((frame["index"].dtype, frame.gamma.dtype, frame.alpha.dtype), (np.int64, np.int64, np.float64))
        self.assertEqual(frame.analytic_best_gamma.iloc[-1], np.inf)
        pd.testing.assert_series_equal(frame.analytic_speedup, fd.sweep(config, progress=False).analytic_speedup)
        (self.out / "points.csv").write_text("index\n", encoding="utf-8")
        self.assertEqual(subprocess.run(command, capture_output=True).returncode, 2)

    def kill_in_the_middle(self, worker):
        """Kills a worker when the first shard is finished and others are not; records that it did."""
        seen = []

        def kill():
            shards = self.out.with_name("out.shards")
            while not list(shards.glob("*-of-6")):
                time.sleep(0.002)
            os.kill(worker(), signal.SIGKILL)
            seen.append(len(list(shards.glob("*-of-6"))))

        killer = threading.Thread(target=kill)
        killer.start()
        self.addCleanup(lambda: self.assertIn(seen[0], range(1, 6), "the worker was killed too late"))
        self.addCleanup(killer.join)

    def test_a_process_pool_one_of_whose_workers_is_killed(self):
        context = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            self.kill_in_the_middle(lambda: next(iter(pool._processes)))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fd.sweep(**SLOW, out=self.out, executor=pool, shards=6, progress=False)
        self.assertEqual(self.rows(self.out), self.whole(**SLOW))

    def test_dask_one_of_whose_two_workers_is_killed(self):
        import distributed
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                pids = client.run(os.getpid)
                self.kill_in_the_middle(lambda: next(iter(pids.values())))
                fd.sweep(**SLOW, out=self.out, executor=client, shards=6, progress=False)
        self.assertEqual(self.rows(self.out), self.whole(**SLOW))


if __name__ == "__main__":
    unittest.main()
